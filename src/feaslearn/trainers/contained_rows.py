r"""Regions within known constraints as rows on theta.

.. math::
    R_\theta(s_i) \subseteq \{x : d'x \ge \rho_i\} \iff \min_{x \in R_\theta(s_i)} d'x \ge \rho_i

For a Minkowski sum the left side is linear in theta, for an affine image it is so for each vertex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import TooManyVerticesError, UnsupportedError
from feaslearn.hypotheses import MapHypothesis, Maps, Minkowski, Scaled, Ternary
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.known import KnownLimits

Array = NDArray[np.float64]

#: Rounds of minimisers and least squares for regions whose minimisers move with theta.
ROUNDS = 5
#: More vertices of a primitive set than this are not written down.
MOST_VERTICES = 64
#: Numbers that are written out at once.
AT_ONCE = 4_000_000


class Rows(NamedTuple):
    """Linear functions of theta and what they are compared with."""

    matrix: Array
    right: Array


def linear_in_theta(hypothesis: Hypothesis, n: int, k: int) -> SumRows | ImageRows:
    """Return the decisions and the support of a region as linear functions of theta.

    Raises
    ------
    UnsupportedError
        If they are not, or would be too many.
    """
    if isinstance(hypothesis, Minkowski):
        return SumRows(hypothesis, n, k)
    if isinstance(hypothesis, MapHypothesis) and not isinstance(hypothesis, Ternary):
        return ImageRows(hypothesis, n, k)
    raise UnsupportedError(
        f"{hypothesis!r} cannot be contained in known constraints; use "
        "Known(inequalities='intersect')"
    )


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


class SumRows:
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

    def rows_of_a_sample(self, limits: KnownLimits) -> int:
        """Return how many rows a sample has in `containment`."""
        return len(limits.G) + 2 * self.n + len(self.hypothesis.terms_of(self.n))

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


class ImageRows:
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
        self._pull_back = self._linear_pull_back()

    def free(self) -> NDArray[np.intp]:
        """Return all places."""
        return np.arange(self.size)

    def rows_of_a_sample(self, limits: KnownLimits) -> int:
        """Return how many rows a sample has in `containment`."""
        return (len(limits.G) + 2 * self.n) * len(self.vertices)

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
        at_once = max(1, AT_ONCE // (v * len(d) * self._pull_back.shape[0]))
        for start in range(0, count, at_once):
            rows = slice(start, start + at_once)
            phi, z = features[rows], points[rows]
            A = np.einsum("ik,rj,ivp->ivrkjp", phi, d, z)
            b = np.broadcast_to(np.einsum("ik,rj->irkj", phi, d)[:, None], A.shape[:-1])
            slopes = np.hstack([each.reshape(A[..., 0, 0, 0].size, -1) for each in (A, b)])
            found[rows] = (slopes @ self._pull_back).reshape(found[rows].shape)
        return found

    def _linear_pull_back(self) -> sp.csr_array:
        """Return the matrix by which slopes in the maps are slopes in theta."""
        shape = (self.k, self.n, self.hypothesis.latent(self.n).dimension)
        found = sp.lil_array((int(np.prod(shape)) + self.k * self.n, self.size))
        for place in range(found.shape[0]):
            unit = np.zeros(found.shape[0])
            unit[place] = 1.0
            A, b = np.split(unit, [int(np.prod(shape))])
            slope = self.hypothesis.pull_back(Maps(A.reshape(shape), b.reshape(shape[:2])))
            for column in np.flatnonzero(slope):
                found[place, column] = slope[column]
        return sp.csr_array(found)
