"""What a change of units, order or weights does to an exact fit, and what no fit may do."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from exported_optima import largest_difference
from properties.tiny import (
    AGREE,
    FACTORS,
    Array,
    Tiny,
    exact_models,
    fitted,
    models,
    predicted,
    tiny,
)

#: A changed problem, and what becomes of the predictions.
Changed = tuple[Tiny, Callable[[Array], Array]]


def order_of_samples(problem: Tiny, random: np.random.Generator) -> Changed:
    order = random.permutation(len(problem.signals))
    rows = {"signals": problem.signals[order], "decisions": problem.decisions[order]}
    return replace(problem, **rows), lambda x: x


def order_of_decisions(problem: Tiny, random: np.random.Generator) -> Changed:
    order = random.permutation(problem.n)
    costs = tuple(problem.costs[j] for j in order)
    return replace(problem, decisions=problem.decisions[:, order], costs=costs), (
        lambda x: x[:, order]
    )


def order_of_signals(problem: Tiny, random: np.random.Generator) -> Changed:
    order = random.permutation(problem.signals.shape[1])
    costs = tuple(int(np.argsort(order)[j]) for j in problem.costs)
    columns = {"signals": problem.signals[:, order], "new": problem.new[:, order]}
    return replace(problem, costs=costs, **columns), lambda x: x


def translation(problem: Tiny, random: np.random.Generator) -> Changed:
    # No round numbers: sums with those are often exact.
    move = random.choice([1.0, 10.0, 100.0]) * random.normal(size=problem.n)
    return replace(problem, decisions=problem.decisions + move), lambda x: x + move


def units_of_decisions(problem: Tiny, random: np.random.Generator) -> Changed:
    factor = random.choice(FACTORS)
    return replace(problem, decisions=problem.decisions * factor), lambda x: x * factor


def units_of_signals(problem: Tiny, random: np.random.Generator) -> Changed:
    return problem.scaled(problem.features, random.choice(FACTORS, 2)), lambda x: x


def units_of_costs(problem: Tiny, random: np.random.Generator) -> Changed:
    return problem.scaled(list(problem.costs), random.choice(FACTORS)), lambda x: x


CHANGES = [
    *(order_of_samples, order_of_decisions, order_of_signals, translation),
    *(units_of_decisions, units_of_signals, units_of_costs),
]


@pytest.mark.parametrize("change", CHANGES)
@given(problem=tiny(), model=exact_models)
def test_predictions_change_with_the_data(
    change: Callable[[Tiny, np.random.Generator], Changed], problem: Tiny, model: str
) -> None:
    other, moved = change(problem, np.random.default_rng(problem.seed))
    expected, found = moved(predicted(problem, model)), predicted(other, model)
    size = float(np.ptp(other.decisions, axis=0).max())
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=AGREE * size)


@given(tiny(most=16), exact_models)
def test_weights_are_repetitions(problem: Tiny, model: str) -> None:
    weights = np.random.default_rng(problem.seed).integers(1, 4, len(problem.signals))
    other = replace(
        problem,
        signals=np.repeat(problem.signals, weights, axis=0),
        decisions=np.repeat(problem.decisions, weights, axis=0),
    )
    weighted = predicted(problem, model, sample_weight=weights.astype(float))
    again = predicted(other, model)
    np.testing.assert_allclose(weighted, again, rtol=0.0, atol=AGREE * problem.spread)


@given(tiny(), models)
def test_threads_and_files_change_no_bit(problem: Tiny, model: str) -> None:
    one, two = (fitted(problem, model, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.theta_, two.theta_)
    with tempfile.TemporaryDirectory() as folder:
        fl.save(one, Path(folder) / "model.json")
        loaded = fl.load(Path(folder) / "model.json")
    np.testing.assert_array_equal(loaded.theta_, one.theta_)
    np.testing.assert_array_equal(loaded.predict(problem.new), one.predict(problem.new))


@given(tiny(), st.sampled_from(["scaled", "affine", "facets"]))
def test_a_written_region_has_the_same_optimum(problem: Tiny, model: str) -> None:
    region = fitted(problem, model).region(problem.signals[0])
    assert largest_difference(region, "mps", n_problems=2, seed=problem.seed) <= 1e-6


@given(tiny(), st.sampled_from(["linear policy", "scaled", "facets"]), st.floats(0.2, 0.8))
def test_known_bounds_hold(problem: Tiny, model: str, share: float) -> None:
    x = problem.decisions
    lower, upper = (np.quantile(x, q, axis=0) for q in (0.2 * share, 1.0 - 0.2 * share))
    known = fl.Known(bounds=(lower.tolist(), upper.tolist()), contradictions="project")
    found = fitted(problem, model, known=known).predict(problem.new)
    room = 1e-9 * (1.0 + np.abs(x).max())
    assert (found >= lower - room).all()
    assert (found <= upper + room).all()


# Data that determine little give finite predictions or a refusal of our own.

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


# New processes, for any number of threads, give the same bits.

# Large enough that a threaded product of matrices cuts its sums elsewhere, and for several blocks.
SCRIPT = """
import hashlib, sys, warnings
import numpy as np
import feaslearn as fl
warnings.simplefilter("ignore")
jobs, names = int(sys.argv[1]), sys.argv[2].split(",")
small = fl.datasets.make_power5(60, noise=0.1, random_state=0)
large = fl.datasets.make_l1_ball(9000, n=3, noise=0.1, random_state=0)
few = fl.datasets.make_l1_ball(8, n=2, noise=0.1, random_state=0)
t, S = fl.trainers, fl.Simplex
CASES = {
    "annealing": (small, fl.Affine(S(3)), t.Annealing(max_iter=15, n_starts=2, ridge=0.1)),
    "blocks": (large, fl.Affine(S(3)), t.Annealing(max_iter=5, n_starts=2, ridge=0.1,
               ridge_floor=1.0)),
    "scaled": (large, fl.Minkowski([fl.Term(S(3))], scale="constant"), "auto"),
    "minkowski": (large, fl.Minkowski("auto"), "auto"),
    "facets": (small, fl.Facets(max_facets=2), t.FacetLearning()),
}
for name in names:
    data, hypothesis, trainer = CASES[name]
    model = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer,
                               random_state=3, n_jobs=jobs).fit(data.signals, data.decisions)
    bits = model.theta_.tobytes() + model.predict(data.signals[:50]).tobytes()
    print(name, hashlib.sha256(bits).hexdigest())
"""


def hashes(threads: str, jobs: str, names: str) -> list[str]:
    """Return what a new process prints."""
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = os.environ | dict.fromkeys(limits, threads)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, jobs, names],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


@pytest.mark.soak
@pytest.mark.parametrize("names", ["minkowski,facets", "annealing,blocks,scaled"])
def test_threads_and_processes_do_not_matter(names: str) -> None:
    assert hashes("1", "1", names) == hashes("2", "2", names)
