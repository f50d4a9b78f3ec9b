"""The packages of the extra "dask", loaded when they are first needed."""

from __future__ import annotations

from typing import Any

from feaslearn.exceptions import DataError, MissingExtraError


def distributed() -> Any:
    """Return the package ``distributed``."""
    try:
        import distributed as package
    except ImportError:
        raise MissingExtraError("distributed", "dask") from None
    return package


def client_of(given: Any) -> Any:
    """Return a client: the one given, that of an address, or the one that is there already."""
    package = distributed()
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


def killed_worker() -> type[Exception]:
    """Return the error of a task that has ended too many workers."""
    error: type[Exception] = distributed().KilledWorker
    return error
