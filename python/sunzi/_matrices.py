"""Products of clear matrices with encrypted ones whose rows have ciphertexts of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt

from . import _native

if TYPE_CHECKING:
    from ._array import EncryptedArray

Clear = npt.NDArray[Any]
#: Integers of this size times encrypted real numbers are exact, and take no level.
_INTEGER = 2.0**31


def by_rows(left: Clear, right: EncryptedArray) -> Optional[EncryptedArray]:
    """clear @ encrypted without any rotation or key, where each row of ``right`` fills ciphertexts of its own; else None.

    The matrix acts across ciphertexts: row i of the product is the sum of left[i, k] times row k, for all numbers of a row at once.
    """
    context, (rows, inner), columns = right.context, left.shape, right.shape[1]
    chunks = right.ciphertexts
    per_row, rest = divmod(columns, right._period)
    if rest or len(chunks) != inner * per_row or not all(type(chunk) is _native.Ciphertext for chunk in chunks):
        return None
    matrix = _prepared(left, right)
    if matrix is None:
        return None
    parts = [matrix.multiply(chunks[part::per_row]) for part in range(per_row)]
    products = [parts[part][i] for i in range(rows) for part in range(per_row)]
    dtype = np.result_type(right._dtype, left.dtype) if context.is_real else right._dtype
    ours, _ = right._both(right._now(), left.dtype)
    return right._like(products, shape=(rows, columns), fill=0, dtype=dtype, known=ours.combined(left))


def _prepared(left: Clear, right: EncryptedArray) -> Optional[_native.PlainMatrix]:
    context = right.context
    if left.dtype.kind == "c" or left.dtype == object or right._divisor != 1:
        return None
    if not context.is_real:
        return _native.PlainMatrix.of_integers(context.lowlevel, np.ascontiguousarray(left, dtype=np.int64))
    integers = (left == np.rint(left)).all() and float(np.abs(left).max(initial=0)) < _INTEGER
    if integers:
        return _native.PlainMatrix.of_integers(context.lowlevel, left.astype(np.int64))
    level = right.level
    return None if level is None else _native.PlainMatrix.of_reals(context.lowlevel, np.ascontiguousarray(left, dtype=np.float64), level)
