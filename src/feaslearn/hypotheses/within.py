"""Curved and discrete regions within known constraints, one sample at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from feaslearn.exceptions import EmptySetError, InfeasibleProblemError
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.conic_form import ConicForm
from feaslearn.sets.conic_solver import nearest_by_solver
from feaslearn.sets.half_spaces import HalfSpaces
from feaslearn.sets.intersection import intersect

Array = NDArray[np.float64]


class Within(NamedTuple):
    """A decision, None where the rows contradict each other, and whether the region has none."""

    decision: Array | None
    empty: bool


def minimize_within(image: AffineImage, rows: HalfSpaces, cost: Array) -> Within:
    """Return a decision of least cost in a region and given rows, or the nearest in the rows."""
    try:
        return Within(intersect(image, rows).minimize(cost), False)
    except (EmptySetError, InfeasibleProblemError):
        return Within(_nearest(image, rows), True)


def _nearest(image: AffineImage, rows: HalfSpaces) -> Array | None:
    """Return the point that satisfies the rows and is nearest to the region, if there is one."""
    form = rows.form()
    try:
        if image.primitive.discrete:
            points = image.primitive.vertices() @ image.matrix.T + image.offset
            near = [nearest_by_solver(form, np.eye(image.n), x, "l2").latent for x in points]
            return near[int(np.linalg.norm(near - points, axis=1).argmin())]
        own = image.primitive.conic_form()
        both = ConicForm(
            block_diag(form.H, own.H), np.concatenate([form.h, own.h]), (*form.cones, *own.cones)
        )
        M = np.hstack([np.eye(image.n), -image.matrix])
        return nearest_by_solver(both, M, image.offset, "l2").latent[: image.n]
    except InfeasibleProblemError:
        return None
