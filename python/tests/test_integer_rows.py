"""Results across encrypted integers, against numpy. The sets are small, and without any security."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sunzi
from sunzi import _rows, errors

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


@pytest.mark.parametrize(("dtype", "count"), [("uint8", 9), ("int16", 5), ("uint8", 1)])
def test_greatest_and_least_integers(keys: sunzi.Keys, dtype: str, count: int) -> None:
    x = drawn(dtype, 9)[:count]
    a, in_order = keys.encrypt_integers(x), np.sort(x)
    for k in sorted({1, min(2, count), count}):
        opened(keys, a.top(k), in_order[::-1][:k], dtype)
        opened(keys, a.top(k, largest=False), in_order[:k], dtype)


def test_greatest_of_equal_integers(keys: sunzi.Keys) -> None:
    a = keys.encrypt_integers(np.full((2, 3), 7, dtype=np.int8))
    opened(keys, a.top(6), [7] * 6, "int8")
    x = np.array([5, 0, 5, 0, 3], dtype=np.uint8)
    # Results are arrays like any others, and longer than what they are of where shares repeat.
    top = keys.encrypt_integers(x).top(4)
    opened(keys, top + 250, np.array([5, 5, 3, 0], dtype=np.uint8) + np.uint8(250), "uint8")
    opened(keys, top.sorted(), [0, 3, 5, 5], "uint8")
    opened(keys, keys.encrypt_integers(x).quantile(np.tile([0, 0.5, 1.0], (4, 1))), np.tile([0, 3, 5], (4, 1)), "uint8")
    back = sunzi.IntegerArray.from_bytes(top.to_bytes(), keys.public)
    opened(keys, back, [5, 5, 3, 0], "uint8")


#: numpy calls the same methods so from version 1.22 on.
METHODS = ["lower", "higher", "nearest", "inverted_cdf"]


@pytest.mark.parametrize("count", [1, 2, 6, 7])
def test_quantiles_are_those_of_numpy(keys: sunzi.Keys, count: int) -> None:
    x = drawn("int8", 7)[:count]
    a = keys.encrypt_integers(x)
    shares = [0, 0.25, 0.5, 0.7, 1]
    for method in METHODS:
        opened(keys, a.quantile(shares, method=method), np.quantile(x.astype(int), shares, method=method), "int8")  # type: ignore[arg-type,call-overload]
    for place in range(count):
        exact = Fraction(place, max(count - 1, 1))
        opened(keys, a.quantile(exact), np.sort(x)[place], "int8")
        assert np.quantile(x.astype(int), float(exact)) == pytest.approx(np.sort(x)[place], abs=1e-9)


def test_places_of_quantiles_are_those_of_numpy() -> None:
    for count in range(1, 30):
        x = np.arange(count)
        # Halves, quarters and eighths are exact in doubles, so that numpy rounds nothing.
        for share in np.arange(0, 1 + 2**-5, 2**-5):
            for method in METHODS:
                expected = np.quantile(x, share, method=method)  # type: ignore[call-overload]
                assert _rows._place(_rows._share(share), count, method) == expected, (count, share, method)
    # A share is what is written: 0.29 · 100 is 28.999999999999996 in doubles.
    assert _rows._place(_rows._share(0.29), 101, "linear") == 29


def test_quantiles_that_cannot_be_are_refused(keys: sunzi.Keys) -> None:
    a = keys.encrypt_integers(np.array([3, 1, 2, 9], dtype=np.uint8))
    with pytest.raises(errors.Operand, match='between those at places 1 and 2: take method="lower"'):
        a.quantile(0.5)
    for share in (-0.1, 1.5, np.nan, np.inf):
        with pytest.raises(errors.Operand, match="a quantile of the share"):
            a.quantile(share)
    with pytest.raises(TypeError, match="give a share from 0 to 1"):
        a.quantile("0.5")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='"linear", "lower"'):
        a.quantile(0.5, method="midpoint")  # type: ignore[arg-type]
    for count in (0, 5, -1):
        with pytest.raises(errors.Operand, match="give 1 to 4"):
            a.top(count)
    with pytest.raises(errors.ShapeError, match="give 1 to 64"):
        a.quantile([])
    with pytest.raises(errors.ShapeError, match="give 1 to 64"):
        a.quantile([0.0] * 65)
    with pytest.raises(errors.ShapeError, match="at most 64 are in the slots"):
        keys.encrypt_integers(np.zeros(65, dtype=np.uint8)).top(2)
