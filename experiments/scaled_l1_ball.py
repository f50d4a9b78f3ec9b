"""The paper's convex class on its own example: a scaled l1 ball in two dimensions.

``min c'x : |x - e|_1 <= 1`` with costs uniform on [-1, 1], test 500 decisions without noise.
Without noise both losses recover the ball, and every metric is zero. With noise (deviation 0.5 on
the training decisions) predictability finds the truth as the sample grows; suboptimality ends
elsewhere, however many samples there are: noise that leaves the ball makes it grow. Mean and
deviation over the seeds. Run ``python experiments/scaled_l1_ball.py [--quick]``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl

NOISE = 0.5
SIZES = (100, 500, 1000)
LOSSES = ("predictability", "suboptimality")


def fit(loss: str, n_samples: int, noise: float, seed: int) -> fl.RegionRegressor:
    """Return a model trained with a loss."""
    data = fl.datasets.make_l1_ball(
        n_samples, n=2, noise=noise, low=-1.0, high=1.0, random_state=seed
    )
    model = fl.RegionRegressor(fl.Scaled(fl.L1Ball(2)), cost=data.cost, loss=loss, random_state=0)
    return model.fit(data.signals, data.decisions)


def scores(model: fl.RegionRegressor, seed: int) -> list[float]:
    """Return the scale, the test losses, and the true ones of the predictions."""
    test = fl.datasets.make_l1_ball(500, n=2, low=-1.0, high=1.0, random_state=10_000 + seed)
    learned = [
        float(model.sample_losses(loss, test.signals, test.decisions).mean())
        for loss in (fl.Predictability(), fl.Suboptimality())
    ]
    guess, prices = model.predict(test.signals), test.cost_matrix
    apart = test.forward.distance_to_optimal(guess, test.signals, prices)
    outside = test.forward.distance_to_feasible(guess, test.signals)
    dearer = ((guess - test.decisions) * prices).sum(axis=1) / np.linalg.norm(prices, axis=1)
    true = [(apart**2).mean(), (outside**2 + np.maximum(dearer, 0.0) ** 2).mean()]
    return [float(model.parameters_["alpha"][0]), *learned, *map(float, true)]


def run(seeds: Sequence[int]) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Return the scores (seeds, 5) by case and training loss."""
    cases = {"noiseless, N=100": (100, 0.0)}
    cases |= {f"noisy, N={size}": (size, NOISE) for size in SIZES}
    return {
        (case, loss): np.array([scores(fit(loss, *data, seed), seed) for seed in seeds])
        for case, data in cases.items()
        for loss in LOSSES
    }


def main() -> None:
    """Print the table."""
    heads = ("scale", "pred.", "subopt.", "true pred.", "true subopt.")
    print(f"{'':<17} {'trained with':<15}" + "".join(f"{head:>20}" for head in heads))
    for (case, loss), table in run(range(2 if "--quick" in sys.argv[1:] else 10)).items():
        numbers = zip(table.mean(axis=0), table.std(axis=0), strict=True)
        print(f"{case:<17} {loss:<15}" + "".join(f"{m:>12.5f} ±{s:>6.4f}" for m, s in numbers))


if __name__ == "__main__":
    main()
