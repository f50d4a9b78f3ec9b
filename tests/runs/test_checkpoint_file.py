"""Entries survive in their file, bit for bit, and nothing else is believed."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn import atomic
from feaslearn.exceptions import CheckpointError, FeaslearnError, FeaslearnWarning, FileError
from feaslearn.runs import Checkpoint, Run
from feaslearn.runs.checkpoint import MAGIC, read_checkpoint, write_checkpoint

PRINT = {"data": "a", "loss": "b"}


def test_trees_come_back_bit_for_bit(tmp_path: Path) -> None:
    tree = {
        "floats": np.array([[0.1, np.nan, -0.0], [np.inf, 5e-324, 1e308]]),
        "empty": np.zeros((0, 3)),
        "others": [np.arange(3), np.array([True, False]), np.float64(0.1), "ä", None, True, 7],
        "nested": {"inf": float("-inf"), "number": 0.1 + 0.2},
    }
    write_checkpoint(tmp_path / "c", tree)
    found = read_checkpoint(tmp_path / "c", 10**6)
    assert found["floats"].tobytes() == tree["floats"].tobytes()  # type: ignore[attr-defined]
    assert found["empty"].shape == (0, 3)
    assert found["others"][1].dtype == bool
    assert found["others"][2:] == [0.1, "ä", None, True, 7]
    assert found["nested"] == tree["nested"]
    found["floats"][0, 0] = 1.0  # an array that can be written to


@given(st.data())
def test_a_changed_or_shortened_file_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("c") / "c"
    write_checkpoint(path, {"pieces": {"a": np.arange(20.0)}})
    contents = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        contents = contents[: data.draw(st.integers(0, len(contents) - 1))]
    else:
        at = data.draw(st.integers(0, len(contents) - 1))
        contents[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(contents)
    with pytest.raises(CheckpointError):
        read_checkpoint(path, 10**6)


@given(st.binary(max_size=200), st.integers(1, 300))
def test_a_file_that_was_made_to_harm_is_refused(
    tmp_path_factory: pytest.TempPathFactory, body: bytes, length: int
) -> None:
    path = tmp_path_factory.mktemp("c") / "c"
    arrays = (
        b'["<f8",[%d],""]' % length,
        b'["<f8",[-1,%d],"AAAAAAAAAAA="]' % length,
        b'["O",[1],"AAAAAAAAAAA="]',
        b'["<f8",[1],"AAAAAAAAAA"]',
        b'["<f8",[true],"AAAAAAAAAAA="]',
        b'["<f8",1,"AAAAAAAAAAA="]',
        b'["<f8",[100000000000000000000],"AAAAAAAAAAA="]',
        b"[" * 10_000 + b"]" * 10_000,
    )
    for whole in (body, *(b'{"a":{"$array":%s}}' % array for array in arrays)):
        path.write_bytes(MAGIC + hashlib.sha256(whole).hexdigest().encode() + b"\n" + whole)
        with pytest.raises(FeaslearnError):
            read_checkpoint(path, 10**6)


def test_size_limit_holds_before_reading(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", {"a": np.zeros(1000)})
    with pytest.raises(FileError, match="the limit is 1000"):
        read_checkpoint(tmp_path / "c", 1000)


def test_finished_work_is_not_done_again(tmp_path: Path) -> None:
    path, calls = tmp_path / "c", []

    def work() -> dict[str, Any]:
        calls.append(1)
        return {"x": np.array([0.1]), "n": 3}

    Run(checkpoint=Checkpoint(path, PRINT)).within("part").cached("work", work)
    again = Run(checkpoint=Checkpoint(path, PRINT)).within("part")
    assert again.cached("work", work)["x"] == 0.1
    assert len(calls) == 1


def test_finished_work_takes_the_place_of_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "c"
    run = Run(checkpoint=Checkpoint(path, PRINT))
    run.cached("loop", lambda: run.within("loop").cached("part", lambda: 2))
    assert list(read_checkpoint(path)["pieces"]) == ["/loop"]


def test_what_a_deadline_cut_short_is_not_kept(tmp_path: Path) -> None:
    run = Run(checkpoint=Checkpoint(tmp_path / "c", PRINT))
    assert run.limited(0.0).cached("a", lambda: 1) == 1
    assert run.cached("a", lambda: 2, done=lambda _: False) == 2
    assert run.cached("a", lambda: 3) == 3
    assert run.limited(5.0).cached("a", lambda: 4) == 3


def test_a_full_disk_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c"
    book = Checkpoint(path, PRINT)
    book.put("a", 1)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.warns(FeaslearnWarning, match="No space left"):
        book.put("b", 2)
    assert path.read_bytes() == before
    monkeypatch.undo()
    book.put("c", 3)
    assert set(read_checkpoint(path)["pieces"]) == {"a", "b", "c"}
