"""Run the experiments of a checkout."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from feaslearn.cli.checkout import checkout


def run(
    names: Sequence[str],
    *,
    seeds: str | None = None,
    quick: bool = False,
    solver_seconds: float | None = None,
    at_most: float | None = None,
    output: Path | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    again: bool = False,
    no_run: bool = False,
) -> int:
    """Run ``python -m experiments`` at the top of the checkout.

    Parameters
    ----------
    names : sequence of str
        Experiments; empty means all.
    seeds : str, optional
        Such as ``0-9``.
    quick : bool
        Small sizes and one seed.
    solver_seconds : float, optional
        Time limit of each run of a solver.
    at_most : float, optional
        Leave out cells that take longer than so many seconds.
    output : Path, optional
        Where the results go.
    jobs : int, optional
        Cells at a time.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers run the cells.
    again : bool
        Run finished cells once more.
    no_run : bool
        Only write tables and the page from the cells that are finished.

    Returns
    -------
    int
        The exit code: 0 if all went well, 1 if a cell failed, 2 for wrong arguments.
    """
    arguments = [*(names or ["all"])]
    # The experiments run at the top of the checkout, where a relative path would mean another one.
    where = None if output is None else output.resolve()
    valued = {
        "--seeds": seeds,
        "--solver-seconds": solver_seconds,
        "--at-most": at_most,
        "--output": where,
        "--jobs": jobs,
        "--scheduler": scheduler,
    }
    for option, value in valued.items():
        if value is not None:
            arguments += [option, str(value)]
    switches = {"--quick": quick, "--again": again, "--no-run": no_run}
    arguments += [option for option, wanted in switches.items() if wanted]
    command = [sys.executable, "-m", "experiments", *arguments]
    with subprocess.Popen(command, cwd=checkout("experiments")) as process:
        while True:
            # An interrupt reaches both: the experiments write what is finished, then they end.
            with suppress(KeyboardInterrupt):
                return process.wait()
