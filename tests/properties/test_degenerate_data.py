"""Data that determine little give finite predictions or a refusal of our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from properties.tiny import Array, Tiny, fitted, models, tiny

#: What becomes of signals, of those of training and the new ones.
SIGNALS: dict[str, Callable[[Array], Array]] = {
    "collinear": lambda s: np.hstack([s, s[:, -1:], 2.0 * s[:, -2:-1] - s[:, -1:]]),
    "constant": lambda s: np.hstack([s, np.full((len(s), 1), 7.0)]),
    "ill-conditioned": lambda s: np.hstack([s, 1e9 + s[:, -1:], s[:, -1:] * (1 + 1e-9)]),
    "more features than samples": lambda s: np.hstack(
        [s, s @ np.random.default_rng(0).normal(size=(s.shape[1], 30))]
    ),
}
#: What becomes of costs.
COSTS: dict[str, Callable[[Array], Array]] = {
    "zero": np.zeros_like,
    "some zero": lambda c: c * (np.arange(len(c)) % 2)[:, None],
    "tied": lambda c: np.tile(np.round(c[:, :1]), (1, c.shape[1])),
}
#: What becomes of decisions.
DECISIONS: dict[str, Callable[[Array], Array]] = {
    "constant decisions": np.ones_like,
    "decisions on a grid": np.round,
    "an outlier": lambda x: x + 1e8 * np.eye(len(x))[:, :1],
}
#: Which rows are left: fewer than decisions, or one sample again and again.
ROWS = {"few": slice(2), "one sample": np.zeros(12, dtype=int)}


def degenerate(problem: Tiny, kind: str) -> Tiny:
    if kind in SIGNALS:
        signals, new = (SIGNALS[kind](part) for part in (problem.signals, problem.new))
        return replace(problem, signals=signals, new=new)
    if kind in DECISIONS:
        return replace(problem, decisions=DECISIONS[kind](problem.decisions))
    if kind in ROWS:
        parts = (part[ROWS[kind]] for part in (problem.signals, problem.decisions))
        return replace(problem, **dict(zip(("signals", "decisions"), parts, strict=True)))
    signals, costs = problem.signals.copy(), list(problem.costs)
    signals[:, costs] = COSTS[kind](signals[:, costs])
    return replace(problem, signals=signals)


@given(tiny(most=14), models, st.sampled_from([*SIGNALS, *COSTS, *DECISIONS, *ROWS]))
def test_degenerate_data(problem: Tiny, model: str, kind: str) -> None:
    changed = degenerate(problem, kind)
    try:
        fit = fitted(changed, model)
    except fl.exceptions.FeaslearnError:
        return
    assert np.isfinite(fit.predict(changed.new)).all()
    assert np.isfinite(fit.result_.objective)
