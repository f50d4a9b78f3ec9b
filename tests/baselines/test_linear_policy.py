from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from feaslearn.baselines import LinearPolicy
from feaslearn.data import Chunks
from feaslearn.exceptions import DataError, NotFittedError


@parametrize_with_checks([LinearPolicy()])
def test_scikit_learn_accepts_it(estimator: LinearPolicy, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def draw(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    signals = rng.normal(size=(60, 4))
    decisions = 1.0 + signals @ rng.normal(size=(4, 3)) + 0.3 * rng.normal(size=(60, 3))
    return signals, decisions


def normal_equations(signals: np.ndarray, decisions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    design = np.column_stack([np.ones(len(signals)), signals])
    return np.linalg.solve(design.T * weights @ design, design.T * weights @ decisions)


def test_it_solves_the_normal_equations() -> None:
    signals, decisions = draw()
    weights = np.random.default_rng(1).uniform(0.0, 2.0, 60)
    policy = LinearPolicy().fit(signals, decisions, sample_weight=weights)
    expected = normal_equations(signals, decisions, weights)
    np.testing.assert_allclose(policy.intercept_, expected[0])
    np.testing.assert_allclose(policy.coef_.T, expected[1:])
    np.testing.assert_allclose(
        policy.predict(signals), np.column_stack([np.ones(60), signals]) @ expected
    )


def test_unobserved_entries_are_left_out_of_their_own_output_only() -> None:
    signals, decisions = draw()
    holes = decisions.copy()
    holes[:10, 0] = np.nan
    holes[5:40, 2] = np.nan
    policy = LinearPolicy().fit(signals, holes)
    for j, rows in enumerate([slice(10, 60), slice(0, 60), [*range(5), *range(40, 60)]]):
        expected = normal_equations(signals[rows], decisions[rows, j], np.ones(len(signals[rows])))
        np.testing.assert_allclose(np.r_[policy.intercept_[j], policy.coef_[j]], expected)


def test_one_sample_and_constant_signals() -> None:
    one = LinearPolicy().fit([[1.0, 2.0]], [[3.0, 4.0]])
    np.testing.assert_allclose(one.predict([[1.0, 2.0]]), [[3.0, 4.0]])
    constant = LinearPolicy().fit(np.ones((4, 2)), [[1.0], [2.0], [3.0], [6.0]])
    np.testing.assert_allclose(constant.predict(np.ones((1, 2))), [[3.0]])


def test_bad_input_is_refused() -> None:
    signals, decisions = draw()
    with pytest.raises(NotFittedError, match="call fit"):
        LinearPolicy().predict(signals)
    with pytest.raises(DataError, match="requires y"):
        LinearPolicy().fit(signals, None)
    with pytest.raises(DataError, match=r"columns \[1\] of y have no observed entry"):
        LinearPolicy().fit(signals, np.where(np.arange(3) == 1, np.nan, decisions))
    with pytest.raises(DataError, match=r"sample_weight is -1\.0 in row 2"):
        LinearPolicy().fit(signals, decisions, sample_weight=np.r_[1.0, 1.0, -1.0, np.ones(57)])
    with pytest.raises(DataError, match="60 rows and y has 59"):
        LinearPolicy().fit(signals, decisions[1:])


def test_chunks_equal_the_whole() -> None:
    signals, decisions = draw()
    signals[:, 0] = 1e4 + signals[:, 0]
    decisions[::5, 1] = np.nan
    weights = np.random.default_rng(1).uniform(0.0, 2.0, 60)
    whole = LinearPolicy().fit(signals, decisions, weights)
    cuts = (slice(0, 20), slice(20, 21), slice(21, 60))
    X, y = pd.DataFrame(signals).add_prefix("s"), pd.DataFrame(decisions).add_prefix("x")
    table, names = pd.concat([X, y], axis=1).assign(w=weights), (list(X), list(y))
    pieces = [table[rows] for rows in cuts]
    chunks = Chunks(lambda: iter(pieces), signals=names[0], decisions=names[1], weights="w")
    expected = whole.predict(signals)
    np.testing.assert_allclose(
        LinearPolicy().fit(chunks).predict(X), expected, rtol=0, atol=1e-9 * np.abs(expected).max()
    )
