"""Data that come in pieces, to be damaged: Parquet files side by side, and what iterators yield."""

from __future__ import annotations

import io
import json
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import feaslearn as fl
from feaslearn.exceptions import DataError, FeaslearnError, FeaslearnWarning
from soak.fuzz.mutations import change_bytes, change_tree

NAMES = ("price_a", "price_b", "demand", "gas", "coal")
COLUMNS: dict[str, Any] = {"signals": list(NAMES[:3]), "decisions": list(NAMES[3:])}


class BrokenSourceError(FeaslearnError):
    """What an iterator of the user raises by itself; it must come out as it is."""


def _rows(chunks: fl.Chunks) -> int:
    return sum(chunk.n_rows for chunk in chunks.map(lambda chunk: chunk))


def _fit(chunks: fl.Chunks) -> object:
    """Go through all chunks, then learn from them."""
    rows = _rows(chunks)
    prices = tuple(range(min(2, len(chunks.names.signals))))
    model = fl.RegionRegressor(fl.Minkowski.box(2), cost=prices, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        model.fit(chunks)
    return rows


def _first_that_reads(attempts: Sequence[Callable[[], object]]) -> object:
    """Read in every way; refuse if all ways refuse."""
    refused, found = [], []
    for attempt in attempts:
        try:
            found.append(attempt())
        except FeaslearnError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    return found[0]


# Parquet files side by side: a case is the files one after the other, each after its length.


def _joined(files: Sequence[bytes]) -> bytes:
    return b"".join(len(file).to_bytes(4, "little") + file for file in files)


def _split(data: bytes) -> list[bytes]:
    files = []
    while len(data) > 4:
        size = int.from_bytes(data[:4], "little")
        files.append(data[4 : 4 + size])
        data = data[4 + size :]
    return files


def _parquet(columns: dict[str, Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    table = pa.Table.from_arrays([pa.array(each) for each in columns.values()], list(columns))
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def _odd_files() -> list[bytes]:
    """Return files that are valid, but not what stands beside them."""
    numbers = np.random.default_rng(1).normal(size=(9, 5))
    plain: dict[str, Any] = dict(zip(NAMES, numbers.T, strict=True))
    instead = {
        "texts": ["1", "x", None] * 3,
        "times": np.arange(9).astype("datetime64[s]"),
        "lists": [[1.0], None, []] * 3,
        "parts": [{"a": 1}, None, {}] * 3,
        "bytes": [b"\xff", None, b""] * 3,
        "kinds": pa.array(["a", "b", None] * 3).dictionary_encode(),
        "small": np.arange(9, dtype=np.int8),
        "large": pa.array([2**64 - 1] * 9, pa.uint64()),
        "sums": pa.array([1] * 9).cast(pa.decimal128(30, 3)),
        "truth": [True, None, False] * 3,
        "gaps": [None, 1.0, np.nan] * 3,
        "ends": [np.inf, -np.inf, 0.0] * 3,
        "huge": [1e308, 1e308, 1e-320] * 3,
        "nothing": pa.nulls(9),
    }
    files = [_parquet(plain | {NAMES[j]: each}) for each in instead.values() for j in (0, 2, 3)]
    files += [_parquet(dict(list(plain.items())[::-1])), _parquet(plain | {"more": numbers[:, 0]})]
    files += [_parquet({name: column[:0] for name, column in plain.items()})]
    files += [_parquet({name: plain[name] for name in NAMES[1:]}), _parquet({"x": [1.0]})]
    twice = pa.Table.from_arrays(
        [pa.array(each) for each in [*numbers.T, numbers[:, 0]]], [*NAMES, NAMES[0]]
    )
    buffer = io.BytesIO()
    pq.write_table(twice, buffer)
    return [*files, buffer.getvalue(), b"", b"PAR1PAR1"]


def dataset_files() -> list[bytes]:
    """Return three files at a time, in several compressions and sizes of row groups."""
    rng = np.random.default_rng(0)
    found = []
    for options in (
        {"row_group_size": 7},
        {"compression": "zstd", "use_dictionary": False},
        {"compression": "none", "data_page_version": "2.0", "row_group_size": 20},
    ):
        parts = [dict(zip(NAMES, rng.normal(size=(5, 40)), strict=True)) for _ in range(3)]
        found.append(_joined([_parquet(part, **options) for part in parts]))
    # A price that is zero everywhere ties, which takes kernels of its own: compiled before.
    found.append(_joined([_parquet(part | {NAMES[0]: np.zeros(40)}) for part in parts]))
    return found


_odd: list[bytes] = []


def damage_dataset(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Damage one file, or put another in its place that does not fit the rest."""
    if not _odd:
        _odd.extend(_odd_files())
    files = _split(data) or [b""]
    place = rng.randrange(len(files))
    kind = rng.randrange(4)
    if kind == 0:
        files[place] = rng.choice(_odd)
    elif kind == 1:
        files[place:place] = [rng.choice(_odd)]
    else:
        files[place] = change_bytes(files[place], rng, [*others, *_odd])
    return _joined(files[:5])


def _written(path: Path) -> Path:
    """Write the files of a case; return their folder."""
    folder = path.parent / "files"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for i, file in enumerate(_split(path.read_bytes())):
        (folder / f"part{i}.parquet").write_bytes(file)
    return folder


def read_by_polars(path: Path) -> object:
    """Read the files without us."""
    return pl.scan_parquet(_written(path)).collect()


def read_dataset(path: Path) -> object:
    """Read the files as paths, as a dataset, and as a lazy frame."""
    folder = _written(path)
    return _first_that_reads(
        [
            lambda: _fit(fl.Chunks(folder, **COLUMNS)),
            lambda: _rows(fl.Chunks(_others(lambda: ds.dataset(folder)), **COLUMNS)),
            lambda: _rows(fl.Chunks(_others(lambda: pl.scan_parquet(folder)), **COLUMNS)),
        ]
    )


def _others(make: Callable[[], Any]) -> Any:
    """Return what another package makes of files; what it refuses never comes to us."""
    try:
        return make()
    except (OSError, ValueError, pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise DataError("refused before") from error


# What iterators yield: a case is a list of items as JSON.


def iterator_files() -> list[bytes]:
    """Return lists of items: pairs of arrays, frames of two packages, and mixtures."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, 3)).round(3).tolist() for _ in range(3)]
    y = [rng.normal(size=(6, 2)).round(3).tolist() for _ in range(3)]
    both = [[[*a, *b] for a, b in zip(X[i], y[i], strict=True)] for i in range(3)]
    names, two = list(NAMES), [list(NAMES[:3]), list(NAMES[3:])]
    lists = [
        [{"as": "pair", "parts": [X[i], y[i]], "type": "float64"} for i in range(3)],
        [{"as": "pair", "parts": [X[i], y[i]], "type": "float32"} for i in range(3)],
        [{"as": "frames", "parts": [X[i], y[i]], "names": two} for i in range(3)],
        [{"as": "frame", "parts": both[i], "names": names} for i in range(3)],
        [{"as": "polars", "parts": both[i], "names": names} for i in range(3)],
        [{"as": "pair", "parts": [X[0], y[0]], "type": "float64"}, {"as": "raise"}],
        [{"as": "pair", "parts": [[], []], "type": "float64"}, {"as": "itself", "parts": None}],
        [{"as": "pair", "parts": [X[0], y[0]], "type": "object"}, {"as": "itself", "parts": 3}],
    ]
    return [json.dumps(each).encode() for each in lists]


def damage_items(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change numbers, shapes, names and kinds of the items, and mix those of several lists."""
    wholes = [json.loads(each) for each in others]
    try:
        return json.dumps(change_tree(json.loads(data), rng, wholes)).encode("ascii")
    except (ValueError, TypeError, RecursionError, IndexError):
        return rng.choice(others)


def read_items(path: Path) -> object:
    """Read the items again and again from a function."""
    try:
        items = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataError("not a list of items") from error
    if not isinstance(items, list) or not items:
        raise DataError("not a list of items")
    framed = isinstance(items[0], dict) and items[0].get("as") in ("frame", "polars")
    options = COLUMNS if framed else {}
    return _fit(fl.Chunks(lambda: _yielded(items), **options))


def _yielded(items: list[Any]) -> Iterator[Any]:
    for item in items:
        if not isinstance(item, dict):
            yield item
            continue
        if item.get("as") == "raise":
            raise BrokenSourceError("the source broke")
        try:
            made = _made(item)
        except Exception as error:
            raise BrokenSourceError("no such item") from error
        yield made


def _made(item: dict[str, Any]) -> Any:
    """Return what an item describes."""
    if item.get("as") == "polars" and "[" * 50 in json.dumps(item):
        raise ValueError("polars itself takes seconds to make a frame of such depth")
    kind, parts, names = item["as"], item.get("parts"), item.get("names")
    if kind == "pair":
        return tuple(np.array(part, dtype=item.get("type")) for part in parts)
    if kind == "frames":
        return tuple(pd.DataFrame(*each) for each in _with_names(parts, names))
    if kind == "frame":
        return pd.DataFrame(parts, columns=names)
    if kind == "polars":
        return pl.DataFrame(parts, schema=names, orient="row")
    return parts


def _with_names(parts: Any, names: Any) -> list[tuple[Any, Any, Any]]:
    return [(part, None, each) for part, each in zip(parts, names, strict=True)]
