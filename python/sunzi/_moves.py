"""Numbers of arrays from one place to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _native
from ._layout import Index, Move, Plan, period_of, plans, target_period
from .errors import ShapeError

if TYPE_CHECKING:
    from ._array import EncryptedArray


def turned(array: EncryptedArray, chunk: _native.Ciphertext, steps: int) -> _native.Ciphertext:
    """A ciphertext turned left: by its own key if there is one, else by powers of two."""
    row = array.context._row
    steps %= min(array._period, row)
    if steps == 0:
        return chunk
    keys, native = array._need_keys(), array.context.lowlevel
    if native.rotation_exponent(steps) in keys.exponents:
        return chunk.rotate(steps, keys.evaluation)
    if native.rotation_exponent(steps - array._period) in keys.exponents:
        return chunk.rotate(steps - array._period, keys.evaluation)
    bit = 1
    while steps:
        if steps & 1:
            chunk = chunk.rotate(bit, keys.evaluation)
        steps, bit = steps >> 1, bit << 1
    return chunk


def gathered(array: EncryptedArray, index: Index, shape: tuple[int, ...]) -> EncryptedArray:
    """The array of ``flat[index]``, with 0 where an index is negative."""
    if index.size == 0:
        raise ShapeError("nothing is left of the array: encrypted arrays have at least one number")
    if index.size == array.size and np.array_equal(index, np.arange(index.size)):
        return array._like(array._chunks, shape=shape, fill=array._fill)
    period = target_period(array.context, array._period, index.size)
    found: dict[tuple[int, bool, int], _native.Ciphertext] = {}
    made = list(plans(array.context, array._period, array.size, index))
    chunks = [_joined(array, plan, period, found) for plan in made]
    masked = made[-1].moves[0].mask is not None
    whole = index.size % period == 0
    return array._like(chunks, shape=shape, period=period, fill=0 if masked or whole else None)


def _joined(
    array: EncryptedArray, plan: Plan, period: int, found: dict[tuple[int, bool, int], _native.Ciphertext]
) -> _native.Ciphertext:
    terms = []
    for move in plan.moves:
        source = _moved(array, move, found)
        if move.mask is None:
            return source
        mask = np.zeros(period, dtype=np.float64 if array.context.is_real else np.int64)
        mask[move.mask] = 1
        terms.append((source, array._like((), period=period)._encoded(mask, source, False)))
    joined = _sum_of_masked(terms)
    # Each slot has a number of one of them: that masks do not overlap, no single operation knows.
    return joined.bounded_by([source for source, _ in terms]) if len(terms) > 1 else joined


def _sum_of_masked(terms: list[tuple[_native.Ciphertext, _native.Plaintext]]) -> _native.Ciphertext:
    """The sum of products: those of one level together, since only these have one scale."""
    levels: dict[int | None, list[tuple[_native.Ciphertext, _native.Plaintext]]] = {}
    for term in terms:
        levels.setdefault(term[0].level, []).append(term)
    parts = [alike[0][0].sum_of_plain_products(alike) for alike in levels.values()]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.add(part)
    return joined


def _moved(
    array: EncryptedArray, move: Move, found: dict[tuple[int, bool, int], _native.Ciphertext]
) -> _native.Ciphertext:
    key = (move.source, move.swap, move.steps)
    if key not in found:
        chunk = array._chunks[move.source]
        if move.swap:
            swapped = (move.source, True, 0)
            if swapped not in found:
                found[swapped] = chunk.swap(array._need_keys().evaluation)
            chunk = found[swapped]
        found[key] = turned(array, chunk, move.steps)
    return found[key]


def cleaned(array: EncryptedArray) -> EncryptedArray:
    """The same with a fill that is known: under a mask where it is not."""
    if array._fill is not None or array.size == array._period * len(array._chunks):
        return array
    ones = np.ones(array.shape, dtype=np.float64 if array.context.is_real else np.int64)
    return array._with_plain(ones, "multiply", lambda _: 0)


def compacted(array: EncryptedArray) -> EncryptedArray:
    """The same with the least period, where the size is a power of two: zeros between are filled by rotations."""
    period = period_of(array.context, array.size)
    if array._period <= period or len(array._chunks) != 1:
        return array
    clean = cleaned(array)
    if clean._fill != 0:
        clean = clean._with_plain(
            np.ones(array.shape, dtype=np.float64 if array.context.is_real else np.int64),
            "multiply",
            lambda _: 0,
        )
    chunk = clean._chunks[0]
    step = period
    while step < min(clean._period, array.context._row):
        chunk = chunk.add(turned(clean, chunk, clean._period - step))
        step *= 2
    if clean._period > array.context._row and not array.context.is_real:
        chunk = chunk.add(chunk.swap(array._need_keys().evaluation))
    return array._like([chunk], period=period, fill=0)
