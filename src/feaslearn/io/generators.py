"""Random generators in a model file: a parameter may be one, with a state of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.exceptions import ModelFileError

#: Words of the state of MT19937.
WORDS = 624


def encode_generator(value: object) -> dict[str, Any] | None:
    """Return the state of ``default_rng(...)`` or ``RandomState(...)``, None for anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.io.generators import encode_generator
    >>> encode_generator(np.random.default_rng(0))["kind"]
    'PCG64'
    """
    if isinstance(value, np.random.Generator) and type(value.bit_generator) is np.random.PCG64:
        pcg: Any = value.bit_generator.state
        parts = [pcg["state"]["state"], pcg["state"]["inc"], pcg["has_uint32"], pcg["uinteger"]]
        return {"$": "generator", "kind": "PCG64", "state": [int(part) for part in parts]}
    if isinstance(value, np.random.RandomState):
        legacy: Any = value.get_state(legacy=False)
        if legacy["bit_generator"] != "MT19937":
            return None
        words, position = legacy["state"]["key"].tolist(), int(legacy["state"]["pos"])
        state = [*words, position, int(legacy["has_gauss"]), float(legacy["gauss"])]
        return {"$": "generator", "kind": "RandomState", "state": state}
    return None


def decode_generator(
    kind: object, state: Any, where: str
) -> np.random.Generator | np.random.RandomState:
    """Return the generator; every number is checked, for NumPy would read beyond its memory."""
    if kind == "PCG64" and _are_whole(state, [2**128, 2**128, 2, 2**32]):
        bits = np.random.PCG64(0)
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": state[0], "inc": state[1]},
            "has_uint32": state[2],
            "uinteger": state[3],
        }
        return np.random.Generator(bits)
    if kind == "RandomState" and isinstance(state, list) and len(state) == WORDS + 3:
        *words, position, has_gauss, gauss = state
        whole = _are_whole(state[:-1], [*[2**32] * WORDS, WORDS + 1, 2])
        if whole and isinstance(gauss, float):
            legacy = np.random.RandomState(0)
            key = np.array(words, dtype=np.uint32)
            legacy.set_state(("MT19937", key, position, has_gauss, gauss))
            return legacy
    raise ModelFileError(f"{where}: not the state of a random generator")


def _are_whole(values: object, limits: list[int]) -> bool:
    return (
        isinstance(values, list)
        and len(values) == len(limits)
        and all(
            type(value) is int and 0 <= value < limit
            for value, limit in zip(values, limits, strict=True)
        )
    )
