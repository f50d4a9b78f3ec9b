"""Where there is no room for a file, the one before it survives, whoever writes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from experiments.frame import pictures
from feaslearn.exceptions import FileError
from feaslearn.export.files import program_text
from feaslearn.io.tables import write_table
from feaslearn.sets import AffineImage
from model_files import POINT, fit

resource = pytest.importorskip("resource", reason="the system limits no files")

REGION = fl.Region(AffineImage(fl.Box(6), np.eye(6), np.zeros(6)), [f"x{j}" for j in range(6)])
COLUMNS = [np.arange(100.0), np.arange(100.0)]


def picture(path: Path) -> None:
    figure, _ = pictures.new_figure(2.0, 2.0)
    pictures.save(figure, path.parent, path.name)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "model.npz": lambda path: fl.save(fit(POINT), path),
    "table.csv": lambda path: write_table(path, ["a", "b"], COLUMNS),
    "table.parquet": lambda path: write_table(path, ["a", "b"], COLUMNS),
    "region.mps": lambda path: fl.export.to_mps(REGION, path),
    "picture.png": picture,
}


@contextmanager
def little_room(size: int) -> Iterator[None]:
    """No file may grow beyond a few bytes: the system refuses the write, in any language."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", WRITERS)
def test_the_old_file_survives(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    whole = path.read_bytes()
    assert len(whole) > 200
    with little_room(100), pytest.raises(FileError) as caught:
        WRITERS[name](path)
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]
    message = str(caught.value)
    assert "stays as it was" in message or "could not be written whole" in message


def test_half_of_what_a_solver_wrote_is_not_taken_for_the_whole() -> None:
    with little_room(100), pytest.raises(FileError, match="could not be written whole"):
        program_text(REGION, "lp")
