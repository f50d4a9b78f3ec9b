"""One learned region R(s)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.messages import write_sum
from feaslearn.printable import printable
from feaslearn.region.form import RegionForm, Row
from feaslearn.region.within import intersect, meeting
from feaslearn.sets.affine_image import AffineImage
from feaslearn.tolerances import VISIBLE_TOL

if TYPE_CHECKING:
    from feaslearn.sets.half_spaces import HalfSpaces
    from feaslearn.sets.primitive_set import Ties


class Region:
    r"""The region :math:`R(s) = \{A z + b : z \in Z\}` at one signal, within known constraints.

    Parameters
    ----------
    image : AffineImage
        The primitive set Z with A and b.
    names : sequence of str, default=None
        Names of the decisions.
    account : sequence of str, default=()
        What the decision maker can do, in words.
    known : HalfSpaces, default=None
        Known constraints :math:`A x \le b, E x = e` that hold beside the image; everything this
        class answers is about the intersection.
    rows : RegionForm, default=None
        The rows whose image it is, with their names, where it is given by rows.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Region, Simplex
    >>> from feaslearn.sets import AffineImage
    >>> region = Region(AffineImage(Simplex(3), np.array([[0.0, 2, 0], [0, 0, 2]]), np.ones(2)))
    >>> region.minimize([-1.0, 0.0])
    array([3., 1.])
    >>> region.contains([[1.5, 1.5], [3.0, 3.0]])
    array([ True, False])
    >>> region.support([1.0, 1.0])
    4.0
    """

    def __init__(
        self,
        image: AffineImage,
        names: Sequence[str] | None = None,
        account: Sequence[str] = (),
        known: HalfSpaces | None = None,
        rows: RegionForm | None = None,
    ) -> None:
        self.image = image
        self.rows = rows
        self.known = known
        self.account = tuple(account)
        self.names = tuple(names) if names is not None else tuple(f"x{j}" for j in range(image.n))
        if len(self.names) != image.n:
            raise DataError(f"{len(self.names)} names were given for {image.n} decisions")

    @cached_property
    def _all(self) -> AffineImage:
        """The learned part within known constraints."""
        return self.image if self.known is None else intersect(self.image, self.known)

    @cached_property
    def form(self) -> RegionForm:
        """The labelled rows of the region, within known constraints."""
        form = RegionForm.of_image(self.image) if self.rows is None else self.rows
        if self.known is None:
            return form
        known = self.known
        labels = [Row("known", f"known_{i + 1}") for i in range(len(known.A) + len(known.E))]
        return form.cut(known.A, known.b[None], known.E, known.e[None], labels)

    @property
    def n(self) -> int:
        """Number of decisions."""
        return self.image.n

    def minimize(self, cost: ArrayLike, ties: Ties = "first") -> Array:
        """Return a decision of least cost.

        Parameters
        ----------
        cost : array-like of shape (n,)
            Cost of each decision.
        ties : {"first", "center"}, default="first"
            Which of several minimisers to return.

        Returns
        -------
        ndarray of shape (n,)
            The decision.
        """
        return self._all.minimize(cost, ties)

    def optimal_face(self, cost: ArrayLike) -> Region:
        """Return all decisions of least cost, as a region."""
        return Region(self._all.optimal_face(cost), self.names)

    def support(self, direction: ArrayLike) -> float:
        """Return ``max d'x`` over the region."""
        return self._all.support(direction)

    def contains(self, X: ArrayLike, tolerance: float = 1e-7) -> Mask:
        """Say for each row of ``X`` whether it lies in the region."""
        return self._all.contains(X, tolerance)

    def project(self, X: ArrayLike) -> Array:
        """Return the nearest decision of the region for a decision or each row of ``X``."""
        return self._all.project(X)

    def distance(self, x: ArrayLike) -> float:
        """Return the distance of a decision to the region."""
        return self._all.distance(x)

    def vertices(self, limit: int = 10_000) -> Array:
        """Return the vertices as rows; refuse a curved region or more than ``limit``."""
        if self.known is None:
            return self.image.vertices(limit)
        return self.halfspaces(limit).vertices(limit)

    def halfspaces(self, limit: int = 10_000) -> HalfSpaces:
        """Return the region as ``A x <= b, E x = e``."""
        rows = self.image.halfspaces(limit)
        return rows if self.known is None else rows.meeting(self.known)

    def bounding_box(self) -> tuple[Array, Array]:
        """Return the least and the greatest value of each decision."""
        return self._all.bounding_box()

    def describe(self) -> str:
        """Say in words what the region is: its parts where they are known, and its ranges."""
        box = np.array(self.bounding_box())
        # Rounding beside the size of the region is shown as zero.
        lower, upper = np.where(np.abs(box) < VISIBLE_TOL * np.abs(box).max(), 0.0, box)
        ranges = (
            f"{name} lies in [{low:.4g}, {high:.4g}]"
            for name, low, high in zip(self.names, lower, upper, strict=True)
        )
        return "\n".join([*self.account, *self._known_rows(), *ranges])

    def _known_rows(self) -> Iterator[str]:
        """Yield the known constraints on sums of decisions; bounds show in the ranges."""
        if self.known is None:
            return
        rows = [*zip(self.known.E, self.known.e, strict=True)]
        several = (self.known.A != 0.0).sum(axis=1) > 1
        rows += zip(self.known.A[several], self.known.b[several], strict=True)
        for i, (row, limit) in enumerate(rows):
            # In units of the largest entry, most rows are sums.
            unit = np.abs(row).max()
            terms = zip((row / unit).tolist(), self.names, strict=True)
            text = write_sum((factor, name) for factor, name in terms if factor)
            sign = "=" if i < len(self.known.E) else "<="
            yield f"known: {text} {sign} {limit / unit:.4g}"

    def __repr__(self) -> str:
        lower, upper = self.bounding_box()
        spans = (
            f"{printable(name)} in [{low:.4g}, {high:.4g}]"
            for name, low, high in zip(self.names, lower, upper, strict=True)
        )
        return f"Region({self.image.primitive!r}: {', '.join(spans)})"


def region_within(
    image: AffineImage, known: HalfSpaces, names: Sequence[str], account: Sequence[str]
) -> Region | None:
    """Return a learned region within known constraints, None where they do not meet."""
    both = meeting(image, known)
    if both is None:
        return None
    region = Region(image, names, account, known)
    region._all = both  # noqa: SLF001 (found already)
    return region
