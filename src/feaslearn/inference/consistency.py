"""Can any region of a class explain these data exactly?"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from feaslearn.arrays import Indices
from feaslearn.costs import CostSpecification
from feaslearn.data import Block, Decisions, Samples
from feaslearn.exceptions import MissingExtraError
from feaslearn.hypotheses import Facets, Minkowski
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.inference.by_rows import blame, by_bound, decide_by_rows, no, yes
from feaslearn.inference.contradictions import examine, shrink
from feaslearn.inference.linear_system import LinearSystem
from feaslearn.inference.verdict import Question, Verdict, ask, listed
from feaslearn.losses import Objective, Predictability
from feaslearn.regressor.region_regressor import RegionRegressor
from feaslearn.runs.progress import ProgressBar
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.tolerances import GAIN_TOL, SAME_TOL, ZERO_PRICE, extent_of, powers_of_two
from feaslearn.trainers import FacetLearning, Global, MixedInteger, Trainer
from feaslearn.trainers.automatic import choose_trainer
from feaslearn.trainers.facets.facet_learning import contradicting_pair
from feaslearn.trainers.standardize import moments

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
    question = ask(data, model, tolerance, max_seconds)
    linear = hypothesis.as_minkowski(question.rows.decisions.shape[1])
    if linear is not None:
        return decide_by_rows(question, linear)
    facets = hypothesis.as_facets()
    if facets is not None:
        return decide_by_hull(question, facets)
    return decide_by_search(question)


# Classes that are not convex in their parameters: searches with a lower bound.


def decide_by_search(question: Question) -> Verdict:
    """Look for a pair that contradicts itself, for a region without loss, and for a bound."""
    pair = _pair(question)
    if pair is not None:
        i, j = (question.places[each] for each in pair)
        reason = (
            f"{no(question)}: samples {i} and {j} have the same features, and at the prices of "
            f"sample {i} the decision of sample {j} is cheaper"
        )
        return question.answer(False, reason, contradiction=pair, irreducible=True)
    objective = Objective(Predictability(), question.hypothesis, Samples.of(question.rows))
    model = question.fitted(_limited(choose_trainer("auto", objective), question.left))
    if question.errors(model).max() <= question.tolerance:
        return question.answer(True, yes(question), model=model)
    # The rest of the time is for finding a few samples that contradict each other.
    prover: Trainer = Global(max_seconds=max(1.0, 0.5 * question.left))
    if isinstance(choose_trainer("auto", objective), MixedInteger):
        prover = MixedInteger()
    elif prover.mismatches(objective):
        return by_bound(question, model)
    else:
        proved = _proved(question, prover, model)
        if isinstance(proved, str):
            answer = by_bound(question, model)
            return replace(answer, reason=f"{answer.reason}: {proved}")
        model = proved
        if question.errors(model).max() <= question.tolerance:
            return question.answer(True, yes(question), model=model)
    answer = by_bound(question, model)
    if answer.consistent is not False:
        return answer
    if isinstance(prover, Global):
        within = f"with entries of A and b within the radius {prover.radius:g} of trainers.Global"
        answer = replace(answer, reason=f"{answer.reason}, {within}")
    return _smaller(question, prover, answer)


def _proved(question: Question, prover: Trainer, model: RegionRegressor) -> RegionRegressor | str:
    """Return the better of two models with the bound of the prover, or why there is none."""
    try:
        proved = question.fitted(prover)
    except MissingExtraError as error:
        return str(error)
    bound = proved.result_.lower_bound
    if model.result_.objective < proved.result_.objective:
        model.result_ = replace(model.result_, lower_bound=bound)
        return model
    return proved


def _smaller(question: Question, prover: Trainer, answer: Verdict) -> Verdict:
    """Look for a few samples for which the bound is above zero already."""
    n = question.rows.decisions.shape[1]
    limit = n * (question.tolerance * question.unit) ** 2

    def contradict(some: Indices) -> bool:
        left = question.left
        bound = question.fitted(_limited(prover, EACH * left), some).result_.lower_bound
        return bound is not None and bound > limit

    rows, done = shrink(np.arange(len(question.places)), contradict, question.until)
    few = tuple(int(question.places[i]) for i in rows)
    return replace(answer, contradiction=few, irreducible=done)


def _limited(trainer: Trainer, seconds: float) -> Trainer:
    """Return the trainer with no more time than this, where it knows a limit."""
    parameters = trainer.get_params(deep=False)
    if "max_seconds" in parameters:
        return type(trainer)(**{**parameters, "max_seconds": max(1.0, seconds)})
    return trainer


def _pair(question: Question) -> tuple[int, int] | None:
    """Return two complete samples of the same features of which one shows the other too dear."""
    rows = question.rows
    complete = np.flatnonzero(~np.isnan(rows.decisions).any(axis=1))
    if len(complete) < 2:
        return None
    rows = Block(*(np.ascontiguousarray(part[complete]) for part in rows))
    spread = rows.decisions.std(axis=0)
    moving = spread[spread > SAME_TOL * spread.max()]
    # What errors within the tolerance can make of a saving, at prices of length one.
    error = question.tolerance * question.unit / float(moving.min(initial=question.unit))
    saving = max(GAIN_TOL, 2.0 * np.sqrt(rows.decisions.shape[1]) * error)
    pair = contradicting_pair(rows, saving)
    return None if pair is None else (int(complete[pair[0]]), int(complete[pair[1]]))


# Regions of half-spaces.


def decide_by_hull(question: Question, hypothesis: Facets) -> Verdict:
    """Test given bounds, given equalities, and every sample against mixtures of the others."""
    for against in (_against_bounds, _against_balance):
        answer = against(question, hypothesis)
        if answer is not None:
            return answer
    complete = np.flatnonzero(~np.isnan(question.rows.decisions).any(axis=1))
    error = question.tolerance * question.unit
    test = mixtures_cheaper(question.rows, complete, error, question.until)
    if test.dearer:
        return _dearer(question, test, complete, error)
    model = question.fitted(FacetLearning(max_seconds=max(1.0, question.left)))
    if question.errors(model).max() <= question.tolerance:
        return question.answer(True, yes(question), model=model)
    all_tested = test.tested == len(question.places)
    reason = (
        "with enough facets one region does: no mixture of samples is cheaper than a sample. But "
        "none was found"
        if all_tested
        else f"{test.tested} of {len(question.places)} samples were tested: their decisions are "
        "complete, and the time sufficed"
    )
    return question.answer(None, reason, model=model)


def _against_bounds(question: Question, hypothesis: Facets) -> Verdict | None:
    """Name decisions outside bounds that were given."""
    if isinstance(hypothesis.bounds, str):
        return None
    decisions = question.rows.decisions
    lower, upper = hypothesis.given_bounds(decisions.shape[1])
    beyond = np.nan_to_num(np.maximum(lower - decisions, decisions - upper)).max(axis=1)
    outside = np.flatnonzero(beyond > question.tolerance * question.unit)
    if not len(outside):
        return None
    worst = outside[np.argmax(beyond[outside])]
    reason = (
        f"the decisions of {len(outside)} samples lie outside the bounds that were given, by up to "
        f"{beyond[worst]:.4g} at sample {question.places[worst]}"
    )
    return question.answer(
        False, reason, contradiction=[worst], irreducible=True, suspects=outside, alone=False
    )


def _against_balance(question: Question, hypothesis: Facets) -> Verdict | None:
    """Find samples for which equalities that were given are not affine in the features."""
    E = hypothesis.given_balance(question.rows.decisions.shape[1])
    if E is None or not len(E):
        return None
    sums = question.rows.decisions @ E.T
    balance = question.rows._replace(decisions=sums, costs=np.zeros(sums.shape))
    unit = question.unit * float(np.abs(E).sum(axis=1).max())
    examined = examine(
        LinearSystem(Minkowski([]), balance, unit, question.tolerance), question.until
    )
    if examined.exactly:
        return None
    reason = "the balance that was given is no affine function of the features; "
    return question.answer(
        False,
        reason + blame(question, examined),
        contradiction=examined.core,
        irreducible=True,
        suspects=examined.blamed,
        alone=examined.alone,
    )


def _dearer(question: Question, test: HullTest, complete: Indices, error: float) -> Verdict:
    """Say which sample is dearer than a mixture of others, and who is to blame if that is one."""
    first = min(test.dearer, key=lambda each: (len(each.mixture), -each.saving))
    core, needed = shrink(
        np.union1d(first.mixture, [first.sample]),
        lambda some: bool(mixtures_cheaper(question.rows, some, error, question.until).dearer),
        question.until,
    )
    mixture = tuple(int(question.places[i]) for i in first.mixture)
    reason = (
        f"{no(question)}, whatever the number of facets: a mixture of samples {listed(mixture)} "
        f"has the features of sample {question.places[first.sample]} and costs "
        f"{first.saving:.4g} less"
    )
    blamed = _to_blame(question, test, complete, error)
    if blamed:
        reason += (
            f"; without {listed(tuple(int(question.places[i]) for i in blamed))} all others agree"
        )
    return question.answer(
        False, reason, contradiction=core, irreducible=needed, suspects=blamed, alone=True
    )


def _to_blame(question: Question, test: HullTest, complete: Indices, error: float) -> list[int]:
    """Return the samples that are in every contradiction, each without which there is none."""
    found = []
    for sample in common_to_all(test.dearer):
        if time.monotonic() > question.until:
            return []
        others = complete[complete != sample]
        again = mixtures_cheaper(question.rows, others, error, question.until)
        if not again.dearer and again.tested == len(others):
            found.append(sample)
    return found


# Regions of half-spaces: the least of them holds the mixtures of all samples.
#
# The rows :math:`a'x \le f'\phi(s)` make a convex set of pairs :math:`(\phi, x)`. It holds every
# sample, so it holds their mixtures, and sample i is optimal in some such region exactly when no
# mixture with its features is cheaper:
#
# .. math:: \min \{ c_i'\textstyle\sum_j \lambda_j x_j :
#     \sum_j \lambda_j \phi_j = \phi_i,\ \lambda \ge 0 \} \ge c_i'x_i


class Dearer(NamedTuple):
    """A sample that costs more than a mixture of others with the same features, and by how much."""

    sample: int
    mixture: Indices
    saving: float


class HullTest(NamedTuple):
    """The samples that contradict others, and how many were tested."""

    dearer: list[Dearer]
    tested: int


def mixtures_cheaper(rows: Block, allowed: Indices, error: float, until: float) -> HullTest:
    """Look for samples that are dearer than a mixture of others.

    ``error`` is how far each decision may be off: cheaper by what that can make is not cheaper.
    """
    features, costs, decisions = (table[allowed] for table in rows[:3])
    if not len(allowed):
        return HullTest([], 0)
    # Shares add up to one, the first feature, so the others may be moved by their means.
    mean, scale = moments([features], [np.ones(len(allowed))])
    matrix = ((features - mean) / scale).T
    ends = np.zeros(len(allowed)), np.full(len(allowed), np.inf)
    found: list[Dearer] = []
    with ProgressBar("consistency: samples", len(allowed)) as bar:
        for i, cost in enumerate(costs):
            if time.monotonic() > until:
                return HullTest(found, i)
            size = float(np.abs(cost).sum())
            if size == 0.0:
                continue
            prices = (decisions - decisions[i]) @ (cost / size)
            # In a unit of their own: tolerances mean the same for small prices as for large ones.
            own = float(powers_of_two(extent_of(prices)))
            program = CheckedProgram(prices / own, *ends, E=matrix, e=matrix[:, i])
            answer = program.solve(f"consistency (sample {i})")
            saving = -answer.value * own
            if saving > 2.0 * error:
                mixture = allowed[answer.point > ZERO_PRICE]
                found.append(Dearer(int(allowed[i]), mixture, saving * size))
            bar.update(i + 1)
    return HullTest(found, len(allowed))


def common_to_all(found: list[Dearer]) -> list[int]:
    """Return the samples that take part in every contradiction."""
    sets = [{each.sample, *each.mixture.tolist()} for each in found]
    return sorted(set.intersection(*sets)) if sets else []
