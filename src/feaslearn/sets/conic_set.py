"""Sets given by their conic form, as regions and faces make them."""

from __future__ import annotations

from dataclasses import dataclass

from feaslearn.arrays import Array
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic_form import Cone, ConicForm


@dataclass(eq=False, repr=False)
class ConicSet(PrimitiveSet):
    r"""The set :math:`\{z : Hz - h \in K\}` for linear rows and second-order cones.

    Parameters
    ----------
    H : ndarray of shape (l, p)
        Rows.
    h : ndarray of shape (l,)
        Right-hand sides.
    cones : tuple of Cone
        The factors of K in the order of the rows.

    Examples
    --------
    The upper half of the unit disc:

    >>> import numpy as np
    >>> from feaslearn.sets.conic_set import ConicSet
    >>> from feaslearn.solvers.conic_form import Cone
    >>> H, h = np.array([[0.0, 0], [1, 0], [0, 1], [0, 1]]), np.array([-1.0, 0, 0, 0])
    >>> half_disc = ConicSet(H, h, (Cone("second-order", 3), Cone("nonnegative", 1)))
    >>> half_disc.argmin([[0.0, -1.0]]).round(6) + 0.0
    array([[0., 1.]])
    """

    H: Array
    h: Array
    cones: tuple[Cone, ...]

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return int(self.H.shape[1])

    def conic_form(self) -> ConicForm:
        """Return the rows and cones as given."""
        return ConicForm(self.H, self.h, self.cones)
