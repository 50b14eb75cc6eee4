"""Encrypted conditions: what comparisons of encrypted integers give, and what chooses among integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt

from . import _native
from ._context import Context
from ._packed import OfIntegers, counts_of, evaluator_of
from ._stored import Owner, conditions_bytes, read_conditions
from ._wire import Bytes

if TYPE_CHECKING:
    from ._integers import Choice, IntegerArray
    from ._keys import PublicKeys


class ConditionArray(OfIntegers):
    """An array of conditions under encryption, each true or false: results of comparisons of an ``IntegerArray``.

    ``~`` costs nothing, ``& | ^ == !=`` with other conditions of its shape take one look-up. ``where`` chooses among integers.

    >>> low = x < 10                                              # doctest: +SKIP
    >>> keys.decrypt_conditions(low & ~(x == y))                  # doctest: +SKIP
    array([ True, False,  True])
    """

    __slots__ = ("_chunks",)

    _chunks: tuple[_native.Ciphertext, ...]

    def __init__(self) -> None:
        raise TypeError("make conditions by comparisons of encrypted integers, as x < 10")

    @classmethod
    def _make(cls, context: Context, chunks: Sequence[_native.Ciphertext], shape: tuple[int, ...], keys: PublicKeys | None) -> ConditionArray:
        array = cls.__new__(cls)
        array._context, array._chunks, array._shape, array._keys = context, tuple(chunks), shape, keys
        return array

    @property
    def dtype(self) -> np.dtype[Any]:
        """What its conditions are when they are opened."""
        return np.dtype(np.bool_)

    @property
    def ciphertexts(self) -> tuple[_native.Ciphertext, ...]:
        """The ciphertexts it is made of: each has as many conditions as the ring degree."""
        return self._chunks

    def with_keys(self, keys: PublicKeys) -> ConditionArray:
        """The same conditions, computing with these keys."""
        return ConditionArray._make(self._context, self._chunks, self._shape, keys)

    def __repr__(self) -> str:
        return f"<sunzi.ConditionArray {self._shape}, {len(self._chunks)} ciphertexts>"

    # Bytes.

    def to_bytes(self) -> bytes:
        """The conditions in bytes that anybody may read by ``from_bytes``: ciphertexts as files of the wire format, after the shape. No key is in them, and no
        pickle."""
        return conditions_bytes(self)

    @classmethod
    def from_bytes(cls, data: Bytes, owner: Owner) -> ConditionArray:
        """From the bytes of ``to_bytes``, which may come from anybody. What ``IntegerArray.from_bytes`` says of keys and of damaged bytes holds here."""
        return read_conditions(data, owner)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_conditions, (self.to_bytes(), self._context)

    # Operators.

    def _counts(self) -> list[int]:
        return counts_of(self._context, self.size)

    def _other(self, other: Any) -> ConditionArray:
        if not isinstance(other, ConditionArray):
            raise TypeError(f"encrypted conditions with {type(other).__name__}: give encrypted conditions, as x < 10 is")
        self._beside(other)
        return other

    def _like(self, chunks: Sequence[_native.Ciphertext]) -> ConditionArray:
        return ConditionArray._make(self._context, chunks, self._shape, self._keys)

    def __invert__(self) -> ConditionArray:
        evaluator = self._evaluator()
        return self._like([evaluator.not_of(a, count) for a, count in zip(self._chunks, self._counts())])

    def __and__(self, other: Any) -> ConditionArray:
        right, evaluator = self._other(other), self._evaluator()
        return self._like([evaluator.and_of(a, b, count) for a, b, count in zip(self._chunks, right._chunks, self._counts())])

    def __or__(self, other: Any) -> ConditionArray:
        right, evaluator = self._other(other), self._evaluator()
        return self._like([evaluator.or_of(a, b, count) for a, b, count in zip(self._chunks, right._chunks, self._counts())])

    def __xor__(self, other: Any) -> ConditionArray:
        right, evaluator = self._other(other), self._evaluator()
        return self._like([evaluator.xor_of(a, b, count) for a, b, count in zip(self._chunks, right._chunks, self._counts())])

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __ne__(self, other: Any) -> ConditionArray:  # type: ignore[override]
        return self.__xor__(other)

    def __eq__(self, other: Any) -> ConditionArray:  # type: ignore[override]
        return ~self.__xor__(other)

    # Choice.

    def where(self, a: Choice, b: Choice, *, dtype: Optional[npt.DTypeLike] = None) -> IntegerArray:
        """Integers of ``a`` where the condition holds, else those of ``b``: encrypted integers of the shape of the conditions, or clear ones that broadcast to it. If
        both are clear, ``dtype`` says what they are. It takes no look-up, and a clear 0 in the place of one of them takes half of the work.

        >>> (x < y).where(x, 0)                                   # doctest: +SKIP
        <sunzi.IntegerArray (3,) of uint8 from 0 to 255, 2 ciphertexts>
        """
        from ._integers import chosen

        return chosen(self, a, b, dtype)

    def sum(self) -> IntegerArray:
        """How many conditions hold, of dtype uint16, for at most as many conditions as slots."""
        from ._integers import counted

        return counted(self)


def where(condition: ConditionArray, a: Choice, b: Choice, *, dtype: Optional[npt.DTypeLike] = None) -> IntegerArray:
    """Integers of ``a`` where an encrypted condition holds, else those of ``b``: see ``ConditionArray.where``. ``np.where`` has clear conditions."""
    if not isinstance(condition, ConditionArray):
        raise TypeError(f"a choice by {type(condition).__name__}: give encrypted conditions, as x < 10 is; np.where chooses by clear ones")
    return condition.where(a, b, dtype=dtype)


def conditions_decrypted(array: ConditionArray, secret: _native.SecretKey, keys: PublicKeys) -> npt.NDArray[np.bool_]:
    """All conditions; noise that may have turned one over is refused."""
    evaluator = evaluator_of(array._context, keys)
    parts = [evaluator.decrypt_conditions(a, count, secret) for a, count in zip(array._chunks, array._counts())]
    return np.concatenate(parts).reshape(array._shape)
