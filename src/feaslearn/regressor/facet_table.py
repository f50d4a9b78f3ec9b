"""Learned constraints as a table in the names of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from feaslearn.arrays import Array
from feaslearn.printable import printable

HEADINGS = ("name", "facet", "binds", "worth", "in the data")
#: What an equality may be as well: data cannot tell.
ALWAYS = "or a limit that always binds"


@dataclass(frozen=True)
class LearnedFacet:
    r"""One learned inequality :math:`a'x \le f'\phi(s)`.

    A facet is determined up to multiples of the equalities. The normal has length one and is
    orthogonal to them, so that facets of two fits can be compared; the text is the form with the
    least sum of absolute coefficients, which are small integers or 1 at most.

    Parameters
    ----------
    text : str
        The inequality in names; terms that hardly count are left out, and decisions that never
        moved in the data are part of its constant.
    normal : ndarray of shape (n,)
        The vector a.
    limit : ndarray of shape (k,)
        The coefficients f of the features.
    binds : int
        Training samples in which it binds, at the model's decision; with more than 10 000
        samples, as some of them say.
    price : float
        Mean shadow price where it binds: what one unit more on the right-hand side of the text
        would save.
    identified : bool
        Whether the samples in which it binds determine it.
    name : str, default=""
        Its name, which stays the same in tables, explanations and predictions.
    status : {"identified", "seen", "not seen"}, default="seen"
        Whether samples determine it, bind there, or do not show it.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.regressor import LearnedFacet
    >>> LearnedFacet("x0 <= 2", np.array([1.0, 0.0]), np.array([2.0]), 7, 0.5, True).binds
    7
    """

    text: str
    normal: Array
    limit: Array
    binds: int
    price: float
    identified: bool
    name: str = ""
    status: str = "seen"

    def __str__(self) -> str:
        return printable(self.text)


class FacetTable(Sequence[LearnedFacet]):
    """The facets of a model, those that are worth most first, with its equalities and bounds.

    What a facet is worth is its mean shadow price: what one unit more would have saved.

    Parameters
    ----------
    facets : sequence of LearnedFacet
        The facets.
    equalities, bounds : sequence of str
        The other rows, as strings.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.regressor import FacetTable, LearnedFacet
    >>> normal, limit = np.array([1.0, 0.0]), np.array([2.0])
    >>> facet = LearnedFacet("x0 <= 2", normal, limit, 7, 0.5, True, "facet_1", "identified")
    >>> print(FacetTable([facet], ["x0 + x1 = s0"], ["0 <= x0 <= 3"]))
    name     facet    binds  worth  in the data
    facet_1  x0 <= 2      7    0.5   identified
    equality, or a limit that always binds
    x0 + x1 = s0
    bounds
    0 <= x0 <= 3
    """

    def __init__(
        self,
        facets: Sequence[LearnedFacet],
        equalities: Sequence[str],
        bounds: Sequence[str],
    ) -> None:
        self.facets = tuple(facets)
        self.equalities = tuple(equalities)
        self.bounds = tuple(bounds)

    @overload
    def __getitem__(self, index: int) -> LearnedFacet: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[LearnedFacet, ...]: ...
    def __getitem__(self, index: int | slice) -> LearnedFacet | tuple[LearnedFacet, ...]:
        return self.facets[index]

    def __len__(self) -> int:
        return len(self.facets)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table of facets as strings, headings first."""
        shown = [
            (facet.name, facet.text, str(facet.binds), f"{facet.price:.3g}", facet.status)
            for facet in self.facets
        ]
        return [HEADINGS, *shown]

    def others(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return equalities and bounds under their headings."""
        word = "equality" if len(self.equalities) == 1 else "equalities"
        return [(f"{word}, {ALWAYS}", self.equalities), ("bounds", self.bounds)]

    def __repr__(self) -> str:
        rows = [tuple(map(printable, row)) for row in self.rows()]
        widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
        lines = ["no facets were learned"] if not self.facets else []
        for name, text, *rest in rows if self.facets else ():
            cells = [cell.rjust(width) for cell, width in zip(rest, widths[2:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), text.ljust(widths[1]), *cells]))
        for heading, texts in self.others():
            if texts:
                lines += [heading, *map(printable, texts)]
        return "\n".join(lines)
