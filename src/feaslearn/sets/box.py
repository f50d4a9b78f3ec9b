"""The box."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import EmptySetError, SetError, UnboundedSetError
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet, positive_integer
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.oracle_kernels import BOX, SetCode, single
from feaslearn.tolerances import MOST_VERTICES


@dataclass(eq=False, repr=False)
class Box(PrimitiveSet):
    r"""The box :math:`\{z : l \le z \le u\}`.

    Parameters
    ----------
    p : int
        Number of entries.
    lower, upper : float or array-like of shape (p,), default=-1, 1
        Limits.

    Examples
    --------
    >>> from feaslearn import Box
    >>> Box(2).argmin([[0.3, -0.1]])
    array([[-1.,  1.]])
    """

    p: int
    lower: ArrayLike = -1.0
    upper: ArrayLike = 1.0

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return positive_integer(self.p, "p", "Box")

    def limits(self) -> tuple[Array, Array]:
        """Return the limits as two arrays of p entries."""
        p = self.dimension
        try:
            lower = np.broadcast_to(np.asarray(self.lower, dtype=float), p).copy()
            upper = np.broadcast_to(np.asarray(self.upper, dtype=float), p).copy()
        except (TypeError, ValueError):
            raise SetError(f"{self!r}: lower and upper must be one number or {p} each") from None
        return lower, upper

    def check(self) -> None:
        """Refuse crossing or infinite limits, naming the entry."""
        lower, upper = self.limits()
        finite = np.isfinite(lower) & np.isfinite(upper)
        for bad, error, text in (
            (np.isnan(lower) | np.isnan(upper), SetError, ": z[{}] has limits {} and {}"),
            (~finite, UnboundedSetError, " is unbounded: z[{}] in [{}, {}]"),
            (
                lower > upper,
                EmptySetError,
                " is empty: z[{}] has lower limit {} above upper limit {}",
            ),
        ):
            for k in np.flatnonzero(bad):
                raise error(f"{self!r}{text.format(k, lower[k], upper[k])}")

    def conic_form(self) -> ConicForm:
        """Return ``z - l >= 0`` and ``u - z >= 0``."""
        lower, upper = self.limits()
        p = len(lower)
        H = np.vstack([np.eye(p), -np.eye(p)])
        return ConicForm(H, np.concatenate([lower, -upper]), (Cone("nonnegative", 2 * p),))

    def code(self) -> SetCode:
        """Return what the compiled kernels read."""
        lower, upper = self.limits()
        return single(BOX, self.dimension, lower=lower, upper=upper)

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return the box over the entries that cost nothing, the others at their cheap limit."""
        cost, margin = self._cost(q, tolerance)
        lower, upper = self.limits()
        free = np.flatnonzero((np.abs(cost) <= margin) & (lower < upper))
        fixed = np.where(np.signbit(cost), upper, lower)
        if len(free) == 0:
            return AffineImage.point(fixed)
        fixed[free] = 0.0
        return AffineImage(
            Box(len(free), lower[free], upper[free]), np.eye(len(cost))[:, free], fixed
        )

    def center(self) -> Array:
        """Return the middle."""
        lower, upper = self.limits()
        return (lower + upper) / 2.0

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return the corners, lower limits first."""
        lower, upper = self.limits()
        sides = [(a,) if a == b else (a, b) for a, b in zip(lower, upper, strict=True)]
        self._refuse_beyond(limit, 2 ** sum(len(side) == 2 for side in sides))
        return np.array(list(product(*sides)))
