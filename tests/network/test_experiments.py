"""What the experiments on networks say, at a size that is quick."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / "experiments" / "further"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{name}_experiment", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    experiment = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(experiment)
    return experiment


def test_two_networks_remain_at_a_low_capacity_and_a_wider_signal_tells_them_apart() -> None:
    experiment = load("network_capacity")
    wide, narrow = experiment.run((3.5, 1.5), 100)
    assert (wide.n_networks, wide.n_sparsest, wide.certain) == (644, 65, [])
    assert narrow.n_networks == 2
    assert set(narrow.certain) < set(experiment.TRUE)
    other = [row for row in narrow.remaining if not row[narrow.lines.index((3, 4))]]
    assert len(other) == 1
    assert experiment.why_it_remains(narrow, other[0], 100)
    assert narrow.learner.next_signal(n_draws=500, widen=1.5).expected_left == 1.0
