"""The benchmark of the generator, on fewer samples."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PATH = Path(__file__).parents[2] / "benchmarks" / "generate_power5.py"


def test_both_ways_give_the_same_decisions() -> None:
    spec = importlib.util.spec_from_file_location("generate_power5", PATH)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    result = benchmark.run(n_samples=100_000, n_compared=500)
    assert result["difference"] < 1e-9
    assert result["seconds"] < benchmark.LIMIT_SECONDS
