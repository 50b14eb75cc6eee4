"""Encrypted matrices times encrypted ones whose rows fill ciphertexts of their own: by products of integer matrices."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt

from . import _native
from ._encoding import encoded, narrowed
from ._layout import joint, power_of_two
from ._moves import gathered, turned
from .errors import MissingKey, ShapeError

if TYPE_CHECKING:
    from ._array import EncryptedArray
    from ._batches import MatrixKeys

#: A product with a clear number in each slot, as a part of a key switch.
_PLAIN = 0.1
#: Levels of the left factor: a mask for each column, its map to coefficients, and the product.
_LEVELS = 3
#: Products of two numbers that rotations still take: each stands in a slot of its own.
_LARGEST = 1 << 26

Plaintexts = dict[int, list[tuple[int, _native.Plaintext]]]


def by_lines(left: EncryptedArray, right: EncryptedArray) -> Optional[EncryptedArray]:
    """left @ right without a product of every pair of numbers, where that is cheaper by count and keys and levels are there; else None.

    Column k of ``left`` becomes the polynomial Σ_i X^i·m_ik, and row i of the product is Σ_k m_ik·row_k, for rows as they are: all of them by four products of
    matrices of integers, without a rotation ([Park25]).
    """
    if _missing(left, right) is not None or _cost(left, right) >= _cost_by_rotations(left, right):
        if math.prod((*left.shape, right.shape[1])) > _LARGEST:
            raise _too_large(left, right)
        return None
    rows, inner = left.shape
    columns = _columns(_strided(left), inner)
    level = columns[0].level or 0
    lines = [chunk.level_to(level) for chunk in right.ciphertexts]
    per_row = right.shape[1] // right._period
    parts = [_keys(left)._native.multiply(columns, lines[part::per_row])[:rows] for part in range(per_row)]
    products = [parts[part][i] for i in range(rows) for part in range(per_row)]
    ours, theirs = left._both(right._now(), right._dtype)
    return left._like(
        products,
        shape=(rows, right.shape[1]),
        period=right._period,
        fill=0,
        dtype=joint(left._dtype, right._dtype),
        divisor=left._divisor * right._divisor,
        known=ours.times(theirs).repeated(inner),
    )


def _missing(left: EncryptedArray, right: EncryptedArray) -> Optional[str]:
    """What keeps arrays from being multiplied by lines, and what to do."""
    context, rows = left.context, left.shape[0]
    chunks = (*left.ciphertexts, *right.ciphertexts)
    if not context.is_real or context.slots == context.degree or not all(type(chunk) is _native.Ciphertext for chunk in chunks):
        return "ciphertexts of CKKS with complex slots, outside of a recorded function"
    if left._dtype.kind == "c":
        return "real numbers on the left"
    if right._period != context.slots or right.shape[1] % right._period:
        return f"a right factor whose columns are a multiple of the {context.slots} slots"
    if power_of_two(left.shape[1]) > context.slots:
        return f"at most {context.slots} columns of the left factor"
    keys = left._need_keys().matrices
    if keys is None:
        size = max(64, power_of_two(rows))
        return f"keys of matrices: encrypt under keys.public.with_matrix_keys(keys.matrix_keys({size}))"
    if rows > keys.size:
        return f"keys of matrices of {rows} rows: these are for {keys.size}"
    wanted = _LEVELS + (_stride(left) != left.shape[1])
    ours, theirs = left.level or 0, right.level or 0
    if ours < wanted or theirs < 1 + max(0, ours - wanted):
        # The product is at the level that the left factor has after its map.
        lowest = f"{wanted} levels of the left factor, which has {ours}"
        return lowest if ours < wanted else f"a right factor that is no lower than {1 + ours - wanted}: bring the left one down by level_to({wanted})"
    return None


def _too_large(left: EncryptedArray, right: EncryptedArray) -> ShapeError:
    said = f"{left.shape} @ {right.shape}: a product of two numbers for each of {math.prod((*left.shape, right.shape[1]))} slots is too much"
    missing = _missing(left, right)
    return ShapeError(f"{said}. Products of matrices of integers need {missing}" if missing else f"{said}: take it in parts")


def _keys(left: EncryptedArray) -> MatrixKeys:
    keys = left._need_keys().matrices
    if keys is None:
        raise MissingKey("there are no keys of matrices: take arrays under keys.public.with_matrix_keys(keys.matrix_keys(size))")
    return keys


def _stride(left: EncryptedArray) -> int:
    """Slots from a row to the next one, once rows are padded."""
    return power_of_two(left.shape[1])


def _cost(left: EncryptedArray, right: EncryptedArray) -> float:
    """Key switches of the product by lines, and what else it does as parts of them."""
    stride, (rows, inner) = _stride(left), left.shape
    period = min(power_of_two(rows) * stride, left.context.slots)
    chunks, height = -(-rows * stride // period), period // stride
    column = 1.5 * math.log2(stride) + 2 * math.sqrt(height) + _PLAIN * (height + 1)
    padding = rows * (1 + _PLAIN) if stride != inner else 0.0
    return padding + inner * chunks * column + 3 * _keys(left).size * (right.shape[1] // right._period)


def _cost_by_rotations(left: EncryptedArray, right: EncryptedArray) -> float:
    """The same for a number of the left in every slot of a row of the right: each slot has a mask, and rotations are shared."""
    distances = left._period
    products = left.size * (right.shape[1] // right._period)
    return distances * math.log2(2 * distances) / 2 + products * (_PLAIN * distances + 1)


def _strided(left: EncryptedArray) -> EncryptedArray:
    """The array with a power of two of columns, zeros behind its own."""
    (rows, inner), stride = left.shape, _stride(left)
    if stride == inner:
        return left
    places = np.full((rows, stride), -1, dtype=np.int64)
    places[:, :inner] = np.arange(rows * inner).reshape(rows, inner)
    return gathered(left, places.reshape(-1), (rows, stride))


def _columns(left: EncryptedArray, inner: int) -> list[_native.Ciphertext]:
    """The columns before the padding, as Σ_i X^i·m_ik."""
    rows, stride = left.shape
    period, slots = left._period, left.context.slots
    height = period // stride
    maps: dict[int, Plaintexts] = {}
    columns = []
    for k in range(inner):
        parts = []
        for place, chunk in enumerate(left.ciphertexts):
            own = min(height, rows - place * height)
            spread = _spread(left, chunk, k, own)
            if place not in maps:
                # Once for all columns: they have one level.
                maps[place] = _map(left, spread, place * height, own)
            parts.append(_applied(left._like((), period=slots), spread, maps[place], stride))
        columns.append(reduce(_native.Ciphertext.add, parts))
    known = left._now()
    # A line of a matrix is as large as its entries.
    return narrowed(columns, known.most + known.off)


def _spread(left: EncryptedArray, chunk: _native.Ciphertext, k: int, rows: int) -> _native.Ciphertext:
    """Number k of every row of a ciphertext in all slots of the row before: in turn, so that one mask serves all k."""
    stride, height = left.shape[1], left._period // left.shape[1]
    moved = turned(left, chunk, k + 1)
    mask = np.zeros((height, stride))
    mask[(np.arange(rows) - 1) % height, stride - 1] = 1
    spread = moved.sum_of_plain_products([(moved, left._encoded(mask.reshape(-1), moved, False))])
    step = 1
    while step < stride:
        spread = spread.add(turned(left, spread, step))
        step *= 2
    # Slots have one number or none.
    return spread.bounded_by([chunk])


def _width(height: int) -> int:
    """Baby steps of a map of so many rows."""
    return int(1 << (math.isqrt(height).bit_length() - 1))


def _map(left: EncryptedArray, chunk: _native.Ciphertext, first: int, rows: int) -> Plaintexts:
    """The map of rows ``first`` and on to coefficients: for each giant step, the baby steps and what they are multiplied by."""
    stride, slots = left.shape[1], left.context.slots
    height = left._period // stride
    # Slot j is the value at the root of exponent 5^j.
    exponents = np.ones(slots, dtype=np.int64)
    for j in range(1, slots):
        exponents[j] = exponents[j - 1] * 5 % (4 * slots)
    held = (np.arange(slots) // stride + 1) % height
    found: Plaintexts = {}
    width = _width(height)
    for step in range(height):
        row = (held + step) % height
        values: npt.NDArray[Any] = np.where(row < rows, np.exp(1j * np.pi / (2 * slots) * (exponents * (first + row) % (4 * slots))), 0)
        # Turned back by what the giant steps will turn.
        values = np.roll(values, step // width * width * stride)
        plaintext = encoded(left.context, values, slots, chunk.level)
        found.setdefault(step // width, []).append((step % width, plaintext))
    return found


def _applied(whole: EncryptedArray, chunk: _native.Ciphertext, terms: Plaintexts, stride: int) -> _native.Ciphertext:
    """The map of a ciphertext: baby steps one from the other, giant steps by Horner's rule, so that keys of powers of two suffice."""
    width = len(terms[0])
    babies = [chunk]
    for _ in range(1, width):
        babies.append(turned(whole, babies[-1], stride))
    sums = [chunk.sum_of_plain_products([(babies[step], plaintext) for step, plaintext in terms[giant]]) for giant in sorted(terms, reverse=True)]
    return reduce(lambda total, inner: turned(whole, total, width * stride).add(inner), sums)
