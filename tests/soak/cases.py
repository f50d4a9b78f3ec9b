"""Fits of every kind that take a second or a few: what is killed, and what must keep its time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import feaslearn as fl

Fit = Callable[[Any], np.ndarray]


def _fit(data: Any, hypothesis: Any, trainer: Any, **options: Any) -> np.ndarray:
    model = fl.RegionRegressor(
        hypothesis, cost=data.cost, trainer=trainer, **({"random_state": 5} | options)
    )
    return model.fit(data.signals, data.decisions).theta_


def _power(count: int = 100, noise: float = 0.02) -> Any:
    return fl.datasets.make_power5(count, noise=noise, random_state=1)


def _ball(count: int = 40) -> Any:
    return fl.datasets.make_l1_ball(count, n=3, noise=0.1, random_state=1)


def gradient_descent(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.GradientDescent(n_starts=4, max_iter=60, checkpoint=checkpoint)
    return _fit(_power(), fl.Affine(fl.Simplex(6)), trainer)


def gradient_descent_on_threads(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.GradientDescent(n_starts=4, max_iter=60, checkpoint=checkpoint)
    return _fit(_power(), fl.Affine(fl.Simplex(6)), trainer, n_jobs=2)


def adaptive_smoothing(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.AdaptiveSmoothing(n_starts=2, max_iter=100, checkpoint=checkpoint)
    return _fit(_power(), fl.Affine(fl.Simplex(4)), trainer)


def annealing(checkpoint: Any) -> np.ndarray:
    return _fit(_power(), fl.Affine(fl.Simplex(6)), fl.trainers.Annealing(checkpoint=checkpoint))


def annealing_by_suboptimality(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.Annealing(n_starts=2, checkpoint=checkpoint)
    return _fit(_power(), fl.Affine(fl.Box(3)), trainer, loss="suboptimality")


def annealing_of_many_samples(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.Annealing(40, n_starts=1, ridge=0.1, checkpoint=checkpoint)
    return _fit(_ball(21_000), fl.Affine(fl.L1Ball(3)), trainer)


def open_number_of_columns(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.Annealing(n_starts=1, max_iter=50, checkpoint=checkpoint)
    return _fit(_power(60), fl.Affine(fl.Simplex("auto")), trainer)


def facets(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.FacetLearning(checkpoint=checkpoint)
    return _fit(_power(noise=0.0), fl.Facets(), trainer)


def facets_under_noise(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.FacetLearning(checkpoint=checkpoint)
    return _fit(_ball(60), fl.Facets(), trainer)


def blend(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.Blending(checkpoint=checkpoint)
    members = [fl.Facets(), fl.Facets(), fl.Minkowski("auto", scale="constant")]
    return _fit(_power(60), fl.Blend(members), trainer)


def chosen_hypothesis(checkpoint: Any) -> np.ndarray:
    return _fit(_power(60), None, fl.trainers.Auto(checkpoint=checkpoint))


def known_constraints(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.Annealing(n_starts=1, max_iter=50, checkpoint=checkpoint)
    return _fit(
        _power(60, 0.0), fl.Affine(fl.Simplex(4)), trainer, known=fl.Known(bounds=(0.0, 3.5))
    )


def branch_and_bound(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.MixedInteger(max_iter=60, n_starts=3, checkpoint=checkpoint)
    return _fit(_ball(25), fl.Affine(fl.Simplex(3, binary=True)), trainer)


def ternary_map(checkpoint: Any) -> np.ndarray:
    trainer = fl.trainers.MixedInteger(n_starts=3, checkpoint=checkpoint)
    return _fit(_ball(15), fl.Ternary(fl.Box(3)), trainer)


def _parquet(count: int) -> Any:
    """Return chunks of a file that every process finds, made once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(tempfile.gettempdir()) / f"feaslearn-soak-{os.getuid()}-{count}.parquet"
    data = _ball(4)
    names = [f"s{j}" for j in range(data.signals.shape[1])]
    names += [f"x{j}" for j in range(data.decisions.shape[1])]
    if not path.exists():
        data = _ball(count)
        columns = np.hstack([data.signals, data.decisions]).T
        table = pa.table(dict(zip(names, columns, strict=True)))
        part = path.with_suffix(f".{os.getpid()}")
        pq.write_table(table, part, row_group_size=20_000)
        part.rename(path)
    chunks = fl.Chunks(str(path), signals=["s*"], decisions=["x*"], memory="20MB")
    return chunks, [f"s{j}" for j in range(data.decisions.shape[1])]


def moments_from_disk(checkpoint: Any) -> np.ndarray:
    chunks, cost = _parquet(400_000)
    hypothesis, trainer = fl.Minkowski("auto"), fl.trainers.Convex(checkpoint=checkpoint)
    model = fl.RegionRegressor(hypothesis, cost=cost, trainer=trainer, random_state=5)
    return model.fit(chunks).theta_


def annealing_from_disk(checkpoint: Any) -> np.ndarray:
    chunks, cost = _parquet(60_000)
    trainer = fl.trainers.Annealing(20, n_starts=1, ridge=0.1, checkpoint=checkpoint)
    model = fl.RegionRegressor(fl.Affine(fl.L1Ball(3)), cost=cost, trainer=trainer, random_state=5)
    return model.fit(chunks).theta_


CASES: dict[str, Fit] = {
    fit.__name__.replace("_", " "): fit
    for fit in (
        gradient_descent,
        gradient_descent_on_threads,
        adaptive_smoothing,
        annealing,
        annealing_by_suboptimality,
        annealing_of_many_samples,
        open_number_of_columns,
        facets,
        facets_under_noise,
        blend,
        chosen_hypothesis,
        known_constraints,
        branch_and_bound,
        ternary_map,
        moments_from_disk,
        annealing_from_disk,
    )
}
