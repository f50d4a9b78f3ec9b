"""Work on several items at a time, with the answers in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def in_order(
    function: Callable[[Item], Answer], items: Iterable[Item], n_jobs: int
) -> Iterator[Answer]:
    """Yield what ``function`` makes of each item, in order, on ``n_jobs`` threads.

    Items are taken only as they are needed: not more than ``2 n_jobs`` are under way or waiting.

    Examples
    --------
    >>> from feaslearn.data.in_order import in_order
    >>> list(in_order(abs, [-3, 2, -1], n_jobs=2))
    [3, 2, 1]
    """
    if n_jobs <= 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Answer]] = deque()
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= 2 * n_jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
