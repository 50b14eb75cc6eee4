"""Encrypted arrays."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Union, cast

import numpy as np
import numpy.typing as npt

from . import _linear, _native, _reduce
from ._context import Context
from ._crt import CrtCiphertext, CrtContext
from ._encoding import encoded
from ._layout import as_flat, broadcast_index, joint, period_of, power_of_two
from ._moves import compacted, gathered, turned
from .errors import MissingKey, ShapeError, WrongScheme

if TYPE_CHECKING:
    from ._keys import PublicKeys

#: What slots that belong to no number hold; None where that is not known.
Fill = Optional[complex]
Shape = tuple[int, ...]
Axis = Union[int, tuple[int, ...], None]


class EncryptedArray:
    """An array of any shape under encryption, over as many ciphertexts as it takes.

    ``+ - *`` take other encrypted arrays, numpy arrays and numbers, and broadcast; ``@``, ``**``, ``[]``, ``sum``, ``mean``, ``var``,
    ``rotate``, ``polyval`` and ``apply`` do what their names say. Arrays are never changed: each operation makes a new one.
    """

    __slots__ = ("_chunks", "_context", "_divisor", "_dtype", "_fill", "_keys", "_period", "_shape")
    #: numpy leaves operators to this class.
    __array_ufunc__ = None

    _chunks: tuple[_native.Ciphertext, ...]
    _context: Context
    _divisor: int
    _dtype: np.dtype[Any]
    _fill: Fill
    _keys: PublicKeys | None
    _period: int
    _shape: Shape

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
    ) -> EncryptedArray:
        array = cls.__new__(cls)
        array._context, array._chunks, array._shape, array._period = context, tuple(chunks), shape, period
        array._fill, array._dtype, array._keys, array._divisor = fill, dtype, keys, divisor
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
    ) -> EncryptedArray:
        return EncryptedArray._make(
            self._context,
            chunks,
            self._shape if shape is None else shape,
            self._period if period is None else period,
            fill,
            self._dtype if dtype is None else dtype,
            self._keys,
            self._divisor if divisor is None else divisor,
        )

    # What it is.

    @property
    def context(self) -> Context:
        """Parameters and tables."""
        return self._context

    @property
    def shape(self) -> Shape:
        """The lengths of all dimensions."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """How many numbers."""
        return math.prod(self._shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What decryption gives: float64 for integers too, once they were divided."""
        return np.dtype(np.float64) if self._divisor != 1 else self._dtype

    @property
    def ciphertexts(self) -> tuple[_native.Ciphertext, ...]:
        """The ciphertexts it is made of."""
        return self._chunks

    @property
    def level(self) -> int | None:
        """Multiplications in a row that are left; None for BFV, where ``bits_left`` tells."""
        levels = [chunk.level for chunk in self._chunks]
        return min((level for level in levels if level is not None), default=None)

    @property
    def scale(self) -> float | None:
        """What real numbers are multiplied by inside."""
        return self._chunks[0].scale

    @property
    def bits_left(self) -> float:
        """Bits before decryption refuses; of real numbers, bits of the modulus that products can still take."""
        return min(chunk.bits_left for chunk in self._chunks)

    @property
    def precision(self) -> float | None:
        """Bits behind the binary point that are right, by the estimate; None for integers, which are exact."""
        bits = [chunk.precision for chunk in self._chunks]
        return min((bit for bit in bits if bit is not None), default=None)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(chunk.nbytes for chunk in self._chunks)

    @property
    def key_id(self) -> str:
        """The name of the secret key that opens it."""
        return self._chunks[0].key_id

    @property
    def trace(self) -> str:
        """Which operations spent its bits."""
        return min(self._chunks, key=lambda chunk: chunk.bits_left).trace

    @property
    def keys(self) -> PublicKeys | None:
        """The keys it computes with; none after unpickling, see ``with_keys``."""
        return self._keys

    def with_keys(self, keys: PublicKeys) -> EncryptedArray:
        """The same array, computing with these keys."""
        array = self._like(self._chunks, fill=self._fill)
        array._keys = keys
        return array

    def _need_keys(self) -> PublicKeys:
        if self._keys is None:
            raise MissingKey("the array has no keys to compute with, as after unpickling: give it some by with_keys(keys.public)")
        return self._keys

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("an array of no dimension has no length")
        return self._shape[0]

    def __repr__(self) -> str:
        return f"<sunzi.EncryptedArray {', '.join(f'{name} {value}' for name, value in self._facts())}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in self._facts())
        return f"<table><caption>sunzi.EncryptedArray</caption>{rows}</table>"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("shape", str(self._shape)), ("dtype", str(self.dtype))]
        count = len(self._chunks)
        log2_degree = self._context.degree.bit_length() - 1
        facts.append(("scheme", f"{self._context.scheme} n=2^{log2_degree}"))
        facts.append(("ciphertexts", f"{count} ({self.nbytes / 2**20:.2f} MiB)"))
        if self.level is not None:
            facts.append(("level", f"{self.level} of {self._context.depth}"))
        if self.precision is None:
            facts.append(("left", f"{self.bits_left:.0f} bits"))
        else:
            facts.append(("precision", f"{self.precision:.1f} bits"))
        facts.append(("key", self.key_id[:8]))
        return facts

    # Copies and bytes.

    def __reduce__(self) -> tuple[Any, ...]:
        data = [chunk.to_bytes() for chunk in self._chunks]
        state = (self._shape, self._period, self._fill, self._dtype.str, self._divisor)
        return _restored, (self._context, data, state)

    def __copy__(self) -> EncryptedArray:
        return self._like(self._chunks, fill=self._fill)

    def __deepcopy__(self, memo: dict[int, Any]) -> EncryptedArray:
        # Nothing of an array changes, so nothing has to be copied.
        return self.__copy__()

    def __bool__(self) -> bool:
        raise TypeError("whether an encrypted number is zero cannot be told without the secret key")

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    # Arithmetic.

    def __neg__(self) -> EncryptedArray:
        fill = None if self._fill is None else -self._fill
        return self._like([chunk.negate() for chunk in self._chunks], fill=fill)

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
            scaled = values if self._divisor == 1 else values * self._divisor
            return self._with_plain(scaled, operation, lambda fill: fill)
        left, right = self._same_divisor(other)
        left, right, period = left._together(right)
        fills = left._fill_at(period), right._fill_at(period)
        fill = None if fills[0] is None or fills[1] is None else fills[0] + sign * fills[1]
        chunks = [a.add(b) if sign > 0 else a.sub(b) for a, b in zip(left._chunks, right._chunks)]
        return left._like(chunks, period=period, fill=left._wrapped(fill), dtype=joint(left._dtype, right._dtype))

    def __mul__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            return self._product(other)
        values = self._numbers(other)
        if values.ndim == 0:
            return self._scaled(values[()])
        return self._with_plain(values, "multiply", lambda fill: 0)

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
        divisor = left._divisor * right._divisor
        return left._like(chunks, period=period, fill=left._wrapped(fill), dtype=joint(left._dtype, right._dtype), divisor=divisor)

    def _scaled(self, factor: Any) -> EncryptedArray:
        """Times one number: integers take no level."""
        number: complex = complex(factor) if self._context.is_real else int(factor)
        fill: Fill = None if self._fill is None else self._fill * number
        if float(factor.real).is_integer() and factor.imag == 0 and abs(factor.real) < 2**62:
            chunks = [chunk.multiply_integer(int(factor.real)) for chunk in self._chunks]
        else:
            chunks = [chunk.multiply_constant(complex(factor)) for chunk in self._chunks]
        dtype = np.result_type(self._dtype, np.asarray(factor).dtype)
        return self._like(chunks, fill=self._wrapped(fill), dtype=dtype if self._context.is_real else self._dtype)

    def __truediv__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            raise TypeError("division by an encrypted array: multiply by array.apply(lambda x: 1 / x, interval)")
        if self._context.is_real:
            return self * (1.0 / np.asarray(other))
        if not isinstance(other, (int, np.integer)) or other == 0:
            raise TypeError("encrypted integers are divided by an integer other than 0: decryption gives the quotient")
        return self._like(self._chunks, fill=self._fill, divisor=self._divisor * int(other))

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
        function: Callable[[float], float],
        interval: tuple[float, float],
        *,
        degree: int | None = None,
        error: float | None = None,
    ) -> EncryptedArray:
        """A function of one real number, by its Chebyshev series on an interval that all numbers must lie in.

        Give the degree or the largest error; 2^-20 unless given. ``sunzi.Series.approximate`` tells the depth before, and its result
        may stand for the function.
        """
        return _reduce.apply(self, function, interval, degree, error)

    def bootstrap(self, *, rounds: int = 1, progress: Callable[[str, int, int], object] | None = None) -> EncryptedArray:
        """The same numbers with levels to compute on; ``progress`` is told after each ciphertext."""
        keys = self._need_keys()
        bootstrapper, bootstrapping = keys.bootstrapper, keys.bootstrapping
        if bootstrapping is None:
            raise MissingKey("there are no bootstrapping keys: take a context from Context.for_bootstrapping")
        chunks = []
        for chunk in self._chunks:
            # Sums over more slots repeat: they are bootstrapped as what they are.
            narrow = chunk if chunk.slots <= self._period else chunk.read_as(self._period)
            chunks.append(bootstrapper.bootstrap(narrow, bootstrapping, rounds=rounds))
            if progress is not None:
                progress("bootstrap", len(chunks), len(self._chunks))
        return self._like(chunks, fill=self._fill)

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
            return values if values.dtype.kind == "c" else values.astype(np.float64, copy=False)
        if values.dtype.kind not in "iub":
            raise WrongScheme(f"{values.dtype} with encrypted integers: round them, or encrypt real numbers")
        return values.astype(np.int64, copy=False)

    def _with_plain(
        self,
        values: npt.NDArray[Any],
        operation: Literal["add", "sub", "multiply"],
        fill: Callable[[Any], Fill],
    ) -> EncryptedArray:
        """An operation with clear numbers: those of padding are 0."""
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
        return target._like(chunks, fill=new, dtype=dtype)

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
        common = int(np.lcm(self._divisor, other._divisor))
        factors = common // self._divisor, common // other._divisor
        left, right = self._scaled(np.int64(factors[0])), other._scaled(np.int64(factors[1]))
        left._divisor = right._divisor = common
        return left, right

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


def _restored(context: Context, data: list[bytes], state: tuple[Any, ...]) -> EncryptedArray:
    shape, period, fill, dtype, divisor = state
    native = context.lowlevel
    if isinstance(native, CrtContext):
        chunks = [cast(_native.Ciphertext, CrtCiphertext.from_bytes(native, part)) for part in data]
    else:
        chunks = [_native.Ciphertext.from_bytes(native, part) for part in data]
    return EncryptedArray._make(context, chunks, shape, period, fill, np.dtype(dtype), None, divisor)
