"""Give fits that are drawn at random a time limit, and count those that do not keep it.

    python tests/soak/drawn_limits.py --fits 100 --seed 0 --seconds 3

A fit is a number of decisions, signals and samples, a hypothesis, a loss, a trainer and what is
known. Each is fitted to a few samples first, so that kernels are compiled; what is refused there
is drawn again. A limit is kept if the fit takes at most a tenth more and two seconds, of the clock
or, where others use the machine, of the processor. Exit code 1 if one is not kept.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn import trainers
from feaslearn.exceptions import FeaslearnError

Array = NDArray[np.float64]

#: Samples of the first fit, numbers that are not drawn beyond, and seconds of the first fit.
FEW, MOST, FIRST = 40, 2_000_000, 8.0
ROOM = fl.Polytope(
    np.vstack([np.eye(3), -np.eye(3), -np.ones((1, 3))]), [0.0, 0.0, 0.0, -1.0, -1.0, -1.0, -2.0]
)
#: Hypotheses by the number of decisions.
HYPOTHESES: dict[str, Callable[[int], Any]] = {
    "box": lambda n: fl.Affine(fl.Box(min(n, 6))),
    "simplex": lambda n: fl.Affine(fl.Simplex(min(3 * n, 12))),
    "open number of columns": lambda n: fl.Affine(fl.Simplex("auto")),
    "cross": lambda n: fl.Affine(fl.L1Ball(min(n, 8))),
    "ball": lambda n: fl.Affine(fl.L2Ball(min(n, 8))),
    "hypersimplex": lambda n: fl.Affine(fl.Hypersimplex(6, 2)),
    "polytope": lambda n: fl.Affine(ROOM),
    "binary": lambda n: fl.Affine(fl.Simplex(4, binary=True)),
    "linear policy": lambda n: fl.Affine(fl.Simplex(1)),
    "scaled": lambda n: fl.Scaled(fl.Simplex(n)),
    "sum": lambda n: fl.Minkowski("auto"),
    "pairs": fl.Minkowski.pairs,
    "constant pairs": lambda n: fl.Minkowski.pairs(n, scale="constant"),
    "tents": lambda n: fl.Minkowski.hypersimplices(n, scale="tents"),
    "grown": lambda n: fl.GrownMinkowski(),
    "facets": lambda n: fl.Facets(),
    "blend": lambda n: fl.Blend([fl.Facets(), fl.Minkowski("auto")]),
    "chosen": lambda n: None,
}
LOSSES: dict[str, Any] = {
    "predictability": "predictability",
    "suboptimality": "suboptimality",
    "l1": fl.Predictability(norm="l1", squared=False),
    "linf": fl.Predictability(norm="linf", squared=False),
    "lengths": fl.Predictability(squared=False),
}
TRAINERS = (
    *[trainers.Auto] * 6,
    trainers.GradientDescent,
    trainers.AdaptiveSmoothing,
    trainers.Annealing,
    trainers.Convex,
    trainers.MixedInteger,
    trainers.FacetLearning,
)
KNOWN = (False, False, False, True, True)


class Drawn(NamedTuple):
    """One fit."""

    n: int
    n_signals: int
    n_samples: int
    hypothesis: str
    loss: str
    trainer: Any
    known: bool

    def model(self, limit: float) -> fl.RegionRegressor:
        """Return the model with a time limit."""
        known: dict[str, Any] = {}
        if self.known:
            known["known"] = fl.Known(bounds=(-1.0, 4.0), contradictions="keep")
        return fl.RegionRegressor(
            HYPOTHESES[self.hypothesis](self.n),
            cost=list(range(self.n)),
            loss=LOSSES[self.loss],
            trainer=self.trainer(max_seconds=limit),
            random_state=0,
            **known,
        )

    def data(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Return demands that the cheapest of some plants meet first, with noise."""
        count, n = self.n_samples, self.n
        signals = random.uniform(0.5, 1.5, (count, n + self.n_signals))
        room = random.uniform(0.5, 1.5, n)
        left = 0.25 * room.sum() * (1.0 + signals[:, n:].mean(axis=1))
        order, decisions = np.argsort(signals[:, :n], axis=1), np.zeros((count, n))
        for j in order.T:
            filled = np.minimum(room[j], left)
            decisions[np.arange(count), j] = filled
            left = left - filled
        return signals, decisions + 0.05 * random.normal(size=decisions.shape)


def draws(random: np.random.Generator) -> Iterator[Drawn]:
    """Yield fits that are not too large to make."""
    while True:
        n, k, count = (
            int(random.choice(sizes))
            for sizes in ([2, 3, 6, 15, 30], [1, 3, 10], [60, 500, 5_000, 40_000, 150_000])
        )
        names = (str(random.choice(list(names))) for names in (HYPOTHESES, LOSSES))
        trainer, known = TRAINERS[random.integers(len(TRAINERS))], bool(random.choice(KNOWN))
        if n * count <= MOST:
            yield Drawn(n, k, count, *names, trainer, known)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    allowed, random = 1.1 * asked.seconds + 2.0, np.random.default_rng(asked.seed)
    done = late = 0
    for drawn in draws(random):
        if done == asked.fits:
            break
        signals, decisions = drawn.data(random)
        try:
            drawn.model(FIRST).fit(signals[:FEW], decisions[:FEW])
        except FeaslearnError:
            continue  # a trainer that does not serve the hypothesis, a loss that is not served
        model = drawn.model(asked.seconds)
        began, busy = time.monotonic(), time.process_time()
        try:
            ended = model.fit(signals, decisions).result_.status
        except FeaslearnError as problem:
            ended = type(problem).__name__
        took = min(time.monotonic() - began, time.process_time() - busy)
        done, late = done + 1, late + (took > allowed)
        name = f"{drawn._replace(trainer=drawn.trainer.__name__)}"
        print(f"{'late' if took > allowed else '':4} {took:5.1f} s, {ended}: {name}", flush=True)
    print(f"{done} fits with a limit of {asked.seconds:g} s, {late} took more than {allowed:g} s")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
