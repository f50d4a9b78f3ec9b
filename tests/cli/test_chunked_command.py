"""``feaslearn fit`` on Parquet files that do not fit into memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import feaslearn as fl
from feaslearn.cli.app import app
from feaslearn.cli.data_files import open_files
from feaslearn.exceptions import DataError

OPTIONS = ["--signals", "cost_*,load", "--decisions", "x*", "--cost", "cost_*", "--json"]
OPTIONS += ["--hypothesis", "minkowski:hypersimplices"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    table = rng.uniform(size=(300, 5))
    names = ["cost_0", "cost_1", "load", "x0", "x1"]
    paths = []
    for i, part in enumerate(np.array_split(table, 3)):
        paths.append(str(tmp_path / f"part{i}.parquet"))
        pl.DataFrame(part, schema=names).write_parquet(paths[-1])
    return paths


def fitted(arguments: list[str], output: Path) -> dict[str, object]:
    run = CliRunner().invoke(app, ["fit", *arguments, *OPTIONS, "-o", str(output)])
    assert run.exit_code == 0, run.output
    facts: dict[str, object] = json.loads(run.stdout)
    return facts


def test_chunks_and_memory_give_the_same_model(files: list[str], tmp_path: Path) -> None:
    whole = fitted(files, tmp_path / "whole.json")
    parts = fitted([*files, "--chunks", "--memory", "10MB"], tmp_path / "parts.json")
    assert whole["n_samples"] == parts["n_samples"] == 300
    assert "passes over the data" in parts["details"]
    assert "passes over the data" not in whole["details"]
    signals = pl.read_parquet(files[0]).select("cost_0", "cost_1", "load")
    found = [fl.load(tmp_path / f"{name}.json").predict(signals) for name in ("whole", "parts")]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-9)


def test_data_that_do_not_fit_are_read_in_chunks(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("feaslearn.cli.data_files.available_bytes", lambda: 10_000.0)
    facts = fitted(files, tmp_path / "model.json")
    assert "passes over the data" in facts["details"]


def test_chunks_of_a_csv_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("cost_0,x0\n1,2\n")
    with pytest.raises(DataError, match="must be Parquet files"):
        open_files([path], True, encoding="utf-8", delimiter=None, max_bytes=10**6)
