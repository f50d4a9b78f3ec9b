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
from feaslearn.runs.memory import check_memory

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Rounds of minimisers and least squares for regions whose minimisers move with theta.
ROUNDS = 5
#: More vertices of a primitive set than this are not written down.
MOST_VERTICES = 64
#: Digits of prices that tell vertices apart.
DIGITS = 6


class Limits(NamedTuple):
    """Directions d (R, n) and what ``min d'x`` must reach at each signal (N, R).

    Minus infinity where nothing is asked for.
    """

    d: Array
    right: Array

    @classmethod
    def of(cls, known: KnownLimits) -> Limits:
        """Return the limits of what a region adds to the point of the equalities nearest to zero.

        Directions that the equalities leave no room for ask for nothing.
        """
        n = known.G.shape[1]
        d = np.vstack([known.G, np.eye(n), -np.eye(n)])
        right = np.hstack([known.g, known.lower, -known.upper])
        right = right - known.on_flat(np.zeros((len(known.e), n))) @ d.T
        d = known.inner_costs(d)
        return cls(d, np.where(d.any(axis=1), right, -np.inf))


def linear_in_theta(
    hypothesis: Hypothesis, features: Array, known: KnownLimits
) -> SumRows | ImageRows:
    """Return the decisions and the support of a region as linear functions of theta.

    Raises
    ------
    UnsupportedError
        If they are not, or would be too many.
    """
    if isinstance(hypothesis, Minkowski):
        return SumRows(hypothesis, features, Limits.of(known))
    if isinstance(hypothesis, MapHypothesis) and not isinstance(hypothesis, Ternary):
        return ImageRows(hypothesis, features, Limits.of(known))
    raise UnsupportedError(
        f"{hypothesis!r} cannot be contained in known constraints; use "
        "Known(inequalities='intersect')"
    )


class SumRows:
    """A Minkowski sum: its decisions and its support are linear in theta.

    Parameters
    ----------
    hypothesis : Minkowski
        The sum.
    features : ndarray of shape (N, k)
        The training signals.
    limits : Limits
        What is known at each of them.

    Attributes
    ----------
    right : ndarray of shape (N, kinds)
        What values must reach: those of the limits, and zero, which scales must reach.
    """

    rounds = 1

    def __init__(self, hypothesis: Minkowski, features: Array, limits: Limits) -> None:
        self.hypothesis, self.features, self.limits = hypothesis, features, limits
        self.n, self.k = limits.d.shape[1], features.shape[1]
        self.layout = hypothesis.layout(self.n, self.k)
        terms = len(hypothesis.terms_at(np.zeros(self.layout.size), self.n, self.k))
        self.right = np.hstack([limits.right, np.zeros((len(features), terms))])

    def free(self, theta: Array) -> Indices:
        """Return the places of scales and offset: knots, shapes and what was not grown stay."""
        marks = {
            name: np.full(shape, float(name in ("alpha", "b")))
            for name, shape in self.layout.shapes.items()
        }
        shapes = self.layout.unpack(theta).get("shapes")
        if shapes is not None:
            marks["alpha"][~shapes.any(axis=1)] = 0.0
        return np.flatnonzero(self.layout.pack(marks))

    def design(self, theta: Array, samples: Shard) -> Array:
        """Return the decisions (N, n) as linear functions of theta, (N, n, size)."""
        terms = self.hypothesis.terms_at(theta, self.n, self.k)
        points = TermMinimizers(terms, self.n).at(samples.costs).points
        factors = np.moveaxis(points, 1, 2)
        count, n, _ = factors.shape
        every = np.repeat(np.arange(count), n)
        d = np.tile(np.eye(n), (count, 1))
        functions = self._functions(theta, every, factors.reshape(count * n, -1), d)
        return functions.reshape(count, n, -1)

    def values(self, theta: Array) -> Array:
        """Return ``min d'x`` for every limit, and the scales, (N, kinds)."""
        blocks, factors = self.layout.unpack(theta), self._factors(theta)
        found = np.zeros((len(self.features), len(factors)))
        if "alpha" in blocks:
            psi = self.hypothesis.basis(self.k).values(self.features, blocks.get("knots"))
            scales = np.broadcast_to(psi @ blocks["alpha"].T, (len(psi), factors.shape[1]))
            found += scales @ factors.T
        if "b" in blocks:
            found[:, : len(self.limits.d)] += self.features @ blocks["b"] @ self.limits.d.T
        return found

    def rows(self, theta: Array, samples: Indices, kinds: Indices) -> Array:
        """Return some values as functions of theta, (rows, size)."""
        d = np.vstack([self.limits.d, np.zeros((self.right.shape[1] - len(self.limits.d), self.n))])
        return self._functions(theta, samples, self._factors(theta)[kinds], d[kinds])

    def _factors(self, theta: Array) -> Array:
        """Return what each scale adds to each kind of value, (kinds, T)."""
        terms = self.hypothesis.terms_at(theta, self.n, self.k)
        least = [term.primitive.minimum(self.limits.d @ term.embedding(self.n)) for term in terms]
        table = np.array(least).reshape(len(terms), len(self.limits.d)).T
        return np.vstack([table, np.eye(len(terms))])

    def _functions(self, theta: Array, samples: Indices, factors: Array, d: Array) -> Array:
        """Return ``sum_t factors[r, t] alpha_t(s) + d_r'b(s)`` as functions of theta."""
        features, blocks = self.features[samples], self.layout.unpack(theta)
        parts: list[Array] = []
        for name, block in blocks.items():
            if name == "alpha":
                psi = self.hypothesis.basis(self.k).values(features, blocks.get("knots"))
                if len(block) == 1:
                    factors = factors.sum(axis=1, keepdims=True)
                part = np.einsum("rt,rm->rtm", factors, psi)
            elif name == "b":
                part = np.einsum("rk,rj->rkj", features, d)
            else:
                part = np.zeros((len(features), block.size))
            parts.append(part.reshape(len(features), block.size))
        return np.concatenate(parts, axis=1)


class ImageRows:
    """An affine image: its vertices are linear in theta, its minimisers are held.

    Parameters and attributes are those of `SumRows`; a kind of value is a limit and a vertex.
    """

    rounds = ROUNDS

    def __init__(self, hypothesis: MapHypothesis, features: Array, limits: Limits) -> None:
        self.hypothesis, self.features, self.limits = hypothesis, features, limits
        self.n, self.k = limits.d.shape[1], features.shape[1]
        self.size = hypothesis.layout(self.n, self.k).size
        try:
            self.vertices = hypothesis.latent(self.n).vertices(MOST_VERTICES)
        except TooManyVerticesError:
            raise UnsupportedError(
                f"{hypothesis!r} has no list of at most {MOST_VERTICES} vertices, so it cannot be "
                "contained in known constraints; use Known(inequalities='intersect')"
            ) from None
        kinds = len(self.vertices) * len(limits.d)
        check_memory(
            6.0 * len(features) * kinds,
            f"{kinds} rows of {hypothesis!r} at each of {len(features)} samples",
            "use fewer samples, or Known(inequalities='intersect')",
        )
        # The factor of a scaled set must not be negative; other images have no such row.
        factor = np.full((len(features), 1), 0.0 if isinstance(hypothesis, Scaled) else -np.inf)
        self.right = np.hstack([np.tile(limits.right, len(self.vertices)), factor])
        self._pull_back = self._linear_pull_back()

    def free(self, theta: Array) -> Indices:
        """Return all places."""
        return np.arange(self.size)

    def design(self, theta: Array, samples: Shard) -> Array:
        """Return the decisions (N, n) as linear functions of theta, minimisers held."""
        count, n = samples.costs.shape
        A, _ = self.hypothesis.maps(theta, n, self.k).at(samples.features)
        q = np.einsum("inp,in->ip", A, samples.costs)
        sizes = np.abs(q).max(axis=1, keepdims=True)
        # Vertices that meet have one price but for rounding: the first of them is taken.
        q = np.round(q / np.where(sizes > 0.0, sizes, 1.0), DIGITS)
        z = self.hypothesis.latent(n).argmin(q)
        every = np.repeat(np.arange(count), n)
        functions = self._functions(every, z[every], np.tile(np.eye(n), (count, 1)))
        return functions.reshape(count, n, -1)

    def values(self, theta: Array) -> Array:
        """Return ``d'(A v + b)`` for every vertex v and limit, and the factor, (N, kinds)."""
        A, b = self.hypothesis.maps(theta, self.n, self.k).at(self.features)
        along = np.matmul(self.limits.d, A)  # (N, R, p)
        table = np.einsum("irp,vp->ivr", along, self.vertices) + (b @ self.limits.d.T)[:, None]
        count = len(self.features)
        return np.hstack([table.reshape(count, -1), np.full((count, 1), theta[0])])

    def rows(self, theta: Array, samples: Indices, kinds: Indices) -> Array:
        """Return some values as functions of theta, (rows, size)."""
        last = kinds == self.right.shape[1] - 1
        vertex, limit = np.divmod(np.where(last, 0, kinds), len(self.limits.d))
        found = self._functions(samples, self.vertices[vertex], self.limits.d[limit])
        found[last] = np.eye(1, self.size)
        return found

    def _functions(self, samples: Indices, points: Array, d: Array) -> Array:
        """Return ``d_r'(A(s) z_r + b(s))`` as functions of theta, (rows, size)."""
        phi = self.features[samples]
        A = np.einsum("rk,rj,rp->rkjp", phi, d, points).reshape(len(phi), -1)
        b = np.einsum("rk,rj->rkj", phi, d).reshape(len(phi), -1)
        at = A.shape[1]
        return np.asarray(A @ self._pull_back[:at] + b @ self._pull_back[at:])

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
