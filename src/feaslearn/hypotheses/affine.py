"""The paper's hypothesis: a free affine image of a primitive set."""

from __future__ import annotations

import numpy as np

from feaslearn.arrays import Array
from feaslearn.hypotheses.hypothesis import Layout
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.sets.simplex import Simplex


class Affine(MapHypothesis):
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

    holds_every_map = True

    @property
    def open_size(self) -> bool:
        """Whether the number of columns is left to the fit, as in ``Affine(Simplex("auto"))``."""
        return isinstance(self.primitive, Simplex) and self.primitive.open_size

    def with_size(self, p: int) -> Affine:
        """Return the hypothesis with p columns, if their number is open; otherwise itself."""
        return Affine(Simplex(p, self.primitive.binary)) if self.open_size else self

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

    def pull_back(self, gradient: Maps) -> Array:
        """Return the gradient of the blocks that are parameters."""
        parts = [gradient.A.ravel()]
        if not self.primitive.absorbs_offset:
            parts.append(gradient.b.ravel())
        return np.concatenate(parts)
