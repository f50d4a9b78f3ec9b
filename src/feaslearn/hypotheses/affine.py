"""A free affine image of a primitive set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses.hypothesis import MOST_COMPONENTS, Hypothesis, Layout, first_of
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.region.form import RegionForm
from feaslearn.region.latent_set import latent_set, refuse_binary
from feaslearn.region.minimize import Solved
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet, Ties
from feaslearn.solvers.oracle_kernels import is_simplex, predict_rows
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
class Affine(Hypothesis):
    r"""Regions :math:`\{A(s) z + b(s) : z \in Z\}` with all of A and b learned.

    .. math:: A(s) = \sum_k \phi_k(s) A_k, \qquad b(s) = \sum_k \phi_k(s) b_k

    The map can rotate, scale, project and move Z as the signal changes. Where the entries of every
    z have the same sum (simplex, hypersimplex), b can be added to each column of A and is left out.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Affine, Simplex
    >>> switch = Affine(Simplex(2))
    >>> theta = np.eye(2).ravel()
    >>> switch.predict(theta, np.ones((2, 1)), np.array([[0.2, 0.8], [0.7, 0.3]]))
    array([[1., 0.],
           [0., 1.]])
    """

    primitive: PrimitiveSet

    def as_affine(self) -> Affine:
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
        refuse_binary(self.primitive)
        return self.primitive

    def as_minkowski(self, n: int) -> Minkowski | None:
        """Return the sum of no terms, the linear policy, where the set is a point."""
        primitive = self.latent(n)
        point = primitive.dimension == 1 and primitive.absorbs_offset
        return Minkowski([]) if point else None

    def layout(self, n: int, k: int) -> Layout:
        """Return block "A" and, where it is not redundant, block "b"."""
        primitive = self.latent(n)
        shapes: dict[str, tuple[int, ...]] = {"A": (k, n, primitive.dimension)}
        if not primitive.absorbs_offset:
            shapes["b"] = (k, n)
        return Layout(shapes)

    def maps(self, theta: Array, n: int, k: int) -> Maps:
        """Return the blocks themselves."""
        blocks = self.layout(n, k).unpack(theta)
        return Maps(blocks["A"], blocks.get("b", np.zeros((k, n))))

    def theta_of(self, maps: Maps) -> Array:
        """Return the maps as one vector; a redundant offset goes into the columns."""
        k, n, _ = maps.A.shape
        if "b" in self.layout(n, k).shapes:
            return self.layout(n, k).pack({"A": maps.A, "b": maps.b})
        total = self.primitive.center().sum()
        return np.ravel(maps.A + maps.b[:, :, None] / total)

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
