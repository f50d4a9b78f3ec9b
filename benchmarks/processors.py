"""Other processors: how much predictions change with the instructions that sums are made of.

OpenBLAS has kernels for each kind of processor, whose sums end in other digits. Claim: what is
solved to a global optimum (convex classes, integer programs that end at their proof, networks)
changes by at most 1e-6 of the largest prediction between the kernels of the two newest kinds that
this processor knows, SkylakeX and Haswell where it can. Searches on a loss with many minima may end
in another one; the table says by how much. The models and data are those of ``units.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from units import SAME, five_regions, models, solved

Array = NDArray[np.float64]

KINDS = ("SkylakeX", "Haswell", "Sandybridge", "Nehalem")
#: What a processor ends with an illegal instruction if it does not know a kind.
TRIAL = "import numpy as np; a = np.eye(200) + np.ones((200, 200)); np.linalg.svd(a @ a)"


def kernels() -> set[str]:
    """Return the kinds of kernels that this process uses."""
    return {each["architecture"] for each in threadpool_info() if "architecture" in each}


def known_kinds() -> list[str]:
    """Return the two newest kinds whose kernels run on this processor."""
    found = []
    for kind in KINDS:
        given = {**os.environ, "OPENBLAS_CORETYPE": kind}
        if subprocess.run([sys.executable, "-c", TRIAL], env=given, check=False).returncode == 0:
            found.append(kind)
    if len(found) < 2:
        raise SystemExit(f"this processor knows fewer than two of {', '.join(KINDS)}")
    return found[:2]


def predictions(kind: str, path: Path) -> list[Array]:
    """Return what every model predicts in a process with one kind of kernels."""
    subprocess.run(
        [sys.executable, __file__, str(path)],
        env={**os.environ, "OPENBLAS_CORETYPE": kind},
        check=True,
    )
    with np.load(path) as found:
        if kind not in found["kernels"]:
            raise SystemExit(f"this processor, or its BLAS, has no kernels for {kind}")
        return [found[str(i)] for i in range(len(models()))]


def compare() -> int:
    """Print the table; the exit code says whether the claim holds."""
    kinds = known_kinds()
    with tempfile.TemporaryDirectory() as folder:
        first, second = (predictions(kind, Path(folder) / f"{kind}.npz") for kind in kinds)
    print(f"| model | change, {kinds[0]} to {kinds[1]} |\n|---|---|")
    held = True
    for name, one, other in zip(models(), first, second, strict=True):
        change = float(np.abs(one - other).max() / np.abs(one).max())
        held &= change <= SAME or not solved(name) or "acets" in name
        print(f"| {name} | {change:.0e} |")
    return int(not held)


def main() -> int:
    """Compare two processes, or be one of them."""
    warnings.simplefilter("ignore")
    if len(sys.argv) == 1:
        return compare()
    case = five_regions()
    found = {str(i): predict(case) for i, predict in enumerate(models().values())}
    np.savez(sys.argv[1], kernels=sorted(kernels()), **found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
