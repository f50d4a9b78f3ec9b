"""Hypotheses whose region is an affine image of one primitive set."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses.hypothesis import MOST_COMPONENTS, Hypothesis, first_of
from feaslearn.region.form import RegionForm
from feaslearn.region.latent_set import latent_set
from feaslearn.region.minimize import Solved
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.image_kernels import predict_rows
from feaslearn.sets.primitive_set import PrimitiveSet, Ties
from feaslearn.solvers.oracle_kernels import is_simplex
from feaslearn.tolerances import TIE_TOL, ZERO_PRICE

#: Rows handled at once where the maps of each row are written out.
CHUNK = 4096


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


@dataclass(eq=False, repr=False)
class MapHypothesis(Hypothesis):
    r"""A class of regions :math:`R_\theta(s) = \{A(s) z + b(s) : z \in Z\}`.

    A subclass says which parameters it has and which maps they make.
    """

    primitive: PrimitiveSet

    #: Whether the class holds every map, and not only some.
    holds_every_map: ClassVar[bool] = False

    def as_maps(self) -> MapHypothesis:
        """Return the hypothesis itself."""
        return self

    def check(self, n: int) -> None:
        """Refuse a set that does not fit n decisions, is empty or unbounded."""
        self.latent(n).check()

    def latent(self, n: int) -> PrimitiveSet:
        """Return the primitive set Z; refuse one that does not fit n decisions."""
        if not isinstance(self.primitive, PrimitiveSet):
            raise UnsupportedError(
                f"{type(self).__name__} needs a primitive set such as Simplex(9), not "
                f"{self.primitive!r}"
            )
        return self.primitive

    @abstractmethod
    def maps(self, theta: Array, n: int, k: int) -> Maps:
        """Return the maps that theta stands for."""

    @abstractmethod
    def theta_of(self, maps: Maps) -> Array:
        """Return the parameters whose maps are ``maps``, or closest to them."""

    @abstractmethod
    def pull_back(self, gradient: Maps) -> Array:
        """Return the gradient in theta, given the gradient in the maps."""

    def describe(self, theta: Array, n: int, k: int) -> RegionForm:
        """Return ``x = sum_k phi_k (A_k z + b_k)`` over the rows of Z."""
        maps = self.maps(theta, n, k)
        return RegionForm.of_maps(latent_set(self.latent(n)), list(maps.A), maps.b)

    def solve(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Solved:
        """Return for each row a decision of least cost; the image of a set is never empty."""
        n, k = costs.shape[1], features.shape[1]
        primitive, maps = self.latent(n), self.maps(theta, n, k)
        decisions, none_empty = np.empty(costs.shape), np.zeros(len(costs), dtype=bool)
        found = self.solve_coded(theta, features, costs) if ties == "first" else None
        if found is not None:
            return Solved(found[0], none_empty)
        for start in range(0, len(features), CHUNK):
            rows = slice(start, start + CHUNK)
            A, b = maps.at(features[rows])
            latent_costs = np.einsum("inp,in->ip", A, costs[rows])
            z = primitive.argmin(latent_costs, ties=ties)
            decisions[rows] = np.einsum("inp,ip->in", A, z) + b
        return Solved(decisions, none_empty)

    def solve_coded(self, theta: Array, features: Array, costs: Array) -> tuple[Array, Mask] | None:
        """Return decisions of least cost, and where the minimiser is not unique.

        None where the compiled kernels do not serve the set.
        """
        n, k = costs.shape[1], features.shape[1]
        code = self.latent(n).code()
        if code is None:
            return None
        decisions, tied = np.empty(costs.shape), np.empty(len(costs), dtype=bool)
        maps = self.maps(theta, n, k)
        predict_rows(code, *maps, features, costs, TIE_TOL, decisions, tied)
        if is_simplex(code) and tied.any() and not np.ptp(maps.A, axis=2).any():
            tied[:] = False  # equal columns: all minimisers are one decision
        return decisions, tied

    def tied(self, theta: Array, features: Array, costs: Array) -> Mask:
        """Say for each row whether its latent cost has several minimisers in Z."""
        n, k = costs.shape[1], features.shape[1]
        primitive, maps = self.latent(n), self.maps(theta, n, k)
        parts = [np.zeros(0, dtype=bool)]
        for start in range(0, len(features), CHUNK):
            rows = slice(start, start + CHUNK)
            A, _ = maps.at(features[rows])
            parts.append(primitive.tied(np.einsum("inp,in->ip", A, costs[rows])))
        return np.concatenate(parts)

    def image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the region at one row of features as an affine image."""
        A, b = self.maps(theta, n, len(phi)).at(phi[None, :])
        return AffineImage(self.latent(n), A[0], b[0])

    def is_compiled(self, n: int) -> bool:
        """Whether kernels serve the set."""
        return self.latent(n).code() is not None

    def usage(self, theta: Array, features: Array, costs: Array) -> Array:
        """Return the share of rows in which each entry of the latent point is used."""
        n, k = costs.shape[1], features.shape[1]
        A, _ = self.maps(theta, n, k).at(features)
        z = self.latent(n).argmin(np.einsum("inp,in->ip", A, costs))
        return np.asarray((np.abs(z) > ZERO_PRICE).mean(axis=0))

    def components(self, theta: Array, k: int, usage: Array, names: Sequence[str]) -> list[str]:
        """Say how often each column is used."""
        found = self.as_minkowski(len(names))
        is_point = found is not None and not found.terms_of(len(names))
        if is_point or not self.maps(theta, len(names), k).A.any():
            return ["the region is a single point, b(s): it has no limits to show"]
        order = np.argsort(-usage, kind="stable")
        used = [
            f"column {column} is used in {100 * usage[column]:.3g} % of the samples"
            for column in order[usage[order] > 0.0]
        ]
        said = first_of(used, "and {} columns that are used less")
        never = np.flatnonzero(usage == 0.0)[:MOST_COMPONENTS]
        if len(never):
            said.append(f"no sample uses columns {', '.join(map(str, never))}")
        return said
