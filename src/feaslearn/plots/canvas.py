"""Matplotlib, loaded when the first display is drawn, colours and labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.data import as_matrix
from feaslearn.exceptions import DataError, FeaslearnWarning, Problems, checked
from feaslearn.messages import did_you_mean, find_columns, import_extra
from feaslearn.region import Region
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import Reader, check_signals, one_row

#: Colours that differ for colour-blind readers as well (Okabe and Ito's palette).
BLUE, ORANGE, VERMILION = "#0072B2", "#E69F00", "#D55E00"
GREY = "#999999"
#: From one sign to the other through white; it does not rely on red against green.
DIVERGING = "PuOr"

#: Units of columns: one for all of them, or by name.
Units = Mapping[str, str] | str | None


def pyplot() -> Any:
    """Return matplotlib's pyplot; name the extra where it is missing."""
    return import_extra("matplotlib.pyplot", "plot")


def new_panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> Any:
    """Return a new figure and its panels (rows, columns)."""
    options |= {"layout": "constrained", "squeeze": False}
    return pyplot().subplots(rows, columns, figsize=size, **options)


def finish(ax: Any, **labels: str) -> None:
    """Draw no frame above and to the right, and name the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    for which, text in labels.items():
        write(ax, which, text)


def labels(names: Sequence[str], units: Units, others: Sequence[str] = ()) -> list[str]:
    """Return names with their units; refuse a unit of a column that is not there."""
    if units is None:
        return list(names)
    if isinstance(units, str):
        return [f"{name} ({units})" for name in names]
    for name in units:
        if name not in names and name not in others:
            hint = did_you_mean(str(name), [*names, *others])
            raise DataError(f"units: there is no column {name!r}; {hint}")
    return [f"{name} ({units[name]})" if name in units else name for name in names]


def write(ax: Any, which: str, text: str, **style: Any) -> None:
    """Set the title or a label of axes to a string in which a dollar sign is not a formula."""
    getattr(ax, f"set_{which}")(text, **style).set_parse_math(False)


class AtSignal(NamedTuple):
    """A region, what is minimised in it, and whether it had to be relaxed to have a point."""

    region: Region
    cost: Array | None
    relaxed: bool


def at_signal(model: RegionRegressor, signal: Any, costs: ArrayLike | None = None) -> AtSignal:
    """Return the region of a model at a signal, and the cost; maximised ones with a minus."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", FeaslearnWarning)
        # Rows of numbers have been put in the order of the names.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        region = model.region(signal)
        signals = check_signals(model, one_row(signal))
    # All that a region warns of is that no decision satisfies everything.
    relaxed = any(issubclass(warning.category, FeaslearnWarning) for warning in said)
    reader: Reader = vars(model)["_reader"]
    cost = None
    if costs is not None or model.cost_ is not None:
        row = None if costs is None else np.atleast_2d(np.asarray(costs, dtype=float))
        cost = reader.prices(signals, model.cost_, row)[0]
    return AtSignal(region, cost, relaxed)


# Columns and tables as pictures are given them.


def find(wanted: Sequence[int | str] | None, names: Sequence[str], what: str) -> tuple[int, ...]:
    """Return the positions of columns that are named or numbered, each once; None means all."""
    if wanted is None:
        return tuple(range(len(names)))
    problems = Problems()
    items = [wanted] if isinstance(wanted, str | int) else list(wanted)
    found = find_columns(items, names, len(names), what, "in the model", problems)
    if not items:
        problems.add(f"{what}: no column is listed; list at least one")
    problems.raise_if_any(DataError, "plot")
    return tuple(dict.fromkeys(found))


def rows_of_decisions(values: Any, n: int) -> Array:
    """Return decisions as rows of n numbers; None is no row."""
    if values is None:
        return np.zeros((0, n))
    problems = Problems()
    rows = as_matrix(values, name="y", problems=problems, allow_nan=True, allow_1d=n == 1)
    if rows is not None and rows.shape[1] != n:
        problems.add(f"y has {rows.shape[1]} columns for {n} decisions")
    return checked(rows, problems, "plot")
