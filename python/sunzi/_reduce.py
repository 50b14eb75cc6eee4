"""Sums, and functions of every number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._functions import (
    OFF_SHARE,
    Function,
    approximated,
    check_room,
    clipped,
    described,
    distance,
    has_room,
    image,
    known_name,
    polynomial_range,
    steepest,
)
from ._known import GROWN, UNDECLARED, Known, safe
from ._layout import normalized_axes
from ._moves import cleaned, gathered, turned
from .errors import OutsideInterval, ShapeError, WrongScheme

if TYPE_CHECKING:
    from ._array import EncryptedArray

Axis = Union[int, tuple[int, ...], None]


def total(array: EncryptedArray, axis: Axis) -> EncryptedArray:
    """The sum along axes."""
    axes = normalized_axes(axis, array.ndim)
    if len(axes) == array.ndim:
        return whole_sum(array)
    for one in reversed(axes):
        known, length = array._now(), array.shape[one]
        array = _sum_along(array, one)
        array = array._like(array._chunks, fill=array._fill, known=known.repeated(length))
    return array


def whole_sum(array: EncryptedArray) -> EncryptedArray:
    """The sum of all numbers, which then stands in every slot."""
    array = cleaned(array)
    known = array._now().repeated(array.size)
    chunk = array._chunks[0]
    for other in array._chunks[1:]:
        chunk = chunk.add(other)
    chunk = _summed_slots(array, chunk)
    padding = array._period * len(array._chunks) - array.size
    sums = array._like([chunk], shape=(), period=1, fill=0, known=known)
    return less(sums, padding * array._fill) if padding and array._fill else sums


def less(sums: EncryptedArray, share: complex) -> EncryptedArray:
    """Without the share of the padding, which is known; of quotients it is a share of the numerators."""
    number: Union[float, complex] = share
    if not sums.context.is_real:
        number = int((sums._wrapped(share) or 0).real)
    elif sums._dtype.kind != "c":
        number = share.real
    numerators = sums._like(sums._chunks, fill=0, divisor=1, known=Known()) - number
    return sums._like(numerators._chunks, fill=0, known=sums._known)


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
    known = array._now()
    average = total(array, axis) / _count(array, axis)
    # No mean lies outside of what it is the mean of.
    return average._like(average._chunks, fill=average._fill, known=average._known.within(known.low, known.high))


def variance(array: EncryptedArray, axis: Axis) -> EncryptedArray:
    """The mean of the squares minus the square of the mean: of integers, count·Σx² − (Σx)² over count²."""
    count, now = _count(array, axis), array._now()

    def spread_of(low: float, high: float) -> tuple[float, float]:
        # Popoviciu: no variance is larger than with half of the numbers at either end.
        return 0.0, (high - low) ** 2 / 4 * (1 + 2.0**-50)

    least, most = spread_of(now.low, now.high)
    if array.context.is_real:
        if array._dtype.kind == "c":
            raise TypeError("the variance of complex numbers: take that of real and imaginary parts")
        average = mean(array, axis)
        spread = mean(array * array, axis) - average * average
        return spread._like(spread._chunks, fill=spread._fill, known=spread._known.within(least, most))
    # What is subtracted may wrap around: the difference is small again, and looked at below.
    free = array.wrapping()
    sums, squares = total(free, axis), total(free * free, axis)
    spread = squares * count - sums * sums
    divisor = spread._divisor * count * count
    watch = GROWN if now.watch == UNDECLARED else now.watch
    known = Known(least, most, seen=now._seen_as(lambda seen: spread_of(*seen)), watch=watch)
    return spread._like(spread._chunks, fill=spread._fill, divisor=divisor, known=known)


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
        known = _evaluated(array, series)
        return array._like([chunk.series(series, keys) for chunk in array._chunks], fill=fill, known=known)
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
    known = Known()
    if max(map(abs, integers)) < 2**53:
        known = _evaluated(array, _native.Series.power(np.array(integers, dtype=np.float64)))
    watch = array._known.watch
    if watch == UNDECLARED and (any(integers[2:]) or max(map(abs, integers[1:2]), default=0) > 1):
        watch = GROWN
    known = known._replace(watch=watch)
    return array._like([chunk.polynomial(integers, keys) for chunk in array._chunks], fill=fill, known=known)


def _evaluated(array: EncryptedArray, series: _native.Series) -> Known:
    """What is known of the values of a series, and of the function that it stands for: what was off before counts as often as the series is steep."""
    known = array._now()
    off, low, high = known.off, known.low, known.high
    if array._dtype.kind == "c":
        # Σ|c_i|·r^i bounds a polynomial of powers on the disc, and the same of its derivative.
        series = _native.Series.power(np.abs(series.coefficients))
        most = polynomial_range(series, 0.0, known.most)[1]
        return Known(-most, most, safe(steepest(series, 0.0, known.most + off), off), known.unproved)
    carried = safe(steepest(series, low - off, high + off), off) if off else 0.0
    least, most = image(series, low, high)
    if series.error is None or not series.error_is_proved:
        return Known(least, most, carried, known.unproved, known._seen_as(lambda seen: image(series, *seen)))
    return Known(least, most, carried, known.unproved).widened(series.error)


def apply(
    array: EncryptedArray,
    function: Function,
    interval: Optional[tuple[float, float]],
    degree: Optional[int],
    error: Optional[float],
    lipschitz: Optional[float],
    second_derivative: Optional[float],
) -> EncryptedArray:
    """A function, by its Chebyshev series."""
    if not array.context.is_real:
        raise WrongScheme("apply takes real numbers: take polyval for integers, or a context with dtype=float")
    if array._dtype.kind == "c":
        raise TypeError("apply takes real numbers, and the array is complex: take polyval")
    keys, known = array._need_keys().evaluation, array._now()
    series = function if isinstance(function, _native.Series) else None
    low, high = _interval(known, described(function), interval, series)
    if series is None:
        ends = min(low, known.low), max(high, known.high)
        series = approximated(function, *ends, degree, error, lipschitz, second_derivative)
        if not has_room(series, distance(series, known), OFF_SHARE):
            # What was off before is inside too, where the function is defined there.
            ends = clipped(known_name(function), *ends, known.off)
            series = approximated(function, *ends, degree, error, lipschitz, second_derivative)
    array = _inside(array, low, high)
    check_room(series, known, array._noise())
    fill = None if array._fill is None else complex(series(array._fill.real))
    found = _evaluated(array, series)
    if not series.error_is_proved and series.interval is not None:
        on = "[{:g}, {:g}]".format(*series.interval)
        found = found.doubted(
            f"the error of {described(function)} on {on} is measured ({series.error:.2g}) and not proved: take a function that is known "
            "by its name, or give lipschitz= or second_derivative="
        )
    return array._like([chunk.series(series, keys) for chunk in array._chunks], fill=fill, known=found)


def inverse(array: EncryptedArray) -> EncryptedArray:
    """1/x of real numbers whose bounds leave out 0, for divisions."""
    if not array.context.is_real:
        raise TypeError("encrypted integers are divided by an integer: take a context with dtype=float to divide by an encrypted array")
    known = array._now()
    if known.low <= 0 <= known.high:
        raise OutsideInterval(
            f"division by an encrypted array whose numbers lie between {known.low:g} and {known.high:g} as far as is known: encrypt with bounds that leave "
            "out 0 (bounds=(low, high)), or promise where they lie: array.declared(low, high)"
        )
    return apply(array, "inverse", None, None, None, None, None)


#: By how much an interval may be too narrow, relatively, for roundings of bounds.
_NEXT_TO_NOTHING = 2.0**-40


def _interval(
    known: Known, name: str, interval: Optional[tuple[float, float]], series: Optional[_native.Series]
) -> tuple[float, float]:
    """The interval that a function is wanted on, which all numbers lie in; fails where they may not."""
    own = None if series is None else series.interval
    if interval is None:
        interval = own
    if interval is None:
        return _own_interval(known, name) if series is None else (-np.inf, np.inf)
    low, high = float(interval[0]), float(interval[1])
    if own is not None:
        low, high = max(low, own[0]), min(high, own[1])
    slack = _NEXT_TO_NOTHING * max(abs(low), abs(high)) if series is None else 0.0
    if not (low - slack <= known.low and known.high <= high + slack):
        raise OutsideInterval(
            f"{name} on [{low:g}, {high:g}]: the numbers of the array lie between {known.low:g} and {known.high:g} as far as is known, and outside of the "
            "interval its polynomial is anything. Take a wider interval, or none for that of the array; encrypt with narrower bounds (bounds=(low, high)), "
            "or promise where they lie: array.declared(low, high)"
        )
    return low, high


def _own_interval(known: Known, name: str) -> tuple[float, float]:
    """All that the numbers of an array may be; of one number, a little more."""
    low, high = known.low, known.high
    if not (np.isfinite(low) and np.isfinite(high)):
        raise OutsideInterval(f"{name}: nothing bounds the numbers of the array. Encrypt with bounds, or promise where they lie: array.declared(low, high)")
    if high - low > _NEXT_TO_NOTHING * max(abs(low), abs(high)):
        return low, high
    return low, high + max(abs(high), 1.0) * 2.0**-20


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
