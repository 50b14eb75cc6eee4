"""Sums, and functions of every number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._layout import normalized_axes
from ._moves import cleaned, gathered, turned
from .errors import ShapeError, WrongScheme

if TYPE_CHECKING:
    from ._array import EncryptedArray

Axis = Union[int, tuple[int, ...], None]


def total(array: EncryptedArray, axis: Axis) -> EncryptedArray:
    """The sum along axes."""
    axes = normalized_axes(axis, array.ndim)
    if len(axes) == array.ndim:
        return whole_sum(array)
    for one in reversed(axes):
        array = _sum_along(array, one)
    return array


def whole_sum(array: EncryptedArray) -> EncryptedArray:
    """The sum of all numbers, which then stands in every slot."""
    array = cleaned(array)
    chunk = array._chunks[0]
    for other in array._chunks[1:]:
        chunk = chunk.add(other)
    chunk = _summed_slots(array, chunk)
    padding = array._period * len(array._chunks) - array.size
    sums = array._like([chunk], shape=(), period=1, fill=0)
    return less(sums, padding * array._fill) if padding and array._fill else sums


def less(sums: EncryptedArray, share: complex) -> EncryptedArray:
    """Without the share of the padding, which is known; of quotients it is a share of the numerators."""
    number: Union[float, complex] = share
    if not sums.context.is_real:
        number = int((sums._wrapped(share) or 0).real)
    elif sums._dtype.kind != "c":
        number = share.real
    numerators = sums._like(sums._chunks, fill=0, divisor=1) - number
    return sums._like(numerators._chunks, fill=0)


def _summed_slots(array: EncryptedArray, chunk: _native.Ciphertext) -> _native.Ciphertext:
    """The sum over a period, in every slot."""
    step, row = 1, array.context._row
    while step < min(array._period, row):
        chunk = chunk.add(turned(array, chunk, step))
        step *= 2
    if array._period > row and not array.context.is_real:
        chunk = chunk.add(chunk.swap(array._need_keys().evaluation))
    return chunk


def _sum_along(array: EncryptedArray, axis: int) -> EncryptedArray:
    """One axis of several: by doubling within a ciphertext, else slice by slice."""
    shape, length = array.shape, array.shape[axis]
    left = shape[:axis] + shape[axis + 1 :]
    if length == 1:
        return array.reshape(left)
    places = np.arange(array.size, dtype=np.int64).reshape(shape)
    first = np.ascontiguousarray(np.take(places, 0, axis=axis)).reshape(-1)
    if len(array._chunks) > 1 or (array._period > array.context._row and not array.context.is_real):
        parts = [np.ascontiguousarray(np.take(places, i, axis=axis)).reshape(-1) for i in range(length)]
        slices = [gathered(array, part, left) for part in parts]
        result = slices[0]
        for part in slices[1:]:
            result = result + part
        return result
    stride = int(np.prod(shape[axis + 1 :], dtype=np.int64))
    chunk = _sum_of_turns(array, array._chunks[0], stride, length)
    if stride * length == array._period and first.size == stride:
        # The whole period: the sums repeat.
        return array._like([chunk], shape=left, period=stride, fill=0)
    return gathered(array._like([chunk]), first, left)


def _sum_of_turns(array: EncryptedArray, chunk: _native.Ciphertext, stride: int, count: int) -> _native.Ciphertext:
    """Σ over i < count of the ciphertext turned by i·stride, by doubling."""
    powers, done, result = chunk, 0, None
    size = 1
    while size <= count:
        if count & size:
            part = turned(array, powers, done * stride)
            result = part if result is None else result.add(part)
            done += size
        if 2 * size <= count:
            powers = powers.add(turned(array, powers, size * stride))
        size *= 2
    if result is None:
        raise ShapeError("a sum of nothing")
    return result


def _count(array: EncryptedArray, axis: Axis) -> int:
    return int(np.prod([array.shape[one] for one in normalized_axes(axis, array.ndim)], dtype=np.int64))


def mean(array: EncryptedArray, axis: Axis) -> EncryptedArray:
    """Sum over count."""
    return total(array, axis) / _count(array, axis)


def variance(array: EncryptedArray, axis: Axis) -> EncryptedArray:
    """The mean of the squares minus the square of the mean: of integers, count·Σx² − (Σx)² over count²."""
    count = _count(array, axis)
    if array.context.is_real:
        if array._dtype.kind == "c":
            raise TypeError("the variance of complex numbers: take that of real and imaginary parts")
        average = mean(array, axis)
        return mean(array * array, axis) - average * average
    sums, squares = total(array, axis), total(array * array, axis)
    spread = squares * count - sums * sums
    return spread._like(spread._chunks, fill=spread._fill, divisor=spread._divisor * count * count)


def polyval(array: EncryptedArray, coefficients: npt.ArrayLike) -> EncryptedArray:
    """Σ c_i·x^i."""
    values = np.atleast_1d(np.asarray(coefficients))
    if values.ndim != 1 or values.size == 0:
        raise ShapeError(f"coefficients of shape {values.shape}: give them in one dimension, the constant one first")
    keys = array._need_keys().evaluation
    if array.context.is_real:
        if values.dtype.kind not in "iubf":
            raise TypeError(f"coefficients of {values.dtype}: give real numbers")
        reals = values.astype(np.float64)
        series = _native.Series.power(reals)
        fill = None if array._fill is None else complex(np.polynomial.polynomial.polyval(array._fill, reals))
        return array._like([chunk.series(series, keys) for chunk in array._chunks], fill=fill)
    if values.dtype.kind not in "iu":
        raise WrongScheme(f"coefficients of {values.dtype} for integers: give integers")
    if array._divisor != 1:
        raise ShapeError("a polynomial of quotients: take it of the integers and divide afterwards")
    integers = [int(value) for value in values]
    exact = 0
    if array._fill is not None:
        for integer in reversed(integers):
            exact = exact * int(array._fill.real) + integer
    fill = None if array._fill is None else array._wrapped(exact)
    return array._like([chunk.polynomial(integers, keys) for chunk in array._chunks], fill=fill)


def apply(
    array: EncryptedArray,
    function: Callable[[float], float],
    interval: tuple[float, float],
    degree: int | None,
    error: float | None,
) -> EncryptedArray:
    """A function, by its Chebyshev series."""
    if not array.context.is_real:
        raise WrongScheme("apply takes real numbers: take polyval for integers, or a context with dtype=float")
    low, high = interval
    if isinstance(function, _native.Series):
        series = function
    else:
        error = 2.0**-20 if degree is None and error is None else error
        series = _native.Series.approximate(function, low, high, degree=degree, error=error)
    array = _inside(array, low, high)
    fill = None if array._fill is None else complex(series(array._fill.real))
    keys = array._need_keys().evaluation
    return array._like([chunk.series(series, keys) for chunk in array._chunks], fill=fill)


def _inside(array: EncryptedArray, low: float, high: float) -> EncryptedArray:
    """With a fill inside of the interval: outside, the series grows beyond all bounds."""
    array = cleaned(array)
    whole = array.size == array._period * len(array._chunks)
    if whole or array._fill is None or low <= array._fill.real <= high:
        return array
    shift = (low + high) / 2 - array._fill.real
    chunk, used = array._chunks[-1], array.size - array._period * (len(array._chunks) - 1)
    values = np.zeros(array._period)
    values[used:] = shift
    moved = chunk.add_plain(array._encoded(values, chunk, True))
    return array._like((*array._chunks[:-1], moved), fill=array._fill + shift)
