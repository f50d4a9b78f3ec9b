"""Signals and decisions on the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

from feaslearn.data import Chunk, Chunks, Names, Source
from feaslearn.data.readers import dask_blocks
from feaslearn.exceptions import DataError, SolverError
from feaslearn.messages import import_extra

Answer = TypeVar("Answer")

#: Seconds between two looks whether there are workers at all.
LOOK = 5.0


class ClusterChunks(Source):
    r"""Signals and decisions that stay on the workers of a ``dask.distributed`` cluster.

    A fit sends parameters and functions to the chunks and gets sums back:

    .. math:: \theta \;\to\; \sum_{i \in \text{chunk}} w_i \ell_\theta(x_i, s_i),
              \; \sum_{i \in \text{chunk}} w_i \nabla_\theta \ell_\theta(x_i, s_i)

    Sums are added in the order of the chunks, whichever worker is first, so the result is the same
    bit for bit however many workers there are, and also when one is lost: its chunks are computed
    again from their source. Pass it to ``fit`` in the place of X, without y.

    Parameters
    ----------
    source : dask frame, pair of dask arrays, Chunks, or what Chunks reads
        Partitions of a dask frame and blocks of dask arrays stay where they are computed. Parquet
        files are read by the workers, which must reach them under the same paths. Arrays in memory
        are sent once.
    client : Client or str, default=None
        A client of ``dask.distributed`` or the address of a scheduler; by default the client that
        was made last.
    signals, decisions : sequence of str, default=None
        Columns, as for `Chunks`. Not for pairs.
    weights : str, default=None
        The column of the samples' weights.
    dtype : {"float64", "float32"}, default="float64"
        How the workers hold the numbers. Sums are always in double precision.
    persist : bool, default=True
        Whether workers keep the chunks in memory; otherwise each pass computes them again.
    patience : float, default=120.0
        Seconds to wait for a worker while there is none at all.

    References
    ----------
    Rocklin, "Dask: Parallel computation with blocked algorithms and task scheduling", SciPy 2015.

    Examples
    --------
    >>> from dask.distributed import Client, LocalCluster  # doctest: +SKIP
    >>> client = Client(LocalCluster(n_workers=2))  # doctest: +SKIP
    >>> data = fl.distributed.ClusterChunks(
    ...     "data/*.parquet", signals=["price_*", "load"], decisions=["power_*"]
    ... )  # doctest: +SKIP
    >>> model.fit(data)  # doctest: +SKIP
    """

    adds = True

    def __init__(
        self,
        source: Any,
        client: Any = None,
        *,
        signals: Sequence[str] | None = None,
        decisions: Sequence[str] | None = None,
        weights: str | None = None,
        dtype: Literal["float64", "float32"] = "float64",
        persist: bool = True,
        patience: float = 120.0,
    ) -> None:
        self.client = client_of(client)
        self._killed = import_extra("distributed", "dask").KilledWorker
        self.persist, self.patience = persist, patience
        columns = {"signals": signals, "decisions": decisions, "weights": weights}
        if isinstance(source, Chunks) and any(part is not None for part in columns.values()):
            raise DataError("ClusterChunks: Chunks say themselves which columns are what")
        self.names, self._pieces = pieces_of(source, dtype, columns)
        self.named = not _is_pair(source)
        self._kept: list[Any] | None = None
        counted = self.client.map(_count, self._computed(), pure=False)
        self._firsts = [0]
        for count in counted:
            self._firsts.append(self._firsts[-1] + self._result(count))
        self.n_rows = self._firsts[-1]
        if not self.n_rows:
            raise DataError("ClusterChunks: there are no rows")

    def map(
        self,
        function: Callable[[Chunk], Answer],
        n_jobs: int = 1,
        signals: tuple[int, ...] | None = None,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each chunk, in order: one pass over the data.

        Parameters
        ----------
        function : callable
            What to do with a chunk.
        n_jobs : int, default=1
            Not used: the workers decide how many chunks they work on at a time.
        signals : tuple of int, default=None
            Not used: chunks are with the workers as a whole.

        Yields
        ------
        object
            The answer for each chunk.
        """
        client = self.client
        # A task of its own: it is sent once, workers hand it on, and it is not lost with one.
        sent = client.submit(_itself, function, pure=False)
        pieces = self._computed()
        # One message to the scheduler for all of them.
        answers = client.map(_answers, [sent] * len(pieces), pieces, self._firsts[:-1], pure=False)
        for place, answer in enumerate(answers):
            # What has been fetched need not stay on its worker.
            answers[place] = None
            yield from self._result(answer)

    def _computed(self) -> list[Any]:
        """Return the chunks as futures: they are, or are being computed, on the workers."""
        if self._kept is not None:
            return self._kept
        futures: list[Any] = self.client.compute(self._pieces)
        if self.persist:
            self._kept = futures
        return futures

    def _result(self, future: Any) -> Any:
        """Wait for an answer, unless there is nobody left who could give it."""
        nobody_since = None
        while True:
            try:
                return future.result(timeout=LOOK)
            except TimeoutError:
                if future.done():
                    raise
            except self._killed as error:
                raise SolverError(
                    "a chunk ended every worker that took it, which is mostly a lack of memory: "
                    f"make smaller chunks, or give workers more ({error})"
                ) from error
            now = time.monotonic()
            nobody_since = None if self.client.nthreads() else nobody_since or now
            if nobody_since is not None and now - nobody_since > self.patience:
                raise SolverError(
                    f"the cluster has had no workers for {self.patience:g} s: start some, and fit "
                    "again"
                )

    def __repr__(self) -> str:
        return (
            f"ClusterChunks({self.n_rows} rows in {len(self._pieces)} pieces, "
            f"{len(self.names.signals)} signals, {len(self.names.decisions)} decisions)"
        )


def _is_pair(source: Any) -> bool:
    return isinstance(source, tuple) or (isinstance(source, Chunks) and not source.named)


def _itself(sent: Any) -> Any:
    return sent


def _count(chunks: list[Chunk]) -> int:
    return sum(chunk.n_rows for chunk in chunks)


def _answers(function: Callable[[Chunk], Answer], chunks: list[Chunk], first: int) -> list[Answer]:
    answers = []
    for chunk in chunks:
        answers.append(function(chunk._replace(first=first)))
        first += chunk.n_rows
    return answers


def client_of(given: Any) -> Any:
    """Return a client: the one given, that of an address, or the one that is there already."""
    package = import_extra("distributed", "dask")
    if isinstance(given, package.Client):
        return given
    if isinstance(given, str):
        return package.Client(given, set_as_default=False)
    if given is not None:
        raise DataError(
            f"ClusterChunks: client={given!r} is neither a dask.distributed Client nor the address "
            "of a scheduler"
        )
    try:
        return package.get_client()
    except ValueError:
        raise DataError(
            "ClusterChunks: there is no client; make one with dask.distributed.Client(...), or "
            "pass client= with the address of a scheduler"
        ) from None


# From what users pass to pieces, each of which a worker makes into chunks.


def pieces_of(source: Any, dtype: Any, columns: dict[str, Any]) -> tuple[Names, list[Any]]:
    """Return the names of the columns, and the pieces: delayed lists of chunks."""
    # They are graphs, not results: what is lost with a worker is computed from them again.
    delayed = partial(import_extra("dask.delayed", "dask").delayed, pure=False)
    if isinstance(source, tuple) and len(source) == 2 and all(map(_is_dask, source)):
        if any(part is not None for part in columns.values()):
            raise DataError(
                "ClusterChunks: signals, decisions and weights are not for a pair (X, y)"
            )
        pairs = dask_blocks(*source)
        n, k = (part.shape[1] if part.ndim > 1 else 1 for part in source)
        names = Names(tuple(f"s{j}" for j in range(n)), tuple(f"x{j}" for j in range(k)))
        read = delayed(_read)
        return names, [read(pair, f"block {i}", {}, dtype) for i, pair in enumerate(pairs)]
    if _is_dask(source):
        if not hasattr(source, "partitions") or not hasattr(source, "columns"):
            raise DataError(
                f"ClusterChunks: cannot read a {type(source).__name__}; pass a dask frame, a pair "
                "of dask arrays, or what Chunks reads"
            )
        # The frame without rows that dask keeps: columns are chosen by name.
        names = Chunks(partial(iter, (source._meta,)), **columns).names  # noqa: SLF001
        chosen = {**columns, "signals": names.signals, "decisions": names.decisions}
        read, parts = delayed(_read), enumerate(source.to_delayed())
        return names, [read(part, f"partition {i}", chosen, dtype) for i, part in parts]
    chunks = source if isinstance(source, Chunks) else Chunks(source, **columns, dtype=dtype)
    return chunks.names, [delayed(part)() for part in chunks.parts()]


def _read(source: Any, place: str, columns: dict[str, Any], dtype: Any) -> list[Chunk]:
    """Return the chunks of a pair of blocks, or of a partition; errors name it."""
    if not isinstance(source, tuple):
        if not len(source):
            return []
        source = partial(iter, (source,))
    try:
        return list(Chunks(source, **columns, dtype=dtype).map(_itself))
    except DataError as error:
        raise DataError(f"{place}: {error}") from None


def _is_dask(part: Any) -> bool:
    return hasattr(part, "__dask_graph__")
