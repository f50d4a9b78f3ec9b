"""Write what this version answers: ``python tests/net/record.py``, at the version to compare with.

Model files are written only where there is none yet: those of earlier versions load for ever.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import feaslearn as fl
from feaslearn import trainers
from net import measure
from net.cases import FILES, GROUPS, HERE, MODELS, SEEDS, SUMS, Case, path_of, table
from net.commands import COMMANDS, run_all
from net.errors import ERRORS


def _streamed() -> fl.RegionRegressor:
    """Return a model that went on learning, with a test of drift."""
    data = table("noisy")
    model = Case("noisy", SUMS["hypersimplices"], {"trainer": trainers.Streaming()}).model()
    model.partial_fit(data.signals[:60], data.decisions[:60])
    return model.partial_fit(data.signals[60:], data.decisions[60:])


def _streamed_affine() -> fl.RegionRegressor:
    data = table("noisy")
    first = trainers.Annealing(n_starts=1, ridge=0.1, ridge_floor=1.0, max_iter=5)
    model = Case(
        "noisy", lambda: fl.Affine(fl.Simplex(3)), {"trainer": trainers.Streaming(first=first)}
    ).model()
    model.partial_fit(data.signals[:60], data.decisions[:60])
    return model.partial_fit(data.signals[60:], data.decisions[60:])


def _blend() -> fl.RegionRegressor:
    members = [fl.Facets(), fl.Minkowski("auto"), fl.Affine(fl.Simplex(1))]
    return Case("noisy", lambda: fl.Blend(members)).fit()


def _named() -> fl.RegionRegressor:
    """Return a model whose signals and decisions have names, one decision of text."""
    import pandas as pd

    data = table("noisy")
    X = pd.DataFrame(data.signals, columns=[f"signal {j}" for j in range(data.signals.shape[1])])
    y = pd.DataFrame(data.decisions, columns=["coal", "gas", "wind"])
    return fl.RegionRegressor(fl.Facets(), cost=list(X.columns[:3]), random_state=0).fit(X, y)


def _grown(*arguments: Any, **options: Any) -> fl.RegionRegressor:
    return Case("noisy", lambda: fl.GrownMinkowski(*arguments, max_terms=4, **options)).fit()


MAKERS: dict[str, Callable[[], fl.RegionRegressor]] = {
    "stream": _streamed,
    "stream affine": _streamed_affine,
    "blend": _blend,
    "named": _named,
    "generator": lambda: Case("switch", lambda: fl.Scaled(fl.Simplex(2))).fit(
        random_state=np.random.default_rng(3)
    ),
    "grown simplices": lambda: _grown("simplices"),
    "grown segments": lambda: _grown("segments", scale="tents"),
    "grown box scale": lambda: _grown("simplices", scale="box"),
    "facet options": lambda: Case(
        "noisy",
        lambda: fl.Facets(max_facets=3),
        {"trainer": trainers.FacetLearning(n_starts=1, held_out=0.3, support=3, tries=2)},
    ).fit(),
}


def main() -> None:
    """Fit every case and write `recorded.json`, `recorded.npz` and the model files."""
    MODELS.mkdir(exist_ok=True)
    told: dict[str, Any] = {"feaslearn": fl.__version__, "commit": _commit()}
    arrays: dict[str, Any] = {}
    for group, cases in GROUPS.items():
        told[group] = {}
        for name, case in cases.items():
            begun = time.perf_counter()
            model = case.fit()
            told[group][name] = measure.result(model)
            if group == "quality":
                told[group][name] |= measure.quality(model, table(case.table))
            if group in SEEDS:
                told[group][name]["losses"] = [
                    case.fit(random_state=seed).result_.objective for seed in SEEDS[group]
                ]
            _keep(name, lambda model=model: model, case.table, arrays)
            sys.stdout.write(f"{time.perf_counter() - begun:7.2f} s  {group}: {name}\n")
    for name, data in FILES.items():
        _keep(name, MAKERS.get(name), data, arrays)
    told["errors"] = {name: measure.error(act) for name, act in ERRORS.items()}
    told["api"] = measure.api()
    told["members"] = measure.members()
    told["options"] = measure.options()
    told["commands"] = run_all(COMMANDS)
    (HERE / "recorded.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    np.savez_compressed(HERE / "recorded.npz", **arrays)


def _keep(
    name: str,
    make: Callable[[], fl.RegionRegressor] | None,
    data: str,
    arrays: dict[str, Any],
) -> None:
    if make is not None and not path_of(name).exists():
        fl.save(make(), path_of(name))
    model = fl.load(path_of(name))
    found = {**measure.decisions(model, table(data)), **measure.region_at(model, table(data))}
    arrays.update({f"{name}/{what}": values for what, values in found.items()})


def _commit() -> str:
    asked = ["git", "-C", str(HERE), "rev-parse", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
