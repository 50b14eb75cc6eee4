"""Where the numbers of an array stand.

An array is flattened in the order of C and cut into ciphertexts. One that fits a ciphertext repeats there with a period, a power of two of
at least its size: rotations then turn the array itself, and a sum stands in every slot. Larger ones have the period of a whole
ciphertext. Slots between the size and the end of a period hold the fill, whose value is followed through every operation, so
that sums take off its share instead of masking it; None stands for a fill that is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._context import Context

Index = npt.NDArray[np.int64]


def power_of_two(count: int) -> int:
    """The least power of two that is at least this."""
    return 1 << max(count - 1, 0).bit_length()


def period_of(context: Context, size: int) -> int:
    """The period of an array of this size."""
    return min(power_of_two(size), context.slots)


@dataclass(frozen=True)
class Move:
    """Numbers of one ciphertext that move together: rows swapped, turned left, and put under a mask."""

    source: int
    swap: bool
    steps: int
    #: Slots of the target's period that take their number from here; None for all that the array has there.
    mask: Index | None


@dataclass(frozen=True)
class Plan:
    """What makes one ciphertext of a gathered array."""

    moves: list[Move]


def plans(context: Context, source_period: int, size: int, index: Index) -> Iterator[Plan]:
    """How ``flat[index]`` comes about, ciphertext by ciphertext, for an array of this size and period; 0 where an index is negative.

    The target has the period of the source where it fits into it, else its own.
    """
    period = target_period(context, source_period, index.size)
    row = context._row
    for start in range(0, index.size, period):
        part = index[start : start + period]
        slots = np.flatnonzero(part >= 0)
        holes, part = slots.size < part.size, part[slots]
        if not slots.size:
            yield Plan([Move(0, False, 0, slots)])
            continue
        chunks, places = part // source_period, part % source_period
        if context.is_real or source_period <= row:
            # Sources repeat with their period, which divides that of the target.
            swaps, steps = np.zeros(part.size, dtype=bool), (places - slots) % source_period
        else:
            swaps, steps = places // row != slots // row, (places - slots) % row
        yield Plan(list(_moves(chunks, swaps, steps, slots, holes)))


def target_period(context: Context, source_period: int, size: int) -> int:
    """The period of a gathered array of this size."""
    return max(period_of(context, size), source_period)


def _moves(chunks: Index, swaps: npt.NDArray[np.bool_], steps: Index, slots: Index, holes: bool) -> Iterator[Move]:
    keys = np.stack([chunks, swaps.astype(np.int64), steps])
    unique, inverse = np.unique(keys, axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    for group in range(unique.shape[1]):
        chunk, swap, step = (int(value) for value in unique[:, group])
        mask = slots[inverse == group] if unique.shape[1] > 1 or holes else None
        yield Move(chunk, bool(swap), step, mask)


def broadcast_index(shape: tuple[int, ...], target: tuple[int, ...]) -> Index:
    """For each number of the target, in order, the place of the number of ``shape`` that it is."""
    places: Index = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64).reshape(shape)
    return np.broadcast_to(places, target).reshape(-1)


def normalized_axes(axis: int | tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    """Axes from 0 on, ascending."""
    if axis is None:
        return tuple(range(ndim))
    axes = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    found = []
    for one in axes:
        if not -ndim <= one < ndim:
            raise IndexError(f"axis {one} of an array of {ndim} dimensions")
        found.append(int(one) % ndim)
    if len(set(found)) != len(found):
        raise ValueError(f"the axes {axes} name one twice")
    return tuple(sorted(found))


def joint(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type of what arrays of two types make."""
    return a if a is b else np.result_type(a, b)


def signed(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Integers as those of 64 bits with a sign; wider ones are refused."""
    if values.dtype.kind == "u" and values.size and int(values.max()) >= 2**63:
        raise OverflowError("integers of 2^63 and above have no place in 64 bits with a sign: split them")
    return values.astype(np.int64, copy=False)


def as_flat(values: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The numbers of an operand in the order of an array of this shape; a view where that is possible."""
    return np.broadcast_to(values, shape).reshape(-1)
