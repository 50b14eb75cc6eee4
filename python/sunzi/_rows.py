"""Results across the integers of an encrypted array: sums, extremes and their places, order statistics, ranks, sorting."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._packed import OfIntegers
from .errors import Operand, ShapeError

Self = TypeVar("Self", bound="Rows")
_PLACES: np.dtype[Any] = np.dtype(np.uint16)
#: A share of all integers: a number from 0 to 1.
Share = Union[float, Fraction, np.floating[Any]]
#: Which integer a quantile is that lies between two of them, by the names of numpy.
Method = Literal["linear", "lower", "higher", "nearest", "inverted_cdf"]


class Rows(OfIntegers):
    """What encrypted integers have across an array: every result is exact, also where integers are equal. Arrays have at most as many integers as slots."""

    __slots__ = ()

    _batches: tuple[_native.IntegerBatch, ...]
    _dtype: np.dtype[Any]
    _refuse: bool

    def _across(self, operation: str, k: int = 0) -> list[_native.IntegerBatch]:
        self._in_one(operation)
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

    def quantile(self: Self, q: Union[Share, Sequence[Share], npt.NDArray[np.floating[Any]]], *, method: Method = "linear") -> Self:
        """The integer that a share q of all come before, from 0 to 1, or one for each share of a list: an array of the shape of ``q``.

        With n integers it is at place (n - 1)·q in ascending order, as in the language of programs and as ``np.quantile`` has it with the same ``method``. A
        place between two integers is refused by ``"linear"``, the default, since results are integers: ``"lower"`` and ``"higher"`` are the integers
        on either side, ``"nearest"`` the one of them that is nearer, and of two equally near ones that at the even place. ``"inverted_cdf"`` is the least
        integer that at least a share q of all keep to. A share counts as it is written in decimals, so that 0.29 of 101 integers is place 29.

        >>> ages = keys.encrypt_integers(np.array([41, 7, 65], dtype=np.uint8))      # doctest: +SKIP
        >>> int(keys.decrypt_integers(ages.quantile(0.5)))                           # doctest: +SKIP
        41
        >>> keys.decrypt_integers(ages.quantile([0.1, 0.9], method="lower"))         # doctest: +SKIP
        array([ 7, 41], dtype=uint8)
        """
        shares = np.asarray(q, dtype=object)
        places = [_place(_share(share), self.size, method) for share in shares.reshape(-1)]
        return self._at_places(places, shares.shape)

    def top(self: Self, k: int, *, largest: bool = True) -> Self:
        """The k greatest integers in descending order, or with ``largest=False`` the k least ones in ascending order: an array of shape (k,).

        >>> ages = keys.encrypt_integers(np.array([41, 7, 65], dtype=np.uint8))      # doctest: +SKIP
        >>> keys.decrypt_integers(ages.top(2))                                       # doctest: +SKIP
        array([65, 41], dtype=uint8)
        """
        count = operator.index(k)
        if not 1 <= count <= self.size:
            raise Operand(f"the first {count} of {self.size} integers in order: give 1 to {self.size}")
        places = range(self.size - 1, self.size - 1 - count, -1) if largest else range(count)
        return self._at_places(list(places), (count,))

    def _at_places(self: Self, places: list[int], shape: tuple[int, ...]) -> Self:
        """The integers at places in ascending order."""
        slots = self._context.slots
        if not 1 <= len(places) <= slots:
            raise ShapeError(f"{len(places)} integers by their places: give 1 to {slots}, as many as are in the slots of one ciphertext")
        if len(shape) == 0:
            return self.kth(places[0])
        self._in_one("order")
        return self._shaped(self._evaluator(self._refuse).at_places(self._batches[0], places), shape, self._dtype)

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

    def _in_one(self, operation: str) -> None:
        slots = self._context.slots
        if self.size > slots:
            raise ShapeError(f"{operation} of {self.size} encrypted integers: at most {slots} are in the slots of one ciphertext, encrypt fewer")

    def _in_line(self, what: str) -> None:
        if len(self._shape) != 1:
            raise ShapeError(f"{what} of an array of shape {self._shape}: it must have one dimension")


def _share(share: Any) -> Fraction:
    """A share as it is written: the nearest double of 0.29 is not 0.29."""
    if isinstance(share, (bool, np.bool_)) or not isinstance(share, (int, float, Fraction, np.integer, np.floating)):
        raise TypeError(f"a quantile of {type(share).__name__}: give a share from 0 to 1")
    number = share if isinstance(share, Fraction) else Fraction(str(share)) if math.isfinite(share) else Fraction(-1)
    if not 0 <= number <= 1:
        raise Operand(f"a quantile of the share {share}: give one from 0, which is the least integer, to 1, which is the greatest")
    return number


def _place(share: Fraction, size: int, method: str) -> int:
    """The place of a quantile in ascending order."""
    place = share * (size - 1)
    if method == "lower":
        return math.floor(place)
    if method == "higher":
        return math.ceil(place)
    if method == "nearest":
        return round(place)
    if method == "inverted_cdf":
        return max(math.ceil(share * size) - 1, 0)
    if method != "linear":
        raise ValueError(f'a quantile by the method {method!r}: take "linear", "lower", "higher", "nearest" or "inverted_cdf"')
    if place.denominator != 1:
        where = f"between those at places {math.floor(place)} and {math.ceil(place)}"
        raise Operand(f'a quantile of {size} integers that lies {where}: take method="lower" or "higher", or decrypt both and take the part of their distance')
    return int(place)
