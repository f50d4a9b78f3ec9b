"""A run resumes from every state that its checkpoint was ever in, and ends with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn import atomic
from feaslearn.exceptions import CheckpointError
from feaslearn.runs import Checkpoint
from feaslearn.runs import checkpoint as checkpoint_module
from feaslearn.runs.checkpoint import write_checkpoint

Fit = Callable[[Any], fl.RegionRegressor]

POWER = fl.datasets.make_power5(60, noise=0.02, random_state=0)
SWITCH = fl.datasets.make_switch(40, noise=0.1, random_state=0)


def model(data: Any, hypothesis: Any, trainer: Any, **options: Any) -> fl.RegionRegressor:
    options = {"random_state": 3} | options
    made = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, **options)
    return made.fit(data.signals, data.decisions)


def descent(checkpoint: Any, data: Any = POWER, **options: Any) -> fl.RegionRegressor:
    trainer = fl.trainers.GradientDescent(max_iter=8, n_starts=2, checkpoint=checkpoint)
    return model(data, fl.Affine(fl.Simplex(3)), trainer, **options)


def smoothing(checkpoint: Any) -> fl.RegionRegressor:
    trainer = fl.trainers.AdaptiveSmoothing(max_iter=12, n_starts=2, checkpoint=checkpoint)
    return model(POWER, fl.Affine(fl.Simplex(3)), trainer, n_jobs=2)


def annealing(checkpoint: Any) -> fl.RegionRegressor:
    trainer = fl.trainers.Annealing(max_iter=20, n_starts=2, checkpoint=checkpoint)
    return model(SWITCH, fl.Affine(fl.Simplex(2)), trainer)


def chosen(checkpoint: Any) -> fl.RegionRegressor:
    return model(SWITCH, None, fl.trainers.Auto(checkpoint=checkpoint))


FITS = [
    descent,
    *(pytest.param(fit, marks=pytest.mark.soak) for fit in (smoothing, annealing, chosen)),
]


def states_of(fit: Fit, path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[bytes]]:
    """Fit once; return the model and everything that its file has held."""
    states: list[bytes] = []

    def keep(where: Path, contents: dict[str, Any]) -> None:
        write_checkpoint(where, contents)
        states.append(Path(where).read_bytes())

    monkeypatch.setattr(checkpoint_module, "write_checkpoint", keep)
    monkeypatch.setattr(atomic.os, "fsync", lambda _: None)
    whole = fit(path)
    monkeypatch.undo()
    return whole, states


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.__name__)
def test_every_state_leads_to_the_same_parameters(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.ckpt"
    whole, states = states_of(fit, path, monkeypatch)
    assert len(states) >= 2
    assert not path.exists()
    assert fit(None).theta_.tobytes() == whole.theta_.tobytes()
    for i in np.linspace(0, len(states) - 1, 3).astype(int):
        path.write_bytes(states[i])
        resumed = fit(path)
        assert resumed.theta_.tobytes() == whole.theta_.tobytes(), f"state {i} of {len(states)}"
        assert resumed.result_.n_iter == whole.result_.n_iter
        assert not path.exists()


@pytest.fixture
def half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the checkpoint of a run of `descent` that was killed half-way."""
    _, states = states_of(descent, tmp_path / "run.ckpt", monkeypatch)
    (tmp_path / "run.ckpt").write_bytes(states[0])
    return tmp_path / "run.ckpt"


def test_another_problem_is_refused(half: Path) -> None:
    before = half.read_bytes()
    for part, changed in {
        "data": lambda: descent(half, POWER[:50]),
        "loss": lambda: descent(half, loss="suboptimality"),
        "random_state": lambda: descent(half, random_state=4),
        "trainer": lambda: model(
            POWER,
            fl.Affine(fl.Simplex(3)),
            fl.trainers.GradientDescent(max_iter=8, n_starts=3, checkpoint=half),
        ),
        "hypothesis": lambda: model(
            POWER,
            fl.Affine(fl.Simplex(4)),
            fl.trainers.GradientDescent(max_iter=8, n_starts=2, checkpoint=half),
        ),
    }.items():
        with pytest.raises(CheckpointError, match=f"another run: its {part} differs"):
            changed()
    assert half.read_bytes() == before


def as_function(signals: Any, decisions: Any) -> Any:
    pieces = [slice(i, i + 50) for i in range(0, 200, 50)]
    return lambda: ((signals[piece], decisions[piece]) for piece in pieces)


@pytest.mark.parametrize("source", [as_function, lambda *pair: pair])
def test_other_rows_later_in_chunks_are_refused(
    source: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = fl.datasets.make_power5(200, random_state=0)
    monkeypatch.setattr(Checkpoint, "remove", lambda _: None)

    def fit(decisions: Any) -> fl.RegionRegressor:
        trainer = fl.trainers.GradientDescent(2, n_starts=1, checkpoint=tmp_path / "c")
        model = fl.RegionRegressor(
            fl.Affine(fl.Simplex(2)), cost=[0, 1, 2], trainer=trainer, random_state=0
        )
        return model.fit(fl.Chunks(source(data.signals, decisions)))

    first = fit(data.decisions)
    np.testing.assert_array_equal(fit(data.decisions).theta_, first.theta_)
    others = np.array(data.decisions)
    others[-1] += 1.0
    with pytest.raises(CheckpointError, match="its data differs"):
        fit(others)


def test_a_run_without_a_seed_goes_on_with_its_own_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.ckpt"
    whole, states = states_of(lambda c: descent(c, random_state=None), path, monkeypatch)
    path.write_bytes(states[0])
    assert descent(path, random_state=None).theta_.tobytes() == whole.theta_.tobytes()


def test_what_was_interrupted_begins_again(tmp_path: Path) -> None:
    path, steps = tmp_path / "run.ckpt", list[int]()

    def stop(i: int, _: Any) -> bool:
        steps.append(i)
        return steps[-3:] == [8, 0, 1]

    trainer = fl.trainers.GradientDescent(8, tol=0.0, n_starts=2, callback=stop, checkpoint=path)
    cut = model(POWER, fl.Affine(fl.Simplex(3)), trainer)
    assert cut.result_.status == "stopped by callback"
    assert path.exists()
    steps.clear()
    trainer.set_params(callback=lambda i, _: steps.append(i))
    resumed = model(POWER, fl.Affine(fl.Simplex(3)), trainer)
    assert steps == list(range(9))
    assert not path.exists()
    trainer.set_params(checkpoint=None)
    whole = model(POWER, fl.Affine(fl.Simplex(3)), trainer)
    assert resumed.theta_.tobytes() == whole.theta_.tobytes()


def test_a_file_cannot_say_where_a_later_fit_writes(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    fitted = descent(path)
    fl.save(fitted, tmp_path / "model.json")
    assert "run.ckpt" not in (tmp_path / "model.json").read_text().replace("run.ckpt')", "")
    loaded = fl.load(tmp_path / "model.json")
    assert loaded.trainer.checkpoint is None
