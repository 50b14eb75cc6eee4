"""Results across the integers of an encrypted array: sums, extremes and their places, order statistics, ranks, sorting."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from . import _native
from ._packed import OfIntegers
from .errors import Operand, ShapeError

Self = TypeVar("Self", bound="Rows")
_PLACES: np.dtype[Any] = np.dtype(np.uint16)


class Rows(OfIntegers):
    """What encrypted integers have across an array: every result is exact, also where integers are equal. Arrays have at most as many integers as slots."""

    __slots__ = ()

    _batches: tuple[_native.IntegerBatch, ...]
    _dtype: np.dtype[Any]
    _refuse: bool

    def _across(self, operation: str, k: int = 0) -> list[_native.IntegerBatch]:
        slots = self._context.slots
        if self.size > slots:
            raise ShapeError(f"{operation} of {self.size} encrypted integers: at most {slots} are in the slots of one ciphertext, encrypt fewer")
        return self._evaluator(self._refuse).rows(operation, self._batches[0], k)

    def _shaped(self: Self, batch: _native.IntegerBatch, shape: Sequence[int], dtype: np.dtype[Any]) -> Self:
        made: Self = self._make(self._context, [batch], tuple(shape), dtype, self._keys, self._refuse)  # type: ignore[attr-defined]
        return made

    def _one(self: Self, operation: str, k: int = 0) -> Self:
        return self._shaped(self._across(operation, k)[0], (), self._dtype)

    def sum(self: Self) -> Self:
        """The sum of all integers, of the same dtype: it wraps around, or is refused where the bounds do not keep to the dtype."""
        return self._one("sum")

    def min(self: Self) -> Self:
        """The least of all integers."""
        return self._one("min")

    def max(self: Self) -> Self:
        """The greatest of all integers."""
        return self._one("max")

    def kth(self: Self, k: int) -> Self:
        """The integer that k others are before in ascending order: 0 is the least, -1 the greatest.

        >>> ages = keys.encrypt_integers(np.array([41, 7, 65], dtype=np.uint8))      # doctest: +SKIP
        >>> int(keys.decrypt_integers(ages.kth(1)))                                  # doctest: +SKIP
        41
        """
        place = operator.index(k)
        if not -self.size <= place < self.size:
            raise Operand(f"the integer at place {place} of {self.size}: give 0 to {self.size - 1}, or -{self.size} to -1 from the greatest")
        return self._one("kth", place % self.size)

    def median_low(self: Self) -> Self:
        """The median of all integers, the lower one of two in the middle."""
        return self.kth((self.size - 1) // 2)

    def argmin(self: Self) -> Self:
        """The place of the first of the least integers, counted as in ``reshape(-1)``: of dtype uint16, for at most half as many integers as slots."""
        return self._shaped(self._across("argmin")[1], (), _PLACES)

    def argmax(self: Self) -> Self:
        """The place of the first of the greatest integers, counted as in ``reshape(-1)``: of dtype uint16, for at most half as many integers as slots."""
        return self._shaped(self._across("argmax")[1], (), _PLACES)

    def sorted(self: Self) -> Self:
        """The integers of an array of one dimension in ascending order. The work grows with the square of their number."""
        self._in_line("sorting")
        return self._shaped(self._across("sort")[0], self._shape, self._dtype)

    def ranks(self: Self) -> Self:
        """How many integers of an array of one dimension come before each in ascending order, of dtype uint16; of equal ones the first comes first."""
        self._in_line("ranks")
        return self._shaped(self._across("ranks")[0], self._shape, _PLACES)

    def _in_line(self, what: str) -> None:
        if len(self._shape) != 1:
            raise ShapeError(f"{what} of an array of shape {self._shape}: it must have one dimension")
