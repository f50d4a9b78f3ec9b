"""Fits to chunks and to large tables are the fits to the same samples in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import feaslearn as fl
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.trainers import Annealing, Convex

SIGNALS = ["price0", "price1", "price2", "demand", "wind"]
DECISIONS = ["plant0", "plant1", "plant2"]


def samples(n_rows: int = 3000, seed: int = 0, gaps: bool = False, noise: float = 0.1) -> Any:
    """Decisions of a Minkowski sum, some of whose scales would be negative at some signals."""
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.2, 2.0, (n_rows, 3))
    features = np.column_stack(
        [np.ones(n_rows), rng.normal(5.0, 2.0, n_rows), rng.uniform(size=n_rows)]
    )
    sums = fl.Minkowski.hypersimplices(3)
    blocks = {"alpha": np.array([[0.2, 0.4, -1.0], [1.0, -0.1, 0.3]]), "b": rng.normal(size=(3, 3))}
    decisions = sums.predict(sums.layout(3, 3).pack(blocks), features, costs)
    decisions += noise * rng.normal(size=decisions.shape)
    if gaps:
        decisions[rng.uniform(size=decisions.shape) < 0.1] = np.nan
        decisions[7] = np.nan
        costs[11] = 1.0
    return np.hstack([costs, features[:, 1:]]), decisions


def chunked(signals: Any, decisions: Any, n_chunks: int = 5) -> fl.Chunks:
    tables = (np.array_split(table, n_chunks) for table in (signals, decisions))
    parts = list(zip(*tables, strict=True))
    return fl.Chunks(lambda: iter(parts))


HYPOTHESES: dict[str, Callable[[], Any]] = {
    "affine": lambda: fl.Minkowski.hypersimplices(3),
    "index": lambda: fl.Minkowski.hypersimplices(3, scale="index"),
    "no offset": lambda: fl.Minkowski.pairs(3, offset=False),
    "l1 and l2 balls": lambda: fl.Minkowski([fl.Term(fl.L1Ball(3)), fl.Term(fl.L2Ball(3))]),
    "linear policy": lambda: fl.Affine(fl.Simplex(1)),
    "scaled": lambda: fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"),
}


@pytest.mark.parametrize("name", HYPOTHESES)
def test_convex_fits_are_the_same(name: str) -> None:
    X, y = samples(300, gaps=True)
    trainer = Convex(ridge=1e-3, sparsity=0.0)
    model = fl.RegionRegressor(HYPOTHESES[name](), cost=[0, 1, 2], trainer=trainer, random_state=0)
    whole = model.fit(X, y).predict(X)
    loss = model.result_.objective
    parts = model.fit(chunked(X, y)).predict(X)
    np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-9 * np.abs(whole).max())
    assert model.result_.objective == pytest.approx(loss, rel=1e-9)
    assert model.result_.status == "optimal"


def test_strengths_are_chosen_from_the_same_folds() -> None:
    X, y = samples(60, noise=3.0)
    model = fl.RegionRegressor(fl.Minkowski("auto", scale="affine"), cost=[0, 1, 2], random_state=0)
    whole = model.fit(X, y).result_.details
    chunks = fl.Chunks((X, y))
    chunks.chunk_rows = lambda n_jobs=1: 16  # type: ignore[method-assign]
    parts = model.fit(chunks).result_.details
    assert (parts["ridge"], parts["sparsity"]) == (whole["ridge"], whole["sparsity"])
    assert whole["ridge"] > 0.0


def test_threads_and_chunks_do_not_matter() -> None:
    X, y = samples(2000)
    one = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2], random_state=0)
    two = clone(one).set_params(n_jobs=2)
    chunks = chunked(X, y, 7)
    np.testing.assert_array_equal(one.fit(chunks).theta_, two.fit(chunks).theta_)
    other = two.fit(chunked(X, y, 3)).predict(X)
    np.testing.assert_allclose(other, one.predict(X), rtol=1e-9, atol=1e-9)


def test_negative_scales_are_found_in_a_few_passes() -> None:
    X, y = samples(30_000, noise=0.01)
    model = fl.RegionRegressor(
        fl.Minkowski.hypersimplices(3), cost=[0, 1, 2], trainer=Convex(ridge=0.0, sparsity=0.0)
    )
    model.fit(chunked(X, y))
    scales = model.hypothesis_.unclipped_scales(model.theta_, model.features_.transform(X), 3)
    assert scales.min() > -1e-8
    assert scales.min() < 1e-6
    assert 2 <= model.result_.details["passes over the data"] <= 6


def test_files_fit_like_frames_and_weights_count(tmp_path: Path) -> None:
    X, y = samples(500)
    weights = np.random.default_rng(1).integers(0, 3, 500).astype(float)
    names = [*SIGNALS, *DECISIONS, "w"]
    frame = pl.DataFrame(np.column_stack([X, y, weights]), schema=names)
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=100)
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=SIGNALS[:3], sense="max")
    for path, column in ((tmp_path / "a.parquet", None), (tmp_path, "w")):
        chunks = fl.Chunks(path, signals=SIGNALS, decisions=DECISIONS, weights=column)
        found = model.fit(chunks).predict(frame.select(SIGNALS))
        assert list(model.feature_names_in_) == SIGNALS
        assert found.columns == DECISIONS
        counted = 500 if column is None else (weights > 0).sum()
        assert model.explain(frame.select(SIGNALS)[:1]).n_samples == counted
        loss, given = model.result_.objective, None if column is None else weights
        model.fit(frame.select(SIGNALS), frame.select(DECISIONS), sample_weight=given)
        same = model.predict(frame.select(SIGNALS))
        np.testing.assert_allclose(found.to_numpy(), same.to_numpy(), rtol=1e-9, atol=1e-9)
        assert loss == pytest.approx(model.result_.objective, rel=1e-9)


@pytest.mark.parametrize(
    "trainer",
    [Annealing(max_iter=20, n_starts=2, ridge=0.1), Annealing(max_iter=10, n_starts=1, ridge=0.0)],
    ids=lambda trainer: type(trainer).__name__,
)
def test_sums_over_chunks_train_like_sums_over_arrays(
    trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = samples(400)
    monkeypatch.setattr("feaslearn.regressor.training.FEW_ROWS", 0)
    monkeypatch.setattr("feaslearn.trainers.out_of_fold.MOST_SAMPLES", 200)
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(3)), cost=[0, 1, 2], trainer=trainer, random_state=0
    )
    whole = model.fit(X, y).result_.objective
    parts = model.fit(chunked(X, y, 3)).result_
    assert parts.objective == pytest.approx(whole, rel=1e-6)
    assert parts.details["passes over the data"] > 3


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"hypothesis": fl.Facets()}, UnsupportedError, "FacetLearning needs all samples"),
        ({"known": fl.Known(bounds=(0, 1))}, DataError, "known= needs all samples"),
        ({"trainer": Convex(robust=True)}, UnsupportedError, "robust=True"),
        ({"cost": [0, 1, 9]}, DataError, "9"),
    ],
)
def test_what_needs_all_samples_is_refused(
    parameters: dict[str, Any], error: type[Exception], said: str
) -> None:
    given = {"hypothesis": fl.Minkowski.hypersimplices(3), "cost": [0, 1, 2]} | parameters
    with pytest.raises(error, match=said):
        fl.RegionRegressor(**given).fit(chunked(*samples(50)))


def test_a_hypothesis_is_chosen_among_those_that_chunks_can_be_fitted_by() -> None:
    X, y = samples(200)
    model = fl.RegionRegressor(cost=[0, 1, 2], random_state=0).fit(chunked(X, y))
    assert isinstance(model.hypothesis_, fl.Minkowski)
    assert "selected among those that can be fitted from chunks" in model.result_.warnings[-1]


def test_a_decision_that_was_never_observed_is_refused() -> None:
    X, y = samples(50)
    y[:, 1] = np.nan
    with pytest.raises(DataError, match="'x1' has no observed value"):
        fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2]).fit(chunked(X, y))


def test_strengths_are_chosen_in_few_passes() -> None:
    """All solutions of the cross-validation look for negative scales together."""
    signals, decisions = samples(3000, noise=0.5)
    model = fl.RegionRegressor(fl.Minkowski("auto"), cost=[0, 1, 2], random_state=0)
    details = model.fit(chunked(signals, decisions)).result_.details
    assert details["sparsity"] > 0.0
    assert details["passes over the data"] <= 12.0


@pytest.mark.parametrize(
    ("hypothesis", "trainer"),
    [
        (fl.Minkowski.hypersimplices(3), "auto"),
        (fl.Affine(fl.Simplex(2)), Annealing(max_iter=3, n_starts=1, ridge=0.1)),
    ],
    ids=repr,
)
def test_single_precision_is_the_fit_to_the_same_numbers(
    hypothesis: Any, trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("checks", "training"):  # tables of more rows are not copied
        monkeypatch.setattr(f"feaslearn.regressor.{module}.FEW_ROWS", 0)
    signals, decisions = (table.astype(np.float32) for table in samples(8200))
    model = fl.RegionRegressor(hypothesis, cost=[0, 1, 2], trainer=trainer, random_state=0)
    single = model.fit(signals, decisions).theta_
    in_columns = np.asfortranarray(signals, dtype=float), np.asfortranarray(decisions, dtype=float)
    double = model.fit(*in_columns).theta_
    np.testing.assert_allclose(single, double, rtol=1e-9, atol=1e-12)


def test_a_fit_makes_no_copy_of_the_data() -> None:
    rng = np.random.default_rng(2)
    signals, decisions = rng.uniform(size=(400_000, 8)), rng.uniform(size=(400_000, 3))
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2])
    model.fit(signals[:30_000], decisions[:30_000])
    tracemalloc.start()
    model.fit(signals, decisions)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.8 * (signals.nbytes + decisions.nbytes)
