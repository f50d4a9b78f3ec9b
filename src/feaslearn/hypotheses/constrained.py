"""A hypothesis within known constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.hypotheses.hypothesis import Hypothesis, Layout
from feaslearn.known import KnownLimits, KnownShape
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.region.form import RegionForm
from feaslearn.region.minimize import Solved, minimize, several_minimizers
from feaslearn.region.relax import least_infeasible
from feaslearn.region.within import meeting
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.half_spaces import HalfSpaces
from feaslearn.sets.primitive_set import Ties
from feaslearn.tolerances import ROW_ROUNDING, SOLVED_ZERO

#: The last form of each hypothesis: models predict one row at a time, by the same parameters.
_FORMS: WeakKeyDictionary[Hypothesis, tuple[tuple[object, ...], RegionForm]] = WeakKeyDictionary()


@dataclass(eq=False, repr=False)
class Constrained(Hypothesis):
    r"""Regions :math:`\Pi_s R_\theta(s) \cap \{x : G x \ge g(s),\; l(s) \le x \le u(s)\}`.

    :math:`\Pi_s` is the projection onto the known equalities :math:`E x = e(s)`: the region says
    what the equalities leave open. Right-hand sides stand behind the features of each sample, see
    `KnownShape`; parameters are those of the hypothesis itself.
    """

    hypothesis: Hypothesis
    shape: KnownShape

    def check(self, n: int) -> None:
        """Check the hypothesis."""
        self.hypothesis.check(n)

    def layout(self, n: int, k: int) -> Layout:
        """Return the blocks of the hypothesis."""
        return self.hypothesis.layout(n, k - self.shape.width)

    def layout_of(self, theta: Array, n: int, k: int) -> Layout:
        """Return the blocks of given parameters of the hypothesis."""
        return self.hypothesis.layout_of(theta, n, k - self.shape.width)

    def is_compiled(self, n: int) -> bool:
        """Whether decisions take no solver: known rows do, for most hypotheses."""
        return False

    def usage(self, theta: Array, features: Array, costs: Array) -> Array:
        """Return how much the components of the hypothesis are used."""
        return self.hypothesis.usage(theta, self.shape.split(features)[0], costs)

    def describe(self, theta: Array, n: int, k: int) -> RegionForm:
        """Return the rows of the hypothesis within the known ones; those of a fit are kept."""
        key = (theta.tobytes(), n, k, *(part.tobytes() for part in self.shape))
        found = _FORMS.get(self.hypothesis)
        if found is None or found[0] != key:
            form = self.hypothesis.describe(theta, n, k - self.shape.width).where(self.shape)
            _FORMS[self.hypothesis] = found = key, form
        return found[1]

    def solve(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Solved:
        """Return decisions of least cost in the intersection, the nearest where it is empty."""
        found = self._solve(theta, features, costs)
        if ties == "center":
            for i in np.flatnonzero(self.tied(theta, features, costs) & ~found.empty):
                image = self.image(theta, features[i], costs.shape[1])
                found.decisions[i] = image.optimal_face(costs[i]).center()
        return found

    def solve_duals(self, theta: Array, features: Array, costs: Array) -> Solved:
        """Return what `solve` does; ties and duals of the linear programs over the rows."""
        return self._solve(theta, features, costs, ties=True, duals=True)

    def tied(self, theta: Array, features: Array, costs: Array) -> Mask:
        """Say for each row whether several decisions may be optimal."""
        tied = self._solve(theta, features, costs, ties=True).tied_or_all()
        if self.describe(theta, costs.shape[1], features.shape[1]).linked:
            rows = np.flatnonzero(tied)
            tied[rows] = several_minimizers(
                lambda prices: self._solve(theta, features[rows], prices).decisions, costs[rows]
            )
        return tied

    def image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the region at one row of features; a single decision where it is empty."""
        solved = self._solve(theta, phi[None], np.zeros((1, n)))
        known = half_spaces_of(self.shape.split(phi[None])[1])
        both = None if solved.empty[0] else meeting(self.learned_image(theta, phi, n), known)
        return AffineImage.point(solved.decisions[0]) if both is None else both

    def learned_image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the learned region at one row of features, on the known equalities."""
        own, known = self.shape.split(phi[None])
        image = self.hypothesis.image(theta, own[0], n)
        form = self.hypothesis.describe(theta, n, own.shape[1])
        if not form.linked or not len(known.E):
            return image
        across = pseudo_inverse(known.E) @ known.E
        offset = known.on_flat(image.offset[None])[0]
        return AffineImage(image.primitive, image.matrix - across @ image.matrix, offset)

    def account(self, theta: Array, phi: Array, names: Sequence[str]) -> list[str]:
        """Say what the hypothesis lets the decision maker do."""
        return self.hypothesis.account(theta, self.shape.split(phi[None])[0][0], names)

    def _solve(
        self,
        theta: Array,
        features: Array,
        costs: Array,
        *,
        ties: bool = False,
        duals: bool = False,
    ) -> Solved:
        """Return decisions and where there are none; which may tie and duals if asked."""
        phi, known = self.shape.split(features)
        form = self.describe(theta, costs.shape[1], features.shape[1])
        empty, tied = np.zeros((2, len(costs)), dtype=bool)
        if form.linked:
            # Most decisions of the region itself, moved onto the equalities, violate no other row.
            inner = known.inner_costs(costs)
            decisions = known.on_flat(self.hypothesis.predict(theta, phi, inner))
            rows = np.flatnonzero(known.violated(decisions, ROW_ROUNDING))
            if ties:
                tied[:] = self.hypothesis.tied(theta, phi, inner)
        else:
            inner, decisions, rows = costs, np.empty(costs.shape), np.arange(len(costs))
        prices = None
        if len(rows):
            sides = known.rows(rows).columns()
            asked = duals and form.plain
            found = minimize(form, phi[rows], inner[rows], known=sides, duals=asked)
            decisions[rows], empty[rows], tied[rows] = found[0], found[1], found.tied_or_all()
            prices = found.duals
        _repair(decisions, empty, known)
        return Solved(decisions, empty, tied & ~empty if ties else None, prices)


def _repair(decisions: Array, empty: Mask, known: KnownLimits) -> None:
    """Remove what solvers leave of violations; where that fails, no decision satisfies all rows."""
    decisions[:] = known.repaired(decisions)
    for i in np.flatnonzero(known.violated(decisions, SOLVED_ZERO)):
        decisions[i] = least_infeasible(known.rows(slice(i, i + 1)))
        empty[i] = True


def half_spaces_of(known: KnownLimits) -> HalfSpaces:
    """Return the constraints of one sample as ``A x <= b, E x = e``, in rows of length one."""
    n = known.shape.n
    rows = np.vstack([-known.G, -np.eye(n), np.eye(n)])
    right = np.concatenate([-known.g[0], -known.lower[0], known.upper[0]])
    finite = np.isfinite(right)
    A, b, E, e = rows[finite], right[finite], known.E, known.e[0]
    lengths, sizes = np.linalg.norm(A, axis=1), np.linalg.norm(E, axis=1)
    return HalfSpaces(A / lengths[:, None], b / lengths, E / sizes[:, None], e / sizes)


def known_shape(hypothesis: Hypothesis) -> KnownShape | None:
    """Return the rows that a hypothesis lies within, None where nothing is known."""
    return hypothesis.shape if isinstance(hypothesis, Constrained) else None


def without_known(hypothesis: Hypothesis) -> Hypothesis:
    """Return the learned hypothesis without its known constraints."""
    return hypothesis.hypothesis if isinstance(hypothesis, Constrained) else hypothesis
