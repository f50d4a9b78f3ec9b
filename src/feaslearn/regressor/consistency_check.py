"""Consistency of data with a class of regions."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from feaslearn.arrays import Indices
from feaslearn.costs import CostSpecification
from feaslearn.data import Block, Decisions, Samples
from feaslearn.exceptions import DataError, MissingExtraError, Problems, SolverError
from feaslearn.hypotheses import Facets, Minkowski
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.inference.contradictions import Examined, HullTest, examine, find_dominated, shrink
from feaslearn.inference.linear_system import LinearSystem
from feaslearn.losses import Objective, Predictability
from feaslearn.parameters import POSITIVE, check_value
from feaslearn.regressor.checks import check_fit
from feaslearn.regressor.region_regressor import RegionRegressor
from feaslearn.regressor.verdict import Verdict, name_samples
from feaslearn.tolerances import GAIN_TOL, SAME_TOL
from feaslearn.trainers import Convex, FacetLearning, Global, MixedInteger, Trainer
from feaslearn.trainers.automatic import choose_trainer
from feaslearn.trainers.facets.facet_learning import contradicting_pair
from feaslearn.trainers.returned_decisions import returned_loss
from feaslearn.trainers.trainer import MAX_SECONDS

#: Share of the time that each search for a smaller contradiction may take.
EACH = 0.1


def consistency(
    data: Any,
    hypothesis: Hypothesis,
    *,
    cost: CostSpecification | None = None,
    features: Any = "non-cost",
    sense: Literal["min", "max"] = "min",
    tolerance: float = 1e-6,
    max_seconds: float | None = 60.0,
    random_state: int | np.random.Generator | None = 0,
) -> Verdict:
    r"""Say whether any region of a class explains data exactly.

    .. math:: \exists \theta: \quad x_i \in \arg\min \{c_i'x : x \in R_\theta(s_i)\} \quad \forall i

    `Minkowski`, `Scaled` and linear policies are decided by linear programs, `Facets` by one for
    each sample, binary sets and `Ternary` by branch and bound. For `Affine` the bilinear program is
    tried within the time, where SCIP or Gurobi is installed. What is not proved is not claimed: the
    answer is then "not decided".

    Parameters
    ----------
    data : Decisions or pair of array-like
        The samples; of arrays or frames, signals and decisions.
    hypothesis : Hypothesis
        The class.
    cost : cost specification, default=None
        How costs are read from signals; None takes that of `Decisions`.
    features : {"non-cost", "all"} or transformer, default="non-cost"
        What the region may depend on, as in `RegionRegressor`.
    sense : {"min", "max"}, default="min"
        Whether decisions minimise or maximise the cost.
    tolerance : float, default=1e-6
        Error of a decision that counts as none, as a share of the largest range of a decision. With
        the size of the noise, the question is whether noise alone explains what is left.
    max_seconds : float, default=60.0
        Limit on what takes long: proofs for `Affine`, binary sets and `Ternary`, the tests of
        `Facets`, and the search for the samples to blame.
    random_state : int, Generator or None, default=0
        Seed of the starts.

    Returns
    -------
    Verdict
        Yes with the region, or no with the least loss and samples that contradict each other.

    Raises
    ------
    DataError
        One error that names everything wrong with the data.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> decisions = data.decisions.copy()
    >>> decisions[7] = [0.8, 0.4]
    >>> changed = fl.Decisions.from_arrays(data.signals, decisions, cost=data.cost)
    >>> answer = fl.consistency(changed, fl.Scaled(fl.Simplex(2)))
    >>> answer.consistent, answer.suspects
    (False, (7,))
    """
    if cost is None and isinstance(data, Decisions):
        cost = data.cost
    model = RegionRegressor(
        hypothesis, cost=cost, features=features, sense=sense, random_state=random_state
    )
    problem = _make_problem(data, model, hypothesis, tolerance, max_seconds)
    linear = hypothesis.as_minkowski(problem.n)
    if linear is not None:
        return _decide_by_rows(problem, linear)
    facets = hypothesis.as_facets()
    if facets is not None:
        return _decide_by_hull(problem, facets)
    return _decide_by_search(problem)


@dataclass(frozen=True)
class _Problem:
    """A class of regions, samples with the costs to minimise, and when an error is none.

    ``indices`` are those of the samples among the given ones; ``unit`` is the largest range of a
    decision, in which ``tolerance`` is measured; ``until`` is the deadline.
    """

    model: RegionRegressor
    hypothesis: Hypothesis
    X: Any
    y: Any
    rows: Block
    indices: Indices
    unit: float
    tolerance: float
    began: float
    until: float

    @property
    def n(self) -> int:
        """Number of decisions."""
        return int(self.rows.decisions.shape[1])

    @property
    def complete(self) -> Indices:
        """The samples whose decisions are all observed."""
        return np.flatnonzero(~np.isnan(self.rows.decisions).any(axis=1))

    @property
    def error(self) -> float:
        """The tolerance in the unit of the decisions."""
        return self.tolerance * self.unit

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self.until - time.monotonic())

    @property
    def unexplained(self) -> str:
        """The sentence that no region explains the samples."""
        return f"no region of {self.hypothesis!r} explains all {len(self.indices)} samples"

    def fitted(self, trainer: Trainer, some: Indices | None = None) -> RegionRegressor:
        """Return a model of all samples, or some, trained by a trainer."""
        model: RegionRegressor = clone(self.model).set_params(trainer=trainer)
        if some is None:
            return model.fit(self.X, self.y)
        chosen = self.indices[some]
        return model.fit(*(np.asarray(table)[chosen] for table in (self.X, self.y)))

    def largest_error(self, model: RegionRegressor) -> float:
        """Return how far samples are at most from the nearest minimiser of a model."""
        largest = Predictability("linf", squared=False)
        return float(largest.samples(model.hypothesis_, model.theta_, self.rows).max())

    def explained_by(self, model: RegionRegressor) -> bool:
        """Say whether a model explains all samples within the tolerance."""
        return self.largest_error(model) <= self.error

    def verdict(
        self,
        consistent: bool | None,
        reason: str,
        model: RegionRegressor | None = None,
        contradiction: Any = (),
        suspects: Any = (),
        **found: Any,
    ) -> Verdict:
        """Return the answer, with the loss and the error of the model if there is one."""
        result = None if model is None else model.result_
        return Verdict(
            consistent,
            reason,
            self.hypothesis,
            len(self.indices),
            self.error,
            time.monotonic() - self.began,
            model,
            None if result is None else result.objective,
            None if result is None else result.lower_bound,
            None if model is None else self.largest_error(model),
            contradiction=self.numbers(contradiction),
            suspects=self.numbers(suspects),
            **found,
        )

    def numbers(self, some: Any) -> tuple[int, ...]:
        """Return the indices of samples among the given ones."""
        return tuple(int(self.indices[i]) for i in some)

    def yes(self, model: RegionRegressor) -> Verdict:
        """Return the verdict that a model explains all samples."""
        reason = f"one region of {self.hypothesis!r} explains all {len(self.indices)} samples"
        return self.verdict(True, reason, model)

    def contradicted(
        self, reason: str, examined: Examined, model: RegionRegressor | None = None
    ) -> Verdict:
        """Return the verdict that samples contradict each other, and who is to blame."""
        core, blamed, alone = examined.core, self.numbers(examined.blamed), examined.alone
        blame = f"{len(core)} samples already contradict each other, and no few others are to blame"
        if blamed:
            any_one = "any one of " if len(blamed) > 1 and alone else ""
            who = f"{any_one}sample{'s' * (len(blamed) > 1)} {name_samples(blamed)}"
            blame = f"without {who}, one region explains all others"
        text = f"{reason}; {blame}"
        return self.verdict(
            False, text, model, core, examined.blamed, alone=alone, irreducible=True
        )

    def is_contradicted(self, bound: float | None) -> bool:
        """Say whether a lower bound of the loss is above that of errors within the tolerance."""
        return bound is not None and bound > self.n * self.error**2

    def by_bound(self, model: RegionRegressor | None) -> Verdict:
        """Return the verdict that a lower bound of the loss alone allows."""
        bound = None if model is None else model.result_.lower_bound
        if self.is_contradicted(bound):
            reason = f"{self.unexplained}: its least loss is at least {bound:.4g}"
            return self.verdict(False, reason, model)
        reason = (
            "the best region that was found does not explain them, and that none does is not proved"
        )
        return self.verdict(None, reason, model)


def _make_problem(
    data: Any,
    model: RegionRegressor,
    hypothesis: Hypothesis,
    tolerance: float,
    max_seconds: float | None,
) -> _Problem:
    """Check data and numbers; raise one error that names everything."""
    began, problems = time.monotonic(), Problems()
    if isinstance(data, Decisions):
        X, y = data.signals, data.decisions
    elif isinstance(data, tuple) and len(data) == 2:
        X, y = data
    else:
        raise DataError("consistency: data must be Decisions, or a pair (signals, decisions)")
    if not isinstance(hypothesis, Hypothesis):
        problems.add(f"hypothesis={hypothesis!r} is not a class of regions such as Facets()")
    if model.cost is None:
        problems.add("no cost was given: without prices any decision is optimal somewhere")
    check_value("tolerance", tolerance, POSITIVE, problems)
    check_value("max_seconds", max_seconds, MAX_SECONDS, problems)
    problems.raise_if_any(DataError, "consistency")
    data = check_fit(model, X, y, None, None)
    rows = data.samples.load()
    indices = np.arange(len(rows.weights)) if data.numbers is None else data.numbers
    ranges = np.nanmax(rows.decisions, axis=0) - np.nanmin(rows.decisions, axis=0)
    unit = float(ranges.max()) or float(np.nanmax(np.abs(rows.decisions))) or 1.0
    until = np.inf if max_seconds is None else began + float(max_seconds)
    return _Problem(model, hypothesis, X, y, rows, indices, unit, float(tolerance), began, until)


# Classes whose decisions are linear in their parameters: least squares and linear programs.


def _decide_by_rows(problem: _Problem, linear: Minkowski) -> Verdict:
    """Answer by least squares where that is exact, and by linear programs."""
    model: RegionRegressor | None = None
    with suppress(SolverError):  # where moments are too close to singular
        model = problem.fitted(Convex(ridge=0.0, sparsity=0.0))
    if model is not None and problem.explained_by(model):
        return problem.yes(model)
    system = LinearSystem(linear, problem.rows, problem.unit, problem.tolerance)
    examined = examine(system, problem.until)
    if len(examined.core):
        return problem.contradicted(problem.unexplained, examined, model)
    if system.left_out.any() or model is None:
        return problem.by_bound(model)
    model.theta_ = examined.theta
    objective = Objective(Predictability(), model.hypothesis_, Samples.of(problem.rows))
    model.result_ = replace(
        model.result_,
        objective=objective.value(model.theta_),
        returned_loss=returned_loss(objective, model.theta_),
        status="converged",
        warnings=[*model.result_.warnings, "the parameters keep the largest error small"],
    )
    return problem.yes(model)


# Classes that are not convex in their parameters: searches with a lower bound.


def _decide_by_search(problem: _Problem) -> Verdict:
    """Look for a pair that contradicts itself, for a region without loss, and for a bound."""
    pair = _pair(problem)
    if pair is not None:
        i, j = problem.numbers(pair)
        reason = (
            f"{problem.unexplained}: samples {i} and {j} have the same features, and at the prices "
            f"of sample {i} the decision of sample {j} is cheaper"
        )
        return problem.verdict(False, reason, contradiction=pair, irreducible=True)
    objective = Objective(Predictability(), problem.hypothesis, Samples.of(problem.rows))
    trainer = choose_trainer("auto", objective)
    model = problem.fitted(_limited(trainer, problem.left))
    if problem.explained_by(model):
        return problem.yes(model)
    # The rest of the time is for finding a few samples that contradict each other.
    prover: Trainer = Global(max_seconds=max(1.0, 0.5 * problem.left))
    if isinstance(trainer, MixedInteger):
        prover = MixedInteger()
    elif prover.mismatches(objective):
        return problem.by_bound(model)
    else:
        try:
            proved = problem.fitted(prover)
        except MissingExtraError as error:
            answer = problem.by_bound(model)
            return replace(answer, reason=f"{answer.reason}: {error}")
        if model.result_.objective < proved.result_.objective:
            bound = proved.result_.lower_bound
            model.result_ = replace(model.result_, lower_bound=bound)
        else:
            model = proved
        if problem.explained_by(model):
            return problem.yes(model)
    answer = problem.by_bound(model)
    if answer.consistent is not False:
        return answer
    if isinstance(prover, Global):
        within = f"with entries of A and b within the radius {prover.radius:g} of trainers.Global"
        answer = replace(answer, reason=f"{answer.reason}, {within}")

    def contradict(some: Indices) -> bool:
        result = problem.fitted(_limited(prover, EACH * problem.left), some).result_
        return problem.is_contradicted(result.lower_bound)

    few, done = shrink(np.arange(len(problem.indices)), contradict, problem.until)
    return replace(answer, contradiction=problem.numbers(few), irreducible=done)


def _limited(trainer: Trainer, seconds: float) -> Trainer:
    """Return the trainer with no more time than this, where it knows a limit."""
    parameters = trainer.get_params(deep=False)
    if "max_seconds" in parameters:
        return type(trainer)(**{**parameters, "max_seconds": max(1.0, seconds)})
    return trainer


def _pair(problem: _Problem) -> tuple[int, int] | None:
    """Return two complete samples of the same features of which one shows the other too costly."""
    complete = problem.complete
    if len(complete) < 2:
        return None
    rows = problem.rows.rows(complete)
    spread = rows.decisions.std(axis=0)
    moving = spread[spread > SAME_TOL * spread.max()]
    # What errors within the tolerance can make of a saving, at prices of length one.
    error = problem.error / float(moving.min(initial=problem.unit))
    pair = contradicting_pair(rows, max(GAIN_TOL, 2.0 * np.sqrt(problem.n) * error))
    return None if pair is None else (int(complete[pair[0]]), int(complete[pair[1]]))


# Regions of half-spaces.


def _decide_by_hull(problem: _Problem, hypothesis: Facets) -> Verdict:
    """Test given bounds, given equalities, and every sample against mixtures of the others."""
    for against in (_against_bounds, _against_balance):
        answer = against(problem, hypothesis)
        if answer is not None:
            return answer
    test = find_dominated(problem.rows, problem.complete, problem.error, problem.until)
    if test.dominated:
        return _dominated(problem, test)
    model = problem.fitted(FacetLearning(max_seconds=max(1.0, problem.left)))
    if problem.explained_by(model):
        return problem.yes(model)
    count = len(problem.indices)
    reason = (
        "with enough facets one region does: no mixture of samples is cheaper than a sample. But "
        "none was found"
        if test.tested == count
        else f"{test.tested} of {count} samples were tested: their decisions are complete, and the "
        "time sufficed"
    )
    return problem.verdict(None, reason, model=model)


def _against_bounds(problem: _Problem, hypothesis: Facets) -> Verdict | None:
    """Name decisions outside bounds that were given."""
    if isinstance(hypothesis.bounds, str):
        return None
    decisions = problem.rows.decisions
    lower, upper = hypothesis.given_bounds(problem.n)
    violation = np.nan_to_num(np.maximum(lower - decisions, decisions - upper)).max(axis=1)
    outside = np.flatnonzero(violation > problem.error)
    if not len(outside):
        return None
    worst = outside[np.argmax(violation[outside])]
    reason = (
        f"the decisions of {len(outside)} samples lie outside the bounds that were given, by up to "
        f"{violation[worst]:.4g} at sample {problem.indices[worst]}"
    )
    return problem.verdict(
        False, reason, contradiction=[worst], irreducible=True, suspects=outside, alone=False
    )


def _against_balance(problem: _Problem, hypothesis: Facets) -> Verdict | None:
    """Find samples for which equalities that were given are not affine in the features."""
    E = hypothesis.given_balance(problem.n)
    if E is None or not len(E):
        return None
    sums = problem.rows.decisions @ E.T
    balance = problem.rows._replace(decisions=sums, costs=np.zeros(sums.shape))
    unit = problem.unit * float(np.abs(E).sum(axis=1).max())
    system = LinearSystem(Minkowski([]), balance, unit, problem.tolerance)
    examined = examine(system, problem.until)
    if not len(examined.core):
        return None
    reason = "the balance that was given is not an affine function of the features"
    return problem.contradicted(reason, examined)


def _dominated(problem: _Problem, test: HullTest) -> Verdict:
    """Say which sample costs more than a mixture of others, and who is to blame if that is one."""

    def find(some: Indices) -> HullTest:
        return find_dominated(problem.rows, some, problem.error, problem.until)

    first = min(test.dominated, key=lambda each: (len(each.mixture), -each.saving))
    core, needed = shrink(
        np.union1d(first.mixture, [first.sample]),
        lambda some: bool(find(some).dominated),
        problem.until,
    )
    reason = (
        f"{problem.unexplained}, whatever the number of facets: a mixture of samples "
        f"{name_samples(problem.numbers(first.mixture))} has the features of sample "
        f"{problem.indices[first.sample]} and costs {first.saving:.4g} less"
    )
    blamed: list[int] = []
    for sample in test.common():
        others = problem.complete[problem.complete != sample]
        again = find(others)
        if time.monotonic() > problem.until:
            blamed = []
            break
        if not again.dominated and again.tested == len(others):
            blamed.append(sample)
    if blamed:
        reason += f"; without {name_samples(problem.numbers(blamed))} all others agree"
    return problem.verdict(
        False, reason, contradiction=core, irreducible=needed, suspects=blamed, alone=True
    )
