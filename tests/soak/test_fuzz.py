"""A short run of the fuzzer, the same every time; `make soak-fuzz` runs it for long."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from feaslearn.exceptions import DataError
from soak import fuzz
from soak.fuzz import LOADERS, Loader

#: Damage of model files and tables drawn by Hypothesis is in tests/io, for `make test`.
pytestmark = pytest.mark.soak
#: Cases of each loader that take about a second.
CASES = {"checkpoint": 30, "chunks": 40, "model": 60, "csv": 300}
CASES |= {"parquet": 300, "case": 60, "words": 150}


@pytest.mark.parametrize("name", LOADERS)
def test_damaged_files_are_refused_with_our_own_errors(name: str, tmp_path: Path) -> None:
    cases, findings = fuzz.fuzz(LOADERS[name], 0, tmp_path, lambda count: count < CASES[name])
    assert findings == []
    assert cases == CASES[name]


def broken(path: Path) -> object:
    """Do wrong in every way, each brought about by another byte."""
    data = path.read_bytes()
    if data == b"\x00":
        raise KeyError(data)
    if data == b"\x01":
        raise DataError("refused")
    while data == b"\x02":
        pass
    if data == b"\x03":
        os.system("true")
    return data


def test_the_fuzzer_finds_what_it_looks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    bytes_ = iter(range(4))
    loader = Loader(lambda: [b"x"], lambda *_: bytes([next(bytes_)]), broken, ".bin")
    _, findings = fuzz.fuzz(loader, 0, tmp_path, lambda count: count < 4)
    assert [finding.split()[0] for finding in findings] == ["KeyError", "TooSlowError", "event"]
    assert {file.read_bytes() for file in tmp_path.glob("0-*.bin")} == {b"\x00", b"\x02", b"\x03"}
