"""Results across encrypted integers, against numpy. The sets are small, and without any security."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sunzi
from sunzi import errors

RNG = np.random.default_rng(29)


@pytest.fixture(scope="module")
def keys() -> sunzi.Keys:
    """64 integers in an array, 128 in a batch."""
    return sunzi.keygen(sunzi.Context.for_bootstrapping("insecure-7-integer"))


def drawn(dtype: str, count: int) -> npt.NDArray[Any]:
    """Integers of a type: its ends twice, and random ones."""
    info = np.iinfo(np.dtype(dtype))
    values = RNG.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    values[:4] = [info.min, info.max, info.max, info.min]
    return RNG.permutation(values)


def opened(keys: sunzi.Keys, array: sunzi.IntegerArray, expected: npt.ArrayLike, dtype: str) -> None:
    found, wanted = keys.decrypt_integers(array), np.asarray(expected, dtype=dtype)
    assert found.dtype == np.dtype(dtype) and found.shape == wanted.shape == array.shape
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("dtype", "count"), [("uint8", 30), ("int16", 7)])
def test_statistics_of_all_integers(keys: sunzi.Keys, dtype: str, count: int) -> None:
    x = drawn(dtype, count)
    a = keys.encrypt_integers(x)
    in_order = np.sort(x)
    opened(keys, a.sum(), x.sum(dtype=dtype), dtype)
    opened(keys, a.min(), x.min(), dtype)
    opened(keys, a.max(), x.max(), dtype)
    opened(keys, a.median_low(), in_order[(count - 1) // 2], dtype)
    opened(keys, a.kth(-2), in_order[-2], dtype)
    opened(keys, a.argmin(), x.argmin(), "uint16")
    opened(keys, a.argmax(), x.argmax(), "uint16")
    opened(keys, (a > 3).sum(), (x > 3).sum(), "uint16")
    # What is the same in all rows goes on as one integer.
    opened(keys, a.max() - a.min(), np.subtract(x.max(), x.min(), dtype=dtype), dtype)


def test_order_of_integers(keys: sunzi.Keys) -> None:
    x = drawn("int8", 7)
    x[3] = x[5]
    a = keys.encrypt_integers(x)
    opened(keys, a.sorted(), np.sort(x), "int8")
    order = np.argsort(x, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(x))
    opened(keys, a.ranks(), ranks, "uint16")


def test_shapes_are_those_of_one_integer(keys: sunzi.Keys) -> None:
    x = drawn("uint8", 12).reshape(3, 4)
    a = keys.encrypt_integers(x)
    opened(keys, a.max(), x.max(), "uint8")
    opened(keys, a.argmax(), x.argmax(), "uint16")
    for across in (a.sorted, a.ranks):
        with pytest.raises(errors.ShapeError, match="one dimension"):
            across()


def test_what_cannot_be_is_refused(keys: sunzi.Keys) -> None:
    many = keys.encrypt_integers(np.zeros(65, dtype=np.uint8))
    with pytest.raises(errors.ShapeError, match="at most 64 are in the slots"):
        many.sum()
    with pytest.raises(errors.ShapeError, match="a count of 65 conditions"):
        (many == 1).sum()
    a = keys.encrypt_integers(np.array([200, 100], dtype=np.uint8), overflow="refuse")
    with pytest.raises(errors.Overflow, match="a sum of all rows may give any integer from 0 to 510"):
        a.sum()
    for place in (2, -3):
        with pytest.raises(errors.Operand, match=f"the integer at place {place} of 2"):
            a.kth(place)
    with pytest.raises(errors.Operand, match="at most 32: the place of an extreme takes two slots a row"):
        keys.encrypt_integers(np.zeros(33, dtype=np.uint8)).argmax()
    loose = sunzi.IntegerArray.from_bytes(a.to_bytes(), keys.public.context)
    with pytest.raises(errors.MissingKey):
        loose.max()
