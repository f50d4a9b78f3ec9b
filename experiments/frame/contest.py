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
        "Squared test loss of the returned decision divided by that of the linear policy, both "
        "means over the seeds that the two rows share. The best row of each side is the one of "
        "least validation loss, also as a ratio. *Printed* is the ratio of the paper's own "
        "numbers, where it has both rows. *Yes* and *no* are differences beyond two standard "
        "errors.\n",
        "| table | the paper's best row, run here | ours | printed in the paper | ours wins |",
        "|---|---:|---:|---:|---|",
    ]
    for experiment in experiments:
        found = founds[experiment.name]
        lines += [_line(contest, found) for contest in experiment.contests]
    return "\n".join(lines) + "\n"


def best(rows: tuple[str, ...], baseline: str, found: Found) -> tuple[str, float]:
    """Return the row of least validation loss relative to the baseline, and its ratio of losses."""
    run = [row for row in rows if found.seeds(row)]
    if not run:
        raise MissingCellsError(", ".join(rows))
    name = min(run, key=lambda row: _ratio(row, baseline, "validation", found))
    return name, _ratio(name, baseline, COLUMN, found)


def _ratio(row: str, baseline: str, column: str, found: Found) -> float:
    loss, linear = found.paired(row, baseline, column)
    return float(loss.mean() / linear.mean())


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
    shared = len(found.paired(ours, theirs, COLUMN)[0])
    if shared < FEWEST:
        return f"cannot be decided (seeds: {shared})"
    lower = found.lower(ours, theirs, COLUMN)
    if lower is None:
        return "a tie, within two standard errors"
    if lower:
        return "yes"
    return f"no: {contest.why_not}" if contest.why_not else "no"
