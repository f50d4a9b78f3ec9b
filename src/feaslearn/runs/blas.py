"""One thread for matrix products.

With more, sums are cut elsewhere and end in other digits, and threads of small products wait for
each other: on two busy processors, fits took up to twelve times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS and LAPACK use one thread; also a decorator."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    """Return the libraries that are loaded; looking for them takes some milliseconds."""
    import scipy.linalg  # noqa: F401 (it brings a BLAS of its own)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
