"""Every way to say what the cost is and what the features are, and to say them wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from feaslearn.costs import AffineCost, FunctionCost, ResolvedCost, resolve_cost
from feaslearn.exceptions import DataError, Problems
from feaslearn.features import FeatureMap, fit_features

NAMES = ("price_1", "price_2", "demand", "wind")
SIGNALS = np.arange(12.0).reshape(3, 4)
FINITE = st.floats(-1e6, 1e6)


def resolve(specification: Any, n: int | None = 2, names: Any = NAMES) -> ResolvedCost:
    problems = Problems()
    resolved = resolve_cost(
        specification, n_decisions=n, signal_names=names, n_signals=4, problems=problems
    )
    problems.raise_if_any(DataError, "test")
    assert resolved is not None
    return resolved


def messages(specification: Any, n: int | None = 2, names: Any = NAMES) -> tuple[str, ...]:
    problems = Problems()
    resolved = resolve_cost(
        specification, n_decisions=n, signal_names=names, n_signals=4, problems=problems
    )
    assert resolved is None
    return problems.messages


class TestColumns:
    @pytest.mark.parametrize(
        "specification",
        [
            [1, 0],
            range(1, -1, -1),
            np.array([1, 0], dtype=np.uint8),
            ("price_2", 0),
            pd.Index(["price_2", "price_1"]),
        ],
    )
    def test_every_way_to_list_them(self, specification: Any) -> None:
        cost = resolve(specification)
        assert cost.columns == (1, 0)
        np.testing.assert_array_equal(cost.evaluate(SIGNALS), SIGNALS[:, [1, 0]])

    @pytest.mark.parametrize(
        ("specification", "words"),
        [
            (["price_3", 0], "'price_3' is not among the signals; did you mean 'price_2'?"),
            ([0, 4], "column 4 is not among the signals; there are 4, counted from 0"),
            ([1, 1], "'price_2' is listed more than once; a constant cost is written with floats"),
            ([0, 1, 2], "the number of entries is 3, that of decisions 2"),
            (["*"], "the number of entries is 4, that of decisions 2"),
            (["hydro_*", 0], "column 'hydro_*' is not among the signals; there are 'price_1'"),
            ([-1, 0], "column -1 is not"),
            ([True, 0], "True is neither the position nor the name"),
            ([0, None], "None is neither the position nor the name"),
            ([0.5, "wind"], "0.5 is neither the position nor the name"),
            (None, "None is not a list of columns"),
            (np.ones((3, 2)), "an array of shape (3, 2) is not a list of columns"),
        ],
    )
    def test_what_is_wrong_is_said(self, specification: Any, words: str) -> None:
        (message,) = messages(specification)
        assert message.startswith("cost: ")
        assert words in message


class TestConstant:
    @pytest.mark.parametrize("specification", [(1, -2.0), pd.Series([1.0, -2.0])])
    def test_floats_are_a_constant(self, specification: Any) -> None:
        cost = resolve(specification)
        assert cost.columns == ()
        assert cost.specification is specification
        np.testing.assert_array_equal(cost.evaluate(SIGNALS), [[1.0, -2.0]] * 3)


class TestAffineCost:
    @given(arrays(float, 2, elements=FINITE), arrays(float, (2, 4), elements=FINITE))
    def test_the_equation_and_the_columns_that_enter(self, C0: np.ndarray, C: np.ndarray) -> None:
        specification = AffineCost(C0, C)
        cost = resolve(specification)
        for s, c in zip(SIGNALS, cost.evaluate(SIGNALS), strict=True):
            np.testing.assert_allclose(c, C0 + C @ s, rtol=1e-12, atol=1e-6)
        assert cost.columns == tuple(j for j in range(4) if np.any(C[:, j] != 0))
        assert cost.specification is specification

    @pytest.mark.parametrize(
        ("C0", "C", "words"),
        [
            ([0, 0, 0], np.eye(2, 4), "C0 of AffineCost has shape (3,), not (2,)"),
            ([0, 0], np.eye(2, 3), "C of AffineCost has shape (2, 3), not (2, 4)"),
            ([0, np.inf], np.eye(2, 4), "C0 of AffineCost holds NaN or infinite"),
            ([0, 0], np.full((2, 4), np.nan), "C of AffineCost holds NaN or infinite"),
            ([0, 0], [[1], [1, 2]], "C of AffineCost must be a regular array"),
        ],
    )
    def test_what_is_wrong_is_said(self, C0: Any, C: Any, words: str) -> None:
        (message,) = messages(AffineCost(C0, C))
        assert words in message


class TestFunctionCost:
    def test_the_function_sees_all_signals(self) -> None:
        cost = resolve(FunctionCost(lambda signals: signals[:, 2:] ** 2, ["wind", 2]))
        assert cost.columns == (3, 2)
        np.testing.assert_array_equal(cost.evaluate(SIGNALS), SIGNALS[:, 2:] ** 2)

    @pytest.mark.parametrize(
        ("fn", "words"),
        [
            (lambda s: s[:, 0], "gave shape (3,), expected (3, 2)"),
            (lambda s: s[:, :2] / 0.0, "row 0, column 0 is NaN; row 0, column 1 is inf"),
            (lambda s: {}["a"], "the function failed: KeyError"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_what_the_function_does_wrong_is_said(self, fn: Any, words: str) -> None:
        with pytest.raises(DataError) as raised:
            resolve(FunctionCost(fn, [0])).evaluate(SIGNALS)
        assert words in str(raised.value)


# Features: a constant first, then signals or what a transformer makes of them.

DRAWN = np.random.default_rng(0).normal(size=(20, 4))
COLUMNS = ("price", "demand", "wind", "sun")


def fit(spec: Any, signals: np.ndarray = DRAWN, cost_columns: tuple[int, ...] = (0,)) -> FeatureMap:
    return fit_features(
        spec, signals, cost_columns=cost_columns, signal_names=COLUMNS[: signals.shape[1]]
    )


def refusal(spec: Any, signals: np.ndarray = DRAWN) -> str:
    with pytest.raises(DataError) as raised:
        fit(spec).transform(signals)
    return str(raised.value)


class Fixed(TransformerMixin, BaseEstimator):
    """Give back whatever ``output`` makes of the signals."""

    def __init__(self, output: Any) -> None:
        self.output = output

    def fit(self, X: Any, y: Any = None) -> Fixed:
        self.shape_ = X.shape
        return self

    def transform(self, X: Any) -> Any:
        return self.output(X)


class TestSignals:
    @given(st.sets(st.integers(0, 3)), st.integers(0, 5))
    def test_non_cost_leaves_out_the_columns_of_the_cost(
        self, cost_columns: set[int], rows: int
    ) -> None:
        features = fit("non-cost", cost_columns=tuple(cost_columns))
        rest = [j for j in range(4) if j not in cost_columns]
        phi = features.transform(DRAWN[:rows])
        assert features.names == ("1", *(COLUMNS[j] for j in rest))
        assert features.n_features == phi.shape[1] == 1 + len(rest)
        np.testing.assert_array_equal(phi[:, 0], 1.0)
        np.testing.assert_array_equal(phi[:, 1:], DRAWN[:rows, rest])

    @pytest.mark.parametrize("signals", [DRAWN[:, :3], DRAWN[0]])
    def test_other_signals_than_those_of_the_fit_are_refused(self, signals: np.ndarray) -> None:
        assert "expected (N, 4)" in refusal("all", signals)
        assert "expected (N, 4)" in refusal(StandardScaler(), signals)


class TestTransformer:
    def test_it_is_cloned_and_fitted_on_all_signals(self) -> None:
        scaler = StandardScaler()
        features = fit(scaler)
        assert not hasattr(scaler, "mean_")
        phi = features.transform(DRAWN)
        np.testing.assert_array_equal(phi[:, 0], 1.0)
        np.testing.assert_allclose(phi[:, 1:].mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(phi[:, 1:].std(axis=0), 1.0)
        new = DRAWN[:1] + 7
        expected = (new - DRAWN.mean(axis=0)) / DRAWN.std(axis=0)
        np.testing.assert_allclose(features.transform(new)[:, 1:], expected)

    @pytest.mark.parametrize(
        ("transformer", "names"),
        [
            (StandardScaler(), COLUMNS),
            (PolynomialFeatures(2, include_bias=False), (*COLUMNS, "price^2", "price demand")),
            (FunctionTransformer(np.exp), ("f0", "f1", "f2", "f3")),
            (make_pipeline(StandardScaler(), PolynomialFeatures(1, include_bias=False)), COLUMNS),
        ],
    )
    def test_names(self, transformer: Any, names: tuple[str, ...]) -> None:
        features = fit(transformer)
        assert features.names[: 1 + len(names)] == ("1", *names)
        assert features.transform(DRAWN).shape == (20, features.n_features)

    @pytest.mark.parametrize(
        ("output", "words"),
        [
            (scipy.sparse.csr_array, "gives a sparse matrix; ask it for a dense one"),
            (lambda X: X[1:], "gives 19 rows for 20 samples"),
            (lambda X: np.where(np.isclose(X, X[3, 1]), np.inf, X), "row 3, column 1 is inf"),
            (lambda X: X[:, :0], "no columns"),
            (lambda X: 1 / 0, "transform of Fixed failed: ZeroDivisionError"),
        ],
    )
    def test_bad_output_is_refused(self, output: Any, words: str) -> None:
        message = refusal(Fixed(output))
        assert message.startswith("features: ")
        assert "Fixed" in message
        assert words in message

    def test_a_fit_that_fails_is_explained(self) -> None:
        by_name = ColumnTransformer([("scaled", StandardScaler(), ["wind"])])
        message = refusal(by_name)
        assert "fit of ColumnTransformer failed" in message
        assert "array without column names" in message


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("non_cost", "did you mean 'non-cost'?"),
        ("quadratic", "there are 'non-cost', 'all'"),
        (StandardScaler, "or an instance of a scikit-learn transformer"),
        (3, "3 is not"),
    ],
)
def test_what_is_no_specification_is_refused(spec: Any, words: str) -> None:
    assert words in refusal(spec)
