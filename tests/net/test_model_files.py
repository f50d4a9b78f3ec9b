"""Model files of earlier versions load for ever, and answer as they did."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import SplineTransformer

import feaslearn as fl
from feaslearn.exceptions import FeaslearnWarning
from net import measure
from net.cases import FILES, GROUPS, MODELS, Table, path_of, table
from net.test_fits import ARRAYS, same_decisions

TABLES = {name: case.table for cases in GROUPS.values() for name, case in cases.items()} | FILES
NAMES = list(TABLES)
#: Files that hold what is gone and mattered, and what their warning names.
NAMED = {
    "known contain": "Known(inequalities='contain')",
    "patience": "GradientDescent(patience=3)",
    "generator": "random",
    "facet options": "FacetLearning(n_starts=1)",
}


def data_of(name: str) -> Table:
    """Return the samples that a model was fitted to."""
    return table(TABLES[name])


def loaded(name: str, path: Path | None = None) -> fl.RegionRegressor:
    """Return the model of a file; one warning names what it holds that is gone and mattered."""
    skip_if_newer(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FeaslearnWarning)
        model = fl.load(path or path_of(name))
    if path is None:
        texts = [str(each.message) for each in caught]
        assert len(texts) == (name in NAMED)
        assert NAMED.get(name, "") in "".join(texts)
    return model


def skip_if_newer(name: str) -> None:
    """Skip the one file with features of a scikit-learn newer than the oldest that is served."""
    if "splines" in name and "handle_missing" not in SplineTransformer().get_params():
        pytest.skip("written with a newer scikit-learn")


def test_every_file_has_a_case() -> None:
    assert {path.name for path in MODELS.glob("*.json")} == {path_of(name).name for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_answers_as_it_did_also_saved_again(name: str, tmp_path: Path) -> None:
    model, data = loaded(name), data_of(name)
    same_decisions(model, name, data)
    size = np.nanmax(np.abs(data.decisions))
    found = measure.region_at(model, data)
    expected = [key.partition("/")[2] for key in ARRAYS if key.startswith(f"{name}/")]
    assert set(found) == set(expected) - {"new", "whatif"}
    for what, values in found.items():
        close = 1e-6 if what == "cvxpy" else 1e-8
        np.testing.assert_allclose(values, ARRAYS[f"{name}/{what}"], rtol=close, atol=close * size)
    fl.save(model, tmp_path / "again.json")
    again = loaded(name, tmp_path / "again.json")
    for before, after in zip(
        measure.decisions(model, data).values(),
        measure.decisions(again, data).values(),
        strict=True,
    ):
        assert before.tobytes() == after.tobytes()


@pytest.mark.filterwarnings("ignore::feaslearn.exceptions.FeaslearnWarning")
def test_streams_of_files_go_on() -> None:
    """Learned from shifted decisions, a stream shifts its own."""
    model, data = loaded("stream"), data_of("stream")
    before = model.predict(data.new)
    model.partial_fit(data.signals[:40], data.decisions[:40] + 1.0)
    assert (model.predict(data.new) - before).mean() > 0.1


@pytest.mark.filterwarnings("ignore::feaslearn.exceptions.FeaslearnWarning")
def test_affine_streams_of_files_go_on() -> None:
    model, data = loaded("stream affine"), data_of("stream affine")
    model.partial_fit(data.signals[:40], data.decisions[:40])
    assert model.stream_.n_samples == 160
