"""The features of a signal: a constant first, then signals or what a transformer makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from feaslearn.exceptions import DataError
from feaslearn.features import FeatureMap, fit_features

SIGNALS = np.random.default_rng(0).normal(size=(20, 4))
NAMES = ("price", "demand", "wind", "sun")


def fit(
    spec: Any, signals: np.ndarray = SIGNALS, cost_columns: tuple[int, ...] = (0,)
) -> FeatureMap:
    return fit_features(
        spec, signals, cost_columns=cost_columns, signal_names=NAMES[: signals.shape[1]]
    )


def refusal(spec: Any, signals: np.ndarray = SIGNALS) -> str:
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
        phi = features.transform(SIGNALS[:rows])
        assert features.names == ("1", *(NAMES[j] for j in rest))
        assert features.n_features == phi.shape[1] == 1 + len(rest)
        np.testing.assert_array_equal(phi[:, 0], 1.0)
        np.testing.assert_array_equal(phi[:, 1:], SIGNALS[:rows, rest])

    @pytest.mark.parametrize("signals", [SIGNALS[:, :3], SIGNALS[0]])
    def test_other_signals_than_those_of_the_fit_are_refused(self, signals: np.ndarray) -> None:
        assert "expected (N, 4)" in refusal("all", signals)
        assert "expected (N, 4)" in refusal(StandardScaler(), signals)


class TestTransformer:
    def test_it_is_cloned_and_fitted_on_all_signals(self) -> None:
        scaler = StandardScaler()
        features = fit(scaler)
        assert not hasattr(scaler, "mean_")
        phi = features.transform(SIGNALS)
        np.testing.assert_array_equal(phi[:, 0], 1.0)
        np.testing.assert_allclose(phi[:, 1:].mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(phi[:, 1:].std(axis=0), 1.0)
        new = SIGNALS[:1] + 7
        expected = (new - SIGNALS.mean(axis=0)) / SIGNALS.std(axis=0)
        np.testing.assert_allclose(features.transform(new)[:, 1:], expected)

    @pytest.mark.parametrize(
        ("transformer", "names"),
        [
            (StandardScaler(), NAMES),
            (PolynomialFeatures(2, include_bias=False), (*NAMES, "price^2", "price demand")),
            (FunctionTransformer(np.exp), ("f0", "f1", "f2", "f3")),
            (make_pipeline(StandardScaler(), PolynomialFeatures(1, include_bias=False)), NAMES),
        ],
    )
    def test_names(self, transformer: Any, names: tuple[str, ...]) -> None:
        features = fit(transformer)
        assert features.names[: 1 + len(names)] == ("1", *names)
        assert features.transform(SIGNALS).shape == (20, features.n_features)

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
