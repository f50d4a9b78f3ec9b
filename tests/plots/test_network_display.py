"""The picture of a network shows what is certain and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

import feaslearn as fl

pytest.importorskip("networkx")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from feaslearn.plots import NetworkDisplay  # noqa: E402

RING = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)]


@pytest.fixture(scope="module")
def learner() -> fl.NetworkLearner:
    data = fl.datasets.make_power5(n_samples=50, random_state=0, line_capacity=1.5)
    model = fl.NetworkLearner(
        5, [1, 3, 5], generator_capacity=3.5, line_capacity=1.5, cost=[0, 1, 2], demand=range(3, 8)
    )
    return model.fit(data.signals, data.decisions)


def legend(display: NetworkDisplay) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_layers_are_named_and_counted(learner: fl.NetworkLearner, tmp_path: Path) -> None:
    found = learner.identify()
    display = NetworkDisplay.from_estimator(learner, identification=found, truth=RING)
    certain = len(found.certain)
    assert f"certain ({certain})" in legend(display)
    assert f"learned, not certain ({len(learner.lines_) - certain})" in legend(display)
    assert "true line (5)" in legend(display)
    assert f"One of {found.n_networks[0]} networks" in display.ax_.get_title()
    display.figure_.savefig(tmp_path / "network.png")
    assert (tmp_path / "network.png").stat().st_size > 10_000
    matplotlib.pyplot.close(display.figure_)
