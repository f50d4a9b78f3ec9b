"""What an experiment declares: rows that are measured once for each seed, and what they decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.frame.found import Found

#: Seeds that nothing was tuned on: defaults were chosen while looking at others.
SEEDS = tuple(range(100, 110))

#: Numbers, or lists of numbers for figures, by name.
Values = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What the user asked for.

    Parameters
    ----------
    seeds : tuple of int
        Seeds, one data set each.
    quick : bool
        Whether to take small sizes and the cheap rows only.
    solver_seconds : float
        Time limit of each run of a global or mixed-integer solver.
    """

    seeds: tuple[int, ...] = SEEDS
    quick: bool = False
    solver_seconds: float = 60.0


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Parameters
    ----------
    name : str
        What the table calls it.
    parameters : dict
        Arguments of ``measure``; with the seed they say everything about a cell.
    paper : mapping of str to float or str
        What the paper prints, by the name of the column.
    most_seeds : int, optional
        How many seeds are run at most, for rows that take long.
    seconds : float
        What a cell takes, roughly, until one has been measured.
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    paper: Mapping[str, float | str] = field(default_factory=dict)
    most_seeds: int | None = None
    seconds: float = 1.0

    def seeds(self, settings: Settings) -> tuple[int, ...]:
        """Return the seeds this row is run with."""
        return settings.seeds[: self.most_seeds]


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and how our cells decide it.

    Parameters
    ----------
    text : str
        What is claimed, and where.
    decide : callable
        From `Found` to a verdict (True, False, or None where it cannot be decided) and evidence.
    """

    text: str
    decide: Callable[[Found], tuple[bool | None, str]]


@dataclass(frozen=True)
class Contest:
    """Ours against the paper's best row, both relative to the linear policy on the same data.

    Parameters
    ----------
    label : str
        Which table, or which part of it.
    baseline : str
        The row of the linear policy.
    theirs, ours : tuple of str
        The paper's rows, run by us, and our rows.
    printed : tuple of float or None
        What the paper prints for its best row and for its linear policy (None: no such row).
    why_not : str
        Why ours does not win, for the case that it does not.
    """

    label: str
    baseline: str
    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    printed: tuple[float | None, float | None] = (None, None)
    why_not: str = ""


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    Parameters
    ----------
    name, title, about : str
        The name on the command line, the headline, and what was done.
    rows : callable
        From `Settings` to the rows.
    measure : callable
        ``measure(seed, **row.parameters)`` returns the values of one cell.
    columns : dict of str to str
        What the table shows: name of a value, and headline.
    helpers : tuple of callable
        Other functions of the experiment whose code the values depend on.
    notes : tuple of callable
        Each from `Found` to a sentence under the table, such as why a number of the paper is
        wrong; left out while its cells are missing.
    draw : callable, optional
        ``draw(found, folder)`` writes figures and returns the names of the files.
    claims : tuple of Claim
        What the paper claims here.
    contests : tuple of Contest
        Where ours is set against the paper's best row.
    """

    name: str
    title: str
    about: str
    rows: Callable[[Settings], list[Row]]
    measure: Callable[..., Values]
    columns: dict[str, str]
    helpers: tuple[Callable[..., Any], ...] = ()
    notes: tuple[Callable[[Found], str], ...] = ()
    draw: Callable[[Found, Path], list[str]] | None = None
    claims: tuple[Claim, ...] = ()
    contests: tuple[Contest, ...] = ()
