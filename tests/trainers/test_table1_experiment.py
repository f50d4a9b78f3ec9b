"""Table 1 of the paper, from its experiment, with one seed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).parents[2] / "experiments" / "table1.py"


@pytest.fixture(scope="module")
def experiment() -> ModuleType:
    spec = importlib.util.spec_from_file_location("table1_experiment", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_algorithm_2_recovers_the_region_and_algorithm_1_does_not(experiment: ModuleType) -> None:
    rows = {(row.algorithm, row.loss): row for row in experiment.run([0], columns=[5])}
    assert len(rows) == 4
    for loss in ("predictability", "suboptimality"):
        assert rows["2", loss].train.max() <= 1e-5
        assert rows["2", loss].test.max() <= 1e-5
    assert rows["1", "predictability"].train.min() > 0.1


def test_the_ellipsoid_is_recovered(experiment: ModuleType) -> None:
    for loss in ("predictability", "suboptimality"):
        assert experiment.ellipsoid([0], loss).test.max() <= 1e-8


def test_the_box_plot_is_drawn(experiment: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = list(experiment.run([0], columns=[5]))
    assert experiment.plot(rows, str(tmp_path / "box.png"))
    assert (tmp_path / "box.png").stat().st_size > 1000
