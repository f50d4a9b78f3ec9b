"""Check of a hypothesis: its closed forms against the rows that it describes, on random data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.checks.cases import Find, lost_in_a_clone, raise_findings, violating
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.region import RegionForm, Solved, minimize
from feaslearn.tolerances import ACCEPT_TOL

#: Properties by name, each with what looks for cases that violate it.
PROPERTIES: dict[str, Find] = {}


@dataclass(frozen=True)
class HypothesisCases:
    """A hypothesis with parameters, features, and costs of which some tie."""

    hypothesis: Hypothesis
    n: int
    k: int
    given: Array | None
    rng: np.random.Generator
    n_cases: int

    @cached_property
    def theta(self) -> Array:
        """The parameters."""
        if self.given is not None:
            return self.given
        return np.abs(self.rng.normal(size=self.hypothesis.layout(self.n, self.k).size))

    @cached_property
    def features(self) -> Array:
        """Features (N, k), the first of them one."""
        others = self.rng.uniform(size=(self.n_cases, self.k - 1))
        return np.column_stack([np.ones(self.n_cases), others])

    @cached_property
    def costs(self) -> Array:
        """Costs (N, n); the first are zero and small integers, so that there are ties."""
        half = self.n_cases // 2
        whole = self.rng.integers(-2, 3, size=(half, self.n)).astype(float)
        whole[:1] = 0.0
        return np.vstack([whole, self.rng.normal(size=(self.n_cases - half, self.n))])

    @cached_property
    def form(self) -> RegionForm:
        """The rows that the hypothesis describes."""
        return self.hypothesis.describe(self.theta, self.n, self.k)

    @cached_property
    def expected(self) -> Solved:
        """Decisions of least cost over these rows."""
        return minimize(self.form, self.features, self.costs)

    @cached_property
    def size(self) -> float:
        """The size of decisions, and at least one."""
        return max(1.0, float(np.abs(np.nan_to_num(self.expected.decisions)).max(initial=0.0)))


def check_hypothesis(
    hypothesis: Hypothesis,
    n_decisions: int = 2,
    n_features: int = 3,
    *,
    theta: ArrayLike | None = None,
    random_state: int = 0,
    n_cases: int = 20,
) -> None:
    r"""Check that a hypothesis keeps every promise that the library relies on.

    The rows of `describe` are the reference: whatever `solve`, `tied` and `image` answer must be
    what minimising over :math:`\{x : \exists z,\; X x + \sum_k w_k(s) (Z_k z - r_k) \in K\}` gives.

    Parameters
    ----------
    hypothesis : Hypothesis
        The hypothesis.
    n_decisions, n_features : int, default=2 and 3
        Number of decisions and of features, the constant included.
    theta : array_like, default=None
        Parameters; by default non-negative random ones.
    random_state : int, default=0
        Seed of the random parameters, features and costs.
    n_cases : int, default=20
        Number of samples.

    Raises
    ------
    CheckError
        If a property is violated. The error lists all that are, each with a case that shows it.

    See Also
    --------
    check_loss : The same for a loss.
    check_primitive_set : The same for a primitive set.

    Examples
    --------
    >>> import feaslearn as fl
    >>> from feaslearn.checks import check_hypothesis
    >>> check_hypothesis(fl.Minkowski.box(2))

    A closed form that is not the minimiser:

    >>> class Hasty(fl.Scaled):
    ...     def solve(self, theta, features, costs, ties="first"):
    ...         return super().solve(theta, features, -costs, ties)
    >>> check_hypothesis(Hasty(fl.Box(2)))
    Traceback (most recent call last):
    ...
    feaslearn.exceptions.CheckError: Hasty(primitive=Box(p=2)): decisions are of least cost: ...
    """
    given = None if theta is None else np.asarray(theta, dtype=float)
    rng = np.random.default_rng(random_state)
    cases = HypothesisCases(hypothesis, n_decisions, n_features, given, rng, n_cases)
    raise_findings(hypothesis, PROPERTIES, cases)


@violating(PROPERTIES, "parameters survive a clone")
def _parameters(cases: HypothesisCases) -> Iterator[str]:
    cases.hypothesis.check(cases.n)
    return lost_in_a_clone(cases.hypothesis)


@violating(PROPERTIES, "theta has the blocks of the layout")
def _blocks(cases: HypothesisCases) -> Iterator[str]:
    layout = cases.hypothesis.layout(cases.n, cases.k)
    if cases.theta.shape != (layout.size,):
        yield f"theta has shape {cases.theta.shape}, the layout {layout.size} parameters"
    elif not np.array_equal(layout.pack(layout.unpack(cases.theta)), cases.theta):
        yield "packed blocks are another theta"


@violating(PROPERTIES, "rows fit together")
def _described(cases: HypothesisCases) -> Iterator[str]:
    form = cases.form
    rows = form.X.shape[0]
    if form.n != cases.n:
        yield f"X has {form.n} columns for {cases.n} decisions"
    if form.n_features != cases.k:
        yield f"n_features is {form.n_features}; there are {cases.k}"
    if sum(cone.size for cone in form.cones) != rows or len(form.labels) != rows:
        cones = sum(cone.size for cone in form.cones)
        yield f"{rows} rows have cones for {cones} and {len(form.labels)} labels"


@violating(PROPERTIES, "decisions are of least cost")
def _least_cost(cases: HypothesisCases) -> Iterator[str]:
    for ties in ("first", "center"):
        found = cases.hypothesis.solve(cases.theta, cases.features, cases.costs, ties)
        for i in np.flatnonzero(found.empty != cases.expected.empty):
            yield f"sample {i} is flagged {'empty' if found.empty[i] else 'not empty'}"
        gaps = ((found.decisions - cases.expected.decisions) * cases.costs).sum(axis=1)
        for i in np.flatnonzero(~cases.expected.empty & ~(np.abs(gaps) <= cases.size * ACCEPT_TOL)):
            cost, decision = cases.costs[i], found.decisions[i]
            yield f"at cost {cost}, ties={ties!r}: {decision} costs {gaps[i]:+.3g} more"


@violating(PROPERTIES, "decisions lie in the region")
def _in_the_region(cases: HypothesisCases) -> Iterator[str]:
    for ties in ("first", "center"):
        found = cases.hypothesis.solve(cases.theta, cases.features, cases.costs, ties)
        for i in np.flatnonzero(~cases.expected.empty):
            image = cases.hypothesis.image(cases.theta, cases.features[i], cases.n)
            away = image.distance(found.decisions[i])
            if not away <= cases.size * ACCEPT_TOL:
                yield f"{found.decisions[i]}, ties={ties!r}, lies {away:.3g} outside"


@violating(PROPERTIES, "ties are noticed")
def _told_ties(cases: HypothesisCases) -> Iterator[str]:
    tied = cases.hypothesis.tied(cases.theta, cases.features, cases.costs)
    for i in np.flatnonzero(~tied & ~cases.expected.empty):
        image = cases.hypothesis.image(cases.theta, cases.features[i], cases.n)
        face = image.optimal_face(cases.costs[i])
        apart = np.abs(face.center() - cases.expected.decisions[i]).max()
        if apart > cases.size * 10.0 * ACCEPT_TOL:
            yield f"at cost {cases.costs[i]} decisions {apart:.3g} apart cost the same"
