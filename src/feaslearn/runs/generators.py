"""Where a random generator stands, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.exceptions import CheckpointError

#: Sources of random bits that can be written down.
#: The largest positions in their buffers.
LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "uinteger": 2**32 - 1}
KINDS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def state_of(random: np.random.Generator) -> dict[str, Any]:
    """Return where a generator stands, and how many others it has spawned."""
    source: Any = random.bit_generator
    seeds = source.seed_seq
    found: dict[str, Any] = {"state": _plain(source.state)}
    if isinstance(seeds, np.random.SeedSequence):
        found["children"] = seeds.n_children_spawned
    return found


def restore_state(random: np.random.Generator, state: dict[str, Any]) -> None:
    """Bring a generator to where another one stood."""
    source: Any = random.bit_generator
    if "children" in state:
        random.spawn(max(0, state["children"] - source.seed_seq.n_children_spawned))
    source.state = _native(state["state"], source.state)


def described(random: np.random.Generator) -> dict[str, Any]:
    """Return all that a generator is made of."""
    source: Any = random.bit_generator
    seeds = source.seed_seq
    found = state_of(random) | {"kind": type(source).__name__}
    if isinstance(seeds, np.random.SeedSequence):
        entropy = seeds.entropy
        listed = entropy if isinstance(entropy, list | tuple) else [entropy]
        found["entropy"] = [str(number) for number in listed]
        found["key"] = list(seeds.spawn_key)
    return found


def rebuilt(found: dict[str, Any]) -> np.random.Generator:
    """Return the generator of a description."""
    if found.get("kind") not in KINDS:
        raise CheckpointError(f"random numbers of kind {found.get('kind')!r} are not known")
    entropy = [int(number) for number in found.get("entropy", ["0"])]
    seeds = np.random.SeedSequence(
        entropy if len(entropy) > 1 else entropy[0],
        spawn_key=tuple(found.get("key", ())),
        n_children_spawned=found.get("children", 0),
    )
    random = np.random.Generator(getattr(np.random, found["kind"])(seeds))
    restore_state(random, found)
    return random


def _plain(state: Any) -> Any:
    """Return a state with its numbers as text: they have more digits than files promise to keep."""
    if isinstance(state, dict):
        return {key: _plain(value) for key, value in state.items()}
    return str(state) if isinstance(state, int) else state


def _native(state: Any, like: Any, name: str = "") -> Any:
    """Return a state for NumPy, which reads beyond its memory where it is not like one of its own.

    ``like`` is a state of the same source.
    """
    if isinstance(like, dict) and isinstance(state, dict) and state.keys() == like.keys():
        return {key: _native(value, like[key], key) for key, value in state.items()}
    if isinstance(like, int) and isinstance(state, str) and state.isdecimal():
        number = int(state)
        if number <= LARGEST.get(name, 2**128):
            return number
    if isinstance(like, str) and state == like:
        return state
    arrays = isinstance(like, np.ndarray) and isinstance(state, np.ndarray)
    if arrays and state.shape == like.shape and state.dtype == like.dtype:
        return state
    raise CheckpointError("a checkpoint holds no state of a random generator where it should")
