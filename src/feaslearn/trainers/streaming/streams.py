"""What a model keeps to learn from more samples, and a test whether they still fit."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from feaslearn.arrays import Array
from feaslearn.data import Block, Samples
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.losses import Objective
from feaslearn.trainers.minkowski_fit.block_moments import BlockMoments
from feaslearn.trainers.minkowski_fit.moments import Moments, Units
from feaslearn.trainers.minkowski_fit.penalized import Answer, Penalized, Penalties
from feaslearn.trainers.minkowski_fit.scale_cone import NegativeRows, ScaleCone
from feaslearn.trainers.standardize import Standardization

#: Latest losses that a new one is compared with.
REMEMBERED = 1000
#: Samples of a chunk that are tested at most.
MAX_TESTED = 1000


@dataclass(frozen=True, eq=False)
class DriftTest:
    r"""Watches the losses of samples that a model has not learned from yet.

    While nothing changes, the rank of a new loss among those before is uniform: with
    :math:`p_t` = the share of losses that are at least as large, its own included,

    .. math:: E_t = (1 + E_{t-1}) \frac{1}{2 \sqrt{p_t}}, \qquad \text{alarm where } E_t \ge 1/r

    multiplies by one on average and adds one, so :math:`E_t - t` does not rise on average, and the
    mean number of samples to a false alarm is at least :math:`1/r`, whatever the distribution of
    the losses (Shiryaev and Roberts; the ranks are those of conformal test martingales). That is
    exact while no more than 1000 losses are compared with, and measured beyond. Losses that fall,
    as those of a model that still learns, raise none.

    Parameters
    ----------
    rate : float
        The number r: false alarms for each sample, at most.
    reference : ndarray
        The losses that new ones are compared with, in the order they came.
    evidence : float, default=0.0
        The statistic :math:`E_t`.
    seen : int, default=0
        Samples that were tested or passed over.
    alarms : tuple of int, default=()
        After how many samples there were alarms. Each begins a new comparison.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.trainers.streaming import DriftTest
    >>> losses = np.random.default_rng(0).exponential(size=600)
    >>> losses[500:] *= 4.0
    >>> test = DriftTest(rate=1e-5).after(losses[:500])
    >>> test.alarms
    ()
    >>> test.after(losses[500:]).alarms
    (522,)
    """

    rate: float
    reference: Array = field(default_factory=lambda: np.zeros(0))
    evidence: float = 0.0
    seen: int = 0
    alarms: tuple[int, ...] = ()

    @property
    def warning(self) -> str:
        """When drift was found last, in words."""
        return f"new samples no longer fit: drift was found after {self.alarms[-1]} samples"

    def after(self, losses: Array, least: float = 0.0) -> Self:
        """Return the test after some more losses; those below ``least`` count as equal.

        Of more than 1000 losses, some are looked at for all.
        """
        step = 1 + len(losses) // MAX_TESTED
        kept, evidence, alarms = list(self.reference), self.evidence, list(self.alarms)
        ordered = sorted(kept)
        for place in range(0, len(losses), step):
            loss = max(float(losses[place]), least)
            larger = len(ordered) - bisect_left(ordered, loss)
            rank = (1.0 + larger) / (1.0 + len(ordered))
            evidence = (1.0 + evidence) * 0.5 / np.sqrt(rank)
            kept.append(loss)
            insort(ordered, loss)
            if evidence >= 1.0 / self.rate:
                alarms.append(self.seen + place + 1)
                kept, ordered, evidence = [], [], 0.0
            elif len(kept) > REMEMBERED:
                del ordered[bisect_left(ordered, kept.pop(0))]
        return replace(
            self,
            reference=np.array(kept),
            evidence=float(evidence),
            seen=self.seen + len(losses),
            alarms=tuple(alarms),
        )


# Minkowski sums that keep learning: moments, and the rows at which scales are held.


#: A row is no longer held once its samples count less than this.
FORGOTTEN = 1e-3

#: Least samples of a step.
STEP_ROWS = 32
#: Share of the mean curvature that is added to all directions, so that rare ones do not run away.
LIFT = 1e-3
#: The minimiser of a curved set turns with the parameters, which moves decisions about as much
#: again: twice the slope, four times the curvature.
CURVED_FACTOR = 4.0
#: How often a step that does not help its own samples is halved before it is left out.
HALVINGS = 4


class Solution(NamedTuple):
    """Parameters, their mean loss, how they were found, and the scales at the rows held."""

    theta: Array
    loss: float
    answer: Answer
    scales: Array


@dataclass(frozen=True, eq=False)
class MomentStream:
    r"""The moments of all samples so far, older ones counting less.

    .. math:: \min_a \sum_i \lambda^{N-i} w_i \|x_i - \hat x_i\|^2 \quad \text{s.t.} \quad
              \psi(s_j)'a_t \ge 0 \; \forall j \in J

    The frame is that of the first chunk, which keeps rounding small; a solution is found in the
    frame of all samples, to which moments are carried over exactly.
    """

    mean: Array
    scale: Array
    center: Array
    knots: Array | None
    sums: Moments
    rows: Array
    ages: Array

    @classmethod
    def begun(cls, hypothesis: Minkowski, block: Block) -> Self:
        """Return the stream before its first chunk: only the frame is read from it."""
        k, n = block.features.shape[1], block.decisions.shape[1]
        units = Units.of(block, bool(hypothesis.offset), exact=False)
        basis = hypothesis.basis(k)
        knots = None
        if basis.knotted:
            knots = basis.place_knots(block.features, block.decisions)
        blank = BlockMoments(hypothesis, n, k, units, knots).of(
            Block(*(part[:0] for part in block))
        )
        return cls(*units, knots, blank, np.zeros((0, basis.size)), np.zeros(0))

    @property
    def weight(self) -> float:
        """What all samples count together."""
        return self.sums.weight

    def _of(self, hypothesis: Minkowski) -> BlockMoments:
        """Return what makes the moments of more samples."""
        units = Units(self.mean, self.scale, self.center)
        return BlockMoments(hypothesis, len(self.center), len(self.mean), units, self.knots)

    def after(self, hypothesis: Minkowski, block: Block, forgetting: float) -> tuple[Self, int]:
        """Return the stream after some more samples, with all their rows held, and their ties."""
        of, count = self._of(hypothesis), len(block.weights)
        old, new = self.sums.scaled(forgetting**count), of.of(faded(block, forgetting))
        held = of.shape[0] > 0 and not of.basis.nonnegative
        rows, ages = self.rows, self.ages
        if held:
            rows = np.concatenate([rows, of.psi(block.features)])
            ages = np.concatenate([ages + count, np.arange(count - 1.0, -1.0, -1.0)])
        stream = replace(self, sums=Moments.total([old, new]), rows=rows, ages=ages)
        return stream, int(new.tied)

    def scaled(self, factor: float) -> Self:
        """Return the stream with all weights multiplied by a factor."""
        return replace(self, sums=self.sums.scaled(factor))

    def solve(self, hypothesis: Minkowski, ridge: float) -> Solution:
        """Return the optimum, in the units of all samples."""
        of = self._of(hypothesis)
        before, after = of.units, self.sums.own_units(of.units, of.split)
        sums, of = self.sums.in_units(before, after, of.split), of.in_units(after)
        rows, M = self.rows, of.basis.size
        if self.knots is None:
            rows = rows @ before.change(after)[:M, :M].T
        held = None if of.basis.nonnegative or not of.shape[0] else NegativeRows(rows)
        problem = Penalized(ScaleCone(of.shape, held), sums, of.basis, of.split)
        answer = problem.solve(sums.reduced(), Penalties(ridge, 0.0))
        loss = max(0.0, sums.value(answer.a, answer.b)) / self.weight
        return Solution(of.theta(answer.a, answer.b), loss, answer, rows @ answer.a.T)

    def pruned(self, scales: Array, retained: int, forgetting: float) -> Self:
        """Return the stream with no more rows than ``retained``, given the scales at its rows."""
        recent = forgetting**self.ages >= FORGOTTEN
        rows, ages, scales = self.rows[recent], self.ages[recent], scales[recent]
        if len(rows) > retained:
            size = np.abs(scales).max(axis=0, initial=0.0)
            closeness = (scales / np.where(size > 0.0, size, 1.0)).min(axis=1)
            closeness[[*rows.argmin(axis=0), *rows.argmax(axis=0)]] = -np.inf
            kept = np.sort(np.argsort(closeness, kind="stable")[:retained])
            rows, ages = rows[kept], ages[kept]
        return replace(self, rows=rows, ages=ages)


# Affine images that keep learning: stochastic steps, each in the metric of the samples so far.


@dataclass(frozen=True, eq=False)
class AffineStream:
    r"""Where the stochastic steps of an affine image stand.

    With the minimiser :math:`z_i` held, decisions are linear in the parameters of each decision j:
    :math:`\hat x_{ij} = \psi_i'\theta_j`, :math:`\psi_i = \phi(s_i) \otimes (z_i, 1)`. A step for
    some samples B is

    .. math:: \theta \leftarrow \theta - \tfrac12 P^{-1} \nabla_\theta \sum_{i \in B} w_i \ell_i,
              \qquad P \leftarrow \lambda^{|B|} P + \sum_{i \in B} w_i \psi_i \psi_i'

    that is recursive least squares along minimisers that move. Since P holds the samples of the
    step itself, the step does not go beyond their own optimum; without forgetting, steps shrink
    like one over the number of samples, and with it they keep a size that follows the plant.
    """

    mean: Array
    scale: Array
    metric: Array
    loss: float = 0.0
    weight: float = 0.0

    @classmethod
    def begun(cls, objective: Objective, theta: Array, forgetting: float) -> Self:
        """Return the stream after the samples of an objective, to which ``theta`` was fitted."""
        standard = Standardization.of(objective)
        # What does not change in the first chunk may do so later.
        scale = standard.scale
        fixed = np.where(np.isfinite(scale), scale, np.maximum(np.abs(standard.mean), 1.0))
        standard = Standardization(standard.mean, fixed)
        inner = standard.apply(objective)
        at = standard.convert(objective, theta)
        inner = replace(inner, samples=Samples.of(faded(inner.load(), forgetting)))
        metric = np.sum([_curvature(inner, at, part) for part in inner.samples], axis=0)
        value, weight = inner.value(at), float(inner.load().weights.sum())
        return cls(standard.mean, fixed, metric, value, weight)

    def scaled(self, factor: float) -> Self:
        """Return the stream with all weights multiplied by a factor."""
        return replace(
            self,
            metric=factor * self.metric,
            loss=factor * self.loss,
            weight=factor * self.weight,
        )

    def after(
        self, objective: Objective, theta: Array, block: Block, forgetting: float
    ) -> tuple[Self, Array]:
        """Return the stream and the parameters after steps for some more samples, in order."""
        standard = Standardization(self.mean, self.scale)
        batches = Samples.of(block, max(STEP_ROWS, len(self.metric)))
        at, stream = standard.convert(objective, theta), self
        for batch in batches.then(standard.rows):
            at, stream = stream._step(objective, at, batch, forgetting)
        return stream, standard.revert(objective, at)

    def _step(
        self, objective: Objective, theta: Array, batch: Block, forgetting: float
    ) -> tuple[Array, Self]:
        count = len(batch.weights)
        fresh = faded(batch, forgetting)
        old = self.scaled(forgetting**count)
        metric = old.metric + _curvature(objective, theta, fresh)
        before, gradient = objective.loss.value_and_gradient(objective.maps(), theta, fresh)
        step = _in_metric(objective, metric, gradient)
        for _ in range(HALVINGS):
            tried = theta + step
            after = fresh.weights @ objective.loss.samples(objective.hypothesis, tried, fresh)
            if float(after) <= before:
                theta = tried
                break
            step = step / 2.0
        weight = old.weight + float(fresh.weights.sum())
        return theta, replace(self, metric=metric, loss=old.loss + before, weight=weight)


def _curvature(objective: Objective, theta: Array, block: Block) -> Array:
    """Return the sum of ``w psi psi'`` over samples."""
    hypothesis = objective.maps()
    n, k = block.decisions.shape[1], block.features.shape[1]
    primitive, maps = hypothesis.latent(n), hypothesis.maps(theta, n, k)
    A, _ = maps.at(block.features)
    z = primitive.argmin(np.einsum("inp,in->ip", A, block.costs))
    if not primitive.absorbs_offset:
        z = np.hstack([z, np.ones((len(z), 1))])
    psi = np.einsum("ik,ip->ikp", block.features, z).reshape(len(z), -1)
    total = np.asarray((psi * block.weights[:, None]).T @ psi)
    return total if primitive.conic_form().polyhedral else CURVED_FACTOR * total


def _in_metric(objective: Objective, metric: Array, gradient: Array) -> Array:
    """Return the step: half the gradient against the metric, for each decision."""
    hypothesis, n, k = objective.maps(), objective.n_decisions, objective.n_features
    blocks = hypothesis.layout(n, k).unpack(gradient)
    parts = [blocks["A"]]
    if "b" in blocks:
        parts.append(blocks["b"][:, :, None])
    table = np.concatenate(parts, axis=2)
    right = table.transpose(0, 2, 1).reshape(-1, n)
    lift = LIFT * float(np.trace(metric)) / len(metric)
    if lift <= 0.0:
        return np.zeros(len(gradient))
    factor = cho_factor(metric + lift * np.eye(len(metric)), check_finite=False)
    step = -0.5 * cho_solve(factor, right, check_finite=False)
    moved = step.reshape(k, table.shape[2], n).transpose(0, 2, 1)
    found = {"A": moved[:, :, : blocks["A"].shape[2]]}
    if "b" in blocks:
        found["b"] = moved[:, :, -1]
    return hypothesis.layout(n, k).pack(found)


# Samples that count less the older they are.


def faded(block: Block, forgetting: float) -> Block:
    """Return samples in the order they came, each counting ``forgetting`` times the next one."""
    ages = np.arange(len(block.weights) - 1.0, -1.0, -1.0)
    return block._replace(weights=block.weights * forgetting**ages)


# What a model keeps to learn from more samples.


@dataclass(frozen=True, eq=False)
class Stream:
    """What a model needs to learn from more samples.

    Parameters
    ----------
    n_samples, n_chunks : int
        How many samples it has seen, in how many calls.
    state : MomentStream or AffineStream
        What it has kept of them.
    drift : DriftTest or None
        Whether new samples still fit; None for an `AffineStream`.
    n_tied : int, default=0
        Samples at whose cost the minimisers of a term tie.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost)
    >>> model.partial_fit(data.signals, data.decisions).stream_.n_samples
    60
    """

    n_samples: int
    n_chunks: int
    state: MomentStream | AffineStream
    drift: DriftTest | None
    n_tied: int = 0

    def after(self, block: Block, state: MomentStream | AffineStream, tied: int = 0) -> Stream:
        """Return the stream with another state, after some more samples."""
        return replace(
            self,
            n_samples=self.n_samples + len(block.weights),
            n_chunks=self.n_chunks + 1,
            n_tied=self.n_tied + tied,
            state=state,
        )

    def scaled(self, factor: float) -> Stream:
        """Return the stream with all weights multiplied by a factor."""
        return replace(self, state=self.state.scaled(factor))
