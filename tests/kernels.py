"""Kernels that are compiled before the tests begin, each in one of two processes.

In a fresh checkout both would otherwise compile the same kernels at the same time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.trainers.objective import Objective


def _block() -> Block:
    random = np.random.default_rng(0)
    return Block(*random.normal(size=(3, 6, 2)), np.full(6, 1 / 6))


def _search(trainer: fl.trainers.Trainer, primitive: fl.PrimitiveSet) -> None:
    objective = Objective(fl.Affine(primitive), Samples.of(_block()))
    trainer.train(objective, np.random.default_rng(0))


def _fit(hypothesis: fl.hypotheses.Hypothesis, known: fl.Known | None = None) -> None:
    data = fl.datasets.make_power5(60, line_capacity=1.4, random_state=0)
    model = fl.RegionRegressor(hypothesis, cost=data.cost, known=known)
    model.fit(data.signals, data.decisions)


def _paper() -> None:
    from feaslearn import paper

    for loss in (paper.Predictability(), paper.Suboptimality()):
        problem = paper.Problem(paper.Affine(fl.Box(2)), loss, paper.Samples(*_block()))
        paper.algorithm2(problem, max_iter=1)


#: In two halves that take about as long.
HALVES: tuple[tuple[Callable[[], None], ...], ...] = (
    (_paper, lambda: _fit(fl.Minkowski.hypersimplices(3), fl.Known(bounds=(0.0, 3.5)))),
    (
        lambda: _fit(fl.Facets()),
        lambda: _search(fl.trainers.Annealing(max_iter=1, n_starts=1, ridge=0.1), fl.Simplex(2)),
        lambda: _search(fl.trainers.Annealing(max_iter=1, n_starts=1, ridge=0.1), fl.Box(2)),
    ),
)


def compile_half(which: int) -> None:
    """Use, and so compile, one half of the kernels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for use in HALVES[which]:
            use()
