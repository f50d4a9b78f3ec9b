"""The base of hypotheses, and the layout of their parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.region.form import RegionForm
from feaslearn.region.minimize import Solved, minimize
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import Ties

if TYPE_CHECKING:
    from feaslearn.hypotheses.affine import Affine
    from feaslearn.hypotheses.minkowski import Minkowski

#: Components that are listed.
MOST_COMPONENTS = 8


class Hypothesis(BaseEstimator, ABC):
    r"""A class of regions :math:`R_\theta(s)`.

    Methods take ``n`` (decisions) and ``k`` (features, the constant included): a hypothesis is a
    description and holds no data. Subclasses give `layout` and `describe`; everything else has a
    default that minimises over the rows, and is overridden where there is a closed form.
    """

    def check(self, n: int) -> None:
        """Refuse wrong parameters, or those that do not fit n decisions."""

    def as_affine(self) -> Affine | None:
        """Return this hypothesis where it is an affine image of one set."""
        return None

    def as_minkowski(self, n: int) -> Minkowski | None:
        """Return the Minkowski sum with the same parameters, if there is one."""
        return None

    @abstractmethod
    def layout(self, n: int, k: int) -> Layout:
        """Return the blocks of theta."""

    def layout_of(self, theta: Array, n: int, k: int) -> Layout:
        """Return the blocks of given parameters, where their number follows what was learned."""
        return self.layout(n, k)

    def describe(self, theta: Array, n: int, k: int) -> RegionForm:
        """Return the rows of the regions, which exports, known constraints and minima read.

        Parameters
        ----------
        theta : ndarray
            Parameters.
        n, k : int
            Number of decisions and of features, the constant included.

        Returns
        -------
        RegionForm
            Rows over decisions and latent variables, with weights that depend on the features.
        """
        raise UnsupportedError(
            f"nothing here says how {self!r} moves with the signal; export model.region(signal)"
        )

    def is_curved(self, theta: Array, n: int, k: int) -> bool:
        """Say whether a limit of the regions bends."""
        return self.describe(theta, n, k).curved

    def solve(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Solved:
        """Return for each row a decision of least cost in its region.

        Parameters
        ----------
        theta : ndarray
            Parameters.
        features : ndarray of shape (N, k)
            Features, the constant first.
        costs : ndarray of shape (N, n)
            Costs.
        ties : {"first", "center"}, default="first"
            Which of several minimisers to return.

        Returns
        -------
        Solved
            Decisions, and where the region is empty, so that they violate its rows a little.
        """
        form = self.describe(theta, costs.shape[1], features.shape[1])
        return minimize(form, features, costs, ties)

    def predict(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Array:
        """Return the decisions of `solve` alone."""
        return self.solve(theta, features, costs, ties).decisions

    def tied(self, theta: Array, features: Array, costs: Array) -> Mask:
        """Say for each row whether several decisions may be optimal in its region."""
        form = self.describe(theta, costs.shape[1], features.shape[1])
        return minimize(form, features, costs, exact_ties=True).tied_or_all()

    def solve_tied(self, theta: Array, features: Array, costs: Array) -> tuple[Solved, Mask]:
        """Return what `solve` and `tied` do; overridden where one pass finds both."""
        return self.solve(theta, features, costs), self.tied(theta, features, costs)

    def solve_coded(self, theta: Array, features: Array, costs: Array) -> tuple[Array, Mask] | None:
        """Return decisions of least cost and where they tie, if compiled kernels serve the set."""
        return None

    def solve_duals(self, theta: Array, features: Array, costs: Array) -> Solved:
        """Return what `solve` does with ties and, for rows of the decisions alone, their duals.

        Duals are those of the rows of `describe`; images of latent points have None.
        """
        solved, tied = self.solve_tied(theta, features, costs)
        return solved._replace(tied=tied, duals=None)

    def support(self, theta: Array, features: Array, directions: Array) -> Array:
        """Return the support function ``max d'x`` of regions at rows (N, k), (N, directions)."""
        found = np.empty((len(features), len(directions)))
        for j, along in enumerate(directions):
            found[:, j] = self.predict(theta, features, np.tile(-along, (len(features), 1))) @ along
        return found

    def ends(
        self, theta: Array, features: Array, n: int, columns: Indices | None = None
    ) -> tuple[Array, Array]:
        """Return the least and the greatest value of each decision, or some, both (N, n)."""
        axes = np.eye(n) if columns is None else np.eye(n)[columns]
        return -self.support(theta, features, -axes), self.support(theta, features, axes)

    def is_compiled(self, n: int) -> bool:
        """Whether decisions of many rows take no solver for each."""
        return True

    def usage(self, theta: Array, features: Array, costs: Array) -> Array:
        """Return how much each component is used: mean scales of terms, shares of columns."""
        return np.zeros(0)

    def components(self, theta: Array, k: int, usage: Array, names: Sequence[str]) -> list[str]:
        """Say in words what makes up the regions, what counts most first."""
        return []

    def image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the region at one row of features as an affine image of a primitive set."""
        form = self.describe(theta, n, len(phi))
        return form.image(form.weights(phi[None])[0])

    def account(self, theta: Array, phi: Array, names: Sequence[str]) -> list[str]:
        """Say in words what the decision maker can do at one row of features, where it can."""
        return []


def first_of(texts: Sequence[str], rest: str) -> list[str]:
    """Return the first texts, and how many more there are."""
    more = len(texts) - MOST_COMPONENTS
    return [*texts[:MOST_COMPONENTS], *([rest.format(more)] if more > 0 else [])]


# Where each block of parameters stands in the flat vector theta.


@dataclass(frozen=True)
class Layout:
    """Named blocks of parameters, one after the other in theta.

    Examples
    --------
    >>> from feaslearn.hypotheses import Layout
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

    def pack(self, blocks: dict[str, Array]) -> Array:
        """Return theta, given its blocks."""
        return np.concatenate([np.zeros(0), *(np.ravel(blocks[name]) for name in self.shapes)])
