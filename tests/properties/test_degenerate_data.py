"""Data that determine little give finite predictions or a refusal of our own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from properties.tiny import Tiny, fitted, models, tiny


def collinear(problem: Tiny) -> Tiny:
    return _with(problem, lambda s: np.hstack([s, s[:, -1:], 2.0 * s[:, -2:-1] - s[:, -1:]]))


def constant(problem: Tiny) -> Tiny:
    return _with(problem, lambda s: np.hstack([s, np.full((len(s), 1), 7.0)]))


def ill_conditioned(problem: Tiny) -> Tiny:
    return _with(problem, lambda s: np.hstack([s, 1e9 + s[:, -1:], s[:, -1:] * (1 + 1e-9)]))


def more_features_than_samples(problem: Tiny) -> Tiny:
    random = np.random.default_rng(problem.seed)
    wide = random.normal(size=(problem.signals.shape[1], 30))
    return _with(problem, lambda s: np.hstack([s, s @ wide]))


def few(problem: Tiny) -> Tiny:
    """Return fewer samples than decisions."""
    return replace(problem, signals=problem.signals[:2], decisions=problem.decisions[:2])


def one_sample_again_and_again(problem: Tiny) -> Tiny:
    rows = np.zeros(len(problem.signals), dtype=int)
    return replace(problem, signals=problem.signals[rows], decisions=problem.decisions[rows])


def zero_costs(problem: Tiny) -> Tiny:
    return problem.scaled(list(problem.costs), 0.0)


def some_zero_costs(problem: Tiny) -> Tiny:
    signals = problem.signals.copy()
    signals[::2, list(problem.costs)] = 0.0
    return replace(problem, signals=signals)


def tied_costs(problem: Tiny) -> Tiny:
    signals = problem.signals.copy()
    signals[:, list(problem.costs)] = np.round(signals[:, list(problem.costs)][:, :1])
    return replace(problem, signals=signals)


def constant_decisions(problem: Tiny) -> Tiny:
    return replace(problem, decisions=np.ones_like(problem.decisions))


def decisions_on_a_grid(problem: Tiny) -> Tiny:
    return replace(problem, decisions=np.round(problem.decisions))


def an_outlier(problem: Tiny) -> Tiny:
    decisions = problem.decisions.copy()
    decisions[0] += 1e8
    return replace(problem, decisions=decisions)


def _with(problem: Tiny, change: object) -> Tiny:
    return replace(problem, signals=change(problem.signals), new=change(problem.new))


KINDS = [
    *(collinear, constant, ill_conditioned, more_features_than_samples, few),
    *(one_sample_again_and_again, zero_costs, some_zero_costs, tied_costs),
    *(constant_decisions, decisions_on_a_grid, an_outlier),
]


@given(tiny(most=14), models, st.sampled_from(KINDS))
def test_degenerate_data(problem: Tiny, model: str, kind: object) -> None:
    degenerate = kind(problem)
    try:
        fit = fitted(degenerate, model)
    except fl.exceptions.FeaslearnError:
        return
    assert np.isfinite(fit.predict(degenerate.new)).all()
    assert np.isfinite(fit.result_.objective)
