"""The benchmark of the dispatches, on fewer samples."""

from __future__ import annotations

import generate_dcopf


def test_both_ways_cost_the_same() -> None:
    result = generate_dcopf.run(n_samples=60, n_compared=20)
    assert result["difference"] < 1e-9
    assert result["ratio"] > 1.0
