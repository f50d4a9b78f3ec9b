r"""Regions that lie within known constraints as a whole, at every training signal.

.. math::
    R_\theta(s_i) \subseteq \{x : d'x \ge \rho_i\} \iff \min_{x \in R_\theta(s_i)} d'x \ge \rho_i

For a Minkowski sum the left side is linear in theta, for an affine image it is so for each vertex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import (
    DataError,
    SolverError,
    TooManyVerticesError,
    UnsupportedError,
)
from feaslearn.formulations.program import QUADRATIC, load_cvxpy, solve
from feaslearn.hypotheses import MapHypothesis, Maps, Minkowski, Scaled, Ternary
from feaslearn.hypotheses.constrained import Constrained
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.known import KnownLimits
from feaslearn.losses import Objective, Predictability
from feaslearn.runs import Clock, OutOfTime
from feaslearn.runs.memory import check_memory

Array = NDArray[np.float64]

#: Rounds of minimisers and least squares for regions whose minimisers move with theta.
ROUNDS = 5
#: Weight of staying where the fit without rows was: it decides what the data leave open.
STAY = 1e-6
#: More vertices of a primitive set than this are not written down.
MOST_VERTICES = 64


class Rows(NamedTuple):
    """Linear functions of theta and what they are compared with."""

    matrix: Array
    right: Array


def fit_contained(objective: Objective, theta: Array) -> Array:
    """Return the parameters of least squared error whose whole region satisfies what is known.

    Raises
    ------
    UnsupportedError
        For losses other than squared predictability, and regions without a list of vertices.
    DataError
        If no region of the class lies within the known constraints.
    OutOfTime
        If the time is up before one is found.
    """
    known, loss = objective.hypothesis, objective.loss
    if not isinstance(known, Constrained):
        raise TypeError("nothing is known")
    if not isinstance(loss, Predictability) or loss.norm_code() != Predictability().norm_code():
        raise UnsupportedError(
            f"Known(inequalities='contain') fits squared predictability, not {loss!r}; "
            "'intersect' works with every loss"
        )
    samples = objective.whole()
    features, limits = known.shape.split(samples.features)
    linear = _linear(known.hypothesis, objective.n_decisions, features.shape[1])
    count, n = samples.decisions.shape
    check_memory(
        4.0 * count * n * len(theta),
        f"{count} samples of {n} decisions, each linear in {len(theta)} parameters,",
        "use fewer samples, or Known(inequalities='intersect')",
    )
    rows = linear.containment(theta, features, limits)
    samples = samples._replace(features=features, costs=limits.inner_costs(samples.costs))
    best: Array | None = None
    least = np.inf
    for _ in range(linear.rounds):
        design = _errors(linear.design(theta, samples), samples, limits)
        try:
            theta = _least_squares(
                design, rows, theta, linear.free(), known.hypothesis, objective.run.clock
            )
        except OutOfTime:
            if best is None:
                raise
            break
        reached = objective.value(theta)
        if reached >= least:
            break
        best, least = theta, reached
    return theta if best is None else best


def _linear(hypothesis: Hypothesis, n: int, k: int) -> _Sum | _Image:
    if isinstance(hypothesis, Minkowski):
        return _Sum(hypothesis, n, k)
    if isinstance(hypothesis, MapHypothesis) and not isinstance(hypothesis, Ternary):
        return _Image(hypothesis, n, k)
    raise UnsupportedError(
        f"{hypothesis!r} cannot be contained in known constraints; use "
        "Known(inequalities='intersect')"
    )


def _least_squares(
    design: Rows,
    rows: Rows,
    theta: Array,
    free: NDArray[np.intp],
    hypothesis: Hypothesis,
    clock: Clock,
) -> Array:
    """Minimise ``|D theta - x|^2`` over rows ``R theta >= r``, in the free parameters."""
    fixed = np.delete(np.arange(len(theta)), free)
    D, R = design.matrix[:, free], rows.matrix[:, free]
    x = design.right - design.matrix[:, fixed] @ theta[fixed]
    r = rows.right - rows.matrix[:, fixed] @ theta[fixed]
    # Parameters in units in which all of them matter alike: the solver counts digits.
    units = np.maximum(np.linalg.norm(D, axis=0), np.abs(R).max(axis=0, initial=0.0) / len(D))
    units = np.where(units > 0.0, units, 1.0)
    D, R, start = D / units, R / units, theta[free] * units
    lengths = np.abs(R).max(axis=1, keepdims=True)
    R, r = R / lengths, r / lengths[:, 0]
    stay = np.sqrt(STAY) * np.eye(len(free))
    D, x = np.vstack([D, stay]), np.concatenate([x, stay @ start])
    cp = load_cvxpy()
    v = cp.Variable(len(free))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(D @ v - x)), [R @ v >= r])
    try:
        solve(problem, "containment", QUADRATIC, clock)
    except SolverError:
        if problem.status not in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
            raise
        raise DataError(
            f"no region of {hypothesis!r} lies within the known constraints at all training "
            "signals; add features, or use Known(inequalities='intersect')"
        ) from None
    moved = theta.copy()
    moved[free] = v.value / units
    return moved


def _directions(limits: KnownLimits) -> tuple[Array, Array]:
    """Return directions d (rows, n) on the flat and limits ``d'x >= rho`` (N, rows).

    x is what a region adds to the point of the equalities that is nearest to zero.
    """
    n = limits.G.shape[1]
    d = np.vstack([limits.G, np.eye(n), -np.eye(n)])
    right = np.hstack([limits.g, limits.lower, -limits.upper])
    right = right - limits.on_flat(np.zeros((len(limits.e), n))) @ d.T
    return limits.inner_costs(d), right


def _finite(matrix: Array, right: Array) -> Rows:
    kept = np.isfinite(right) & (np.abs(matrix).max(axis=1, initial=0.0) > 0.0)
    return Rows(matrix[kept], right[kept])


def _errors(design: Array, samples: Shard, limits: KnownLimits) -> Rows:
    """Return the equations of all observed entries, (N, n, size), weighted."""
    target = samples.decisions - limits.on_flat(np.zeros(samples.decisions.shape))
    across = limits.inner_costs(np.eye(target.shape[1]))
    weights = np.sqrt(samples.weights)[:, None]
    seen = ~np.isnan(target)
    flat = np.einsum("ab,ibs->ias", across, design) * weights[:, :, None]
    return Rows(flat[seen], (target * weights)[seen])


class _Sum:
    """A Minkowski sum: its decisions and its support are linear in theta."""

    rounds = 1

    def __init__(self, hypothesis: Minkowski, n: int, k: int) -> None:
        self.hypothesis, self.n, self.k = hypothesis, n, k
        self.layout = hypothesis.layout(n, k)

    def free(self) -> NDArray[np.intp]:
        """Return the places of scales and offset: knots and shapes stay."""
        marks = {
            name: np.full(shape, float(name in ("alpha", "b")))
            for name, shape in self.layout.shapes.items()
        }
        return np.flatnonzero(self.layout.pack(marks))

    def design(self, theta: Array, samples: Shard) -> Array:
        """Return the decisions (N, n) as linear functions of theta, (N, n, size)."""
        terms = self.hypothesis.terms_at(theta, self.n, self.k)
        points = TermMinimizers(terms, self.n).at(samples.costs).points
        sums = np.moveaxis(points, 1, 2)
        return self._functions(theta, samples.features, sums, np.eye(self.n))

    def containment(self, theta: Array, features: Array, limits: KnownLimits) -> Rows:
        """Return ``min d'x >= rho`` for every known row, and scales that are not negative."""
        d, right = _directions(limits)
        terms = self.hypothesis.terms_at(theta, self.n, self.k)
        least = np.array([term.primitive.minimum(d @ term.embedding(self.n)) for term in terms])
        least = np.broadcast_to(least.T, (len(features), len(d), len(terms)))
        rows = self._functions(theta, features, least, d)
        scales = np.broadcast_to(np.eye(len(terms)), (len(features), len(terms), len(terms)))
        own = self._functions(theta, features, scales, np.zeros((len(terms), self.n)))
        matrix = np.concatenate([rows, own], axis=1).reshape(-1, self.layout.size)
        right = np.hstack([right, np.zeros((len(features), len(terms)))])
        return _finite(matrix, right.ravel())

    def _functions(self, theta: Array, features: Array, factors: Array, d: Array) -> Array:
        """Return ``sum_t factors[i, r, t] alpha_t(s_i) + d_r'b(s_i)`` as functions of theta."""
        count, rows, _ = factors.shape
        blocks = self.layout.unpack(theta)
        parts: list[Array] = []
        for name, block in blocks.items():
            if name == "alpha":
                psi = self.hypothesis.basis(self.k).values(features, blocks.get("knots"))
                if len(block) == 1:
                    factors = factors.sum(axis=2, keepdims=True)
                part = np.einsum("irt,im->irtm", factors, psi)
            elif name == "b":
                part = np.einsum("ik,rj->irkj", features, d)
            else:
                part = np.zeros((count, rows, block.size))
            parts.append(part.reshape(count, rows, -1))
        return np.concatenate(parts, axis=2)


class _Image:
    """An affine image: its vertices are linear in theta, its minimisers are held."""

    rounds = ROUNDS

    def __init__(self, hypothesis: MapHypothesis, n: int, k: int) -> None:
        self.hypothesis, self.n, self.k = hypothesis, n, k
        self.size = hypothesis.layout(n, k).size
        try:
            self.vertices = hypothesis.latent(n).vertices(MOST_VERTICES)
        except TooManyVerticesError:
            raise UnsupportedError(
                f"{hypothesis!r} has no list of at most {MOST_VERTICES} vertices, so it cannot be "
                "contained in known constraints; use Known(inequalities='intersect')"
            ) from None

    def free(self) -> NDArray[np.intp]:
        """Return all places."""
        return np.arange(self.size)

    def design(self, theta: Array, samples: Shard) -> Array:
        """Return the decisions (N, n) as linear functions of theta, minimisers held."""
        A, _ = self.hypothesis.maps(theta, self.n, self.k).at(samples.features)
        z = self.hypothesis.latent(self.n).argmin(np.einsum("inp,in->ip", A, samples.costs))
        return self._functions(samples.features, z[:, None], np.eye(self.n))[:, 0]

    def containment(self, theta: Array, features: Array, limits: KnownLimits) -> Rows:
        """Return ``d'(A v + b) >= rho`` for every known row and vertex v."""
        d, right = _directions(limits)
        corners = np.broadcast_to(self.vertices, (len(features), *self.vertices.shape))
        matrix = self._functions(features, corners, d)
        right = np.broadcast_to(right[:, None], matrix.shape[:3])
        rows, sides = matrix.reshape(-1, self.size), right.ravel()
        if isinstance(self.hypothesis, Scaled):
            rows, sides = np.vstack([rows, np.eye(self.size)[:1]]), np.append(sides, 0.0)
        return _finite(rows, sides)

    def _functions(self, features: Array, points: Array, d: Array) -> Array:
        """Return ``d_r'(A(s_i) z_iv + b(s_i))`` as functions of theta, (N, V, rows, size)."""
        count, v, _ = points.shape
        found = np.empty((count, v, len(d), self.size))
        for i, phi in enumerate(features):
            for corner in range(v):
                for r, direction in enumerate(d):
                    A = phi[:, None, None] * np.outer(direction, points[i, corner])
                    slope = Maps(A, np.outer(phi, direction))
                    found[i, corner, r] = self.hypothesis.pull_back(slope)
        return found
