"""What is known of the numbers of an array without opening it: where they lie, and how far approximations took them from the truth.

Ends of intervals are rounded outward, and not at all where a sum or a product is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

#: Above these, and below their inverses, products are not split to see whether they are exact.
_LARGE = 2.0**400
_SPLIT = 2.0**27 + 1
#: What covers the roundings of a bound that was computed in some steps.
_UP = 1 + 2.0**-49

Interval = tuple[float, float]

#: Who looks after integers that may wrap around: whoever computes, by their bounds; nobody, since others encrypted them and declared none; nobody, and a product
#: was made of such; the plan that they were encrypted for.
BOUNDS, UNDECLARED, GROWN, PLANNED = range(4)


class Known(NamedTuple):
    """Bounds on the numbers that a program asks for: each lies between ``low`` and ``high``; numbers of complex arrays have absolute values of at most the
    larger of the two. What stands in the ciphertexts, but for noise, is off from them by at most ``off``."""

    low: float = -math.inf
    high: float = math.inf
    off: float = 0.0
    #: Why ``off`` does not hold; then it counts what was proved alone.
    unproved: Optional[str] = None
    #: Between what the numbers lie by what this process saw of integers that were encrypted without declared bounds. It tells of secret numbers: it is never
    #: shown, and in no bytes.
    seen: Optional[Interval] = None
    #: Who looks after integers that may wrap around.
    watch: int = BOUNDS

    @property
    def most(self) -> float:
        """A bound on absolute values."""
        return max(abs(self.low), abs(self.high))

    @property
    def range(self) -> Interval:
        """Between what the numbers lie: by what was seen, else by what is told to all. Infinite where nobody knows."""
        return (self.low, self.high) if self.seen is None else self.seen

    def _seen_with(self, other: Known, combine: Callable[[Interval, Interval], Interval]) -> Optional[Interval]:
        """What is seen of numbers made of two, if something is known of both."""
        if self.seen is None and other.seen is None:
            return None
        ours, theirs = self.range, other.range
        return combine(ours, theirs) if all(map(math.isfinite, ours + theirs)) else None

    def _seen_as(self, change: Callable[[Interval], Interval]) -> Optional[Interval]:
        return None if self.seen is None else change(self.seen)

    def _watched_with(self, other: Known, product: bool = False) -> int:
        """Who looks after numbers made of two."""
        if not (self.watch or other.watch):
            return BOUNDS
        if PLANNED in (self.watch, other.watch):
            return PLANNED
        for one, factor in ((self, other), (other, self)):
            if one.watch and not factor.watch:
                if not math.isfinite(factor.range[0] + factor.range[1]):
                    # Wrapping was asked for.
                    return BOUNDS
                # What is multiplied by 0, by 1 or by −1 grows no larger.
                return GROWN if product and max(map(abs, factor.range)) > 1 else one.watch
        return GROWN if product or GROWN in (self.watch, other.watch) else UNDECLARED

    def either(self, other: Known) -> Known:
        """What is known of numbers of which each is one of these or one of those."""
        low, high, off = min(self.low, other.low), max(self.high, other.high), max(self.off, other.off)
        seen = self._seen_with(other, lambda a, b: (min(a[0], b[0]), max(a[1], b[1])))
        return Known(low, high, off, self.unproved or other.unproved, seen, self._watched_with(other))

    def symmetric(self) -> Known:
        """What remains known of absolute values alone."""
        return self._replace(low=-self.most, high=self.most)

    def within(self, low: float, high: float) -> Known:
        """What is known where numbers lie between these ends besides."""
        least, most = max(self.low, low), min(self.high, high)
        if least > most:
            # Two bounds that both hold may miss each other by roundings.
            return self
        told = self.watch == UNDECLARED and math.isfinite(least) and math.isfinite(most)
        return self._replace(low=least, high=most, watch=BOUNDS if told else self.watch)

    def planned(self) -> Known:
        """What is known of integers of which a plan looks after the results: what wraps around in between wraps back."""
        return self._replace(watch=PLANNED)

    def settled(self, most: float) -> Known:
        """What is known of results that a plan found to be no larger than this."""

        def cut(ends: Interval) -> Interval:
            low, high = max(ends[0], -most), min(ends[1], most)
            return (low, high) if low <= high else (-most, most)

        low, high = cut((self.low, self.high))
        return self._replace(low=low, high=high, seen=self._seen_as(cut), watch=BOUNDS)

    def widened(self, by: float) -> Known:
        """What is known of numbers that are off by so much more."""
        return self._replace(off=(self.off + by) * _UP if by else self.off)

    def doubted(self, reason: Optional[str]) -> Known:
        """What is known of numbers whose errors are not proved for a reason; the first reason stays."""
        return self if reason is None or self.unproved is not None else self._replace(unproved=reason)

    def negated(self) -> Known:
        """What is known of −x."""
        return self._replace(low=-self.high, high=-self.low, seen=self._seen_as(lambda a: (-a[1], -a[0])))

    def plus(self, other: Known) -> Known:
        """What is known of x + y."""
        off = (self.off + other.off) * _UP if self.off and other.off else self.off + other.off
        seen = self._seen_with(other, lambda a, b: (added(a[0], b[0], -1), added(a[1], b[1], 1)))
        watch = self._watched_with(other)
        return Known(added(self.low, other.low, -1), added(self.high, other.high, 1), off, self.unproved or other.unproved, seen, watch)

    def minus(self, other: Known) -> Known:
        """What is known of x − y."""
        return self.plus(other.negated())

    def times(self, other: Known) -> Known:
        """What is known of x·y, by |ab − xy| ≤ |a − x|·|b| + |x|·|b − y|."""
        off = 0.0
        if self.off or other.off:
            off = (safe(self.off, other.most + other.off) + safe(self.most, other.off)) * _UP
        low, high = product(self.low, self.high, other.low, other.high)
        seen = self._seen_with(other, lambda a, b: product(*a, *b))
        return Known(low, high, off, self.unproved or other.unproved, seen, self._watched_with(other, product=True))

    def squared(self) -> Known:
        """What is known of x² for real x."""
        squares = self.times(self)
        seen = self._seen_as(lambda a: (_least_square(*a), max(product(*a, *a)[1], 0.0)))
        return squares._replace(low=_least_square(self.low, self.high), seen=seen)

    def divided(self, divisor: float) -> Known:
        """What is known of x/d."""
        if not divisor:
            return Known(off=math.inf if self.off else 0.0, unproved=self.unproved, watch=self.watch)
        known, size = self if divisor > 0 else self.negated(), abs(divisor)
        low, high = quotient(known.low, size, -1), quotient(known.high, size, 1)
        seen = known._seen_as(lambda a: (quotient(a[0], size, -1), quotient(a[1], size, 1)))
        return Known(low, high, self.off / size * _UP, self.unproved, seen, self.watch)

    def repeated(self, count: int) -> Known:
        """What is known of a sum of so many numbers, each of them as this one."""
        low, high = multiplied(self.low, float(count), -1), multiplied(self.high, float(count), 1)
        seen = self._seen_as(lambda a: (multiplied(a[0], float(count), -1), multiplied(a[1], float(count), 1)))
        return Known(low, high, self.off * count * _UP, self.unproved, seen, self.watch)

    def combined(self, weights: npt.NDArray[Any]) -> Known:
        """What is known of the sums Σ w_j·x_j for the rows of a matrix of weights, where each x_j is as this one."""
        if np.iscomplexobj(weights):
            weights, known = np.abs(weights), self.symmetric()
        else:
            weights, known = weights.astype(np.float64), self
        if known.seen is not None:
            seen = Known(*known.seen).combined(weights)
            return known._replace(seen=None).combined(weights)._replace(seen=(seen.low, seen.high))
        watch = self.watch
        if not math.isfinite(known.most):
            # Weights of 0, 1 and −1 make sums, others products.
            grown = watch == UNDECLARED and weights.size and float(np.abs(weights).max()) > 1
            return Known(off=0.0 if not self.off else math.inf, unproved=self.unproved, watch=GROWN if grown else watch)
        up, down = np.maximum(weights, 0).sum(axis=1), np.minimum(weights, 0).sum(axis=1)
        low, high = up * known.low + down * known.high, up * known.high + down * known.low
        total = float((up - down).max())
        # Sums of roundings, unless there are none: numbers of few bits.
        slop = 0.0 if _short(weights, known) else (weights.shape[1] + 4) * 2.0**-52 * total * known.most
        return Known(float(low.min()) - slop, float(high.max()) + slop, total * self.off * _UP * _UP, self.unproved, watch=watch)


def _least_square(low: float, high: float) -> float:
    """A lower bound on the squares of numbers between these."""
    least = min(abs(low), abs(high))
    return max(multiplied(least, least, -1), 0.0) if low > 0 or high < 0 else 0.0


def _short(weights: npt.NDArray[Any], known: Known) -> bool:
    """Whether sums of products with these ends are exact in doubles: both are multiples of 2^-12, and not large."""
    numbers = np.append(np.abs(weights).reshape(-1), [abs(known.low), abs(known.high)])
    total = float(np.abs(weights).sum()) * max(known.most, 1.0)
    return total < 2.0**28 and bool((numbers * 4096 == np.rint(numbers * 4096)).all())


def of_numbers(values: npt.NDArray[Any]) -> Known:
    """Bounds on clear numbers."""
    if values.dtype.kind == "c":
        most = float(np.abs(values).max(initial=0.0)) * _UP
        return Known(-most, most)
    if values.size == 1:
        one = values.item()
        return _of_one(one)
    if values.dtype.kind == "O":
        flat = [_of_one(value) for value in values.reshape(-1)]
        return Known(min(one.low for one in flat), max(one.high for one in flat))
    return _of_one(values.min().item())._replace(high=_of_one(values.max().item()).high)


def _of_one(value: Any) -> Known:
    """Integers may be wider than doubles."""
    try:
        number = float(value)
    except OverflowError:
        return Known()
    if number == value:
        return Known(number, number)
    return Known(math.nextafter(number, -math.inf), math.nextafter(number, math.inf))


def safe(a: float, b: float) -> float:
    """The product of two bounds, where 0 times anything is 0."""
    return a * b if a and b else 0.0


def added(a: float, b: float, side: int) -> float:
    """a + b, rounded down or up."""
    total = a + b
    if not math.isfinite(total):
        return side * math.inf
    other = total - a
    rest = (a - (total - other)) + (b - other)
    return total if rest * side <= 0 else math.nextafter(total, side * math.inf)


def multiplied(a: float, b: float, side: int) -> float:
    """a·b, rounded down or up."""
    if a == 0 or b == 0:
        return 0.0
    found = a * b
    if not math.isfinite(found):
        # Of infinite ends the sign tells; a finite product that overflows is bounded by the largest double on its near side.
        return found if math.isinf(found) and (found > 0) == (side > 0) else _near(a, b, side)
    if not (1 / _LARGE < abs(found) < _LARGE and abs(a) < _LARGE and abs(b) < _LARGE):
        return math.nextafter(found, side * math.inf)
    rest = _rest(a, b, found)
    return found if rest * side <= 0 else math.nextafter(found, side * math.inf)


def quotient(a: float, b: float, side: int) -> float:
    """a/b for b > 0, rounded down or up."""
    found = a / b
    exact = math.isinf(found) or multiplied(found, b, -1) == a == multiplied(found, b, 1)
    return found if exact else math.nextafter(found, side * math.inf)


def _near(a: float, b: float, side: int) -> float:
    if math.isinf(a) or math.isinf(b):
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return -side * 1.7976931348623157e308


def _rest(a: float, b: float, found: float) -> float:
    """a·b − found, exactly, after Veltkamp and Dekker."""
    a_high = a * _SPLIT - (a * _SPLIT - a)
    b_high = b * _SPLIT - (b * _SPLIT - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - found) + a_high * b_low + a_low * b_high) + a_low * b_low


def product(a_low: float, a_high: float, b_low: float, b_high: float) -> tuple[float, float]:
    """Between what products of numbers of two intervals lie."""
    if a_low >= 0 and b_low >= 0:
        return multiplied(a_low, b_low, -1), multiplied(a_high, b_high, 1)
    if a_low == -a_high and b_low == -b_high:
        most = multiplied(a_high, b_high, 1)
        return -most, most
    pairs = ((a_low, b_low), (a_low, b_high), (a_high, b_low), (a_high, b_high))
    found = [safe(a, b) for a, b in pairs]
    least, most = min(found), max(found)
    # Rounding keeps order: only the products that are least, or largest, when rounded may be so when exact.
    low = min(multiplied(*pair, -1) for pair, value in zip(pairs, found) if value == least)
    return low, max(multiplied(*pair, 1) for pair, value in zip(pairs, found) if value == most)
