"""What the training data say about learned facets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from feaslearn.data import Block
from feaslearn.exceptions import SolverError
from feaslearn.hypotheses import Blend, Facets
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.known import KnownLimits
from feaslearn.regressor.checks import FitData
from feaslearn.regressor.facet_table import FacetTable, LearnedFacet
from feaslearn.regressor.reader import Reader
from feaslearn.results import remark
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import SAME_TOL, ZERO_PRICE
from feaslearn.trainers import Trained
from feaslearn.trainers.facets.hyperplanes import identified

Array = NDArray[np.float64]

#: Terms are left out where they move a row by less than this share of its largest term.
NEGLIGIBLE = 2e-3
#: Samples that are looked at; where there are more, some stand for all.
LOOKED_AT = 10_000
#: Facets of two regions are the same if their normals differ by less than this.
SAME_NORMAL = 1e-2


def summarize(
    hypothesis: Hypothesis, trained: Trained, data: FitData, reader: Reader
) -> FacetTable | None:
    """Return the table of a model that has just been trained, or None without facets."""
    if not isinstance(hypothesis, Blend | Facets):
        return None
    rows, known = data.samples.load(), None
    if data.known is not None:
        features, known = data.known.shape.split(rows.features)
        rows = rows._replace(features=features)
    names = reader.outputs.names or [f"x{j}" for j in range(reader.n_decisions)]
    result = trained.result
    error = result.details.get("error of decisions", 0.0)
    return facet_table(
        *(hypothesis, trained.theta, rows, names, data.features.names, result.others, known, error)
    )


def facet_table(
    hypothesis: Hypothesis,
    theta: Array,
    data: Block,
    names: Sequence[str],
    terms: Sequence[str],
    others: Sequence[Array] = (),
    known: KnownLimits | None = None,
    error: float = 0.0,
) -> FacetTable | None:
    """Return the table of a model with facets, or None.

    Parameters
    ----------
    hypothesis : Hypothesis
        What was fitted; of a blend, what holds for weighted means of its members is listed.
    theta : ndarray
        Its parameters.
    data : Block
        The training data.
    names, terms : sequence of str
        Names of the decisions and of the features.
    others : sequence of ndarray
        Parameters from other starts, in which the same facets are looked for.
    known : KnownLimits, default=None
        What is known of the training data beside the facets.
    error : float, default=0.0
        Standard deviation of errors in the decisions, in units of their spread.

    Returns
    -------
    FacetTable or None
        None where the hypothesis has no facets.
    """
    n, k = data.costs.shape[1], data.features.shape[1]
    parts = [(1.0, hypothesis, theta)]
    if isinstance(hypothesis, Blend):
        parts = hypothesis.parts(theta, n, k)
    regions = [
        (weight, member.rows(own, n, k))
        for weight, member, own in parts
        if isinstance(member, Facets)
    ]
    if not regions:
        return None
    if len(regions) < len(parts):
        return FacetTable([], [], [], len(parts))  # no row of some members holds for the mean
    rows = _shared_rows(regions)
    writer = _Writer(data, names, terms)
    step = -(-len(data.weights) // LOOKED_AT)
    if step > 1:
        data = Block(*(np.ascontiguousarray(part[::step]) for part in data))
        known = None if known is None else known.rows(slice(None, None, step))
    found = [
        replace(facet, regions=len(regions)) for facet in _facets(rows, data, writer, known, error)
    ]
    if isinstance(hypothesis, Facets):
        for other in others:
            again = _facets(hypothesis.rows(other, n, k), data, writer, known)
            found = [_counted(facet, again) for facet in found]
    found = [replace(facet, binds=step * facet.binds) for facet in found]
    found.sort(key=lambda facet: -facet.binds)
    compared = len(regions) + len(others)
    return FacetTable(found, writer.equalities(rows), writer.bounds(rows), compared)


def _shared_rows(regions: list[tuple[float, FacetRows]]) -> FacetRows:
    """Return the rows that hold for the weighted mean of decisions, one of each region.

    Left-hand sides that all regions have hold with the weighted mean of their right-hand sides.
    """
    (_, first), *others = regions
    if not others:
        return first
    weights = np.array([weight for weight, _ in regions])
    weights = weights / weights.sum()
    rows = [each for _, each in regions]
    E, e = _shared_sides([(each.E, each.e) for each in rows], weights)
    a, f = _shared_sides([(each.a, each.f) for each in rows], weights)
    lower, upper = (
        np.einsum("t,tjk->jk", weights, [getattr(each, side) for each in rows])
        for side in ("lower", "upper")
    )
    return FacetRows(*map(np.ascontiguousarray, (E, e, lower, upper, a, f)))


def _shared_sides(sides: list[tuple[Array, Array]], weights: Array) -> tuple[Array, Array]:
    """Return the rows that are in every list of rows, with the mean of their right-hand sides."""
    left, right = sides[0]
    kept, mean = np.ones(len(left), dtype=bool), weights[0] * right
    for weight, (normals, limits) in zip(weights[1:], sides[1:], strict=True):
        for j in np.flatnonzero(kept):
            apart = np.abs(normals - left[j]).max(axis=1, initial=0.0)
            near = int(apart.argmin()) if len(apart) else -1
            if near < 0 or apart[near] > SAME_TOL * float(np.abs(left[j]).max()):
                kept[j] = False
            else:
                mean[j] = mean[j] + weight * limits[near]
    return left[kept], mean[kept]


def _facets(
    rows: FacetRows,
    data: Block,
    writer: _Writer,
    known: KnownLimits | None,
    error: float = 0.0,
) -> list[LearnedFacet]:
    """Describe the facets of one region; those that lie in the equalities say nothing."""
    solutions = rows.solve(data.features, data.costs, known)
    prices = solutions.prices[:, len(rows.E) :]
    paid = prices > ZERO_PRICE * np.abs(data.costs).max(axis=1, keepdims=True)
    paid &= (solutions.status == OPTIMAL)[:, None]
    complete = ~np.isnan(data.decisions).any(axis=1)
    features, costs, decisions, *_ = (np.asarray(part)[complete] for part in data)
    sure = identified(rows, features, costs, decisions, error)
    across = np.linalg.lstsq(rows.E.T, rows.a.T, rcond=None)[0].T if len(rows.E) else 0.0
    normals = rows.a - across @ rows.E if len(rows.E) else rows.a
    limits = rows.f - across @ rows.e if len(rows.E) else rows.f
    found = []
    for j, (a, f) in enumerate(zip(normals, limits, strict=True)):
        length = float(np.linalg.norm(a))
        if length <= ZERO_PRICE:
            continue
        binding = paid[:, j]
        found.append(
            LearnedFacet(
                writer.inequality(*_sparsest(a / length, f / length, rows)),
                a / length,
                f / length,
                int(binding.sum()),
                length * float(prices[binding, j].mean()) if binding.any() else 0.0,
                bool(sure[j]),
            )
        )
    return found


def _sparsest(a: Array, f: Array, rows: FacetRows) -> tuple[Array, Array]:
    """Add multiples of the equalities so that the facet is easiest to read: least sum of |a|."""
    q, n = rows.E.shape
    if not q:
        return a, f
    G = np.hstack([rows.E.T, -rows.E.T, np.eye(n), -np.eye(n)])
    cost = np.repeat([0.0, 1.0], 2 * np.array([q, n]))
    program = CheckedProgram(cost, np.zeros(len(cost)), np.full(len(cost), np.inf), E=G, e=a)
    try:
        point = program.solve("facet").point
    except SolverError as error:
        remark(f"a facet is shown as it was learned: {error}")
        return a, f
    multiples = point[:q] - point[q : 2 * q]
    a, f = a - multiples @ rows.E, f - multiples @ rows.e
    length = np.linalg.norm(a)
    return a / length, f / length


def _counted(facet: LearnedFacet, others: list[LearnedFacet]) -> LearnedFacet:
    """Count another region if it has the facet too."""
    found = any(_same(other, facet) for other in others)
    return replace(facet, regions=facet.regions + found)


def _same(facet: LearnedFacet, other: LearnedFacet) -> bool:
    """Whether two regions have learned the same facet."""
    size = max(1.0, float(np.abs(other.limit).max()))
    return bool(
        np.abs(facet.normal - other.normal).max() < SAME_NORMAL
        and np.abs(facet.limit - other.limit).max() < SAME_NORMAL * size
    )


class _Writer:
    """Writes rows in the user's names."""

    def __init__(self, data: Block, names: Sequence[str], terms: Sequence[str]) -> None:
        self.names = names
        self.terms = ("", *terms[1:])
        spread = np.nanstd(data.decisions, axis=0)
        # Columns that never move count by the size of the others.
        usual = float(spread.max()) or float(np.nanmax(np.abs(data.decisions))) or 1.0
        self.spread = np.where(spread > SAME_TOL * usual, spread, usual)
        self.moves = np.append(1.0, np.std(data.features[:, 1:], axis=0))

    def inequality(self, a: Array, f: Array) -> str:
        """Write ``a'x <= f'phi``."""
        size = float(np.abs(a * self.spread).max())
        return f"{self._left(a)} <= {self._right(f, size)}"

    def equalities(self, rows: FacetRows) -> list[str]:
        """Write ``E x = e phi``, each row solved for one decision as far as possible."""
        q = len(rows.E)
        if not q:
            return []
        pivots = np.sort(qr(rows.E, mode="r", pivoting=True)[1][:q])
        E, e = (np.linalg.solve(rows.E[:, pivots], part) for part in (rows.E, rows.e))
        sizes = np.abs(E * self.spread).max(axis=1)
        return [
            f"{self._left(left)} = {self._right(right, size)}"
            for left, right, size in zip(E, e, sizes, strict=True)
        ]

    def bounds(self, rows: FacetRows) -> list[str]:
        """Write ``l phi <= x <= u phi`` for each decision."""
        return [
            f"{self._right(low, size)} <= {name} <= {self._right(high, size)}"
            for low, high, name, size in zip(
                rows.lower, rows.upper, self.names, self.spread, strict=True
            )
        ]

    def _left(self, a: Array) -> str:
        effect = np.abs(a * self.spread)
        return _sum(a, self.names, effect > NEGLIGIBLE * effect.max())

    def _right(self, f: Array, size: float) -> str:
        effect = np.abs(f * self.moves)
        return _sum(
            f, self.terms, effect > NEGLIGIBLE * max(size, float(effect[1:].max(initial=0)))
        )


def _sum(coefficients: Array, names: Sequence[str], kept: NDArray[np.bool_]) -> str:
    """Write a sum with signs between its terms, the largest coefficients as they come."""
    text = ""
    for coefficient, name, shown in zip(coefficients, names, kept, strict=True):
        if not shown:
            continue
        number = f"{abs(coefficient):.4g}"
        term = f"{number} {name}".strip() if number != "1" or not name else name
        sign = "-" if coefficient < 0.0 else "+"
        text += f" {sign} {term}" if text else ("-" if sign == "-" else "") + term
    return text or "0"
