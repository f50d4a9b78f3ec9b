"""What all pictures share: matplotlib, loaded when the first is drawn, colours and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from feaslearn.exceptions import DataError, MissingExtraError
from feaslearn.messages import did_you_mean

#: Colours that differ for colour-blind readers as well (Okabe and Ito's palette).
BLUE, ORANGE, GREEN, VERMILION, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
GREY = "#999999"
#: From one sign to the other through white; it does not rely on red against green.
DIVERGING = "PuOr"
#: From little to much, also in grey.
SEQUENTIAL = "viridis"

#: Units of columns: one for all of them, or by name.
Units = Mapping[str, str] | str | None


def pyplot() -> Any:
    """Return matplotlib's pyplot; say which extra brings it where it is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    return plt


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def labels(names: Sequence[str], units: Units, others: Sequence[str] = ()) -> list[str]:
    """Return names with their units; refuse a unit of a column that is not there.

    Parameters
    ----------
    names : sequence of str
        Columns that are labelled.
    units : mapping of str to str, str or None
        One unit for all of them, or units by name.
    others : sequence of str, default=()
        Further columns that units may name.

    Returns
    -------
    list of str
        Labels such as "power (MW)".

    Examples
    --------
    >>> from feaslearn.plots.canvas import labels
    >>> labels(["wind", "price"], {"wind": "MW"})
    ['wind (MW)', 'price']
    """
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
    """Set the title or a label of axes to a text in which a dollar sign is no formula."""
    getattr(ax, f"set_{which}")(text, **style).set_parse_math(False)
