"""From checked data to trained parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone

from feaslearn.costs import ResolvedCost, resolve_cost
from feaslearn.data import (
    BLOCK_ROWS,
    Block,
    BlockSource,
    Chunk,
    ChunkSource,
    TableBlocks,
    blocks_of,
)
from feaslearn.data.block_source import Survey
from feaslearn.data.checks import counting
from feaslearn.data.diagnostics import outlying_decisions
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.features import FeatureMap, fit_features
from feaslearn.hypotheses.constrained import constrained, without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Loss, Objective, Predictability, Suboptimality
from feaslearn.losses.kernels import SQUARED_L2
from feaslearn.messages import list_first, row_number
from feaslearn.regressor.checks import FEW_ROWS, FitData
from feaslearn.regressor.parameters import FitProblems, check_combination, check_parameters
from feaslearn.regressor.sample_reader import SampleReader
from feaslearn.runs.checkpoint import fingerprint
from feaslearn.trainers import Auto, Convex, Trained, Trainer
from feaslearn.trainers.automatic import (
    Choice,
    choose_hypothesis,
    choose_trainer,
    linear_policy,
    trained_or_incumbent,
)
from feaslearn.trainers.contest import FOLDS, MOST_SAMPLES, some_samples
from feaslearn.trainers.ridge_choice import choose_size
from feaslearn.trainers.running import carried_out, survey_chunks

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor

Indices = NDArray[np.intp]

#: Rows that a message names.
NAMED = 5


def train(
    model: RegionRegressor, data: FitData, priced: bool, trainer: Trainer | str
) -> tuple[Hypothesis, Trained]:
    """Choose what "auto" leaves open, and train; without costs, only the linear policy.

    Returns
    -------
    hypothesis : Hypothesis
        What was trained: a copy, so that parameters set later do not reach into a fitted model.
    trained : Trained
        Its parameters.
    """
    rows = data.minimized(model.sense == "max")
    given = priced and model.hypothesis is not None
    hypothesis = clone(model.hypothesis) if given else linear_policy()
    threads = int(effective_n_jobs(model.n_jobs))
    if data.known is not None:
        hypothesis = constrained(hypothesis, data.known.shape)
    objective = Objective(data.loss, hypothesis, rows, threads)
    fit = _Fit(trainer, choose=priced and not given)
    seeded = model.random_state is not None
    trained = carried_out(fit.outer, objective, data.random, fit.train, seeded)
    if fit.choose and rows.n_rows < 2 * FOLDS:
        trained.result.warnings.append(
            f"a hypothesis is chosen from {2 * FOLDS} samples on; these are {rows.n_rows}, "
            "so the linear policy was fitted"
        )
    trained.result.warnings.extend([*data.warnings, *_outliers(objective, data, fit)])
    return without_known(fit.hypothesis), trained


class _Fit:
    """Chooses what is open and trains, all within one run."""

    def __init__(self, trainer: Trainer | str, choose: bool) -> None:
        self.trainer, self.choose = trainer, choose
        #: Whose limits hold for all of it.
        self.outer = trainer if isinstance(trainer, Trainer) else Auto()
        self.hypothesis: Hypothesis = linear_policy()

    def train(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose the hypothesis; then train it, or take the best of the choice at the deadline."""
        chosen = Choice(objective.hypothesis)
        if self.choose:
            chosen = choose_hypothesis(objective.within("hypothesis"), random, self.trainer)
            objective = objective.of(chosen.hypothesis)

        def train() -> Trained:
            return self._sized(objective, random)

        incumbent, trained = trained_or_incumbent(train, chosen, objective, self.outer)
        self.hypothesis = self.hypothesis if incumbent is None else incumbent
        return trained

    def _sized(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose an open number of columns; then train."""
        sized = choose_size(objective.within("size").learned(), random)
        objective = objective.of(sized.hypothesis)
        self.hypothesis = objective.hypothesis
        # Under a time limit, a choice that was cut short may be another one when the run goes on.
        part = objective.within(f"training {fingerprint(self.hypothesis)}")
        self.trainer = choose_trainer(self.trainer, objective)
        return self.trainer.train(part, random)


def _outliers(objective: Objective, data: FitData, fit: _Fit) -> list[str]:
    """Return the warning that names outliers, if there is one; of many rows, some are looked at."""
    step = -(-data.rows.n_rows // BLOCK_ROWS)
    rows = data.rows.every(step)
    if objective.known is not None:
        rows = rows._replace(features=objective.known.split(rows.features)[0])

    def named(places: Indices) -> str:
        numbers = step * places if data.numbers is None else data.numbers[step * places]
        return list_first([f"row {row_number(i)}" for i in numbers[:NAMED]], len(numbers))

    return outlier_warning(objective.loss, fit.trainer, fit.choose, rows, named)


def outlier_warning(
    loss: Loss, trainer: Trainer | str, choose: bool, rows: Block, named: Callable[[Indices], str]
) -> list[str]:
    """Return the warning about outliers that bias a fit, if there is one.

    Robust fits, and norms that resist outliers in a search that does so too, need no word, unless
    the hypothesis was to be chosen: outliers hide which one is better.
    """
    squared = isinstance(loss, Predictability | Suboptimality) and loss.norm_code() == SQUARED_L2
    resists = not squared and not choose and getattr(trainer, "resists_outliers", False)
    if resists or getattr(trainer, "robust", False):
        return []
    found = outlying_decisions(rows)
    if found is None:
        return []
    advice = (
        "Squared losses follow such rows: take them out if they are errors, or use a norm that "
        "resists them, as in loss=Predictability('l1')"
        if squared
        else "They may bias the search: take them out if they are errors"
    )
    return [
        f"{named(found.places)}: decisions at least {found.times:.0f} times as far from their "
        f"median as usual ones. {advice}"
    ]


# Fits to data that come in chunks.


class ChunkedFit(NamedTuple):
    """What was trained, and what is to be remembered of the data: some rows stand for all."""

    hypothesis: Hypothesis
    trained: Trained
    data: FitData
    survey: Survey


class _Checked(NamedTuple):
    loss: Loss
    random: np.random.Generator
    cost: ResolvedCost | None
    features: FeatureMap


def fit_chunks(model: RegionRegressor, chunks: ChunkSource, *others: Any) -> ChunkedFit:
    """Train from chunks; ``others`` are y, costs and weights, which chunks have themselves."""
    checked = _check(model, chunks, others)
    sign = -1.0 if model.sense == "max" else 1.0
    hypothesis = linear_policy() if model.hypothesis is None else clone(model.hypothesis)
    threads = int(effective_n_jobs(model.n_jobs))
    source = _source(chunks, checked, sign, threads)
    some = TableBlocks(source.first)
    data = FitData(some, checked.features, checked.cost, *checked[:2], np.zeros((2, 0)))
    objective = Objective(checked.loss, hypothesis, source, threads)
    fit = _ChunkedFitFit(model.trainer, choose=model.hypothesis is None and model.cost is not None)
    seeded = model.random_state is not None
    trained = carried_out(fit.outer, objective, checked.random, fit.train, seeded)
    chosen_from = fit.chosen_from
    survey = source.survey()
    _check_observed(survey, chunks)
    if chosen_from:
        part = f"on {chosen_from} of {survey.n_samples} samples, "
        trained.result.warnings.append(
            f"the hypothesis was chosen {part if chosen_from < survey.n_samples else ''}among "
            "those that can be fitted from chunks"
        )
    trained.result.details["passes over the data"] = float(source.passes)
    rows = survey.rows._replace(
        costs=sign * survey.rows.costs, weights=survey.rows.weights / survey.rows.weights.sum()
    )

    def counted(places: NDArray[np.intp]) -> str:
        return f"{len(places)} of {len(rows.weights)} samples that were looked at"

    told = outlier_warning(checked.loss, fit.trainer, fit.choose, rows, counted)
    trained.result.warnings.extend(told)
    data = data._replace(rows=TableBlocks(rows), signals=survey.signals)
    return ChunkedFit(fit.hypothesis, trained, data, survey)


class _ChunkedFitFit:
    """Chooses what is open and trains, all within one run."""

    def __init__(self, trainer: Trainer | str, choose: bool) -> None:
        self.trainer, self.choose = trainer, choose
        #: Whose limits hold for all of it.
        self.outer = trainer if isinstance(trainer, Trainer) else Auto()
        self.hypothesis: Hypothesis = linear_policy()
        self.chosen_from = 0

    def train(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose the hypothesis on some samples; then train it, or take the best of the choice."""
        chosen = Choice(objective.hypothesis)
        if self.choose:
            survey_chunks(objective)
            some = some_samples(objective, random).within("hypothesis")
            # Those that Convex trains can be fitted from chunks.
            chosen = choose_hypothesis(some, random, Convex())
            objective = objective.of(chosen.hypothesis)
            self.chosen_from = some.n_samples

        def train() -> Trained:
            return self._sized(objective, random)

        incumbent, trained = trained_or_incumbent(train, chosen, objective, self.outer)
        self.hypothesis = self.hypothesis if incumbent is None else incumbent
        return trained

    def _sized(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose an open number of columns; then train."""
        self.hypothesis = choose_size(objective.within("size"), random).hypothesis
        objective = objective.of(self.hypothesis)
        self.trainer = trainer = choose_trainer(self.trainer, objective)
        reasons = trainer.chunk_mismatches(objective)
        if reasons:
            raise UnsupportedError(f"RegionRegressor: {'; '.join(reasons)}")
        if trainer.chunks == "sums":
            survey_chunks(objective)
            objective = objective.normalized()
            if objective.n_samples <= FEW_ROWS:
                # So few are read once and stay in memory.
                objective = replace(objective, samples=list(blocks_of(objective.whole())))
        return trainer.train(objective.within("training"), random)


def _check(model: RegionRegressor, chunks: ChunkSource, others: tuple[Any, ...]) -> _Checked:
    """Check parameters and the first chunk; raise one error that names everything."""
    problems = FitProblems()
    loss, random = check_parameters(model, problems)
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
    if loss is not None:
        check_combination(model, loss, n, problems)
    features = None
    with problems.taking():
        columns = () if cost is None else cost.columns
        signals = np.zeros((1, len(names)))
        if not isinstance(model.features, str):
            signals = _some_signals(chunks)
        features = fit_features(model.features, signals, cost_columns=columns, signal_names=names)
    problems.raise_all()
    if loss is None or random is None or features is None:
        raise AssertionError("a part is missing although no problem was found")
    return _Checked(loss, random, cost, features)


def _some_signals(chunks: ChunkSource) -> Any:
    """Return the signals of a part of the samples, to which a transformer can be fitted."""
    names = chunks.names.signals
    everything = fit_features("all", np.zeros((1, len(names))), cost_columns=(), signal_names=names)
    checked = _Checked(None, None, None, everything)  # type: ignore[arg-type]
    source = _source(chunks, checked, 1.0, 1)
    rows = source.sample(MOST_SAMPLES, np.random.default_rng(0))
    return np.ascontiguousarray(rows.features[:, 1:])


def _source(chunks: ChunkSource, checked: _Checked, sign: float, threads: int) -> BlockSource:
    read = ChunkReader(checked.features, checked.cost, sign)
    head = chunks.head()
    first, kept = read(head.rows(0, BLOCK_ROWS))
    if not len(kept):
        first, kept = read(head)
    if not len(kept):
        raise DataError(
            f"{head.place}: none of the first {head.n_rows} rows has a positive weight and an "
            "observed decision"
        )
    columns = None if checked.features.transformer is not None else checked.features.columns
    return BlockSource(chunks, read, first, columns, threads)


def _check_observed(survey: Survey, chunks: ChunkSource) -> None:
    for j in np.flatnonzero(survey.observed == 0):
        raise DataError(
            f"decisions: column {chunks.names.decisions[j]!r} has no observed value in a row of "
            "positive weight; drop the column"
        )


# How a chunk becomes what a loss reads.


@dataclass(frozen=True)
class ChunkReader:
    """Makes features and costs of a chunk's signals, and leaves out rows that do not count.

    Parameters
    ----------
    features : FeatureMap
        How features are made of signals.
    cost : ResolvedCost or None
        How costs are read from signals; without, they are zero.
    sign : float
        -1 where decisions maximise their cost.
    """

    features: FeatureMap
    cost: ResolvedCost | None
    sign: float

    def __call__(self, chunk: Chunk) -> tuple[Block, NDArray[np.intp]]:
        """Return the block, and which rows of the chunk it holds."""
        signals, decisions, weights = (np.asarray(a, dtype=float) for a in chunk[:3])
        kept = np.arange(len(weights))
        count = counting(decisions, weights)
        if not count.all():
            kept = np.flatnonzero(count)
            signals, decisions, weights = signals[kept], decisions[kept], weights[kept]
        try:
            block = SampleReader(self.features, self.cost).made(signals, decisions, weights)
        except DataError as error:
            raise DataError(
                f"{chunk.place}: {error} (rows are counted from row {chunk.first} of the data)"
            ) from error
        return block.negated() if self.sign < 0.0 else block, kept
