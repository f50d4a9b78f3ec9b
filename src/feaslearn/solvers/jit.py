"""Compilation of kernels, with Numba's cache on disk.

Kernels live in files ``kernels.py`` and ``*_kernels.py``, nowhere else. Numba decides by the time
stamp of the file a function stands in whether its machine code is stale, so a kernel calls kernels
of its own file alone and takes tolerances as arguments or from its own file; `make check` holds it.
Where no cache can be written, kernels compile once per process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile ``function`` to machine code that releases the GIL, cached on disk."""
    return _compiled(function)


def inner_kernel(function: Function) -> Function:
    """Compile a function that only kernels call: what Python would need to call it is left out.

    That is a good part of the time to compile, most of all for functions of many arrays.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def bare_kernel(function: Function) -> Function:
    """Compile an inner kernel that makes no array: references to those it has are not counted.

    Its callers hold them. A tenth of the time to compile a kernel that is made of such ones.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def inlined(function: Function) -> Function:
    """Write a function into the kernels that call it, so that it is never compiled alone.

    For the steps of one or two kernels: each is compiled once with its kernel, and not before.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")


def _compiled(function: Function, **options: bool | str) -> Function:
    njit: Any = numba.njit
    compiled = njit(nogil=True, error_model="numpy", **options)(function)
    try:
        compiled.enable_caching()
    except RuntimeError:  # no folder can be written
        pass
    except AttributeError:  # NUMBA_DISABLE_JIT gives the function back
        return function
    return cast(Function, compiled)
