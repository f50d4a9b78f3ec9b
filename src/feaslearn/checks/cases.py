"""What the checks of a primitive set are run on: random costs and points, and right answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from feaslearn.sets.conic_form import ConicForm
from feaslearn.sets.conic_solver import minimize_linear
from feaslearn.sets.primitive_set import PrimitiveSet

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cases:
    """A set, its conic form, and the inputs on which its answers are compared with the form's.

    The first costs are zero and small whole numbers, so that there are ties; the others are
    random. Half of the points are in the set, the other half are anywhere around it.
    """

    primitive: PrimitiveSet
    form: ConicForm
    rng: np.random.Generator
    n_cases: int

    @cached_property
    def costs(self) -> Array:
        """Costs (N, p)."""
        p = self.form.H.shape[1]
        whole = self.rng.integers(-2, 3, size=(self.n_cases // 2, p)).astype(float)
        return np.vstack([np.zeros(p), whole, self.random_costs])

    @cached_property
    def random_costs(self) -> Array:
        """Those of the costs that hardly ever tie."""
        p = self.form.H.shape[1]
        return self.rng.normal(size=(self.n_cases - self.n_cases // 2, p))

    @cached_property
    def minima(self) -> Array:
        """The least cost over the conic form, for each of the costs."""
        return np.array([minimize_linear(self.form, q).value for q in self.costs])

    @cached_property
    def extremes(self) -> Array:
        """Points of the conic form that are as far as it goes in random directions."""
        p = self.form.H.shape[1]
        directions = np.vstack([np.eye(p), -np.eye(p), self.rng.normal(size=(self.n_cases, p))])
        return np.array([minimize_linear(self.form, q).point for q in directions])

    @cached_property
    def size(self) -> float:
        """How large points of the set are, and at least one."""
        return max(1.0, float(np.abs(self.extremes).max()))

    @property
    def discrete(self) -> bool:
        """Whether the set holds listed points only; the conic form is then that of their hull."""
        return bool(self.primitive.discrete)

    @cached_property
    def inside(self) -> Array:
        """Random mixtures of the extremes; listed points where the set holds nothing else."""
        if self.discrete:
            return np.asarray(self.rng.choice(self.primitive.vertices(), size=self.n_cases))
        count = len(self.extremes)
        return np.asarray(self.rng.dirichlet(np.ones(count), size=self.n_cases) @ self.extremes)

    @cached_property
    def around(self) -> Array:
        """Random points, most of them outside."""
        middle = self.extremes.mean(axis=0)
        width = np.maximum(np.ptp(self.extremes, axis=0), 1.0)
        return np.asarray(middle + width * self.rng.normal(size=(self.n_cases, len(middle))))
