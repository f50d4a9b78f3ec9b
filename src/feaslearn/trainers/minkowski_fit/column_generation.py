"""Minkowski sums whose terms are found one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Samples
from feaslearn.hypotheses.grown_minkowski import GrownMinkowski
from feaslearn.runs import OutOfTime, Run
from feaslearn.runs.progress import ProgressBar
from feaslearn.tolerances import GAIN_TOL, TINY
from feaslearn.trainers.minkowski_fit.fit import Fitted, MinkowskiFit

#: Decisions up to which all their subsets are looked at.
MOST_EXACT = 12
#: Starts of the searches that are not exact.
STARTS = 30


def grow(
    model: GrownMinkowski,
    samples: Samples,
    penalties: tuple[float | str, float | str],
    n_folds: int,
    random: np.random.Generator,
    run: Run,
) -> Fitted:
    """Add the term of the highest rate until none has one; then choose the penalties."""
    seed = int(random.integers(2**31))
    shapes: list[Array] = []
    found: tuple[MinkowskiFit, Fitted, int] | None = None
    details = {"proved over the whole family": 0.0}
    try:
        with ProgressBar("Column generation", int(model.max_terms)) as bar:
            while True:
                terms = model.listed([model.term(shape) for shape in shapes])
                drawn = np.random.default_rng(seed)
                fit = MinkowskiFit(terms, samples, n_folds, drawn, run=run)
                plain = fit.solve(0.0, 0.0)
                found = fit, plain, len(shapes)
                priced = _best(model, fit, plain, run)
                size = np.sqrt(fit.moments.xx)
                known = any(np.allclose(priced.shape, shape) for shape in shapes)
                ended = priced.rate <= GAIN_TOL * size or known
                if ended or len(shapes) == model.max_terms:
                    break
                shapes.append(priced.shape)
                bar.update(len(shapes), f"loss {plain.loss:.4g}")
        details["rate of the best term left out"] = priced.rate / max(size, TINY)
        details["proved over the whole family"] = float(ended and priced.exact)
        final = fit.solve(*penalties)
    except OutOfTime:
        if found is None:
            raise
        fit, final, count = found
        plain, shapes = final, shapes[:count]
    return final._replace(
        theta=_theta(model, fit, final.theta, shapes),
        bound=plain.loss if details["proved over the whole family"] else None,
        rounds=len(shapes) + 1,
        details=final.details | details,
        late=run.late(),
    )


def _best(model: GrownMinkowski, fit: MinkowskiFit, fitted: Fitted, run: Run) -> Priced:
    """Return the term of the highest rate, given the errors of a fit."""
    passes = fit.passes
    errors, costs = [], []
    for block in passes.samples:
        psi = passes.of.psi(block.features)
        guess = passes.hypothesis.predict(fitted.theta, block.features, block.costs)
        weighted = block.weights[:, None] * np.nan_to_num(block.decisions - guess)
        errors.append(psi.T[:, :, None] * weighted)
        costs.append(block.costs)
    search = best_simplex if model.family == "simplices" else best_segment
    return search(np.concatenate(errors, axis=1), np.concatenate(costs), run)


def _theta(model: GrownMinkowski, fit: MinkowskiFit, theta: Array, shapes: list[Array]) -> Array:
    """Return the parameters of the grown sum; terms that are not used are zero."""
    passes = fit.passes
    layout = model.layout(passes.n, passes.k)
    blocks = {name: np.zeros(shape) for name, shape in layout.shapes.items()}
    known = passes.hypothesis.layout(passes.n, passes.k).unpack(theta)
    for name, block in known.items():
        blocks[name][: len(block)] = block
    if shapes:
        blocks["shapes"][: len(shapes)] = shapes
    return layout.pack(blocks)


# How fast a new term would lower the loss: the best of a family.
#
# A term of scale :math:`\alpha \psi_m(s)` lowers the squared loss at the rate
# :math:`2 \sum_i w_i \psi_m(s_i) e_i'y_i`, with errors :math:`e_i` and the term's minimisers
# :math:`y_i`.


class Priced(NamedTuple):
    """The best shape of a family, its rate, and whether no other can be better."""

    shape: Array
    rate: float
    exact: bool


def best_simplex(errors: Array, costs: Array, run: Run) -> Priced:
    """Return the set of two or more decisions whose simplex has the highest rate."""
    M, count, n = errors.shape
    if n > MOST_EXACT:
        return _climbed(errors, costs, run)
    # The rates of all subsets, written as binary numbers.
    subsets = np.arange(1 << n)
    holds = [np.flatnonzero((subsets >> j) & 1) for j in range(n)]
    rates, own = np.zeros((M, len(subsets))), np.zeros((M, len(subsets)))
    order = np.argsort(costs, axis=1)
    for i in range(count):
        run.check_time()
        own[:] = 0.0
        # From the dearest to the cheapest: the last one written is the cheapest of its subset.
        for j in order[i, ::-1]:
            own[:, holds[j]] = errors[:, i, j, None]
        rates += own
    # Single decisions are points, which is what an offset is for.
    rates[:, [0, *(1 << np.arange(n))]] = -np.inf
    best = int(np.argmax(rates.max(axis=0)))
    shape = ((best >> np.arange(n)) & 1).astype(float)
    return Priced(shape, float(rates[:, best].max()), exact=True)


def _climbed(errors: Array, costs: Array, run: Run) -> Priced:
    """Add and remove one decision at a time while the rate rises, from several starts."""
    n = costs.shape[1]

    def rate(shape: Array) -> float:
        chosen = np.where(shape > 0.5, costs, np.inf).argmin(axis=1)
        return float(errors[:, np.arange(len(costs)), chosen].sum(axis=1).max())

    random = np.random.default_rng(0)
    best = Priced(np.ones(n), rate(np.ones(n)), exact=False)
    for _ in range(STARTS):
        shape = np.zeros(n)
        shape[random.choice(n, 2, replace=False)] = 1.0
        value = rate(shape)
        while True:
            run.check_time()
            others = np.abs(shape - np.eye(n))
            others = others[others.sum(axis=1) >= 2.0]
            rates = [rate(other) for other in others]
            if max(rates) <= value:
                break
            shape, value = others[int(np.argmax(rates))], max(rates)
        if value > best.rate:
            best = Priced(shape, value, exact=False)
    return best


def best_segment(errors: Array, costs: Array, run: Run) -> Priced:
    """Return a direction of length one whose segment has a high rate; a heuristic."""
    n = costs.shape[1]
    random = np.random.default_rng(0)
    first, second = np.triu_indices(n, 1)
    pairs = (np.eye(n)[first] - np.eye(n)[second])[:200]
    starts = [np.eye(n), -np.eye(n), pairs, -pairs, random.normal(size=(STARTS, n))]
    best = Priced(np.eye(n)[0], 0.0, exact=False)
    for table in errors:
        for start in np.vstack(starts):
            run.check_time()
            g = start / float(np.linalg.norm(start))
            for _ in range(20):
                total = table[costs @ g < 0.0].sum(axis=0)
                if total @ g > best.rate:
                    best = Priced(g, float(total @ g), exact=False)
                length = float(np.linalg.norm(total))
                if not length or np.allclose(g, total / length):
                    break
                g = total / length
    return best
