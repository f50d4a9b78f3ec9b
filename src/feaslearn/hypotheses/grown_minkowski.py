"""Minkowski sums whose terms are found in a family too large to list."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, Problems
from feaslearn.hypotheses.hypothesis import Layout
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.scale_basis import SCALES
from feaslearn.hypotheses.term import Term
from feaslearn.parameters import Constraints, Either, Integer, check_declared
from feaslearn.sets.box import Box
from feaslearn.sets.simplex import Simplex

FAMILIES = ("simplices", "segments")


class GrownMinkowski(Minkowski):
    r"""Sums of at most so many simplices of decisions, or segments, which are learned as well.

    .. math:: R(s) = b(s) \oplus \sum_t \alpha_t(s) Z_t, \qquad
        Z_t = \mathrm{conv}\{e_j : j \in S_t\} \;\text{or}\; [0, 1] g_t

    Terms are added one at a time, always the one that lowers the training loss fastest. Over the
    simplices of up to 12 decisions the search for it is exact, so that its end proves a global
    optimum over all of them; elsewhere it is a heuristic, and the result claims no optimum. A
    simplex has two decisions or more: points are what the offset is for.

    Parameters
    ----------
    family : {"simplices", "segments"}, default="simplices"
        Where terms are looked for.
    max_terms : int, default=20
        How many there may be.
    scale : {"constant", "box", "tents", "index"}, default="constant"
        What the scales may be, as in `Minkowski`.
    offset : bool, default=True
        Whether b(s), affine in the features, is learned or zero.
    n_knots : int, default=5
        Knots of each feature for "tents".

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.GrownMinkowski(), cost=data.cost, random_state=0)
    >>> model.fit(data.signals, data.decisions).parameters_["shapes"][0]
    array([1., 1.])
    """

    def __init__(
        self,
        family: str = "simplices",
        max_terms: int = 20,
        scale: str = "constant",
        offset: bool = True,
        n_knots: int = 5,
    ) -> None:
        super().__init__([], scale, offset, n_knots)
        self.family = family
        self.max_terms = max_terms

    parameter_constraints: ClassVar[Constraints] = {
        "family": Either(*FAMILIES),
        "scale": Either(*SCALES[3:]),
        "max_terms": Integer(1),
    }

    def as_grown(self) -> GrownMinkowski:
        """Return the hypothesis itself."""
        return self

    def check(self, n: int) -> None:
        """Refuse wrong options, all of them in one error."""
        problems = Problems()
        check_declared(self, problems)
        problems.raise_if_any(DataError, "GrownMinkowski")

    def layout(self, n: int, k: int) -> Layout:
        """Return the blocks of the sum, and "shapes" (terms, n): who takes part, or directions."""
        basis, count = self.basis(k), int(self.max_terms)
        shapes: dict[str, tuple[int, ...]] = {"shapes": (count, n), "alpha": (count, basis.size)}
        if self.offset:
            shapes["b"] = (k, n)
        if basis.knotted:
            shapes["knots"] = basis.knots_shape
        return Layout(shapes)

    def term(self, shape: Array) -> Term:
        """Return the term that a row of "shapes" stands for; a row of zeros is a point."""
        if self.family == "segments":
            return Term(Box(1, 0.0, 1.0), matrix=shape[:, None].tolist())
        chosen = np.flatnonzero(shape > 0.5).tolist() or [0]
        return Term(Simplex(len(chosen)), chosen)

    def terms_at(self, theta: Array, n: int, k: int) -> list[Term]:
        """Return the terms, those that are not used included."""
        return [self.term(shape) for shape in self.layout(n, k).unpack(theta)["shapes"]]

    def listed(self, terms: list[Term]) -> Minkowski:
        """Return the sum of given terms with the options of this one."""
        return Minkowski(terms, self.scale, self.offset, self.n_knots)

    def __repr__(self) -> str:
        return f"GrownMinkowski({self.family!r}, max_terms={self.max_terms}, scale={self.scale!r})"
