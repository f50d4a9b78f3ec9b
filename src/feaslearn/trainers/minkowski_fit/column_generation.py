"""Minkowski sums whose terms are found one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard, ShardSource
from feaslearn.hypotheses.grown_minkowski import GrownMinkowski
from feaslearn.runs import Clock, OutOfTime
from feaslearn.trainers.minkowski_fit.fit import Fitted, MinkowskiFit
from feaslearn.trainers.minkowski_fit.pricing import Priced, best_segment, best_simplex
from feaslearn.trainers.progress import ProgressBar

Array = NDArray[np.float64]

#: A term that lowers the loss at a smaller share of the decisions' size does not.
NO_RATE = 1e-7
#: The detail that says that there was no time for another term.
LATE = "ended by the time limit"


def grow(
    model: GrownMinkowski,
    shards: Sequence[Shard] | ShardSource,
    strengths: tuple[float | str, float | str],
    n_folds: int,
    random: np.random.Generator,
    clock: Clock,
) -> Fitted:
    """Add the term of the highest rate until none has one; then choose the strengths."""
    shapes: list[Array] = []
    seed = int(random.integers(2**31))

    def fitted_to(chosen: list[Array]) -> MinkowskiFit:
        terms = model.listed([model.term(shape) for shape in chosen])
        return MinkowskiFit(terms, shards, n_folds, np.random.default_rng(seed))

    with ProgressBar("Column generation", int(model.max_terms)) as bar:
        while True:
            before = clock.left
            try:
                trial = fitted_to(shapes)
                solved = trial.solve(0.0, 0.0)
            except OutOfTime:
                if len(shapes) == 0:
                    raise
                shapes.pop()
                late = True
                break
            fit, plain = trial, solved
            priced = _best(model, fit, plain, clock)
            size = np.sqrt(fit.moments.xx)
            known = any(np.allclose(priced.shape, shape) for shape in shapes)
            ended = priced.rate <= NO_RATE * size or known
            # The next round takes longer than this one.
            late = clock.limited and clock.left < 2.0 * (before - clock.left)
            if ended or len(shapes) == model.max_terms or late:
                break
            shapes.append(priced.shape)
            bar.update(len(shapes), f"loss {plain.loss:.4g}")
    try:
        final = fit.solve(*strengths, clock=clock)
    except OutOfTime:
        final = plain
    proved = ended and priced.exact
    details = {"rate of the best term left out": priced.rate / max(size, 1e-300)}
    if late and not ended:
        details[LATE] = 1.0
    return final._replace(
        theta=_theta(model, fit, final.theta, shapes),
        bound=plain.loss if proved else None,
        rounds=len(shapes) + 1,
        details=final.details | details | {"proved over the whole family": float(proved)},
    )


def _best(model: GrownMinkowski, fit: MinkowskiFit, fitted: Fitted, clock: Clock) -> Priced:
    """Return the term of the highest rate, given the errors of a fit."""
    samples = fit.samples
    errors, costs = [], []
    for shard in samples.each(_whole):
        psi = samples.of.psi(shard.features)
        guess = samples.hypothesis.predict(fitted.theta, shard.features, shard.costs)
        weighted = shard.weights[:, None] * np.nan_to_num(shard.decisions - guess)
        errors.append(psi.T[:, :, None] * weighted)
        costs.append(shard.costs)
    search = best_simplex if model.family == "simplices" else best_segment
    return search(np.concatenate(errors, axis=1), np.concatenate(costs), clock)


def _whole(shard: Shard, _: NDArray[np.intp]) -> Shard:
    return shard


def _theta(model: GrownMinkowski, fit: MinkowskiFit, theta: Array, shapes: list[Array]) -> Array:
    """Return the parameters of the grown sum; terms that are not used are zero."""
    samples = fit.samples
    layout = model.layout(samples.n, samples.k)
    blocks = {name: np.zeros(shape) for name, shape in layout.shapes.items()}
    known = samples.hypothesis.layout(samples.n, samples.k).unpack(theta)
    for name, block in known.items():
        blocks[name][: len(block)] = block
    if shapes:
        blocks["shapes"][: len(shapes)] = shapes
    return layout.pack(blocks)
