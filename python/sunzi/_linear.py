"""Products of arrays in the sense of ``@``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._encrypted_matrices import by_lines
from ._known import Known
from ._layout import period_of
from ._matrices import by_rows
from ._moves import turned
from ._reduce import less, total, whole_sum
from .errors import ShapeError

if TYPE_CHECKING:
    from ._array import EncryptedArray

Clear = npt.NDArray[Any]
#: Entries of a clear matrix that is put together for two arrays of two dimensions.
_LARGEST = 1 << 26


def matmul(left: EncryptedArray, right: Any) -> EncryptedArray:
    """encrypted @ anything."""
    from ._array import EncryptedArray

    if not isinstance(right, EncryptedArray):
        right = left._numbers(right)
    _check(left.shape, right.shape)
    if left.ndim == 1 and right.ndim == 1:
        return _inner(left, right)
    if left.ndim == 2 and right.ndim == 1:
        return total(left * right, 1)
    if isinstance(right, np.ndarray):
        if left.ndim == 1:
            return _linear(left, right.T)
        _small(left.shape, right.shape)
        whole = np.kron(np.eye(left.shape[0], dtype=right.dtype), right.T)
        return _linear(left.ravel(), whole).reshape(left.shape[0], right.shape[1])
    if left.ndim == 1:
        # Each row times its number.
        return total(right * left.reshape(-1, 1), 0)
    product = by_lines(left, right)
    if product is not None:
        return product
    return total(left.reshape(*left.shape, 1) * right.reshape(1, *right.shape), 1)


def rmatmul(right: EncryptedArray, left: Any) -> EncryptedArray:
    """clear @ encrypted."""
    values = right._numbers(left)
    _check(values.shape, right.shape)
    if values.ndim == 1:
        return _inner(right, values) if right.ndim == 1 else total(right * values.reshape(-1, 1), 0)
    if right.ndim == 1:
        return _linear(right, values)
    product = by_rows(values, right)
    if product is not None:
        return product
    _small(values.shape, right.shape)
    whole = np.kron(values, np.eye(right.shape[1], dtype=values.dtype))
    return _linear(right.ravel(), whole).reshape(values.shape[0], right.shape[1])


def _check(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    if not 1 <= len(left) <= 2 or not 1 <= len(right) <= 2:
        raise ShapeError(f"{left} @ {right}: both must have one or two dimensions")
    if left[-1] != right[0]:
        raise ShapeError(f"{left} @ {right}: the last length of the left must be the first of the right")


def _small(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    if left[0] * left[1] * right[0] * right[1] > _LARGEST:
        raise ShapeError(f"{left} @ {right}: a product of that size is taken row by row")


def _inner(left: EncryptedArray, right: Union[EncryptedArray, Clear]) -> EncryptedArray:
    """Σ a_i·b_i: products are relinearised and rescaled together."""
    if isinstance(right, np.ndarray):
        return whole_sum(left * right)
    a, b, period = left._together(right)
    fills = a._fill_at(period), b._fill_at(period)
    if len(a._chunks) == 1 or fills[0] is None or fills[1] is None:
        return whole_sum(a * b)
    chunk = a._chunks[0].sum_of_products(list(zip(a._chunks, b._chunks)), a._need_keys().evaluation)
    divisor, dtype = a._divisor * b._divisor, np.result_type(a._dtype, b._dtype)
    known = a._times(b)
    summed = whole_sum(a._like([chunk], shape=(period,), period=period, fill=0, divisor=divisor, dtype=dtype, known=known))
    summed = summed._like(summed._chunks, fill=summed._fill, known=known.repeated(a.size))
    share = (period * len(a._chunks) - a.size) * fills[0] * fills[1]
    return less(summed, share) if share else summed


def _linear(vector: EncryptedArray, matrix: Clear) -> EncryptedArray:
    """matrix @ vector, ciphertext by ciphertext."""
    context, (rows, columns) = vector.context, matrix.shape
    source = vector._period
    period = max(source, period_of(context, rows))
    shaped = vector._like((), period=period)
    chunks = []
    for top in range(0, rows, period):
        result: _native.Ciphertext | None = None
        for i, chunk in enumerate(vector._chunks):
            block = matrix[top : top + period, i * source : (i + 1) * source]
            padded = np.zeros((period, source), dtype=matrix.dtype)
            padded[: block.shape[0], : block.shape[1]] = block
            # Where a source has two rows, numbers of the other one come by a swap.
            rowed = not context.is_real and source > context._row
            for swapped in (False, True) if rowed else (False,):
                diagonals = _diagonals(padded, context._row if not context.is_real else period, swapped, rowed)
                if not diagonals and not (result is None and i == len(vector._chunks) - 1 and swapped == rowed):
                    continue
                moved = chunk.swap(vector._need_keys().evaluation) if swapped else chunk
                part = _by_diagonals(vector, shaped, moved, diagonals or {0: np.zeros(period, dtype=matrix.dtype)})
                result = part if result is None else result.add(part)
        if result is None:
            raise ShapeError("a matrix without rows")
        chunks.append(result)
    dtype = np.result_type(vector._dtype, matrix.dtype) if context.is_real else vector._dtype
    ours, _ = vector._both(Known(), matrix.dtype)
    return vector._like(chunks, shape=(rows,), period=period, fill=0, dtype=dtype, known=ours.combined(matrix))


def _diagonals(padded: Clear, row: int, swapped: bool, rowed: bool) -> dict[int, Clear]:
    """What each rotation of the source is multiplied by, of those that are not 0: entry s belongs to slot s of the target."""
    period, source = padded.shape
    places = np.arange(period)
    turn = min(source, row)
    offset: Clear = np.zeros(period, dtype=np.int64)
    if rowed:
        offset = (places // row ^ int(swapped)) * row
    found = {}
    for d in range(turn):
        diagonal = padded[places, offset + (places % row + d) % turn]
        if diagonal.any():
            found[d] = diagonal
    return found


def _by_diagonals(
    vector: EncryptedArray, shaped: EncryptedArray, chunk: _native.Ciphertext, diagonals: dict[int, Clear]
) -> _native.Ciphertext:
    """Baby steps and giant steps that take the keys of powers of two alone, by Horner's rule."""
    width = 1 << math.isqrt(len(diagonals)).bit_length() - 1
    babies = _babies(vector, chunk, sorted({d % width for d in diagonals}))
    row = shaped._period if vector.context.is_real else min(shaped._period, vector.context._row)
    result: _native.Ciphertext | None = None
    last = 0
    for giant in sorted({d // width for d in diagonals}, reverse=True):
        terms = []
        for d in range(giant * width, (giant + 1) * width):
            if d in diagonals:
                baby = babies[d - giant * width]
                # Turned back by what the giant steps will turn.
                values = np.roll(diagonals[d].reshape(-1, row), giant * width, axis=1).reshape(-1)
                terms.append((baby, shaped._encoded(values, baby, False)))
        inner = terms[0][0].sum_of_plain_products(terms)
        if result is not None:
            inner = turned(shaped, result, (last - giant) * width).add(inner)
        result, last = inner, giant
    if result is None:
        raise ShapeError("a matrix without rows")
    return turned(shaped, result, last * width)


def _babies(vector: EncryptedArray, chunk: _native.Ciphertext, steps: list[int]) -> dict[int, _native.Ciphertext]:
    """The ciphertext turned by each step: at once where there are keys, else one from the other."""
    if steps == [0]:
        return {0: chunk}
    keys, native = vector._need_keys(), vector.context.lowlevel
    if all(native.rotation_exponent(step) in keys.exponents for step in steps if step):
        return dict(zip(steps, chunk.rotate_many(steps, keys.evaluation)))
    found, last = {}, 0
    for step in steps:
        chunk = turned(vector, chunk, step - last)
        found[step], last = chunk, step
    return found
