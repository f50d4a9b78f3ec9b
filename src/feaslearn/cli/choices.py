"""What words on the command line stand for: losses, features, trainers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from feaslearn import trainers
from feaslearn.exceptions import DataError
from feaslearn.features import SPECIFICATIONS
from feaslearn.losses import Loss
from feaslearn.messages import did_you_mean
from feaslearn.regressor.parameters import LOSSES
from feaslearn.trainers import Trainer

#: Transformers by name, made of one number.
TRANSFORMERS: dict[str, Callable[[int], Any]] = {
    "poly": lambda degree: PolynomialFeatures(degree, include_bias=False),
    "spline": lambda knots: SplineTransformer(knots, include_bias=False),
}


def parse_loss(text: str) -> Loss:
    """Return the loss of ``predictability``, ``suboptimality:l1`` and the like."""
    name, _, norm = text.partition(":")
    if name not in LOSSES:
        raise DataError(f"--loss: {name!r} is not known; {did_you_mean(name, list(LOSSES))}")
    kind: Any = LOSSES[name]
    loss: Loss = kind(norm) if norm else kind()
    loss.norm_code()
    return loss


def parse_features(text: str) -> Any:
    """Return the features of ``non-cost``, ``all``, ``scale``, ``poly:2`` or ``spline:5``."""
    name, *numbers = text.split(":")
    if name in SPECIFICATIONS and not numbers:
        return name
    if name == "scale" and not numbers:
        return StandardScaler()
    if name not in TRANSFORMERS:
        known = [*SPECIFICATIONS, "scale", *TRANSFORMERS]
        raise DataError(f"--features: {text!r} is not known; {did_you_mean(name, known)}")
    (number,) = whole_numbers("--features", text, numbers, 1)
    return TRANSFORMERS[name](number)


def parse_trainer(text: str) -> Trainer | str:
    """Return the trainer of ``auto`` or ``gradient-descent``: the names of the classes."""
    kinds = {_dashed(name): getattr(trainers, name) for name in trainers.__all__}
    made: dict[str, Trainer] = {}
    for name, kind in kinds.items():
        if isinstance(kind, type) and issubclass(kind, Trainer):
            try:
                made[name] = kind()
            except TypeError:  # abstract, or with parameters that have no default
                continue
    if text == "auto":
        return text
    if text not in made:
        raise DataError(
            f"--trainer: {text!r} is not known; {did_you_mean(text, ['auto', *sorted(made)])}"
        )
    return made[text]


def with_limits(
    trainer: Trainer | str, max_seconds: float | None, checkpoint: Path | None
) -> Trainer | str:
    """Return the trainer with a limit on its time, and the file of its checkpoint."""
    if max_seconds is None and checkpoint is None:
        return trainer
    limited = trainers.Auto() if isinstance(trainer, str) else trainer
    if max_seconds is not None:
        limited.set_params(max_seconds=max_seconds)
    if checkpoint is not None:
        limited.set_params(checkpoint=str(checkpoint))
    return limited


def whole_numbers(option: str, text: str, parts: list[str], *counts: int) -> list[int]:
    """Read the numbers after a name; ``counts`` says how many there may be."""
    if len(parts) not in counts or not all(map(_is_whole, parts)):
        many = " or ".join(map(str, counts))
        raise DataError(f"{option}: {text!r} needs {many} whole number(s) after its name")
    return [int(part) for part in parts]


def _is_whole(part: str) -> bool:
    """Say whether a text is a whole number; Python refuses to read one of thousands of digits."""
    return part.isascii() and part.isdigit() and len(part) < 10


def _dashed(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
