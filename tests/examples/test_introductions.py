"""The short introductions run in quick mode and show what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import a_first_region
import noisy_data_and_trust

Check = Callable[[Any], bool]


def test_a_first_region(is_drawn: Check) -> None:
    results = a_first_region.run(quick=True)
    assert results.errors["linear policy"] > 0.1
    assert max(results.errors["two points"], results.errors["rows"]) < 1e-12
    assert is_drawn(a_first_region.draw(results))


def test_noisy_data_and_trust(is_drawn: Check) -> None:
    results = noisy_data_and_trust.run(quick=True)
    assert results.scores[50] < results.scores[200]
    assert all(each.contains(results.truth).mean() > 0.9 for each in results.bands.values())
    widths = {name: float(np.mean(each.width)) for name, each in results.bands.items()}
    assert widths["200 samples"] < widths["50 samples"]
    assert any("upper limit of x2" in limit for limit in results.unseen)
    assert is_drawn(noisy_data_and_trust.draw(results))
