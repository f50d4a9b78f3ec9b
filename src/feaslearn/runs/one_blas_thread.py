"""Matrix products on one thread, while a fit has threads of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold products of matrices to one thread.

    Ours are many and small: threads that wait for each other take longer than the products, and
    what several of them add up is rounded in another order.

    Examples
    --------
    >>> from feaslearn.runs.one_blas_thread import one_blas_thread
    >>> from threadpoolctl import threadpool_info
    >>> with one_blas_thread():
    ...     {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    {1}
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    """Look for the libraries once: that takes milliseconds."""
    return ThreadpoolController()
