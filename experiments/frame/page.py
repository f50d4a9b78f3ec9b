"""The page that sets ours beside the paper's, made anew from the finished cells."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from experiments.frame.contest import contest_table
from experiments.frame.experiment import Claim, Experiment, Settings
from experiments.frame.files import write_bytes
from experiments.frame.found import Found, MissingCellsError
from experiments.frame.store import VERSION, Store
from experiments.frame.table import as_csv, markdown

VERDICTS = {True: "holds", False: "**does not hold**", None: "cannot be decided"}
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "cvxpy", "clarabel", "highspy", "pyscipopt")

INTRODUCTION = """\
# The paper, reproduced

Ren, Mohajerin Esfahani and Georghiou, *Inverse Optimization via Learning Feasible Regions*, ICML
2025. `python -m experiments all` writes this page; a cell (row and seed) that this version of the
library has finished is not run again.

- **As published**: the map may depend on all signals, φ = (1, s), and costs are raw.
  **Corrected**: our defaults, φ without the signals that enter the cost, costs of length one.
  Both are the paper's algorithms, run by this library.
- Losses are means of squared l2 losses over the test rows, with the standard error over the seeds
  (one data set each). ℓsub columns are in the raw unit of money for every row, as in the paper.
  *Returned decision* is the squared distance to the one decision a solver returns; ℓp_θ is the
  distance to the whole optimal face.
- [Brackets] hold what the paper prints. Its seconds are from another machine and from Gurobi;
  ours are processor seconds of one core.
- Nothing was tuned to come near a number of the paper. By default seeds are 100 to 109, on which
  nothing was tuned: defaults of this library, among others those of `Annealing`, were chosen while
  looking at seeds 0 to 9. Where a table names a best row, it is the best on 200 further rows that
  neither the fit nor the table sees (*validation*).
"""


def write_experiment(experiment: Experiment, settings: Settings, store: Store) -> None:
    """Write table, figures and section of one experiment."""
    rows = experiment.rows(settings)
    found = store.found(experiment, rows)
    folder = store.folder
    folder.mkdir(parents=True, exist_ok=True)
    table = markdown(experiment, rows, found)
    section = [f"## {experiment.title}", "", experiment.about, "", table, ""]
    section += [f"{note}\n" for note in _notes(experiment, found)]
    if experiment.draw is not None:
        try:
            names = experiment.draw(found, folder)
        except MissingCellsError as missing:
            section += [f"No figure yet: the cells of {missing} are not all finished.\n"]
        else:
            section += [f"![{experiment.title}]({name})\n" for name in names]
    text = "\n".join(section)
    write_bytes(folder / f"{experiment.name}.csv", as_csv(experiment, rows, found).encode())
    write_bytes(folder / f"{experiment.name}.md", f"{text}\n".encode())


def write_page(experiments: list[Experiment], settings: Settings, store: Store) -> Path:
    """Write the page of all experiments.

    Parameters
    ----------
    experiments : list of Experiment
        All of them, in the order of the page.
    settings : Settings
        Which rows there are.
    store : Store
        The finished cells.

    Returns
    -------
    Path
        The page.
    """
    founds = {e.name: store.found(e, e.rows(settings)) for e in experiments}
    sections = []
    for experiment in experiments:
        path = store.folder / f"{experiment.name}.md"
        if path.exists():
            sections.append(path.read_text(encoding="utf-8"))
    parts = [
        INTRODUCTION,
        _versions(experiments, settings, store),
        "## What the paper claims\n",
        claims_table(experiments, founds),
        "\n## Ours against the paper's best row\n",
        contest_table(experiments, founds),
        *sections,
    ]
    page = store.folder / "README.md"
    write_bytes(page, ("\n".join(parts).rstrip() + "\n").encode())
    return page


def claims_table(experiments: list[Experiment], founds: dict[str, Found]) -> str:
    """Return every claim with its verdict and the evidence."""
    lines = ["| the paper says | verdict | evidence |", "|---|---|---|"]
    for experiment in experiments:
        for claim in experiment.claims:
            verdict, evidence = decide(claim, founds[experiment.name])
            lines.append(f"| {claim.text} | {VERDICTS[verdict]} | {evidence} ({experiment.name}) |")
    return "\n".join(lines)


def decide(claim: Claim, found: Found) -> tuple[bool | None, str]:
    """Return the verdict on a claim; none where its cells are missing."""
    try:
        verdict, evidence = claim.decide(found)
    except MissingCellsError as missing:
        return None, f"cells missing: {missing}"
    return verdict if verdict is None else bool(verdict), evidence


def _notes(experiment: Experiment, found: Found) -> list[str]:
    told = []
    for note in experiment.notes:
        with suppress(MissingCellsError):
            told.append(note(found))
    return told


def _versions(experiments: list[Experiment], settings: Settings, store: Store) -> str:
    pairs = [(e, row) for e in experiments for row in e.rows(settings)]
    cells = [store.finished(experiment, row) for experiment, row in pairs]
    days = sorted({cell["date"] for row in cells for cell in row.values()})
    commits = sorted({cell["commit"] or "-" for row in cells for cell in row.values()})
    wanted = [set(row.seeds(settings)) for _, row in pairs]
    total = sum(map(len, wanted))
    done = sum(len(seeds & set(row)) for seeds, row in zip(wanted, cells, strict=True))
    installed = [f"{name} {found}" for name in PACKAGES if (found := _installed(name))]
    told = ", ".join([f"Python {platform.python_version()}", *installed])
    when = " to ".join(dict.fromkeys([days[0], days[-1]])) if days else "never"
    rest = "" if done == total else " (`python -m experiments all` runs the others)"
    made = f"feaslearn {VERSION}" + (f" (commits {', '.join(commits)})" if commits else "")
    return (
        f"Made by {made}, run {when}; {done} of {total} cells are finished{rest}. "
        f"Written with {told}.\n"
    )


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
