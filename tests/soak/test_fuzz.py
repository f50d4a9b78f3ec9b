"""A short run of the fuzzer, the same every time; `make soak-fuzz` runs it for long."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from feaslearn.exceptions import DataError
from soak.fuzz import campaign
from soak.fuzz.campaign import Campaign
from soak.fuzz.loaders import LOADERS, Loader

#: Cases of each loader that take about a second.
CASES = {
    "checkpoint": 20,
    "chunks": 15,
    "iterator": 20,
    "model": 60,
    "csv": 300,
    "parquet": 300,
    "case": 60,
    "words": 150,
}


@pytest.mark.parametrize("name", LOADERS)
def test_damaged_files_are_refused_with_our_own_errors(name: str, tmp_path: Path) -> None:
    run = Campaign(LOADERS[name], 0, tmp_path)
    run.run(lambda count: count < CASES[name])
    assert run.findings == []
    assert run.cases == CASES[name]
    assert sum(run.outcomes.values()) == run.cases


def broken(path: Path) -> object:
    """Do wrong in every way, each brought about by another byte."""
    data = path.read_bytes()
    if data == b"\x00":
        raise KeyError(data)
    if data == b"\x01":
        raise DataError("refused")
    while data == b"\x02":
        pass
    if data == b"\x04":
        os.system("true")
    return bytearray(_more_than_ever() if data == b"\x03" else 1)


def _more_than_ever() -> int:
    """Return bytes that take this process beyond the most that it ever had."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    most = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most - pages * resource.getpagesize() + 2**26)


def test_the_fuzzer_finds_what_it_looks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "SECONDS", 0.05)
    monkeypatch.setattr(campaign, "KILOBYTES", 2**15)
    bytes_ = iter(range(5))
    loader = Loader(lambda: [b"x"], lambda *_: bytes([next(bytes_)]), broken, ".bin")
    run = Campaign(loader, 0, tmp_path)
    run.run(lambda count: count < 5)
    found = [finding.split()[0] for finding in run.findings]
    assert found == ["KeyError", "slow", "memory", "event"]
    assert run.outcomes["DataError"] == 1
    kept = {file.read_bytes() for file in tmp_path.glob("*-0-*.bin")}
    assert kept == {b"\x00", b"\x02", b"\x03", b"\x04"}
