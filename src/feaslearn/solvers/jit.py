"""Compilation of kernels, with a cache on disk.

Kernels live in ``kernels/`` and in files ``*_kernels.py``, nowhere else. Numba alone decides by the
time stamp of the file a function stands in, so a kernel that calls another file's kernel would be
served stale code when only that other file changed. Here the stamp is a hash of all of these files
and of the numbers in ``tolerances.py``. Where the cache cannot be written, kernels compile once per
process.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from feaslearn import tolerances

PACKAGE = Path(__file__).resolve().parents[1]

Function = TypeVar("Function", bound=Callable[..., Any])


def sources() -> list[Path]:
    """Return the files that kernels are compiled from."""
    return sorted([*PACKAGE.glob("kernels/*.py"), *PACKAGE.rglob("*_kernels.py")])


@cache
def sources_hash() -> str:
    """Return a hash of all kernel sources: any change recompiles all of them."""
    numbers = {name: value for name, value in vars(tolerances).items() if name.isupper()}
    digest = hashlib.sha256(repr(sorted(numbers.items())).encode())
    for path in (Path(__file__), *sources()):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _FolderLocator(_CacheLocator):
    """Keeps compiled kernels in ``solvers/__pycache__``, stamped by the hash of all sources."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(PACKAGE / "solvers" / "__pycache__")

    def get_source_stamp(self) -> str:
        return sources_hash()

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _FolderLocator | None:
        locator = cls(py_func)
        try:
            locator.ensure_cache_path()  # type: ignore[no-untyped-call]
        except OSError:
            return None
        return locator


class _FolderCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_FolderLocator]  # type: ignore[list-item] # noqa: RUF012


class _FolderCache(FunctionCache):
    _impl_class = _FolderCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code or None; an index that names types of an older version is emptied.

        Numba unpickles an index before it compares the stamps.
        """
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError, pickle.UnpicklingError):
            self.flush()  # type: ignore[no-untyped-call]
            return None


def kernel(function: Function) -> Function:
    """Compile ``function`` to machine code that releases the GIL, cached on disk."""
    return _compiled(function)


def inner_kernel(function: Function) -> Function:
    """Compile a function that only kernels call: what Python would need to call it is left out.

    That is a good part of the time to compile, most of all for functions of many arrays.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined(function: Function) -> Function:
    """Write a function into the kernels that call it, so that it is never compiled alone.

    For the steps of one or two kernels: each is compiled once with its kernel, and not before.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")


def summing_kernel(function: Function) -> Function:
    """Compile an inner kernel whose sums may be added up in another order.

    The processor then adds several terms at a time. The order is that of the machine code, so the
    result is the same each time.
    """
    order = {"reassoc", "contract"}
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=order)


def _compiled(function: Function, **options: bool | str | set[str]) -> Function:
    njit: Any = numba.njit
    compiled = njit(nogil=True, error_model="numpy", **options)(function)
    if hasattr(compiled, "_cache"):
        # Without a writable place for the cache, kernels compile in every process instead.
        with contextlib.suppress(RuntimeError):
            compiled._cache = _FolderCache(compiled.py_func)  # type: ignore[no-untyped-call] # noqa: SLF001
    return cast(Function, compiled)
