r"""Regions, equation (7): images of a set under a map that moves with the signal.

.. math:: R_\theta(s) = \{A(s) z + b(s) : z \in Z\}, \qquad
          A(s) = \sum_k \phi_k(s) A_k, \quad b(s) = \sum_k \phi_k(s) b_k, \quad \phi_0 = 1

Z is any compact conic set, :math:`Z = \{z : Hz - h \in K\}`. A class of maps says which numbers
are learned: all of A and b (`Affine`, Section 3.1), one scale (`Scaled`, Section 3.3), or a
constant matrix of -1, 0 and 1 (`Ternary`, Section 3.3). The paper has :math:`\phi_k(s) = s_k`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.paper.kernels import code_of
from feaslearn.paper.regions.image import Image
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.oracle_kernels import minimize_rows
from feaslearn.tolerances import SUM_ROUNDING, TIE_TOL

Ties = Literal["first", "center"]


class Maps(NamedTuple):
    """``A(s) = sum_k phi_k(s) A[k]`` and ``b(s) = sum_k phi_k(s) b[k]``.

    ``A`` has shape (k, n, p) and ``b`` shape (k, n).
    """

    A: Array
    b: Array

    def at(self, features: Array) -> tuple[Array, Array]:
        """Return ``A(s)`` (N, n, p) and ``b(s)`` (N, n) for rows of features (N, k)."""
        k, n, p = self.A.shape
        return (features @ self.A.reshape(k, n * p)).reshape(-1, n, p), features @ self.b

    def images(self, features: Array, Z: Array) -> Array:
        """Return ``A(s) z + b(s)`` for rows of features and latent points, (N, n)."""
        # Term by term, so that a zero entry of z adds exactly nothing.
        found = np.zeros((len(features), self.b.shape[1]))
        for phi, b in zip(features.T, self.b, strict=True):
            found += phi[:, None] * b
        for j, z in enumerate(Z.T):
            for phi, A in zip(features.T, self.A, strict=True):
                found += (phi * z)[:, None] * A[:, j]
        return found

    def latent_costs(self, features: Array, costs: Array) -> LatentCosts:
        """Return ``q = A(s)'c`` of each sample, and below what difference two of its values tie.

        No difference that rounding alone can make breaks a tie: where a cost is at right angles to
        the whole region, q is zero, and computed it is a few times 1e-17.
        """
        q = np.einsum("inp,in->ip", self.at(features)[0], costs)
        sizes = np.abs(features) @ np.abs(self.A).max(axis=2)
        rounding = SUM_ROUNDING * np.einsum("in,in->i", sizes, np.abs(costs))
        q[np.abs(q) <= rounding[:, None]] = 0.0
        return LatentCosts(q, np.maximum(TIE_TOL * np.abs(q).max(axis=1), rounding))


class LatentCosts(NamedTuple):
    """Latent costs q (N, p), and the difference (N,) below which their values tie."""

    costs: Array
    tolerances: Array


def minimizers(Z: PrimitiveSet, Q: Array, tolerances: Array) -> tuple[Array, Mask]:
    """Return for each row q the first minimiser of ``q'z``, and whether there are several."""
    code = code_of(Z)
    if code is None:
        return Z.argmin(Q), Z.tied(Q)
    found, tied = np.empty(Q.shape), np.empty(len(Q), dtype=bool)
    minimize_rows(code, Q, tolerances, found, tied)
    return found, tied


@dataclass(frozen=True)
class Layout:
    """Named blocks of parameters, one after the other in theta.

    Examples
    --------
    >>> from feaslearn.paper.regions import Layout
    >>> layout = Layout({"A": (2, 1, 2), "b": (2, 1)})
    >>> layout.size
    6
    >>> layout.unpack(np.arange(6.0))["b"]
    array([[4.],
           [5.]])
    """

    shapes: dict[str, tuple[int, ...]]

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(prod(shape) for shape in self.shapes.values())

    def unpack(self, theta: Array) -> dict[str, Array]:
        """Return the blocks of ``theta`` as views."""
        if np.shape(theta) != (self.size,):
            raise DataError(f"theta has shape {np.shape(theta)}; expected ({self.size},)")
        blocks, start = {}, 0
        for name, shape in self.shapes.items():
            stop = start + prod(shape)
            blocks[name] = theta[start:stop].reshape(shape)
            start = stop
        return blocks


@dataclass(frozen=True)
class MapClass(ABC):
    r"""A class of regions :math:`R_\theta(s) = \{A(s) z + b(s) : z \in Z\}`.

    A subclass says which parameters it has (`layout`) and which maps they make (`maps`); methods
    take the numbers of decisions n and of features k, the constant included.

    Parameters
    ----------
    Z : PrimitiveSet
        The set.
    """

    Z: PrimitiveSet

    #: Whether some parameters are integers, which have no gradient.
    integer_parameters: ClassVar[bool] = False

    def check(self, n: int) -> None:
        """Refuse a set that does not fit n decisions, is empty or unbounded."""
        self.Z.check()

    @abstractmethod
    def layout(self, n: int, k: int) -> Layout:
        """Return the blocks of theta."""

    @abstractmethod
    def maps(self, theta: Array, n: int, k: int) -> Maps:
        """Return the maps that theta stands for."""

    @abstractmethod
    def theta_of(self, maps: Maps) -> Array:
        """Return the parameters whose maps are ``maps``, or closest to them."""

    @abstractmethod
    def pull_back(self, gradient: Maps) -> Array:
        """Return the gradient in theta, given the gradient in the maps."""

    def image(self, theta: Array, phi: Array, n: int) -> Image:
        """Return the region at one row of features."""
        A, b = self.maps(theta, n, len(phi)).at(phi[None, :])
        return Image(self.Z, A[0], b[0])

    def decisions(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Array:
        """Return for each row a decision of least cost in its region, (N, n).

        ``ties`` says which of several: the image of the first minimiser, or of their centre.
        """
        return self.decisions_and_ties(theta, features, costs, ties)[0]

    def decisions_and_ties(
        self, theta: Array, features: Array, costs: Array, ties: Ties = "first"
    ) -> tuple[Array, Mask]:
        """Return decisions of least cost, and which rows have several latent minimisers."""
        maps = self.maps(theta, costs.shape[1], features.shape[1])
        latent = maps.latent_costs(features, costs)
        z, tied = minimizers(self.Z, *latent)
        if ties == "center":
            z = self.Z.argmin(latent.costs, ties=ties)
        return maps.images(features, z), tied


@dataclass(frozen=True)
class Affine(MapClass):
    r"""All of A and b is learned: the map can rotate, scale, project and move Z (Section 3.1).

    Where the entries of every z have the same sum (simplex, hypersimplex), b can be added to each
    column of A and is left out.

    Parameters
    ----------
    Z : PrimitiveSet
        The set.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Simplex
    >>> from feaslearn.paper import Affine
    >>> switch, theta = Affine(Simplex(2)), np.eye(2).ravel()
    >>> switch.decisions(theta, np.ones((2, 1)), np.array([[0.2, 0.8], [0.7, 0.3]]))
    array([[1., 0.],
           [0., 1.]])
    """

    def layout(self, n: int, k: int) -> Layout:
        """Return block "A" and, where it is not redundant, block "b"."""
        shapes: dict[str, tuple[int, ...]] = {"A": (k, n, self.Z.dimension)}
        if not self.Z.absorbs_offset:
            shapes["b"] = (k, n)
        return Layout(shapes)

    def maps(self, theta: Array, n: int, k: int) -> Maps:
        """Return the blocks themselves."""
        blocks = self.layout(n, k).unpack(theta)
        return Maps(blocks["A"], blocks.get("b", np.zeros((k, n))))

    def theta_of(self, maps: Maps) -> Array:
        """Return the maps as one vector; a redundant offset goes into the columns."""
        if self.Z.absorbs_offset:
            return np.ravel(maps.A + maps.b[:, :, None] / self.Z.center().sum())
        return np.concatenate([maps.A.ravel(), maps.b.ravel()])

    def pull_back(self, gradient: Maps) -> Array:
        """Return the gradient of the blocks that are parameters."""
        if self.Z.absorbs_offset:
            return gradient.A.ravel()
        return np.concatenate([gradient.A.ravel(), gradient.b.ravel()])


@dataclass(frozen=True)
class Scaled(MapClass):
    r"""Regions :math:`\{\alpha z + b(s) : z \in Z\}` with :math:`\alpha \ge 0` and b learned.

    Scaling does not change which points of Z are optimal, so training is convex (Section 3.3).

    Parameters
    ----------
    Z : PrimitiveSet
        The set, with as many entries as there are decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import L1Ball
    >>> from feaslearn.paper import Scaled
    >>> theta = np.array([0.5, 1.0, 1.0])  # alpha = 0.5, b = (1, 1)
    >>> Scaled(L1Ball(2)).decisions(theta, np.ones((1, 1)), np.array([[0.3, -0.9]]))
    array([[1. , 1.5]])
    """

    def check(self, n: int) -> None:
        """Refuse a set that has not n entries."""
        super().check(n)
        if self.Z.dimension != n:
            raise DataError(
                f"Scaled needs a set with as many entries as decisions ({n}), but {self.Z!r} has "
                f"{self.Z.dimension}; Affine takes any number"
            )

    def layout(self, n: int, k: int) -> Layout:
        """Return blocks "alpha" (1,) and "b" (k, n)."""
        return Layout({"alpha": (1,), "b": (k, n)})

    def maps(self, theta: Array, n: int, k: int) -> Maps:
        """Return ``A_0 = alpha I`` and zero for the other features."""
        blocks = self.layout(n, k).unpack(theta)
        A = np.zeros((k, n, n))
        A[0] = blocks["alpha"][0] * np.eye(n)
        return Maps(A, blocks["b"])

    def theta_of(self, maps: Maps) -> Array:
        """Return the mean of the constant map's diagonal, not below zero, and the offset."""
        alpha = max(0.0, float(np.trace(maps.A[0])) / maps.A.shape[1])
        return np.concatenate([[alpha], maps.b.ravel()])

    def pull_back(self, gradient: Maps) -> Array:
        """Return the trace of the constant map's gradient, and that of b."""
        return np.concatenate([[np.trace(gradient.A[0])], gradient.b.ravel()])


@dataclass(frozen=True)
class Ternary(MapClass):
    r"""Regions :math:`\{A z + b(s) : z \in Z\}` with :math:`A \in \{-1, 0, 1\}^{n \times p}`.

    The map says which latent quantity adds to which decision, takes from it, or leaves it alone,
    as the incidence matrix of a network does; it does not depend on the signal (Section 3.3).

    Parameters
    ----------
    Z : PrimitiveSet
        The set.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Box
    >>> from feaslearn.paper import Ternary
    >>> theta = np.array([1.0, -1.0, 0.0, 2.0])  # A = (1, -1), b = (0, 2)
    >>> Ternary(Box(1)).decisions(theta, np.ones((1, 1)), np.array([[1.0, 3.0]]))
    array([[1., 1.]])
    """

    integer_parameters = True

    def layout(self, n: int, k: int) -> Layout:
        """Return blocks "A" (n, p) and "b" (k, n)."""
        return Layout({"A": (n, self.Z.dimension), "b": (k, n)})

    def maps(self, theta: Array, n: int, k: int) -> Maps:
        """Return ``A_0 = A`` and zero for the other features."""
        blocks = self.layout(n, k).unpack(theta)
        A = np.zeros((k, *blocks["A"].shape))
        A[0] = blocks["A"]
        return Maps(A, blocks["b"])

    def theta_of(self, maps: Maps) -> Array:
        """Return the constant map with each entry at the nearest of -1, 0 and 1, and the offset."""
        A = np.clip(np.round(maps.A[0]), -1.0, 1.0) + 0.0
        return np.concatenate([A.ravel(), maps.b.ravel()])

    def pull_back(self, gradient: Maps) -> Array:
        """Return the gradient of the constant map, and that of b."""
        return np.concatenate([gradient.A[0].ravel(), gradient.b.ravel()])
