"""The experiments of this trainer, at their smallest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

EXPERIMENTS = str(Path(__file__).parents[2] / "experiments")


@pytest.fixture(autouse=True)
def _experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [EXPERIMENTS, *sys.path])


def test_only_regions_learn_the_switch() -> None:
    import switch

    found = switch.run([0], n_test=500)
    for name in ("MixedInteger, binary simplex", "Convex, scaled simplex", "nearest vertices"):
        assert found[name][0, 1] < 1e-12
    for name in set(found) - {
        "MixedInteger, binary simplex",
        "Convex, scaled simplex",
        "nearest vertices",
    }:
        # Neither the linear policy nor a learned cost, however steep, is right near the switch.
        assert found[name][0, 1] > 0.4
        assert found[name][0, 0] > 1e-3


def test_columns_of_the_l1_ball_are_proved() -> None:
    import l1_ball_columns

    for row in l1_ball_columns.run([1], columns=(4, 5)):
        assert row.status == "optimal"
        assert row.train - row.lower_bound <= 1e-4 * row.train + 1e-15
        assert (row.train > 0.1) == (row.p == 4)
        if row.loss == "predictability":
            assert row.train <= row.clusters + 1e-12


def test_the_counter_example_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import binary_simplex

    rows = binary_simplex.run([])
    assert (rows[0].binary_ties, rows[0].continuous_ties) == (0.0, 1 / 3)
    assert rows[0].binary_bound == pytest.approx(1 / 6, rel=1e-3)
    assert rows[0].continuous == pytest.approx(0.0017, abs=1e-4)
    monkeypatch.setattr(sys, "argv", ["binary_simplex.py", "--quick"])
    monkeypatch.setattr(binary_simplex, "run", lambda seeds: rows)
    binary_simplex.main()
    assert "three decisions    0.1667" in capsys.readouterr().out
