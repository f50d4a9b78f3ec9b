"""Write what this version answers: ``python tests/net/record.py``, at the version to compare with.

Model files are written only where there is none yet: those of earlier versions load for ever, also
of what can not be fitted any more (`FILES`).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import feaslearn as fl
from net import measure
from net.cases import FILES, GROUPS, HERE, MODELS, SEEDS, path_of, table
from net.commands import COMMANDS, run_all
from net.errors import ERRORS


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
            _keep(name, model, case.table, arrays)
            sys.stdout.write(f"{time.perf_counter() - begun:7.2f} s  {group}: {name}\n")
    for name, data in FILES.items():
        _keep(name, None, data, arrays)
    told["errors"] = {name: measure.error(act) for name, act in ERRORS.items()}
    told["api"] = measure.api()
    told["members"] = measure.members()
    told["options"] = measure.options()
    told["commands"] = run_all(COMMANDS)
    (HERE / "recorded.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    np.savez_compressed(HERE / "recorded.npz", **arrays)


def _keep(name: str, fitted: fl.RegionRegressor | None, data: str, arrays: dict[str, Any]) -> None:
    if fitted is not None and not path_of(name).exists():
        fl.save(fitted, path_of(name))
    model = fl.load(path_of(name))
    found = {**measure.decisions(model, table(data)), **measure.region_at(model, table(data))}
    arrays.update({f"{name}/{what}": values for what, values in found.items()})


def _commit() -> str:
    asked = ["git", "-C", str(HERE), "rev-parse", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
