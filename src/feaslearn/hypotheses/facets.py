"""Half-spaces: the hidden constraints themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import SetError, UnsupportedError
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.hypothesis import Hypothesis, Layout
from feaslearn.messages import list_first
from feaslearn.parameters import Either, Integer, require
from feaslearn.region.form import RELAX_BOUND, RELAX_EQUALITY, RELAX_FACET, RegionForm, Row
from feaslearn.region.minimize import Solved
from feaslearn.region.relax import relax
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import Ties
from feaslearn.solvers.small_lp import FacetSolutions
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import TINY, VISIBLE_TOL

#: How much more it costs to relax a bound of a decision with all the range than of one with none.
WIDER = 0.1


@dataclass(eq=False, repr=False)
class Facets(Hypothesis):
    r"""Regions given by their rows, of which the facets are learned.

    .. math:: R(s) = \{x : E x = e(s),\; l(s) \le x \le u(s),\; a_j'x \le f_j'\phi(s),\; j \le m\}

    Every observed decision is feasible, and every point cheaper than an observed decision is not:
    such points are free negative examples, and facets are what cuts them off.

    Parameters
    ----------
    max_facets : int or None, default=None
        Most facets that are learned; None for as many as the data show.
    bounds : {"data", "affine"} or pair of array-like of shape (n,), default="data"
        Bounds l and u: the least and greatest decisions seen, affine bounds fitted to them, or
        given ones.
    balance : "auto", None or array-like of shape (q, n), default="auto"
        Equalities E: found in the data by regression with a rank test, none, or given (their
        right-hand sides are then fitted).

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(200, random_state=0)
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    >>> model.fit(data.signals[:100], data.decisions[:100]).score(
    ...     data.signals[100:], data.decisions[100:]) > 0.99
    True
    """

    max_facets: int | None = None
    bounds: Literal["data", "affine"] | Sequence[ArrayLike] = "data"
    balance: Literal["auto"] | ArrayLike | None = "auto"

    def check(self, n: int) -> None:
        """Refuse a wrong number of facets, bounds or equalities that do not fit n decisions."""
        require(self.max_facets, "max_facets", Either(None, Integer(0)), "Facets", SetError)
        if isinstance(self.bounds, str):
            if self.bounds not in ("data", "affine"):
                raise UnsupportedError(
                    f"Facets: bounds={self.bounds!r} is not known; use 'data', 'affine' or a pair"
                )
        else:
            lower, upper = self.given_bounds(n)
            if (lower > upper).any():
                j = int(np.argmax(lower > upper))
                raise SetError(f"Facets: bounds cross at decision {j}: {lower[j]} > {upper[j]}")
        self.given_balance(n)

    def given_balance(self, n: int) -> Array | None:
        """Return the equalities that were given as rows of n numbers; None means "auto"."""
        if self.balance is None:
            return np.zeros((0, n))
        if isinstance(self.balance, str):
            if self.balance != "auto":
                raise UnsupportedError(f"Facets: balance={self.balance!r} is not known; use 'auto'")
            return None
        try:
            given = np.array(self.balance, dtype=float)
        except (TypeError, ValueError):
            given = np.array([[np.nan]])
        if not np.isfinite(given).all():
            raise SetError(f"Facets: balance must hold finite numbers, not {self.balance!r}")
        if given.ndim != 2 or given.shape[1] != n or len(given) > n:
            raise SetError(f"Facets: balance has shape {given.shape}, expected (q, {n}), q <= n")
        return given

    def given_bounds(self, n: int) -> tuple[Array, Array]:
        """Return the bounds that were given as two arrays of n numbers."""
        try:
            lower, upper = (
                np.broadcast_to(np.asarray(side, dtype=float), n).copy() for side in self.bounds
            )
        except (TypeError, ValueError):
            raise SetError(
                f"Facets: bounds must be a pair of numbers or of {n} numbers, not {self.bounds!r}"
            ) from None
        open_ended = np.flatnonzero(~(np.isfinite(lower) & np.isfinite(upper)))
        if len(open_ended):
            which = list_first([str(j) for j in open_ended[:5]], len(open_ended))
            raise SetError(
                f"Facets: bounds must be finite; those of decisions {which} are "
                "not, and a region without them may be unbounded there. Take the largest values "
                "that can be, or bounds='data'"
            )
        return lower, upper

    def layout(self, n: int, k: int) -> Layout:
        """Return blocks "E", "e", "lower", "upper" and "facets", whose rows (a, f) come last.

        Before a fit there are none. Rows that are zero are not there, so that zeros behind
        parameters change nothing.
        """
        shapes = {"E": (n, n), "e": (n, k), "lower": (n, k), "upper": (n, k)}
        return Layout({**shapes, "facets": (0, n + k)})

    def layout_of(self, theta: Array, n: int, k: int) -> Layout:
        """Return the blocks of given parameters, with all facets learned."""
        layout = self.layout(n, k)
        count = max(0, len(theta) - layout.size) // (n + k)
        return Layout({**layout.shapes, "facets": (count, n + k)})

    def rows(self, theta: Array, n: int, k: int) -> FacetRows:
        """Return the rows that theta stands for, without those that are not there."""
        blocks = self.layout_of(theta, n, k).unpack(theta)
        equal, facet = blocks["E"].any(axis=1), blocks["facets"][:, :n].any(axis=1)
        return FacetRows(
            np.ascontiguousarray(blocks["E"][equal]),
            np.ascontiguousarray(blocks["e"][equal]),
            blocks["lower"],
            blocks["upper"],
            np.ascontiguousarray(blocks["facets"][facet, :n]),
            np.ascontiguousarray(blocks["facets"][facet, n:]),
        )

    def theta_of_rows(self, rows: FacetRows) -> Array:
        """Return the parameters that stand for these rows."""
        n, k = rows.lower.shape
        layout = Layout({**self.layout(n, k).shapes, "facets": (len(rows.a), n + k)})
        blocks = {name: np.zeros(shape) for name, shape in layout.shapes.items()}
        parts = {**rows._asdict(), "facets": np.hstack([rows.a, rows.f])}
        for name, block in blocks.items():
            block[: len(parts[name])] = parts[name]
        return layout.pack(blocks)

    def describe(self, theta: Array, n: int, k: int) -> RegionForm:
        """Return equalities, bounds and facets: rows of the decisions themselves."""
        rows = self.rows(theta, n, k)
        A = np.vstack([np.eye(n), -np.eye(n), rows.a])
        b = np.vstack([rows.upper, -rows.lower, rows.f])
        # Bounds that were given are hard. Where any of several others would do, that of the
        # decision with the least range is relaxed, whatever the units; of equal ones, the first.
        ranges = np.linalg.norm(rows.upper - rows.lower, axis=1)
        share = WIDER * ranges / max(float(ranges.sum()), TINY) + VISIBLE_TOL * np.arange(n)
        relaxed = RELAX_BOUND * (1.0 + share) if isinstance(self.bounds, str) else share + np.inf
        labels = [
            Row("bound", f"{side} bound of decision {j}", float(relaxed[j]))
            for side in ("upper", "lower")
            for j in range(n)
        ]
        labels += [Row("facet", f"facet_{i + 1}", RELAX_FACET) for i in range(len(rows.a))]
        labels += [Row("equality", f"equality_{i + 1}", RELAX_EQUALITY) for i in range(len(rows.E))]
        return RegionForm.of_rows(A, b.T, rows.E, rows.e.T, labels)

    def solve(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Solved:
        """Return for each row a decision of least cost in its region.

        Where a region is empty (a signal unlike those seen), rows are relaxed as little as
        possible: facets before bounds, unless bounds were given, and equalities last.
        """
        solved, tied = self.solve_tied(theta, features, costs)
        if ties == "center":
            for i in np.flatnonzero(tied):
                image = self.image(theta, features[i], costs.shape[1])
                solved.decisions[i] = image.optimal_face(costs[i]).center()
        return solved

    def solve_tied(self, theta: Array, features: Array, costs: Array) -> tuple[Solved, Mask]:
        """Return what `solve` and `tied` do, from the same linear programs."""
        solved, solutions = self._solve(theta, features, costs)
        return solved, solutions.tied

    def solve_duals(self, theta: Array, features: Array, costs: Array) -> Solved:
        """Return what `solve` does, with ties and duals of the same linear programs."""
        solved, found = self._solve(theta, features, costs)
        rows = self.rows(theta, costs.shape[1], features.shape[1])
        prices = np.where(solved.empty[:, None], 0.0, found.prices)
        reduced = costs + prices @ np.vstack([rows.E, rows.a])
        reduced[solved.empty] = 0.0
        sides = [np.maximum(-reduced, 0.0), np.maximum(reduced, 0.0)]
        q = len(rows.E)
        duals = np.hstack([*sides, prices[:, q:], -prices[:, :q]])
        return solved._replace(tied=found.tied & ~solved.empty, duals=duals)

    def _solve(self, theta: Array, features: Array, costs: Array) -> tuple[Solved, FacetSolutions]:
        """Return decisions, rows relaxed where there is none, and the linear programs' answers."""
        rows = self.rows(theta, costs.shape[1], features.shape[1])
        solutions = rows.solve(features, costs)
        decisions, empty = solutions.decisions, solutions.status != OPTIMAL
        if empty.any():
            form = self.describe(theta, costs.shape[1], features.shape[1])
            # Which rows are relaxed does not depend on the cost: all costs see one region.
            near, _ = relax(form, form.weights(features[empty]), np.zeros((empty.sum(), form.n)))
            decisions[empty] = rows.solve_around(features[empty], costs[empty], near)
        return Solved(decisions, empty), solutions

    def tied(self, theta: Array, features: Array, costs: Array) -> Mask:
        """Say for each row whether its linear program has several solutions."""
        rows = self.rows(theta, costs.shape[1], features.shape[1])
        return rows.solve(features, costs).tied

    def image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the region at one row of features; an empty one is relaxed, as in `solve`."""
        solved = self.solve(theta, phi[None], np.zeros((1, n)))
        held = solved.decisions[0] if solved.empty[0] else None
        return self.rows(theta, n, len(phi)).image(phi, held)
