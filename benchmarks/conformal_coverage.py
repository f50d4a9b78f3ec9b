"""Do conformal bands of 90 % hold the next decision, all of a row together?

Five data sets, two of them with noise and one with time order; each repetition fits a model, makes
bands from rows held out ("split"), from the last of these ("time") or from the rows of the fit
alone ("cross"), and counts the rows of new decisions that lie in them. Beside it, bands for each
output of gradient boosting at a level that makes them hold together (Bonferroni), as packages for
single outputs give them. Claims for split and cross bands: at least 88 % on all but the set in
time, at most 93 % on those with noise.

    python benchmarks/conformal_coverage.py [--repetitions R]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.hypotheses import Hypothesis
from feaslearn.inference.regressors import boosting, fit_and_predict

Array = NDArray[np.float64]
FIT, CALIBRATE, NEW, LEVEL = 150, 100, 300, 0.9


class Case(NamedTuple):
    """A data set, and what is fitted to it."""

    make: Callable[[int, int], fl.Decisions]
    hypothesis: Hypothesis
    least: float = 0.88
    most: float = 1.0


def drifting(count: int, seed: int) -> fl.Decisions:
    """Return decisions whose noise grows with time: rows are not exchangeable."""
    data = fl.datasets.make_power5(count, random_state=seed)
    random = np.random.default_rng(seed)
    grows = np.linspace(0.05, 0.2, count)[:, None]
    noisy = data.decisions + grows * random.normal(size=data.decisions.shape)
    return fl.Decisions.from_arrays(data.signals, noisy, data.cost)


CASES = {
    "power5, noise": Case(
        lambda count, seed: fl.datasets.make_power5(count, noise=0.2, random_state=seed),
        fl.Minkowski.hypersimplices(3),
        most=0.93,
    ),
    "l1 ball, noise": Case(
        lambda count, seed: fl.datasets.make_l1_ball(count, n=3, noise=0.2, random_state=seed),
        fl.Minkowski([fl.Term(fl.L1Ball(3))], scale="constant"),
        most=0.93,
    ),
    "power5": Case(
        lambda count, seed: fl.datasets.make_power5(count, random_state=seed),
        fl.Minkowski.hypersimplices(3),
    ),
    "power5, noise that grows": Case(drifting, fl.Minkowski.hypersimplices(3), least=0.0),
}


def measure(case: Case, seed: int) -> list[float]:
    """Return coverage and mean width of split, cross, time and boosting bands."""
    data = case.make(FIT + CALIBRATE + NEW, seed)
    X, y = data.signals, data.decisions
    last = FIT + CALIBRATE
    model = fl.RegionRegressor(case.hypothesis, cost=data.cost, random_state=0)
    model.fit(X[:FIT], y[:FIT])
    found = []
    for method in ("split", "cross", "time"):
        part = slice(FIT) if method == "cross" else slice(FIT, last)
        model.conformalize(X[part], y[part], confidence_level=LEVEL, method=method)
        bands = model.predict_interval(X[last:])
        found += [bands.contains(y[last:]).all(axis=1).mean(), bands.width.mean()]
    return [*found, *_boosting(X, y)]


def _boosting(X: Array, y: Array) -> tuple[float, float]:
    """Return coverage and mean width of bands for each output of gradient boosting."""
    errors = np.abs(y[FIT:] - fit_and_predict(boosting, X[:FIT], y[:FIT], X[FIT:]))
    level = 1.0 - (1.0 - LEVEL) / y.shape[1]
    rank = min(CALIBRATE, int(np.ceil(level * (CALIBRATE + 1))))
    half = np.sort(errors[:CALIBRATE], axis=0)[rank - 1]
    near = errors[CALIBRATE:] <= half
    return float(near.all(axis=1).mean()), float(2.0 * half.mean())


def main() -> int:
    """Print mean coverage and width; the exit code says whether the claims hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=50)
    repetitions = parser.parse_args().repetitions
    warnings.simplefilter("ignore")
    print(f"bands of {100 * LEVEL:.0f} %, {repetitions} repetitions: coverage %, mean width")
    print(f"{'':26}{'split':>15}{'cross':>15}{'time':>15}{'boosting':>15}")
    missed = []
    for name, case in CASES.items():
        found = np.mean([measure(case, seed) for seed in range(repetitions)], axis=0).reshape(-1, 2)
        cells = [f"{100 * a:.1f} {b:8.3g}" for a, b in found]
        print(f"{name:26}" + "".join(f"{cell:>15}" for cell in cells), flush=True)
        if not ((found[:2, 0] >= case.least) & (found[:2, 0] <= case.most)).all():
            missed.append(name)
    print(f"outside of 88 to 100 %, with noise 93 %: {', '.join(missed) or 'none'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
