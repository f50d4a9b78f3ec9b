"""A run goes on from every state that its checkpoint was ever in, and ends with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.runs import journal as journal_module
from feaslearn.runs.checkpoint_file import write_checkpoint

Fit = Callable[[Any], fl.RegionRegressor]

POWER = fl.datasets.make_power5(60, noise=0.02, random_state=0)
SWITCH = fl.datasets.make_switch(40, noise=0.1, random_state=0)


def model(data: Any, hypothesis: Any, trainer: Any, **options: Any) -> fl.RegionRegressor:
    options = {"random_state": 3} | options
    made = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, **options)
    return made.fit(data.signals, data.decisions)


def descent(checkpoint: Any) -> fl.RegionRegressor:
    trainer = fl.trainers.GradientDescent(max_iter=8, n_starts=2, checkpoint=checkpoint)
    return model(POWER, fl.Affine(fl.Simplex(3)), trainer)


def smoothing(checkpoint: Any) -> fl.RegionRegressor:
    trainer = fl.trainers.AdaptiveSmoothing(max_iter=12, n_starts=2, checkpoint=checkpoint)
    return model(POWER, fl.Affine(fl.Simplex(3)), trainer, n_jobs=2)


def annealing(checkpoint: Any) -> fl.RegionRegressor:
    trainer = fl.trainers.Annealing(max_iter=50, n_starts=2, checkpoint=checkpoint)
    return model(POWER, fl.Affine(fl.Simplex(3)), trainer)


FITS = [descent, smoothing, annealing]


def states_of(fit: Fit, path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[bytes]]:
    """Fit once; return the model and everything that its file has held."""
    states: list[bytes] = []

    def keep(where: Path, contents: dict[str, Any]) -> None:
        write_checkpoint(where, contents)
        states.append(Path(where).read_bytes())

    monkeypatch.setattr(journal_module, "write_checkpoint", keep)
    whole = fit(fl.trainers.Checkpoint(path, seconds=0.0))
    monkeypatch.undo()
    return whole, states


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.__name__)
def test_every_state_leads_to_the_same_parameters(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.ckpt"
    whole, states = states_of(fit, path, monkeypatch)
    assert len(states) > 10
    assert not path.exists()
    assert fit(None).theta_.tobytes() == whole.theta_.tobytes()
    for i in np.linspace(0, len(states) - 1, 6).astype(int):
        path.write_bytes(states[i])
        resumed = fit(path)
        assert resumed.theta_.tobytes() == whole.theta_.tobytes(), f"state {i} of {len(states)}"
        assert resumed.result_.history == whole.result_.history
        assert resumed.result_.n_iter == whole.result_.n_iter
        assert not path.exists()
