"""L-BFGS with a deadline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from feaslearn.arrays import Array
from feaslearn.runs import OutOfTime, Run


def quasi_newton(
    evaluate: Callable[[Array], tuple[float, Array]],
    start: Array,
    run: Run,
    after: Callable[[Array], object] | None = None,
    **options: Any,
) -> Any:
    """Minimise by L-BFGS-B until the deadline; ``after`` is called with the point of each step."""

    def step(xk: Array) -> None:
        if after is not None:
            after(xk)
        if run.late():
            raise StopIteration

    best: Any = OptimizeResult()
    best.update(x=start, fun=np.inf, nit=0)

    def in_time(point: Array) -> tuple[float, Array]:
        if np.isfinite(best.fun):
            run.check_time()  # in the middle of a line search, too
        value, slope = evaluate(point)
        if value < best.fun:
            best.update(x=point.copy(), fun=value, jac=slope.copy())
        return value, slope

    chosen: Any = options
    try:
        return minimize(in_time, start, jac=True, method="L-BFGS-B", callback=step, options=chosen)
    except OutOfTime:
        return best
