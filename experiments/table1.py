"""Table 1 of the paper: Algorithms 1 and 2 on noiseless decisions in an l1 ball, and its box plot.

``min { c'x : |x - e|_1 <= 1 }``, n = 5 decisions, c uniform on [0, 1]^5, 100 samples to learn from
and 500 to test on, ten seeds. The class is the affine image of a simplex with p = 5 or 6 vertices;
zero loss is possible. All signals enter the cost, so with the default features the map is constant.
Costs are divided by their length in the suboptimality loss (the default; the paper's are not) and
inside the smoothed predictability; both algorithms begin at one start around the linear policy.
A sixth column is free where no training row sees it, so with p = 6 the test loss need not be zero.

The last line is another set: an ellipsoid, learned as the affine image of an L2 ball.

``python experiments/table1.py`` prints the table in about a minute; ``--quick`` takes three seeds.
With matplotlib installed, the box plot goes to ``table1.png``, or where ``--plot`` says.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.trainers import AdaptiveSmoothing, GradientDescent

Array = NDArray[np.float64]

N_TRAIN, N_TEST, DECISIONS = 100, 500, 5
RECOVERED = 1e-5
LOSSES = {"predictability": fl.Predictability(), "suboptimality": fl.Suboptimality()}
ALGORITHMS: dict[str, type[Any]] = {"1": GradientDescent, "2": AdaptiveSmoothing}
#: What the paper's table says of the training loss with p = 5.
PAPER = {
    ("1", "predictability"): "1.90 +- 0.36",
    ("2", "predictability"): "(2.5 +- 7.2)e-4",
    ("1", "suboptimality"): "0.03 +- 0.05",
    ("2", "suboptimality"): "(8.6 +- 2.1)e-4",
}


class Row(NamedTuple):
    """One line of the table: losses of all seeds."""

    algorithm: str
    loss: str
    p: int
    train: Array
    test: Array
    seconds: Array


def run(seeds: Iterable[int], columns: Iterable[int] = (5, 6)) -> Iterator[Row]:
    """Yield the lines of the table, one by one.

    Parameters
    ----------
    seeds : iterable of int
        The seeds, one data set and one start each.
    columns : iterable of int, default=(5, 6)
        Numbers of vertices p.

    Yields
    ------
    Row
        Mean losses on the training and on the test rows of each seed.
    """
    seeds = list(seeds)
    for p in columns:
        for loss in LOSSES:
            for algorithm in ALGORITHMS:
                found = np.array([_fit(algorithm, loss, p, seed) for seed in seeds])
                yield Row(algorithm, loss, p, *found.T)


def _fit(algorithm: str, loss: str, p: int, seed: int) -> tuple[float, float, float]:
    data = fl.datasets.make_l1_ball(N_TRAIN + N_TEST, n=DECISIONS, random_state=seed)
    return _measure(data, fl.Simplex(p), loss, ALGORITHMS[algorithm](n_starts=1), seed)


def _measure(
    data: fl.Decisions, primitive: Any, loss: str, trainer: Any, seed: int
) -> tuple[float, float, float]:
    train, test = data[:N_TRAIN], data[N_TRAIN:]
    model = fl.RegionRegressor(
        fl.Affine(primitive), cost=data.cost, loss=LOSSES[loss], trainer=trainer, random_state=seed
    ).fit(train.signals, train.decisions)
    losses = model.sample_losses(LOSSES[loss], test.signals, test.decisions)
    return model.result_.objective, float(losses.mean()), model.result_.seconds


def ellipsoid(seeds: Iterable[int], loss: str) -> Row:
    """Return the losses of Algorithm 2 on noiseless decisions in an ellipsoid, two decisions."""
    found = [
        _measure(
            fl.datasets.make_ellipsoid(N_TRAIN + N_TEST, n=2, random_state=seed),
            fl.L2Ball(2),
            loss,
            AdaptiveSmoothing(),
            seed,
        )
        for seed in seeds
    ]
    return Row("2", loss, 2, *np.array(found).T)


def _line(row: Row, label: str, paper: str = "") -> str:
    recovered = (int((values <= RECOVERED).sum()) for values in (row.train, row.test))
    train, test = (f"{count} of {len(row.train)}" for count in recovered)
    return (
        f"{label:<30} {row.train.mean():>9.2e} +- {row.train.std():<8.1e} {train:>9} "
        f"{row.test.mean():>9.2e} +- {row.test.std():<8.1e} {test:>9} "
        f"{np.median(row.seconds):>6.2f}  {paper}"
    )


def plot(rows: list[Row], path: str) -> bool:
    """Write the box plot of the training losses with p = 5; say whether matplotlib was there."""
    try:
        import matplotlib as mpl
    except ImportError:
        return False
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    shown = [row for row in rows if row.p == DECISIONS]
    figure, axes = plt.subplots(figsize=(7.0, 4.0))
    axes.boxplot(
        [np.maximum(row.train, 1e-20) for row in shown],
        tick_labels=[f"{row.loss}\nAlgorithm {row.algorithm}" for row in shown],
    )
    axes.set_yscale("log")
    axes.set_ylabel("training loss")
    axes.set_title(f"l1 ball, n = p = {DECISIONS}, {N_TRAIN} samples, {len(shown[0].train)} seeds")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return True


def main() -> None:
    """Print the table and draw the box plot."""
    parser = argparse.ArgumentParser(description="Table 1: Algorithms 1 and 2, l1 ball")
    parser.add_argument("--quick", action="store_true", help="three seeds instead of ten")
    parser.add_argument("--plot", default="table1.png", help="where the box plot goes")
    options = parser.parse_args()
    seeds = range(3 if options.quick else 10)
    print(
        f"{'':<30} {'train':>9} +- {'std':<8} {'<= 1e-5':>9} {'test':>9} +- {'std':<8} "
        f"{'<= 1e-5':>9} {'s':>6}  paper (train, p = 5)"
    )
    rows = []
    for row in run(seeds):
        rows.append(row)
        paper = PAPER[row.algorithm, row.loss] if row.p == DECISIONS else ""
        print(_line(row, f"p={row.p} Algorithm {row.algorithm} {row.loss}", paper), flush=True)
    for loss in LOSSES:
        print(_line(ellipsoid(seeds, loss), f"ellipsoid, L2 ball, {loss}"), flush=True)
    written = plot(rows, options.plot)
    print(f"box plot: {options.plot if written else 'needs matplotlib'}")


if __name__ == "__main__":
    main()
