"""Ours against the paper's best row, each as a ratio to the linear policy on the same data."""

from __future__ import annotations

from experiments.frame.experiment import Contest, Experiment
from experiments.frame.found import Found, MissingCellsError, short

#: What is compared: the loss of the decision that a model returns.
COLUMN = "returned"


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
    # Where both are exact, neither wins.
    tied = max(loss, our_loss) < 1e-6
    wins = "both are exact" if tied else ("yes" if our_loss < loss else f"no: {contest.why_not}")
    return (
        f"| {contest.label} | {short(loss)} ({theirs}) | {short(our_loss)} ({ours}) | {printed} "
        f"| {wins} |"
    )
