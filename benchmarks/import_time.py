"""How long an import takes.

Claims: ``import feaslearn`` takes less than 0.4 s; touching ``RegionRegressor`` takes at most 1.2
times as long as importing the packages it cannot do without, scikit-learn's base and numba. Byte
code is on disk, as after any first import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median

REPEATS = 7
MAX_SECONDS = 0.4
MAX_RATIO = 1.2
#: Where this is set, every import compiles all sources anew.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def seconds(statement: str) -> float:
    """Return the time of a statement in a new interpreter."""
    code = (
        "from time import perf_counter; start = perf_counter(); "
        f"{statement}; print(perf_counter() - start)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=ENVIRONMENT
    )
    return float(run.stdout)


def medians(*statements: str) -> list[float]:
    """Return the median time of each statement, taken in turns so that all see the same load."""
    # The first round writes the byte code and warms the disk: it does not count.
    rounds = [[seconds(statement) for statement in statements] for _ in range(REPEATS + 1)]
    return [median(times) for times in zip(*rounds[1:], strict=True)]


def main() -> int:
    """Print the times and the ratio; the exit code says whether the claims hold."""
    package, regressor, needed = medians(
        "import feaslearn",
        "import feaslearn; feaslearn.RegionRegressor",
        "import sklearn.base, numba",
    )
    ratio = regressor / needed
    print(f"import feaslearn            {package:8.3f} s   (claim: under {MAX_SECONDS} s)")
    print(f"feaslearn.RegionRegressor   {regressor:8.3f} s")
    print(f"import sklearn.base, numba  {needed:8.3f} s")
    print(f"ratio                       {ratio:8.2f}     (claim: at most {MAX_RATIO})")
    return int(package >= MAX_SECONDS or ratio > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
