"""The checks of a fit: parameters and data together, everything wrong in one error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Indices
from feaslearn.costs import AffineCost, FunctionCost, ResolvedCost, resolve_cost
from feaslearn.data import Block, Chunk, Samples, Source, as_matrix, column_names
from feaslearn.data.checks import check_target, check_weights, column_ends, counting
from feaslearn.data.source import Memory
from feaslearn.exceptions import (
    DataError,
    FeaslearnError,
    InfeasibleProblemError,
    Problems,
    SetError,
    UnsupportedError,
)
from feaslearn.features import FeatureMap, SampleReader, fit_features
from feaslearn.hypotheses.constrained import half_spaces_of
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.known import KnownLimits, ResolvedKnown, resolve_known
from feaslearn.messages import column_label, list_first, row_number
from feaslearn.parameters import (
    Constraints,
    Either,
    Integer,
    Is,
    Number,
    check_declared,
    check_value,
)
from feaslearn.region.relax import least_infeasible
from feaslearn.regressor.outputs import Outputs
from feaslearn.solvers.conic import nearest_by_solver
from feaslearn.trainers import Objective, Trainer
from feaslearn.trainers.out_of_fold import MOST_SAMPLES

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor


#: Tables with more samples are read in blocks; chunks with as few are read into memory.
FEW_ROWS = 20_000
#: Samples that a message names.
NAMED = 5
#: Numbers of threads that joblib knows.
N_JOBS = Either(None, Is(lambda n: Integer().holds(n) and n != 0, "an integer besides 0"))
CONSTRAINTS: Constraints = {
    "hypothesis": Is(
        lambda value: value is None or isinstance(value, Hypothesis),
        "a hypothesis such as Affine(Simplex(9))",
    ),
    "trainer": Either(
        "auto", Is(lambda value: isinstance(value, Trainer), "one of feaslearn.trainers")
    ),
    "sense": Either("min", "max"),
    "n_jobs": N_JOBS,
    "max_seconds": Either(None, Number(0.0, above=True)),
}


class FitData(NamedTuple):
    """What a fit works with: samples that minimise their cost, and what parameters were made into.

    ``outputs`` say how decisions came, ``signals`` (2, K) are the least and the greatest signals
    where they are known, ``numbers`` say where the samples stood in the data as given; None where
    these are all.
    """

    samples: Samples
    outputs: Outputs
    features: FeatureMap
    cost: ResolvedCost | None
    random: np.random.Generator
    signals: Array | None = None
    known: ResolvedKnown | None = None
    warnings: tuple[str, ...] = ()
    numbers: Indices | None = None

    @property
    def n_decisions(self) -> int:
        """The number of decisions."""
        return int(self.samples.head().decisions.shape[1])


def check_fit(
    model: RegionRegressor, X: Any, y: Any, costs: ArrayLike | None, weights: ArrayLike | None
) -> FitData:
    """Check parameters and data of a fit; raise one error that names everything."""
    problems = FitProblems()
    random = check_parameters(model, problems)
    before = len(problems)
    # Blocks are made of the data as they are; known constraints and transformers need all at once.
    as_it_is = model.known is None and isinstance(model.features, str)
    signals = as_matrix(X, name="X", problems=problems, as_it_is=as_it_is)
    usable = signals if len(problems) == before else None
    decisions = check_target(y, signals, as_it_is, problems)
    n = None if decisions is None else decisions.shape[1]
    sample_weights = check_weights(weights, _count(signals, decisions), problems)
    if decisions is not None and sample_weights is not None:
        _check_observed(decisions, sample_weights, column_names(y), problems)
    cost, cost_matrix = _check_cost(model.cost, X, signals, usable, n, problems)
    if costs is not None:
        Outputs.of(y).check_order(costs, "costs", problems)
        cost_matrix = check_costs(costs, (_count(signals, decisions), n), problems)
    columns = () if cost is None else cost.columns
    features = _check_features(model.features, usable, sample_weights, columns, X, problems)
    known = None
    if model.known is not None:
        known = check_known(model.known, X, signals, n, problems)
    if n is not None:
        check_combination(model, n, problems)
    problems.raise_all()
    # Without a problem nothing is missing.
    parts = cast(tuple[Array, Array, Array], (signals, decisions, sample_weights))
    read = SampleReader(cast(FeatureMap, features), cost, model.sense == "max", counted=True)
    notes: tuple[str, ...] = ()
    if known is not None:
        names = Outputs.of(y).names or tuple(f"x{j}" for j in range(parts[1].shape[1]))
        x, weights, notes = reconcile(known, known.at(parts[0]), parts[1], parts[2], names)
        parts = parts[0], x, weights
    table, numbers = Chunk(*parts, costs=cost_matrix), None
    count = counting(table.decisions, table.weights)
    if not count.all():
        table, numbers = table.chosen(count), np.flatnonzero(count)
    samples = _samples(table, read, None if known is None else known.at(table.signals).columns())
    return FitData(
        samples,
        Outputs.of(y),
        read.features,
        cost,
        cast(np.random.Generator, random),
        column_ends(table.signals),
        known,
        notes,
        numbers,
    )


def check_costs(
    costs: ArrayLike, expected: tuple[int | None, int | None], problems: Problems
) -> Array | None:
    """Return costs given by the user as a table with one row for each sample.

    One number for each decision stands for all samples.
    """
    one_for_all = expected[1] is not None and expected[1] > 1 and np.shape(costs) == (expected[1],)
    if one_for_all:
        costs = np.asarray(costs)[None]
    table = as_matrix(costs, name="costs", problems=problems, allow_1d=expected[1] == 1)
    if table is not None and expected[0] is not None and one_for_all:
        table = np.repeat(table, expected[0], axis=0)
    if table is not None and None not in expected and table.shape != expected:
        problems.add(
            f"costs have shape {table.shape}, expected {expected}: one row for each sample, one "
            "column for each decision"
        )
    return table


def align_rows(X: Any, y: Any, name: str = "y") -> Any:
    """Return y in the order of the index of X, where both have one; refuse rows of another index.

    Rows are taken by position where either index is the default one.
    """
    ours, theirs = getattr(X, "index", None), getattr(y, "index", None)
    if not (hasattr(ours, "equals") and hasattr(theirs, "equals") and hasattr(y, "loc")):
        return y
    if ours is None or theirs is None or ours.equals(theirs) or len(ours) != len(theirs):
        return y
    whole = ours.is_unique and theirs.is_unique
    if whole and ours.isin(theirs).all():
        return y.loc[ours]
    default = any(list(index) == list(range(len(index))) for index in (ours, theirs))
    if default:
        return y
    raise DataError(
        f"RegionRegressor: X and {name} have different indexes, such as {ours[0]!r} and "
        f"{theirs[0]!r} in their first rows; give rows that belong together one index"
    )


def _check_observed(
    decisions: Array, weights: Array, names: tuple[str, ...] | None, problems: Problems
) -> None:
    """Refuse a decision that was never observed: nothing can be learned about it."""
    if len(weights) != len(decisions) or not np.isnan(decisions.sum()):
        return
    seen = ~np.isnan(decisions)
    if not seen.any():
        return
    counting = seen if (weights > 0.0).all() else seen[weights > 0.0]
    for j in np.flatnonzero(~counting.any(axis=0)):
        problems.add(
            f"y: column {column_label(int(j), names)} has no observed value in a row of positive "
            "weight; drop the column"
        )


def _check_cost(
    specification: Any,
    X: Any,
    signals: Array | None,
    usable: Array | None,
    n: int | None,
    problems: FitProblems,
) -> tuple[ResolvedCost | None, Array | None]:
    if specification is None:
        return None, None
    cost = resolve_cost(
        specification,
        n_decisions=n or None,
        signal_names=column_names(X),
        n_signals=None if signals is None else signals.shape[1] or None,
        problems=problems,
    )
    # Columns of finite signals, and constants, are finite: such costs are made when they are read.
    computed = isinstance(specification, AffineCost | FunctionCost)
    if cost is not None and usable is not None and computed:
        with problems.taking():
            return cost, cost.evaluate(usable)
    return cost, None


def _check_features(
    specification: Any,
    signals: Array | None,
    weights: Array | None,
    cost_columns: tuple[int, ...],
    X: Any,
    problems: FitProblems,
) -> FeatureMap | None:
    if signals is None or weights is None or len(signals) != len(weights):
        if hasattr(specification, "fit"):
            return None
        # A wrong word needs no data.
        signals, weights, cost_columns, X = np.zeros((1, 1)), np.ones(1), (), None
    names = column_names(X) or tuple(f"s{j}" for j in range(signals.shape[1]))
    with problems.taking():
        if hasattr(specification, "fit") and not (weights > 0.0).all():
            signals = signals[weights > 0.0]
        return fit_features(specification, signals, cost_columns=cost_columns, signal_names=names)
    return None


def _samples(table: Chunk, read: SampleReader, known: Array | None) -> Samples:
    """Return the samples, with weights that add up to one: of large tables, made when read."""
    weights = table.weights
    if weights.strides == (0,):
        table = table._replace(weights=np.broadcast_to(1.0 / len(weights), len(weights)))
    else:
        table = table._replace(weights=weights / weights.sum())
    samples = Samples(Memory(table), read)
    if table.n_rows > FEW_ROWS and known is None and read.features.transformer is None:
        return samples
    block = samples.load()
    if known is not None:
        block = block._replace(features=np.hstack([block.features, known]))
    return Samples.of(block)


def _count(signals: Array | None, decisions: Array | None) -> int | None:
    known = signals if signals is not None else decisions
    return None if known is None else len(known)


# Data that come in chunks: what is wrong with single rows is said when they are read.


def check_chunks(model: RegionRegressor, chunks: Source, *others: Any) -> FitData:
    """Check the parameters of a fit from chunks; raise one error that names everything.

    ``others`` are y, costs and weights, which chunks have themselves.
    """
    problems = FitProblems()
    random = check_parameters(model, problems)
    for name, value in zip(("y", "costs", "sample_weight"), others, strict=True):
        if value is not None:
            problems.add(f"{name} is not for Chunks, which hold decisions and weights themselves")
    if model.known is not None:
        problems.add("known= needs all samples in memory; fit from chunks without it")
    n, names = len(chunks.names.decisions), chunks.names.signals
    cost = None
    if model.cost is not None:
        cost = resolve_cost(
            model.cost,
            n_decisions=n,
            signal_names=names if chunks.named else None,
            n_signals=len(names),
            problems=problems,
        )
    check_combination(model, n, problems)
    features = None
    with problems.taking():
        columns = () if cost is None else cost.columns
        signals = np.zeros((1, len(names)))
        if not isinstance(model.features, str):
            signals = _some_signals(chunks)
        features = fit_features(model.features, signals, cost_columns=columns, signal_names=names)
    problems.raise_all()
    read = SampleReader(features, cost, model.sense == "max")
    only = None if read.features.transformer is not None else read.features.columns
    samples = Samples(chunks, read, only, int(effective_n_jobs(model.n_jobs)))
    outputs, generator = Outputs(False, chunks.names.decisions), cast(np.random.Generator, random)
    return FitData(samples, outputs, read.features, cost, generator)


def _some_signals(chunks: Source) -> Array:
    """Return the signals of a part of the samples, to which a transformer can be fitted."""
    names = chunks.names.signals
    everything = fit_features("all", np.zeros((1, len(names))), cost_columns=(), signal_names=names)
    samples = Samples(chunks, SampleReader(everything, None))
    rows = samples.draw(MOST_SAMPLES, np.random.default_rng(0))
    return np.ascontiguousarray(rows.features[:, 1:])


def check_observed(samples: Samples) -> None:
    """Refuse a decision that was never observed, once all samples were read."""
    for j in np.flatnonzero(samples.summary().observed == 0):
        raise DataError(
            f"decisions: column {samples.source.names.decisions[j]!r} has no observed value in a "
            "row of positive weight; drop the column"
        )


# Known constraints against the observed decisions, and against each other.


def check_known(
    known: Any, X: Any, signals: Array | None, n: int | None, problems: FitProblems
) -> ResolvedKnown | None:
    """Check known constraints against the columns, and that they have values at all signals."""
    resolved = resolve_known(
        known,
        n_decisions=n or None,
        signal_names=column_names(X),
        n_signals=None if signals is None else signals.shape[1] or None,
        problems=problems,
    )
    if resolved is None or signals is None or not np.isfinite(signals).all():
        return None
    with problems.taking():
        resolved.at(signals)
    return resolved


def _check_consistent(
    limits: KnownLimits,
    decisions: Array,
    tolerance: float,
    suspects: Indices,
    labels: Sequence[str],
) -> None:
    """Refuse constraints that no decision satisfies; a linear program certifies it."""
    places: list[str] = []
    suspected = limits.rows(suspects)
    moved = suspected.repaired(np.nan_to_num(decisions[suspects]))
    for i in suspects[suspected.violated(moved, tolerance)]:
        one = limits.rows(slice(i, i + 1))
        x = least_infeasible(one)[None]
        if one.violated(x, tolerance)[0]:
            gap = one.violation(x)[0]
            worst = labels[int(gap.argmax())]
            places.append(f"row {row_number(i)} (at best {worst} is violated by {gap.max():.3g})")
    if places:
        raise DataError(
            "RegionRegressor: known: no decision satisfies all constraints at "
            f"{list_first(places[:NAMED], len(places))}; they contradict each other there"
        )


def reconcile(
    known: ResolvedKnown,
    limits: KnownLimits,
    decisions: Array,
    weights: Array,
    names: Sequence[str],
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return decisions and weights that known constraints allow, and what was changed."""
    specification = known.specification
    tolerance = float(specification.tolerance)
    violation = limits.violation(decisions)
    violation[violation <= tolerance * limits.sizes(decisions)] = 0.0
    violation[weights <= 0.0] = 0.0
    # A complete decision that satisfies all of them proves that they can be satisfied.
    unsure = violation.any(axis=1) | (np.isnan(decisions).any(axis=1) & (weights > 0.0))
    labels = known.row_names(names)
    _check_consistent(limits, decisions, tolerance, np.flatnonzero(unsure), labels)
    rows = np.flatnonzero(violation.any(axis=1))
    if not len(rows):
        return decisions, weights, ()
    worst = violation[rows].argmax(axis=1)
    places = [
        f"row {row_number(i)} violates {labels[j]} by {violation[i, j]:.4g}"
        for i, j in zip(rows[:NAMED], worst[:NAMED], strict=True)
    ]
    named = list_first(places, len(rows))
    action = specification.contradictions
    if action == "raise":
        raise DataError(
            f"RegionRegressor: known constraints contradict observed decisions: {named}. Correct "
            "them, or choose Known(contradictions='project' or 'keep')"
        )
    if action == "project":
        decisions = decisions.copy()
        for i in rows:
            decisions[i] = nearest_decision(limits.rows(slice(i, i + 1)), decisions[i])
        return decisions, weights, (f"{len(rows)} decisions were moved: {named}",)
    return decisions, weights, (f"{len(rows)} decisions violate known constraints: {named}",)


def nearest_decision(limits: KnownLimits, x: Array) -> Array:
    """Return the nearest decision that satisfies the constraints; unobserved entries stay so."""
    seen = ~np.isnan(x)
    numbers = np.concatenate([x, *(side.ravel() for side in limits[2:])])
    # The solver's tolerances are absolute.
    unit = float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0)) or 1.0
    relative = KnownLimits(limits.G, limits.E, *(side / unit for side in limits[2:]))
    M, target = np.where(seen[:, None], np.eye(len(x)), 0.0), np.where(seen, x, 0.0) / unit
    rows = half_spaces_of(relative)
    try:
        near = unit * nearest_by_solver(rows.form(), M, target)
    except InfeasibleProblemError:
        near = least_infeasible(limits)
    return np.where(seen, limits.repaired(near[None])[0], np.nan)


# Parameters of the constructor.


def check_parameters(model: RegionRegressor, problems: FitProblems) -> np.random.Generator | None:
    """Check what needs no data; return the generator, where it can be made."""
    for name, constraint in CONSTRAINTS.items():
        check_value(name, getattr(model, name), constraint, problems)
    if isinstance(model.trainer, Trainer):
        check_declared(model.trainer, problems)
    return _check_random_state(model.random_state, problems)


def _check_random_state(random_state: Any, problems: FitProblems) -> np.random.Generator | None:
    try:
        if isinstance(random_state, np.random.RandomState):
            return np.random.default_rng(random_state.randint(2**31 - 1))
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        problems.add(f"random_state={random_state!r} is not a seed ({error})")
    return None


def check_combination(model: RegionRegressor, n: int, problems: FitProblems) -> None:
    """Check the set against the number of decisions, and the trainer against both."""
    hypothesis = model.hypothesis
    if not isinstance(hypothesis, Hypothesis):
        return
    before = len(problems)
    with problems.taking():
        hypothesis.check(n)
    if isinstance(model.trainer, Trainer) and len(problems) == before:
        empty = Block(np.empty((0, 1)), np.empty((0, n)), np.empty((0, n)), np.empty(0))
        with problems.taking():
            model.trainer.refuse(Objective(hypothesis, Samples.of(empty)))


# Problems of a fit, from all the parts it has.


class FitProblems(Problems):
    """Problems of a fit, some of which come as errors of other parts."""

    def __init__(self) -> None:
        super().__init__()
        self._others: list[type[FeaslearnError]] = []

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Take an error as one problem among others."""
        try:
            yield
        except DataError as error:
            self.add(str(error), error=type(error))
        except (SetError, UnsupportedError) as error:
            self.add(str(error), error=type(error))
            self._others.append(type(error))

    def raise_all(self) -> None:
        """Raise one `DataError`; a single problem of a set or a combination keeps its class."""
        alone = len(self) == len(self._others) == 1
        self.raise_if_any(self._others[0] if alone else DataError, "RegionRegressor")
