"""Functions and divisions on intervals whose ends are far apart, for columns of any shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sunzi
from sunzi import errors

#: Upper end of the intervals.
HIGH = 1.0
ROWS = 64


@pytest.fixture(scope="module")
def keys() -> sunzi.Keys:
    """512 slots and levels enough for the widest interval."""
    context = sunzi.Context.for_depth(13, bound=1, result_bound=2**20, precision=24, security=0, log2_degree=10)
    return sunzi.keygen(context)


def columns(low: float, high: float) -> Iterator[Any]:
    """Numbers that are even, at one end, at both ends in turn, next to the lower end but for one, and spread by ratio."""
    yield np.linspace(low, high, ROWS)
    yield np.full(ROWS, low)
    yield np.full(ROWS, high)
    yield np.where(np.arange(ROWS) % 2, low, high)
    yield np.append(low * np.linspace(1, 1.01, ROWS - 1), high)
    yield np.clip(np.geomspace(low, high, ROWS), low, high)


@pytest.mark.parametrize("ratio", [10, 100, 10_000])
def test_errors_hold_wherever_numbers_lie(keys: sunzi.Keys, ratio: int) -> None:
    low = HIGH / ratio
    for x in columns(low, HIGH):
        a = keys.encrypt(x, bounds=(low, HIGH))
        for name, truth in (("inverse", 1 / x), ("sqrt", np.sqrt(x)), ("log", np.log(x))):
            largest = max(1 / low, HIGH)
            y = a.apply(name, error=2.0**-12 * largest)
            off = np.abs(keys.decrypt(y) - truth).max()
            assert off <= y.error <= 2.0**-10 * largest, (ratio, name, off, y.error)
            assert abs(float(keys.decrypt(y.mean())) - truth.mean()) <= y.mean().error


def test_arrays_are_divided_by_arrays(keys: sunzi.Keys) -> None:
    y = np.linspace(-1, 1, ROWS)
    b = keys.encrypt(y, bounds=(-1, 1))
    for x in columns(0.0625, HIGH):
        a = keys.encrypt(x, bounds=(0.0625, HIGH))
        for quotient, truth in ((b / a, y / x), (3 / a, 3 / x), (y / a, y / x), (b / -a, y / -x)):
            off = np.abs(keys.decrypt(quotient) - truth).max()
            assert off <= quotient.error < 0.01


def test_what_may_be_zero_divides_nothing(keys: sunzi.Keys) -> None:
    one = keys.encrypt([1.0], bounds=(0, 1))
    divisions: list[Callable[[], Any]] = [lambda: one / one, lambda: 1 / one, lambda: np.ones(1) / (one - 0.5)]
    for divide in divisions:
        with pytest.raises(errors.OutsideInterval, match="out 0 "):
            divide()
