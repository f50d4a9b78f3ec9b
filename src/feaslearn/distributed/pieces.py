"""From what users pass to pieces, each of which a worker makes into chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from feaslearn.data import Chunk, Chunks, Names
from feaslearn.exceptions import DataError


def pieces_of(source: Any, dtype: Any, columns: dict[str, Any]) -> tuple[Names, list[Any]]:
    """Return the names of the columns, and the pieces: delayed lists of chunks.

    They are graphs, not results: what is lost with a worker is computed from them again.
    """
    if isinstance(source, tuple) and len(source) == 2 and _is_dask(source[0], source[1]):
        return _of_arrays(*source, dtype, columns)
    if _is_dask(source):
        return _of_frame(source, dtype, columns)
    chunks = source if isinstance(source, Chunks) else Chunks(source, **columns, dtype=dtype)
    return chunks.names, [_delayed(part, pure=False)() for part in chunks.parts()]


def _of_arrays(X: Any, y: Any, dtype: Any, columns: dict[str, Any]) -> tuple[Names, list[Any]]:
    """Cut a pair of dask arrays into its blocks of rows."""
    if any(part is not None for part in columns.values()):
        raise DataError("ClusterChunks: signals, decisions and weights are not for a pair (X, y)")
    X, y = (part if part.ndim > 1 else part[:, None] for part in (X, y))
    if X.shape[0] == X.shape[0] and X.shape[0] != y.shape[0] and y.shape[0] == y.shape[0]:
        raise DataError(
            f"ClusterChunks: X has {X.shape[0]} rows and y has {y.shape[0]}; give one row of each "
            "for every sample"
        )
    X = X.rechunk({1: -1})
    known = X.shape[0] == X.shape[0] and y.shape[0] == y.shape[0]
    y = y.rechunk({0: X.chunks[0], 1: -1}) if known else y.rechunk({1: -1})
    blocks = zip(X.to_delayed()[:, 0], y.to_delayed()[:, 0], strict=True)
    names = Names(*(tuple(f"{c}{j}" for j in range(a.shape[1])) for c, a in (("s", X), ("x", y))))
    make = _delayed(_pair_chunks, pure=False)
    return names, [make(*pair, f"block {i}", dtype) for i, pair in enumerate(blocks)]


def _of_frame(frame: Any, dtype: Any, columns: dict[str, Any]) -> tuple[Names, list[Any]]:
    """Cut a dask frame into its partitions."""
    if not hasattr(frame, "partitions") or not hasattr(frame, "columns"):
        raise DataError(
            f"ClusterChunks: cannot read a {type(frame).__name__}; pass a dask frame, a pair of "
            "dask arrays, or what Chunks reads"
        )
    # The frame without rows that dask keeps: columns are chosen by name.
    names = Chunks(_Once(frame._meta), **columns).names  # noqa: SLF001
    chosen = {**columns, "signals": names.signals, "decisions": names.decisions}
    make = _delayed(_frame_chunks, pure=False)
    parts = frame.to_delayed()
    return names, [make(part, i, chosen, dtype) for i, part in enumerate(parts)]


def _pair_chunks(X: Any, y: Any, place: str, dtype: Any) -> list[Chunk]:
    try:
        return list(Chunks((X, y), dtype=dtype).map(_itself))
    except DataError as error:
        raise DataError(f"{place}: {error}") from None


def _frame_chunks(frame: Any, number: int, columns: dict[str, Any], dtype: Any) -> list[Chunk]:
    if not len(frame):
        return []
    try:
        return list(Chunks(_Once(frame), **columns, dtype=dtype).map(_itself))
    except DataError as error:
        raise DataError(f"partition {number}: {error}") from None


class _Once:
    """Returns an iterator of one frame, as often as it is asked."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __call__(self) -> Iterator[Any]:
        return iter([self._frame])


def _itself(chunk: Chunk) -> Chunk:
    return chunk


def _is_dask(*parts: Any) -> bool:
    return any(hasattr(part, "__dask_graph__") for part in parts)


def _delayed(function: Callable[..., Any], **options: Any) -> Any:
    from dask.delayed import delayed

    return delayed(function, **options)
