"""The hypersimplex: m ones among p entries."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import EmptySetError
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet, positive_integer
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.oracle_kernels import HYPERSIMPLEX, SetCode, single
from feaslearn.tolerances import MOST_VERTICES


@dataclass(eq=False, repr=False)
class Hypersimplex(PrimitiveSet):
    r"""The hypersimplex :math:`\{0 \le z \le 1 : e'z = m\}`.

    Its minimiser picks the m cheapest entries: "run the m cheapest units".

    Parameters
    ----------
    p : int
        Number of entries.
    m : int
        Their sum, from 1 to p. ``m = 1`` is the simplex, ``m = p`` a single point.

    Examples
    --------
    >>> from feaslearn import Hypersimplex
    >>> Hypersimplex(4, 2).argmin([[0.4, 0.1, 0.3, 0.2]])
    array([[0., 1., 0., 1.]])
    """

    absorbs_offset = True

    p: int
    m: int

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return positive_integer(self.p, "p", "Hypersimplex")

    def check(self) -> None:
        """Refuse wrong parameters, and m > p, which leaves no point."""
        if positive_integer(self.m, "m", "Hypersimplex") > self.dimension:
            raise EmptySetError(f"{self!r} is empty: p entries of at most 1 cannot sum to m > p")

    def conic_form(self) -> ConicForm:
        """Return ``z >= 0``, ``-z + 1 >= 0`` and ``e'z - m = 0``."""
        p = self.dimension
        H = np.vstack([np.eye(p), -np.eye(p), np.ones(p)])
        h = np.concatenate([np.zeros(p), -np.ones(p), [float(self.m)]])
        return ConicForm(H, h, (Cone("nonnegative", 2 * p), Cone("zero", 1)))

    def code(self) -> SetCode:
        """Return what the compiled kernels read."""
        self.check()
        return single(HYPERSIMPLEX, self.dimension, count=int(self.m))

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return the cheaper entries at one, with a smaller hypersimplex over the tied ones."""
        self.check()
        cost, margin = self._cost(q, tolerance)
        threshold = np.sort(cost)[self.m - 1]
        sure = (cost < threshold - margin).astype(float)
        tied = np.flatnonzero(np.abs(cost - threshold) <= margin)
        left = int(self.m - sure.sum())
        if left == len(tied):
            sure[tied] = 1.0
            return AffineImage.point(sure)
        return AffineImage(Hypersimplex(len(tied), left), np.eye(len(cost))[:, tied], sure)

    def center(self) -> Array:
        """Return the point with equal entries m / p."""
        return np.full(self.dimension, self.m / self.dimension)

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return every point with m ones, the first entries first."""
        self.check()
        self._refuse_beyond(limit, comb(self.dimension, self.m))
        chosen = list(combinations(range(self.dimension), self.m))
        points = np.zeros((len(chosen), self.dimension))
        for row, ones in enumerate(chosen):
            points[row, list(ones)] = 1.0
        return points
