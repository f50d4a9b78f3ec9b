"""Ours against the paper's best row, each as a ratio to the linear policy on the same data."""

from __future__ import annotations

from experiments.frame.experiment import Contest, Experiment
from experiments.frame.found import FEWEST, Found, MissingCellsError, short

#: What is compared: the loss of the decision that a model returns.
COLUMN = "returned"
#: A ratio below this is zero.
EXACT = 1e-6


def contest_table(experiments: list[Experiment], founds: dict[str, Found]) -> str:
    """Return a table with one line for each contest."""
    lines = [
        "Squared test loss of the returned decision divided by that of the linear policy, "
        "both means "
        "over the seeds that all rows share. *Printed* is the same ratio of the paper's own "
        "numbers, "
        "where it has both rows.\n",
        "| table | the paper's best row, run here | ours | printed in the paper | ours wins |",
        "|---|---:|---:|---:|---|",
    ]
    for experiment in experiments:
        found = founds[experiment.name]
        lines += [_line(contest, found) for contest in experiment.contests]
    return "\n".join(lines) + "\n"


def best(rows: tuple[str, ...], baseline: str, found: Found) -> tuple[str, float]:
    """Return the row of least loss relative to the baseline, and that ratio."""
    ratios = {}
    for row in rows:
        if found.seeds(row):
            loss, linear = found.paired(row, baseline, COLUMN)
            ratios[row] = float(loss.mean() / linear.mean())
    if not ratios:
        raise MissingCellsError(", ".join(rows))
    name = min(ratios, key=lambda row: ratios[row])
    return name, ratios[name]


def _line(contest: Contest, found: Found) -> str:
    try:
        theirs, loss = best(contest.theirs, contest.baseline, found)
        ours, our_loss = best(contest.ours, contest.baseline, found)
    except MissingCellsError:
        return f"| {contest.label} | – | – | – | cells are missing |"
    row, linear = contest.printed
    printed = "–" if row is None or linear is None else short(row / linear)
    wins = _verdict(contest, found, theirs, ours, max(loss, our_loss))
    return (
        f"| {contest.label} | {short(loss)} ({theirs}) | {short(our_loss)} ({ours}) | {printed} "
        f"| {wins} |"
    )


def _verdict(contest: Contest, found: Found, theirs: str, ours: str, worst: float) -> str:
    """Say whether ours wins: on the seeds that both rows have, beyond two standard errors."""
    if worst < EXACT:
        return "both are exact"
    first, second = found.paired(ours, theirs, COLUMN)
    lower = found.lower(ours, theirs, COLUMN)
    if lower is None and len(first) >= FEWEST:
        return "a tie, within two standard errors"
    if lower is None:
        lower = bool(first.mean() < second.mean())
    told = "yes" if lower else f"no: {contest.why_not}"
    return told if len(first) >= FEWEST else f"{told} (seeds: {len(first)})"
