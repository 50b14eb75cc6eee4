"""Encrypted arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _linear, _native, _reduce
from ._bootstrap import bootstrapped
from ._context import Context
from ._encoding import Bounds, checked_bounds, encoded, narrowed
from ._facts import Facts, Fill, Shape
from ._functions import Function
from ._known import Known, of_numbers, safe
from ._layout import as_flat, broadcast_index, joint, period_of, power_of_two, signed
from ._moves import compacted, gathered, turned
from ._numpy import NumpyProtocol
from ._schemes import Schemes
from ._stored import Owner, array_bytes, read_array
from ._wire import Bytes
from .errors import MissingKey, NotFinite, OutsideBounds, RangeExceeded, ShapeError, WrongScheme

if TYPE_CHECKING:
    from ._keys import PublicKeys

Axis = Union[int, tuple[int, ...], None]


class EncryptedArray(Facts, NumpyProtocol, Schemes):
    """An array of any shape under encryption, over as many ciphertexts as it takes.

    ``+ - *`` take other encrypted arrays, numpy arrays and numbers, and broadcast; ``@``, ``**``, ``[]``, ``sum``, ``mean``, ``var``,
    ``rotate``, ``polyval`` and ``apply`` do what their names say. Arrays are never changed: each operation makes a new one. Functions of numpy work
    on them, or raise a ``TypeError`` that says what to do instead.
    """

    __slots__ = ("_chunks", "_context", "_divisor", "_dtype", "_fill", "_keys", "_known", "_period", "_shape")

    def __init__(self) -> None:
        raise TypeError("make encrypted arrays with Keys.encrypt or PublicKeys.encrypt")

    @classmethod
    def _make(
        cls,
        context: Context,
        chunks: Sequence[_native.Ciphertext],
        shape: Shape,
        period: int,
        fill: Fill,
        dtype: np.dtype[Any],
        keys: PublicKeys | None,
        divisor: int = 1,
        known: Known = Known(),  # noqa: B008
    ) -> EncryptedArray:
        array = cls.__new__(cls)
        array._context, array._chunks, array._shape, array._period = context, tuple(chunks), shape, period
        array._fill, array._dtype, array._keys, array._divisor, array._known = fill, dtype, keys, divisor, known
        return array

    def _like(
        self,
        chunks: Sequence[_native.Ciphertext],
        *,
        shape: Shape | None = None,
        period: int | None = None,
        fill: Fill = None,
        dtype: np.dtype[Any] | None = None,
        divisor: int | None = None,
        known: Known | None = None,
    ) -> EncryptedArray:
        """An array of other ciphertexts; what is known of the numbers stays unless given, as where numbers only move."""
        if known is not None and not self._context.is_real:
            self._refuse_wrap(known, self._divisor if divisor is None else divisor)
        return EncryptedArray._make(
            self._context,
            chunks,
            self._shape if shape is None else shape,
            self._period if period is None else period,
            fill,
            self._dtype if dtype is None else dtype,
            self._keys,
            self._divisor if divisor is None else divisor,
            self._known if known is None else known,
        )

    # What it computes with.

    @property
    def keys(self) -> PublicKeys | None:
        """The keys it computes with; none after it was unpickled, or read for a context alone: see ``with_keys``."""
        return self._keys

    def with_keys(self, keys: PublicKeys) -> EncryptedArray:
        """The same array, computing with these keys."""
        array = self._like(self._chunks, fill=self._fill)
        array._keys = keys
        return array

    def _need_keys(self) -> PublicKeys:
        if self._keys is None:
            raise MissingKey("the array has no keys to compute with, as after it was read for a context alone: give it some by with_keys(keys.public)")
        return self._keys

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("an array of no dimension has no length")
        return self._shape[0]

    # Copies and bytes.

    def to_bytes(self) -> bytes:
        """The array in bytes that anybody may read by ``from_bytes``: its ciphertexts as files of the wire format, after its shape, where its numbers stand, what
        was declared of them and of their errors. No key is in them, and no pickle."""
        return array_bytes(self)

    @classmethod
    def from_bytes(cls, data: Bytes, owner: Owner, *, bounds: Optional[Bounds] = None) -> EncryptedArray:
        """From the bytes of ``to_bytes``, which may come from anybody. They must belong to these keys (``Keys`` or ``PublicKeys``), which the array then computes
        with, or to this context. Bytes of other keys are ``errors.Key``, of other parameters ``errors.Parameters``, and damaged ones another ``errors.FormatError``.

        What the bytes say of the numbers, of noise and of errors is what their sender says. ``bounds`` promises more, as ``declared``: products of integers of
        which nobody declared bounds are refused.
        """
        return read_array(data, owner, bounds)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_array, (self.to_bytes(), self._context)

    def __copy__(self) -> EncryptedArray:
        return self._like(self._chunks, fill=self._fill)

    def __deepcopy__(self, memo: dict[int, Any]) -> EncryptedArray:
        # Nothing of an array changes, so nothing has to be copied.
        return self.__copy__()

    def __iter__(self) -> Iterator[EncryptedArray]:
        length = len(self)
        return (self[i] for i in range(length))

    # Arithmetic.

    def __neg__(self) -> EncryptedArray:
        fill = None if self._fill is None else -self._fill
        return self._like([chunk.negate() for chunk in self._chunks], fill=fill, known=self._known.negated())

    def __add__(self, other: Any) -> EncryptedArray:
        return self._sum(other, "add", 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> EncryptedArray:
        return self._sum(other, "sub", -1)

    def __rsub__(self, other: Any) -> EncryptedArray:
        return (-self).__add__(other)

    def _sum(self, other: Any, operation: Literal["add", "sub"], sign: int) -> EncryptedArray:
        if not isinstance(other, EncryptedArray):
            values = self._numbers(other)
            scaled = self._numerators(values)
            ours, theirs = self._both(of_numbers(values), values.dtype)
            known = ours.plus(theirs) if sign > 0 else ours.minus(theirs)
            return self._with_plain(scaled, operation, lambda fill: fill, known)
        left, right = self._same_divisor(other)
        left, right, period = left._together(right)
        fills = left._fill_at(period), right._fill_at(period)
        fill = None if fills[0] is None or fills[1] is None else fills[0] + sign * fills[1]
        chunks = [a.add(b) if sign > 0 else a.sub(b) for a, b in zip(left._chunks, right._chunks)]
        ours, theirs = left._both(right._known, right._dtype)
        known = ours.plus(theirs) if sign > 0 else ours.minus(theirs)
        return left._like(chunks, period=period, fill=left._wrapped(fill), dtype=joint(left._dtype, right._dtype), known=known)

    def __mul__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            return self._product(other)
        values = self._numbers(other)
        if values.ndim == 0:
            return self._scaled(values[()])
        ours, theirs = self._both(of_numbers(values), values.dtype)
        return self._with_plain(values, "multiply", lambda fill: 0, ours.times(theirs))

    __rmul__ = __mul__

    def _product(self, other: EncryptedArray) -> EncryptedArray:
        left, right, period = self._together(other)
        keys = left._need_keys().evaluation
        chunks = [a.multiply(b, keys) for a, b in zip(left._chunks, right._chunks)]
        fills = left._fill_at(period), right._fill_at(period)
        fill: Fill = None
        if fills[0] == 0 or fills[1] == 0:
            fill = 0
        elif fills[0] is not None and fills[1] is not None:
            fill = fills[0] * fills[1]
        divisor, dtype = left._divisor * right._divisor, joint(left._dtype, right._dtype)
        known = left._times(right)
        return left._like(chunks, period=period, fill=left._wrapped(fill), dtype=dtype, divisor=divisor, known=known)

    def _scaled(self, factor: Any) -> EncryptedArray:
        """Times one number: integers take no level."""
        number: complex = complex(factor) if self._context.is_real else int(factor)
        fill: Fill = None if self._fill is None else self._fill * number
        if float(factor.real).is_integer() and factor.imag == 0 and abs(factor.real) < 2**62:
            chunks = [chunk.multiply_integer(int(factor.real)) for chunk in self._chunks]
        else:
            chunks = [chunk.multiply_constant(complex(factor)) for chunk in self._chunks]
        values = np.asarray(factor)
        ours, theirs = self._both(of_numbers(values), values.dtype)
        dtype = np.result_type(self._dtype, values.dtype) if self._context.is_real else self._dtype
        return self._like(chunks, fill=self._wrapped(fill), dtype=dtype, known=ours.times(theirs))

    def __truediv__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            return self * _reduce.inverse(other)
        if self._context.is_real:
            inverse = 1.0 / np.asarray(other)
            quotient, most = self * inverse, float(np.abs(inverse).max(initial=0.0))
            # The factor itself is rounded.
            known, rounding = quotient._known, safe(self._now().most, most * 2.0**-52)
            if inverse.ndim == 0 and inverse.dtype.kind == "f":
                known = self._now().divided(float(other))
            elif rounding:
                known = known._replace(low=known.low - rounding, high=known.high + rounding)
            return quotient._like(quotient._chunks, fill=quotient._fill, known=known.widened(rounding))
        if not isinstance(other, (int, np.integer)) or other == 0:
            raise TypeError("encrypted integers are divided by an integer other than 0: decryption gives the quotient")
        return self._like(self._chunks, fill=self._fill, divisor=self._divisor * int(other), known=self._known.divided(int(other)))

    def __rtruediv__(self, other: Any) -> EncryptedArray:
        quotient: EncryptedArray = _reduce.inverse(self) * other
        return quotient

    def __pow__(self, exponent: int) -> EncryptedArray:
        if not isinstance(exponent, (int, np.integer)) or exponent < 1:
            raise TypeError(f"an exponent of {exponent!r}: take an integer from 1 on, or apply(f, interval)")
        powers = {1: self}

        def power(k: int) -> EncryptedArray:
            if k not in powers:
                powers[k] = power(k // 2) * power(k - k // 2)
            return powers[k]

        return power(int(exponent))

    def __matmul__(self, other: Any) -> EncryptedArray:
        return _linear.matmul(self, other)

    def __rmatmul__(self, other: Any) -> EncryptedArray:
        return _linear.rmatmul(self, other)

    def declared(self, low: float, high: float) -> EncryptedArray:
        """The array with a promise of whoever computes: all its numbers lie between these. The promise joins what is known already.

        Nothing can check a promise under encryption. Where it is false, functions of the array are false too, and so is the error that they state. Bounds
        that the owner of the data declares (``encrypt(values, bounds=(low, high))``) are checked.
        """
        low, high = checked_bounds(low, high)
        least, most = self.bounds
        if low > most or high < least:
            raise OutsideBounds(
                f"numbers between {low:g} and {high:g} are promised, and they lie between {least:g} and {most:g}: no number is both, correct the promise"
            )
        known = self._known.within(max(low, least), min(high, most))
        return self._like(self._narrowed(known), fill=self._fill, known=known)

    def _narrowed(self, known: Known) -> Sequence[_native.Ciphertext]:
        """The ciphertexts, which then know bounds on their slots, padding included, that are tighter than their own."""
        padded = self.size < self._period * len(self._chunks)
        if not self._context.is_real or (padded and self._fill is None):
            return self._chunks
        bound = max(known.most + known.off, abs(self._fill or 0) if padded else 0.0)
        return narrowed(self._chunks, bound)

    def wrapping(self) -> EncryptedArray:
        """The same integers modulo t, the plaintext modulus: what goes beyond the range of the context wraps around, and is not refused. For arithmetic modulo t,
        and for sums whose terms may be beyond the range while they are not: whatever is in the range in the end is right."""
        if self._context.is_real:
            raise WrongScheme("real numbers do not wrap around: wrapping is for integers")
        return self._like(self._chunks, fill=self._fill, known=Known())

    def _settle(self) -> None:
        """Takes the word of a plan that these integers are in the range of the context."""
        largest = self._largest()
        if largest is not None and not self._context.is_real:
            self._known = self._known.settled(largest)

    # Movement.

    def __getitem__(self, key: Any) -> EncryptedArray:
        """What numpy would take: any slice, integer, mask or list of indices. Numbers that keep their neighbours cost a rotation, those
        that do not one for each distance they move by, and a level of real numbers."""
        places = np.arange(self.size, dtype=np.int64).reshape(self._shape)[key]
        return gathered(self, np.ascontiguousarray(places).reshape(-1), places.shape)

    def rotate(self, steps: int) -> EncryptedArray:
        """The flat array turned left: number i + steps moves to place i. Free of levels where the size is a power of two."""
        size = self.size
        if size == self._period and (self._context.is_real or size <= self._context._row):
            # It repeats, so that the slots turn as the array does.
            return self._like([turned(self, self._chunks[0], int(steps))], fill=self._fill)
        index = (np.arange(size, dtype=np.int64) + int(steps)) % size
        return gathered(self, index, self._shape)

    def reshape(self, *shape: Any) -> EncryptedArray:
        """The same numbers in another shape of as many; costs nothing."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        found = np.empty(self._shape, dtype=np.bool_).reshape(wanted).shape
        return self._like(self._chunks, shape=found, fill=self._fill)

    def ravel(self) -> EncryptedArray:
        """The same numbers in one dimension; costs nothing."""
        return self.reshape(-1)

    @property
    def T(self) -> EncryptedArray:  # noqa: N802
        """The transposed array."""
        places = np.arange(self.size, dtype=np.int64).reshape(self._shape).T
        return gathered(self, np.ascontiguousarray(places).reshape(-1), places.shape)

    # Reductions and functions.

    def sum(self, axis: Axis = None) -> EncryptedArray:
        """The sum over all numbers, or along axes."""
        return _reduce.total(self, axis)

    def mean(self, axis: Axis = None) -> EncryptedArray:
        """The mean: one level of real numbers; integers are divided when they are decrypted."""
        return _reduce.mean(self, axis)

    def var(self, axis: Axis = None) -> EncryptedArray:
        """The variance with the number of values as divisor: two levels of real numbers."""
        return _reduce.variance(self, axis)

    def polyval(self, coefficients: npt.ArrayLike) -> EncryptedArray:
        """The value of the polynomial c_0 + c_1·x + c_2·x² + …, in ⌈log2(degree + 1)⌉ levels of real numbers."""
        return _reduce.polyval(self, coefficients)

    def apply(
        self,
        function: Function,
        interval: tuple[float, float] | None = None,
        *,
        degree: int | None = None,
        error: float | None = None,
        lipschitz: float | None = None,
        second_derivative: float | None = None,
    ) -> EncryptedArray:
        """A function of one real number, by its Chebyshev series on an interval, which the ``bounds`` of the array have to lie in. Without an interval it is
        those bounds.

        The error of ``np.exp``, ``np.tanh``, ``np.log``, ``np.sqrt``, ``np.reciprocal``, ``np.sin``, ``np.cos`` (those of ``math`` too) and of the names
        ``"exp"``, ``"sigmoid"``, ``"tanh"``, ``"log"``, ``"sqrt"``, ``"inverse"``, ``"inverse_sqrt"``, ``"sin"``, ``"cos"`` is proved. The error of any
        other callable is proved if a bound on its derivative is given, ``lipschitz``, or one on its second derivative, and if that is true. Without either
        it is measured on a grid, and ``error`` of the result raises ``errors.NotProved``.

        Give the degree or the largest error; 2^-20 unless given. ``sunzi.Series.approximate`` tells the depth before, and its result
        may stand for the function.
        """
        return _reduce.apply(self, function, interval, degree, error, lipschitz, second_derivative)

    def bootstrap(
        self, *, rounds: int = 1, pairs: bool | None = None, progress: Callable[[str, int, int], object] | None = None
    ) -> EncryptedArray:
        """The same numbers with levels to compute on; ``progress`` is told how many ciphertexts are done, after each or after two.

        ``pairs`` says whether two ciphertexts of real numbers are bootstrapped as one, in the time of one. None, the default, takes pairs where precision
        stays: in sets with SlotsToCoeffs first, such as ``n16-128-fast``. True takes them in every set, where others need ciphertexts of level 1 or above
        and lose one bit. False takes none. Complex numbers and several rounds have no pairs: True is a ``TypeError`` and a ``ValueError`` there.
        """
        return bootstrapped(self, rounds, pairs, progress)

    def level_to(self, level: int) -> EncryptedArray:
        """At a lower level: smaller, and faster to compute with."""
        return self._like([chunk.level_to(level) for chunk in self._chunks], fill=self._fill)

    # Operands.

    def _numbers(self, other: Any) -> npt.NDArray[Any]:
        """A clear operand as an array."""
        values = np.asarray(other)
        if isinstance(other, int) and self._context._parts > 1:
            # Of any width.
            return np.asarray(other, dtype=object)
        if values.dtype.kind not in "iubfc":
            raise TypeError(f"an operand of type {type(other).__name__}: give numbers, a numpy array or an encrypted one")
        if self._context.is_real:
            if not np.isfinite(values).all():
                place = np.flatnonzero(~np.isfinite(values))[0]
                raise NotFinite(f"the number at index {place} of the operand is infinite or not a number: remove it first")
            return values if values.dtype.kind == "c" else values.astype(np.float64, copy=False)
        if values.dtype.kind not in "iub":
            raise WrongScheme(f"{values.dtype} with encrypted integers: round them, or encrypt real numbers")
        return signed(values)

    def _numerators(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Clear numbers as the ciphertexts hold them, times the divisor of integers: exact, and never modulo 2^64."""
        if self._divisor == 1:
            return values
        most = max(-int(values.min(initial=0)), int(values.max(initial=0))) * abs(self._divisor)
        if most < 2**63:
            return values * self._divisor
        if self._context._parts > 1:
            return np.asarray(values.astype(object) * self._divisor, dtype=object)
        raise RangeExceeded(
            f"clear numbers over {self._divisor}, the divisor of the array, have numerators of {most.bit_length()} bits, and they have 63 at most: "
            "add or subtract before the division, or after decryption"
        )

    def _with_plain(
        self,
        values: npt.NDArray[Any],
        operation: Literal["add", "sub", "multiply"],
        fill: Callable[[Any], Fill],
        known: Known | None = None,
    ) -> EncryptedArray:
        """An operation with clear numbers: those of padding are 0. What is known of the numbers stays unless given, as under a mask."""
        shape = np.broadcast_shapes(self._shape, values.shape)
        target = self._expanded(shape)
        flat = as_flat(values, shape)
        adds = operation != "multiply"
        chunks = []
        for i, chunk in enumerate(target._chunks):
            part = flat[i * target._period : (i + 1) * target._period]
            plaintext = target._encoded(part, chunk, adds)
            if operation == "multiply":
                chunks.append(chunk.multiply_plain(plaintext))
            else:
                chunks.append(chunk.add_plain(plaintext) if operation == "add" else chunk.sub_plain(plaintext))
        new = None if target._fill is None and adds else fill(target._fill)
        dtype = np.result_type(self._dtype, values.dtype) if self._context.is_real else self._dtype
        return target._like(chunks, fill=new, dtype=dtype, known=known)

    def _encoded(self, values: npt.NDArray[Any], chunk: _native.Ciphertext, adds: bool) -> _native.Plaintext:
        """At the level of a ciphertext; at its scale too if it is to be added."""
        scale = chunk.scale if adds else None
        return encoded(self._context, values, self._period, chunk.level, scale)

    def _fill_at(self, period: int) -> Fill:
        """What stands in the padding, seen with a period that is a multiple of its own."""
        return self._fill if self._period == period else None

    def _wrapped(self, fill: Fill) -> Fill:
        """Modulo the plaintext modulus, as the slots are."""
        # Most often it is 0, which no modulus changes.
        t = self._context.plain_modulus if fill else None
        if fill is None or t is None:
            return fill
        return (int(fill.real) + t // 2) % t - t // 2

    def _same_divisor(self, other: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray]:
        if self._divisor == other._divisor:
            return self, other
        common = math.lcm(self._divisor, other._divisor)
        return self._over(common), other._over(common)

    def _over(self, divisor: int) -> EncryptedArray:
        """The same numbers over a multiple of their divisor."""
        if divisor == self._divisor:
            return self
        scaled = self._scaled(divisor // self._divisor)
        scaled._divisor, scaled._known = divisor, self._known
        return scaled

    def _together(self, other: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray, int]:
        """Both in one shape, and the period of what they make. The left one has keys if one has."""
        if self._context is not other._context and self._context != other._context:
            raise WrongScheme("the arrays belong to different contexts: encrypt both in one")
        # What numpy does with shapes takes longer than all the rest of a sum.
        shape = self._shape if self._shape == other._shape else np.broadcast_shapes(self._shape, other._shape)
        left, right = self._expanded(shape), other._expanded(shape)
        if left._keys is None:
            left = left._like(left._chunks, fill=left._fill)
            left._keys = right._keys
        return left, right, max(left._period, right._period)

    def _expanded(self, shape: Shape) -> EncryptedArray:
        """Broadcast: for nothing where the array repeats by itself."""
        if self._shape == shape:
            return self
        size = math.prod(shape)
        if size == self.size:
            return self.reshape(shape)
        core = self._shape[next((i for i, length in enumerate(self._shape) if length != 1), self.ndim) :]
        repeats = core == shape[len(shape) - len(core) :]
        if repeats and self.size == power_of_two(self.size) and self.size <= self._context._row:
            # What has a period has all its multiples.
            chunk, period = compacted(self)._chunks[0], period_of(self._context, size)
            return self._like([chunk] * -(-size // period), shape=shape, period=period, fill=0 if size % period == 0 else None)
        if size > 1 << 24:
            raise ShapeError(f"{self._shape} broadcast to {shape}: that many numbers are not put together one by one")
        return gathered(self, broadcast_index(self._shape, shape), shape)
