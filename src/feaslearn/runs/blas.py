"""One thread for matrix products: with more, sums are cut elsewhere and end in other digits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any


class _Limit:
    """Set by the first who asks for it, and lifted when the last is done, in whatever threads."""

    def __init__(self) -> None:
        self._lock, self._count = Lock(), 0
        self._set: Any = None

    def enter(self) -> None:
        with self._lock:
            if not self._count:
                self._set = _libraries().limit(limits=1, user_api="blas")
            self._count += 1

    def leave(self) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                # Newer versions listen to the thread that set the limit alone, unless told.
                _let_any_thread_set()
                self._set.restore_original_limits()
                _let_any_thread_set()


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS and LAPACK use one thread; also a decorator."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


@cache
def _libraries() -> Any:
    """Return the libraries that are loaded; looking for them takes some milliseconds."""
    import scipy.linalg  # noqa: F401 (it brings a BLAS of its own)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _let_any_thread_set() -> None:
    for library in _libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)
