"""The law of errors: no number that is decrypted is further from the truth than its array says, whatever the numbers and the program are."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from conftest import record

import sunzi
from sunzi import errors

#: Programs that are drawn: more in the long form (SUNZI_LONG=1).
PROGRAMS = 10000 if os.environ.get("SUNZI_LONG") else 400
#: Truth is computed with more bits than doubles have, where the machine can.
Long = np.longdouble
BOUND = 4.0

TRUTH: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
    "tanh": np.tanh,
    "log": np.log,
    "sqrt": np.sqrt,
    "inverse": lambda v: 1 / v,
    "inverse_sqrt": lambda v: 1 / np.sqrt(v),
    "sin": np.sin,
    "cos": np.cos,
}
CALLABLES: dict[str, Any] = {"exp": np.exp, "tanh": math.tanh, "log": np.log, "sqrt": math.sqrt, "inverse": np.reciprocal, "sin": np.sin, "cos": math.cos}


def column(rng: np.random.Generator, size: int) -> tuple[np.ndarray, tuple[float, float]]:
    """Numbers that are hard to be right about, and bounds that are declared for them."""
    low, high = sorted(rng.uniform(-BOUND, BOUND, 2))
    kind = int(rng.integers(9))
    if kind == 0:
        low, high = -BOUND, BOUND
    if kind == 1:
        # Next to nothing between the ends.
        high = low + 2.0 ** -int(rng.integers(10, 50))
    if kind == 2:
        low, high = 0.0, 2.0 ** -int(rng.integers(0, 30))
    if kind == 3:
        low = high
    ends = np.array([low, high])
    values = rng.uniform(low, high, size) if high > low else np.full(size, low)
    if kind in (0, 4):
        values = rng.choice(ends, size)
    if kind == 5:
        # One number far from all others.
        values = np.full(size, low)
        values[int(rng.integers(size))] = high
    if kind == 6:
        values = np.where(np.arange(size) % 2, math.nextafter(low, high), math.nextafter(high, low))
    if kind == 7:
        values = np.full(size, rng.choice(ends))
    return np.clip(values, low, high), (float(low), float(high))


class Pair:
    """An encrypted array and its truth."""

    def __init__(self, array: sunzi.EncryptedArray, truth: Any) -> None:
        self.array, self.truth = array, np.asarray(truth, dtype=Long)


def approximation(rng: np.random.Generator, a: Pair) -> Pair:
    """A known function of an array: where it is defined, on an interval that is given or not, to a degree or to an error."""
    name = str(rng.choice(list(TRUTH)))
    low, high = a.array.bounds
    if name in ("log", "sqrt", "inverse", "inverse_sqrt") and low <= 0:
        if rng.integers(8):
            shift = -low + (0.0 if name == "sqrt" else 2.0 ** -int(rng.integers(0, 4)) * max(high - low, 0.5))
            a = Pair(a.array + shift, a.truth + Long(shift))
            low, high = a.array.bounds
    if name == "exp" and high > 4:
        # Or it would be refused for what it comes to.
        a = Pair(a.array * 2.0**-3, a.truth / 8)
        low, high = a.array.bounds
    interval = None
    if rng.integers(3):
        width = high - low
        interval = (low, high + width * float(rng.uniform(0, 0.5))) if width else (low, high + 1)
    goal = {"degree": int(rng.integers(1, 16))} if rng.integers(2) else {"error": 2.0 ** -int(rng.integers(4, 20))}
    function = CALLABLES[name] if name in CALLABLES and rng.integers(2) else name
    return Pair(a.array.apply(function, interval, **goal), TRUTH[name](a.truth))


def step(rng: np.random.Generator, a: Pair, b: Pair, original: Pair) -> Pair:
    """One operation of a program."""
    x, t = a.array, a.truth
    clear = rng.uniform(-2, 2, t.shape)
    factor = float(rng.uniform(-2, 2))
    coefficients = rng.uniform(-1, 1, int(rng.integers(1, 6)))

    def polynomial() -> Pair:
        return Pair(x.polyval(coefficients), sum(Long(c) * t**i for i, c in enumerate(coefficients)) + 0 * t)

    def whole(name: str) -> Pair:
        axis = None if t.ndim < 2 or rng.integers(2) else int(rng.integers(t.ndim))
        found = getattr(x, name)(axis)
        if name == "var":
            return Pair(found, ((t - t.mean(axis=axis, keepdims=True)) ** 2).mean(axis=axis))
        return Pair(found, getattr(t, name)(axis=axis))

    matrix = rng.integers(-2, 3, (3, t.size)) * 0.5
    choices: list[Callable[[], Pair]] = [
        lambda: Pair(x + b.array, t + b.truth),
        lambda: Pair(x - b.array, t - b.truth),
        lambda: Pair(x * b.array, t * b.truth),
        lambda: Pair(x * x, t * t),
        lambda: Pair(x - original.array, t - original.truth),
        lambda: Pair(x * clear, t * clear.astype(Long)),
        lambda: Pair(clear - x, clear.astype(Long) - t),
        lambda: Pair(x * factor + 1, t * Long(factor) + 1),
        lambda: Pair(x / 3, t / 3),
        lambda: Pair(x.ravel()[::-1], t.ravel()[::-1]),
        lambda: Pair(x.rotate(1), np.roll(t.ravel(), -1).reshape(t.shape)),
        lambda: Pair(matrix @ x.ravel(), matrix.astype(Long) @ t.ravel()),
        lambda: Pair(x.ravel() @ b.array.ravel(), t.ravel() @ b.truth.ravel()),
        polynomial,
        lambda: whole("sum"),
        lambda: whole("mean"),
        lambda: whole("var"),
        *[lambda: approximation(rng, a)] * 8,
    ]
    return choices[int(rng.integers(len(choices)))]()


def checked(keys: sunzi.Keys, pair: Pair, text: str) -> float:
    """The share of the stated error that the largest error takes."""
    array, truth = pair.array, pair.truth
    opened = keys.decrypt(array)
    assert opened.shape == truth.shape, text
    off, stated = float(np.abs(opened - truth).max()), array.error
    assert off <= stated, f"{text}: off by {off}, and {stated} is stated"
    low, high = array.bounds
    slack = 2.0**-46 * max(abs(low), abs(high))
    assert low - slack <= truth.min() and truth.max() <= high + slack, f"{text}: {truth.min()} to {truth.max()} beside {low} to {high}"
    return off / stated


def keys_of(depth: int, result_bound: float) -> sunzi.Keys:
    """512 slots, without any security."""
    context = sunzi.Context.for_depth(depth, bound=BOUND, result_bound=result_bound, precision=1, security=0, log2_degree=10)
    return sunzi.keygen(context)


def test_no_number_is_off_by_more_than_is_said() -> None:
    """Programs are drawn in turns for two contexts: one where approximations are most of the errors, and one where noise is."""
    parties = [keys_of(12, 2**14), keys_of(8, 16)]
    shares: list[list[float]] = [[], []]
    refused = steps = 0
    for seed in range(PROGRAMS):
        rng, keys = np.random.default_rng(seed), parties[seed % 2]
        shape = [(4,), (5,), (3, 4), (16,), (40,), (600,), ()][int(rng.integers(7))]
        pairs = []
        for _ in range(2):
            values, bounds = column(rng, math.prod(shape))
            values = values.reshape(shape)
            pairs.append(Pair(keys.encrypt(values, bounds=bounds if rng.integers(4) else None), values))
        a, b = pairs
        try:
            for _ in range(int(rng.integers(1, 6))):
                a = step(rng, a, b if a.truth.shape == b.truth.shape else a, pairs[0] if a.truth.shape == shape else a)
                steps += 1
        except errors.SunziError:
            # What was made before is checked all the same.
            refused += 1
        shares[seed % 2].append(checked(keys, a, f"program {seed} of shape {shape}"))
    # Errors that are stated are no more than what is needed, and many programs come to their end.
    assert max(shares[0]) > 0.5 and max(shares[1]) > 0.05 and steps > 2 * PROGRAMS and refused < PROGRAMS // 3
    record(23, "Python programs with a number off by more than stated", 0, 0, PROGRAMS)
    print(f"{PROGRAMS} programs, {steps} steps, {refused} refused, shares {[round(max(part), 3) for part in shares]}")
