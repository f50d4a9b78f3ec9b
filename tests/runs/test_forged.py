"""Checkpoints whose checksum is right and whose entries are not what a run has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import CheckpointError
from feaslearn.runs import Checkpoint
from feaslearn.runs.checkpoint import read_checkpoint, write_checkpoint
from feaslearn.trainers import GradientDescent

JUNK: list[Any] = [3, {"x": 1}, np.ones((2, 2, 2)), ["a"], {"theta": None, "history": 7}]


def fit(path: Path) -> np.ndarray:
    """Fit, or resume from the file; it stays."""
    rng = np.random.default_rng(0)
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(2)),
        cost=[0, 1],
        trainer=GradientDescent(max_iter=3, checkpoint=path),
        random_state=0,
    )
    theta: np.ndarray = model.fit(rng.normal(size=(8, 3)), rng.normal(size=(8, 2))).theta_
    return theta


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("part", ["pieces", "fingerprint", "seed"])
def test_a_forged_entry_is_refused(
    part: str, junk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Checkpoint, "remove", lambda _: None)
    path = tmp_path / "run.ckpt"
    theta = fit(path)
    tree = read_checkpoint(path)
    assert (fit(path) == theta).all()
    tree[part] = dict.fromkeys(tree[part], junk) if part != "seed" else [junk]
    write_checkpoint(path, tree)
    with pytest.raises(CheckpointError, match=r"[Dd]elete it to begin anew"):
        fit(path)
