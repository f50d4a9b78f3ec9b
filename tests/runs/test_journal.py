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
from feaslearn.exceptions import (
    CheckpointError,
    DataError,
    FeaslearnError,
    FeaslearnWarning,
    FileError,
    Problems,
)
from feaslearn.runs import Checkpoint, Journal, Run
from feaslearn.runs.checkpoint_file import MAGIC, read_checkpoint, write_checkpoint
from feaslearn.runs.generators import described, rebuilt

PRINT = {"data": "a", "loss": "b"}


def journal(path: Path, fingerprint: dict[str, str] = PRINT, **options: Any) -> Journal:
    return Journal(Checkpoint(path, **({"seconds": 0.0} | options)), fingerprint, {"n": 1})


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
    write_checkpoint(path, {"entries": {"a": np.arange(20.0)}})
    contents = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        contents = contents[: data.draw(st.integers(0, len(contents) - 1))]
    else:
        at = data.draw(st.integers(0, len(contents) - 1))
        contents[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(contents)
    with pytest.raises(CheckpointError):
        read_checkpoint(path, 10**6)


@given(st.binary(max_size=200), st.integers(0, 300))
def test_a_file_that_was_made_to_harm_is_refused(
    tmp_path_factory: pytest.TempPathFactory, body: bytes, length: int
) -> None:
    path = tmp_path_factory.mktemp("c") / "c"
    for inner in (body, b"%d\n" % length + body, b'{"array":["<f8",[%d],0]}' % length):
        whole = b"%d\n" % len(inner) + inner
        path.write_bytes(MAGIC + hashlib.sha256(whole).hexdigest().encode() + b"\n" + whole)
        with pytest.raises(FeaslearnError):
            read_checkpoint(path, 10**6)


def test_arrays_that_share_their_numbers_are_refused(tmp_path: Path) -> None:
    """A small file must not stand for many large arrays."""
    text = b'{"a":[%s]}' % b",".join([b'{"array":["|u1",[1000],0]}'] * 3)
    body = b"%d\n%s\n%s" % (len(text), text, bytes(1000))
    digest = hashlib.sha256(body).hexdigest().encode()
    (tmp_path / "c").write_bytes(MAGIC + digest + b"\n" + body)
    with pytest.raises(CheckpointError, match="1000 bytes at 0 go beyond the end"):
        read_checkpoint(tmp_path / "c", 10**6)


def test_size_limit_holds_before_reading(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", {"a": np.zeros(1000)})
    with pytest.raises(FileError, match="max_bytes"):
        read_checkpoint(tmp_path / "c", 1000)


def test_work_that_is_done_is_not_done_again(tmp_path: Path) -> None:
    path, calls = tmp_path / "c", []

    def work() -> dict[str, Any]:
        calls.append(1)
        return {"x": np.array([0.1]), "n": 3}

    first = np.random.default_rng(0)
    run = Run(journal=journal(path)).within("part")
    run.once("draw", lambda: [first.random(), first.spawn(2) and None], first)
    run.once("work", work)
    after = first.random()
    again, second = Run(journal=journal(path)).within("part"), np.random.default_rng(0)
    again.once("draw", lambda: pytest.fail("done already"), second)
    assert second.random() == after
    assert first.spawn(1)[0].random() == second.spawn(1)[0].random()
    assert again.once("work", work)["x"] == 0.1
    assert len(calls) == 1


def test_finished_work_covers_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "c"
    run = Run(journal=journal(path))
    inner = run.within("loop")
    inner.save(lambda: {"i": 1})
    assert Run(journal=journal(path)).within("loop").saved() == {"i": 1}
    run.once("loop", lambda: inner.once("part", lambda: 2))
    entries = read_checkpoint(path, 10**6)["entries"]
    assert list(entries) == ["/loop"]


def test_what_the_clock_cut_short_is_not_done(tmp_path: Path) -> None:
    run = Run(journal=journal(tmp_path / "c"))
    assert run.limited(0.0).once("a", lambda: 1) == 1
    assert run.once("a", lambda: 2) == 2
    assert run.limited(5.0).once("a", lambda: 3) == 2


def test_values_are_recorded_in_their_order(tmp_path: Path) -> None:
    path, asked = tmp_path / "c", []

    def square(x: np.ndarray) -> tuple[float, np.ndarray]:
        asked.append(float(x[0]))
        return float(x[0] ** 2), 2 * x

    one = Run(journal=journal(path)).recorded("f", square)
    for x in (1.0, 2.0):
        one(np.array([x]))
    other = Run(journal=journal(path)).recorded("f", square)
    assert [other(np.array([x]))[0] for x in (1.0, 2.0, 3.0)] == [1.0, 4.0, 9.0]
    assert asked == [1.0, 2.0, 3.0]


def test_another_problem_is_refused_by_name(tmp_path: Path) -> None:
    journal(tmp_path / "c").put("a", 1)
    with pytest.raises(CheckpointError, match=r"another run: its data and its loss differ\."):
        journal(tmp_path / "c", {"data": "x", "loss": "y"})
    with pytest.raises(CheckpointError, match=r"its loss differs\."):
        journal(tmp_path / "c", {"data": "a", "loss": "y"})


def test_counted_steps_decide_when_to_write(tmp_path: Path) -> None:
    path = tmp_path / "c"
    run = Run(journal=journal(path, seconds=None, steps=3))
    run.save(lambda: 1)
    run.save(lambda: 2)
    assert not path.exists()
    run.save(lambda: 3)
    assert read_checkpoint(path, 10**6)["entries"] == {"/at": 3}


def test_a_full_disk_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c"
    book = journal(path)
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
    assert set(read_checkpoint(path, 10**6)["entries"]) == {"a", "b", "c"}


def test_leftovers_of_a_killed_writer_go(tmp_path: Path) -> None:
    (tmp_path / ".c.abcd_123.tmp").write_bytes(b"half")
    others = {".d.abcd_123.tmp", ".c.notes.tmp", ".c.2.abcd_123.tmp"}
    for name in others:
        (tmp_path / name).write_bytes(b"of another")
    book = journal(tmp_path / "c")
    book.put("a", 1)
    book.remove()
    assert {file.name for file in tmp_path.iterdir()} == others


def test_leftovers_are_told_by_the_names_that_writing_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed while it writes does not come to remove its file."""
    monkeypatch.setattr(Path, "replace", lambda *_: None)
    monkeypatch.setattr(Path, "unlink", lambda *_: None)
    for name in ("c", "x" * 80, "a.b [1]"):
        atomic.write_bytes(tmp_path / name, b"half")
        assert len(list(atomic.leftovers(tmp_path / name))) == 1


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_generators_are_rebuilt(tmp_path: Path, kind: str) -> None:
    one = np.random.Generator(getattr(np.random, kind)([3, 4]))
    one.random(5)
    one.spawn(2)
    write_checkpoint(tmp_path / "c", described(one))
    other = rebuilt(read_checkpoint(tmp_path / "c", 10**6))
    assert one.random() == other.random()
    assert one.spawn(1)[0].random() == other.spawn(1)[0].random()


def test_wrong_parameters_are_named_together() -> None:
    problems = Problems()
    Checkpoint("", seconds=None).check(problems)
    Checkpoint("a", seconds=-1.0, steps=0, max_bytes=True).check(problems)
    with pytest.raises(DataError) as caught:
        problems.raise_if_any(DataError, "x")
    for text in ("path=''", "both None", "seconds=-1.0", "steps=0", "max_bytes=True"):
        assert text in str(caught.value)
