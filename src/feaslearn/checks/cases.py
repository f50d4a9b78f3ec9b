"""Cases of the checks of primitive sets: random costs and points, and correct answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from feaslearn.arrays import Array
from feaslearn.exceptions import CheckError, Problems
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic import minimize_linear
from feaslearn.solvers.conic_form import ConicForm

#: What looks for cases that violate a property.
Find = Callable[[Any], Iterator[str]]


@dataclass(frozen=True)
class Cases:
    """A set, its conic form, and the inputs on which its answers are compared with the form's."""

    # The first costs are zero and small integers, so that there are ties; the others are
    # random. Half of the points are in the set, the other half are anywhere around it.

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
        """Whether the set holds enumerated points only; its conic form is that of their hull."""
        return bool(self.primitive.discrete)

    @cached_property
    def inside(self) -> Array:
        """Random mixtures of the extremes; enumerated points where the set is discrete."""
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


def first_of(name: str, findings: Iterator[str]) -> Iterator[str]:
    """Yield one line for a violated property: its first case, and how many more there are."""
    shown: list[str] = []
    try:
        shown.extend(findings)
    except Exception as error:  # noqa: BLE001  (whatever the code of a user raises is a finding)
        shown.append(f"raised {type(error).__name__}: {error}")
    if shown:
        more = f" (and {len(shown) - 1} more)" if len(shown) > 1 else ""
        yield f"{name}: {shown[0]}{more}"


def raise_findings(thing: object, properties: Mapping[str, Find], cases: Any) -> None:
    """Raise one error with a line for each property that some cases violate."""
    problems = Problems()
    for name, find in properties.items():
        for message in first_of(name, find(cases)):
            problems.add(message)
    problems.raise_if_any(CheckError, repr(thing))


def changed_parameters(before: BaseEstimator, after: BaseEstimator, how: str) -> Iterator[str]:
    """Yield parameters that are not the same in two objects."""
    found = after.get_params(deep=False)
    for name, value in before.get_params(deep=False).items():
        if not _same(value, found.get(name)):
            yield f"{name}={value!r} became {found.get(name)!r} {how}"


def lost_in_a_clone(thing: BaseEstimator) -> Iterator[str]:
    """Yield parameters that do not survive a copy."""
    yield from changed_parameters(thing, clone(thing), "in a clone")


def _same(first: object, second: object) -> bool:
    """Compare parameters: numbers, arrays, sets, and lists of them."""
    if isinstance(first, BaseEstimator) and isinstance(second, BaseEstimator):
        return type(first) is type(second) and _same(
            list(first.get_params(deep=False).values()),
            list(second.get_params(deep=False).values()),
        )
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))
