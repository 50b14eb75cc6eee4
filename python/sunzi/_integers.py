"""Encrypted integers of 8 to 64 bits, with carries, comparisons and choices: each bootstraps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._conditions import ConditionArray
from ._context import Context
from ._packed import OfIntegers, check_integers, counts_of, evaluator_of
from ._rows import Rows
from ._stored import Owner, integers_bytes, read_integers
from ._wire import Bytes
from .errors import Operand, OutsideBounds, ShapeError, WrongScheme

if TYPE_CHECKING:
    from ._keys import PublicKeys

#: What one integer of an array is chosen from.
Choice = Union["IntegerArray", npt.ArrayLike]
#: Bounds that are public, both ends included.
Ends = tuple[int, int]
_Evaluator = _native.IntegerEvaluator
_Batch = _native.IntegerBatch
#: Clear integers of one size beyond those of all types: comparisons take no larger ones.
_FAR = 1 << 100


class IntegerArray(Rows):
    """An array of integers of 8 to 64 bits under encryption, exact, and wrapped around as numpy wraps them, or refused where they may be.

    ``+ - *`` take other such arrays of its shape and dtype and clear integers, ``+ -`` and comparisons also clear arrays that broadcast to it. ``//``, ``%``,
    ``<<`` and ``>>`` take clear integers and round as numpy does. ``== != < <= > >=`` give a ``ConditionArray``, whose ``where`` chooses. ``minimum``,
    ``maximum``, ``clip``, ``relu`` and ``abs`` are there as well, and across an array ``sum``, ``min``, ``max``, ``argmin``, ``argmax``, ``kth``, ``median_low``,
    ``quantile``, ``top``, ``ranks`` and ``sorted``. Sums look nothing up; everything else takes a look-up for each digit of 4 bits or more.

    Public are shape, dtype and ``bounds``. Arrays are never changed.

    >>> keys = sunzi.keygen(sunzi.Context.for_integers())                        # doctest: +SKIP
    >>> x = keys.encrypt_integers(np.array([3, 200, 77], dtype=np.uint8))        # doctest: +SKIP
    >>> keys.decrypt_integers(x * x + 100)                                       # doctest: +SKIP
    array([109, 164, 141], dtype=uint8)
    >>> keys.decrypt_integers((x > 50).where(x // 10, x))                        # doctest: +SKIP
    array([ 3, 20,  7], dtype=uint8)
    """

    __slots__ = ("_batches", "_dtype", "_refuse")

    _batches: tuple[_Batch, ...]
    _dtype: np.dtype[Any]
    #: Whether results that may be outside of the dtype are refused.
    _refuse: bool

    def __init__(self) -> None:
        raise TypeError("make arrays of integers with Keys.encrypt_integers or PublicKeys.encrypt_integers")

    @classmethod
    def _make(
        cls, context: Context, batches: Sequence[_Batch], shape: tuple[int, ...], dtype: np.dtype[Any], keys: PublicKeys | None, refuse: bool
    ) -> IntegerArray:
        array = cls.__new__(cls)
        array._context, array._batches, array._shape, array._dtype, array._keys, array._refuse = context, tuple(batches), shape, dtype, keys, refuse
        return array

    # What it is.

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its integers."""
        return self._dtype

    @property
    def bounds(self) -> Ends:
        """What is publicly known of all its integers: the least and the largest that they may be."""
        return min(batch.bounds[0] for batch in self._batches), max(batch.bounds[1] for batch in self._batches)

    @property
    def overflow(self) -> str:
        """What happens to results outside of the dtype: ``"wrap"``, or ``"refuse"`` for operations that may have some by the bounds of their operands."""
        return "refuse" if self._refuse else "wrap"

    @property
    def ciphertexts(self) -> tuple[_native.Ciphertext, ...]:
        """The ciphertexts it is made of: for as many integers as the ring degree one for each digit of 4 bits, the least first. Digits of sums may be beyond 15."""
        return tuple(digit for batch in self._batches for digit in batch.ciphertexts)

    def with_keys(self, keys: PublicKeys) -> IntegerArray:
        """The same array, computing with these keys."""
        return IntegerArray._make(self._context, self._batches, self._shape, self._dtype, keys, self._refuse)

    def __repr__(self) -> str:
        low, high = self.bounds
        return f"<sunzi.IntegerArray {self._shape} of {self._dtype} from {low} to {high}, {len(self._batches) * 2 * self._dtype.itemsize} ciphertexts>"

    # Bytes.

    def to_bytes(self) -> bytes:
        """The array in bytes that anybody may read by ``from_bytes``: its ciphertexts as files of the wire format, after its shape, dtype and bounds. No key is in
        them, and no pickle. Sums take their carries first, as by ``carry``."""
        return integers_bytes(self)

    @classmethod
    def from_bytes(cls, data: Bytes, owner: Owner) -> IntegerArray:
        """From the bytes of ``to_bytes``, which may come from anybody. They must belong to these keys (``Keys`` or ``PublicKeys``), which the array then
        computes with, or to this context. Bytes of other keys are ``errors.Key``, of other parameters ``errors.Parameters``, and damaged ones another
        ``errors.FormatError``. Bounds are what the sender says: false ones make results wrong.
        """
        return read_integers(data, owner)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_integers, (self.to_bytes(), self._context)

    # How operators compute.

    def _each(self, work: Callable[[_Evaluator, _Batch], _Batch]) -> IntegerArray:
        evaluator = self._evaluator(self._refuse)
        return self._like([work(evaluator, batch) for batch in self._batches], self._refuse)

    def _with(self, other: IntegerArray, work: Callable[[_Evaluator, _Batch, _Batch], _Batch]) -> IntegerArray:
        self._same_kind(other)
        refuse = self._refuse or other._refuse
        evaluator = self._evaluator(refuse)
        return self._like([work(evaluator, a, b) for a, b in zip(self._batches, other._batches)], refuse)

    def _like(self, batches: Sequence[_Batch], refuse: bool) -> IntegerArray:
        return IntegerArray._make(self._context, batches, self._shape, self._dtype, self._keys, refuse)

    def _same_kind(self, other: IntegerArray) -> None:
        self._beside(other)
        if self._dtype != other._dtype:
            raise WrongScheme(f"integers of {self._dtype} and of {other._dtype}: encrypt both as one dtype")

    def _encrypted(self, values: Any, what: str) -> IntegerArray:
        """Another operand as an array like this one; whoever computes encrypts clear integers."""
        if isinstance(values, IntegerArray):
            return values
        return _encrypted_as(self._context, self._need_keys(), values, self._shape, self._dtype, self._refuse, what)

    # Arithmetic.

    def __pos__(self) -> IntegerArray:
        return self

    def __neg__(self) -> IntegerArray:
        return self._each(lambda e, a: e.negate(a))

    def __abs__(self) -> IntegerArray:
        return self._each(lambda e, a: e.abs(a))

    def __add__(self, other: Any) -> IntegerArray:
        if isinstance(other, IntegerArray):
            return self._with(other, lambda e, a, b: e.add(a, b))
        clear = _clear(other)
        if isinstance(clear, int):
            return self._each(lambda e, a: e.add_clear(a, _near(clear)))
        flat = _in_full(clear, self._shape, self._dtype, "added")
        evaluator, name, added, start = self._evaluator(self._refuse), self._dtype.name, [], 0
        for batch in self._batches:
            added.append(evaluator.add_clear_batch(batch, name, flat[start : start + batch.count]))
            start += batch.count
        return self._like(added, self._refuse)

    __radd__ = __add__

    def __sub__(self, other: Any) -> IntegerArray:
        if isinstance(other, IntegerArray):
            return self._with(other, lambda e, a, b: e.sub(a, b))
        clear = _clear(other)
        if isinstance(clear, int):
            return self._each(lambda e, a: e.add_clear(a, _near(-clear)))
        return self - self._encrypted(clear, "subtracted")

    def __rsub__(self, other: Any) -> IntegerArray:
        clear, (low, high) = _clear(other), ends_of(self._dtype)
        if isinstance(clear, int) and not low <= clear <= high:
            return (-self) + clear
        return self._encrypted(clear, "subtracted from") - self

    def __mul__(self, other: Any) -> IntegerArray:
        if isinstance(other, IntegerArray):
            return self._with(other, lambda e, a, b: e.multiply(a, b))
        factor = _number(other, "a product with")
        return self._each(lambda e, a: e.multiply_clear(a, _near(factor)))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> IntegerArray:
        divisor = _divisor(other)
        return self._each(lambda e, a: e.quotient(a, divisor))

    def __mod__(self, other: Any) -> IntegerArray:
        return self.__divmod__(other)[1]

    def __divmod__(self, other: Any) -> tuple[IntegerArray, IntegerArray]:
        """Quotients rounded down, and remainders from 0 on."""
        divisor, evaluator = _divisor(other), self._evaluator(self._refuse)
        pairs = [evaluator.divide(batch, divisor) for batch in self._batches]
        return self._like([pair[0] for pair in pairs], self._refuse), self._like([pair[1] for pair in pairs], self._refuse)

    def __truediv__(self, other: Any) -> NoReturn:
        raise TypeError("a quotient of encrypted integers with a fraction: // rounds down")

    def __lshift__(self, other: Any) -> IntegerArray:
        bits = _shift(other)
        return self._each(lambda e, a: e.shift_left(a, bits))

    def __rshift__(self, other: Any) -> IntegerArray:
        bits = _shift(other)
        return self._each(lambda e, a: e.shift_right(a, bits))

    def carry(self) -> IntegerArray:
        """The same integers with all carries taken, free of the noise of what was added. Operations do this where they must; it is worth a call before an array
        that is a sum goes into several products."""
        return self._each(lambda e, a: e.carried(a))

    # Comparisons.

    def _condition(self, work: Callable[[_Evaluator, _Batch], _native.Ciphertext]) -> ConditionArray:
        evaluator = self._evaluator()
        return ConditionArray._make(self._context, [work(evaluator, batch) for batch in self._batches], self._shape, self._keys)

    def _compared(self, other: IntegerArray, work: Callable[[_Evaluator, _Batch, _Batch], _native.Ciphertext]) -> ConditionArray:
        self._same_kind(other)
        evaluator = self._evaluator()
        chunks = [work(evaluator, a, b) for a, b in zip(self._batches, other._batches)]
        return ConditionArray._make(self._context, chunks, self._shape, self._keys)

    def __eq__(self, other: Any) -> ConditionArray:  # type: ignore[override]
        clear = other if isinstance(other, IntegerArray) else _clear(other)
        if isinstance(clear, int):
            return self._condition(lambda e, a: e.equal_to_clear(a, _near(clear)))
        return self._compared(self._encrypted(clear, "compared"), lambda e, a, b: e.equal(a, b))

    def __ne__(self, other: Any) -> ConditionArray:  # type: ignore[override]
        return ~self.__eq__(other)

    def __lt__(self, other: Any) -> ConditionArray:
        clear = other if isinstance(other, IntegerArray) else _clear(other)
        if isinstance(clear, int):
            return self._condition(lambda e, a: e.less_than_clear(a, _near(clear)))
        return self._compared(self._encrypted(clear, "compared"), lambda e, a, b: e.less(a, b))

    def __gt__(self, other: Any) -> ConditionArray:
        clear = other if isinstance(other, IntegerArray) else _clear(other)
        if isinstance(clear, int):
            return ~(self < clear + 1)
        return self._compared(self._encrypted(clear, "compared"), lambda e, a, b: e.less(b, a))

    def __le__(self, other: Any) -> ConditionArray:
        return ~self.__gt__(other)

    def __ge__(self, other: Any) -> ConditionArray:
        return ~self.__lt__(other)

    # Choices.

    def minimum(self, other: Choice) -> IntegerArray:
        """The lesser of both, integer by integer, of another encrypted array or of clear integers that broadcast to this one."""
        return self._with(self._encrypted(other, "compared"), lambda e, a, b: e.minimum(a, b))

    def maximum(self, other: Choice) -> IntegerArray:
        """The greater of both, integer by integer, of another encrypted array or of clear integers that broadcast to this one."""
        return self._with(self._encrypted(other, "compared"), lambda e, a, b: e.maximum(a, b))

    def relu(self) -> IntegerArray:
        """Integers above 0, and 0 in the place of others."""
        return self._each(lambda e, a: e.relu(a))

    def clip(self, low: Optional[Choice] = None, high: Optional[Choice] = None) -> IntegerArray:
        """At least ``low`` and at most ``high``, either of which may be missing. A clear end that the bounds keep to costs nothing."""
        least, largest = self.bounds
        clipped = self
        if low is not None and not (isinstance(low, (int, np.integer)) and low <= least):
            clipped = clipped.maximum(low)
        if high is not None and not (isinstance(high, (int, np.integer)) and high >= clipped.bounds[1]):
            clipped = clipped.minimum(high)
        return clipped


def chosen(condition: ConditionArray, a: Choice, b: Choice, dtype: Optional[npt.DTypeLike]) -> IntegerArray:
    """Integers of a where a condition holds, else those of b."""
    own = [array for array in (a, b) if isinstance(array, IntegerArray)]
    if not own and dtype is None:
        raise TypeError("a choice among clear integers: give dtype, as condition.where(1, 0, dtype=np.uint8)")
    kind = own[0]._dtype if dtype is None else integer_dtype(dtype)
    refuse = any(array._refuse for array in own)
    for array in own:
        condition._beside(array)
        if array._dtype != kind:
            raise WrongScheme(f"integers of {array._dtype} in a choice among {kind}: encrypt both as one dtype, and leave dtype out")
    keys, shape = condition._need_keys(), condition._shape
    if _is_zero(a) and not _is_zero(b):
        condition, a, b = ~condition, b, a
    choices = [
        array if isinstance(array, IntegerArray) else _encrypted_as(condition._context, keys, array, shape, kind, refuse, "chosen")
        for array in ((a,) if _is_zero(b) else (a, b))
    ]
    evaluator = condition._evaluator(refuse)
    if len(choices) == 1:
        batches = [evaluator.masked(c, x) for c, x in zip(condition._chunks, choices[0]._batches)]
    else:
        batches = [evaluator.select(c, x, y) for c, x, y in zip(condition._chunks, choices[0]._batches, choices[1]._batches)]
    return IntegerArray._make(condition._context, batches, shape, kind, keys, refuse)


def counted(condition: ConditionArray) -> IntegerArray:
    """How many conditions hold."""
    slots = condition._context.slots
    if condition.size > slots:
        raise ShapeError(f"a count of {condition.size} conditions: at most {slots} are in the slots of one ciphertext, encrypt fewer")
    batch = condition._evaluator().count_of(condition._chunks[0], condition.size)
    return IntegerArray._make(condition._context, [batch], (), np.dtype(np.uint16), condition._need_keys(), False)


def _is_zero(values: Any) -> bool:
    return isinstance(values, (int, np.integer)) and int(values) == 0


# Clear integers.


def integer_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The type of integers of 8 to 64 bits."""
    found = np.dtype(dtype)
    if found.kind not in "iu":
        raise TypeError(f"encrypted integers of {found}: give dtype, one of uint8 to uint64 and int8 to int64")
    return np.dtype(found.name)


def ends_of(dtype: np.dtype[Any]) -> Ends:
    """The least and the largest integer of a type."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _integers(values: Any) -> npt.NDArray[Any]:
    """Integers of any size."""
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    if array.dtype.kind in "iu":
        return array
    # Integers of Python beyond 64 bits, or beyond what one type of numpy has beside others.
    if not isinstance(values, np.ndarray) or array.dtype.kind == "O":
        items = np.asarray(values, dtype=object)
        if items.size and all(isinstance(item, (int, np.integer)) for item in items.reshape(-1)):
            return items
    raise TypeError(f"encrypted integers with {array.dtype}: give integers")


def _clear(values: Any) -> Union[int, npt.NDArray[Any]]:
    """A clear integer, or an array of them."""
    if isinstance(values, (int, np.integer, np.bool_)):
        return int(values)
    array = _integers(values)
    return array if array.ndim else int(array.item())


def _number(values: Any, what: str) -> int:
    clear = None if isinstance(values, OfIntegers) else _clear(values)
    if not isinstance(clear, int):
        of = "an encrypted array" if clear is None else "a clear array"
        raise TypeError(f"{what} {of}: give one clear integer; keys.public.encrypt_integers(values, dtype) encrypts an array for + - and *")
    return clear


def _divisor(values: Any) -> int:
    divisor = _number(values, "a quotient by")
    if divisor == 0:
        raise ZeroDivisionError("a quotient of encrypted integers by 0")
    return _near(divisor)


def _shift(values: Any) -> int:
    bits = _number(values, "a shift by")
    if bits < 0:
        raise Operand(f"a shift by {bits} bits: it must be 0 or more, >> shifts to the right")
    return min(bits, 1 << 16)


def _near(number: int) -> int:
    """A clear integer, or one beyond all types in its place."""
    return max(-_FAR, min(number, _FAR))


def _checked(values: npt.NDArray[Any], ends: Ends, dtype: np.dtype[Any], what: str) -> npt.NDArray[np.int64]:
    """Integers within ends, in two's complement of 64 bits."""
    flat, (low, high) = values.reshape(-1), ends
    if flat.dtype.kind == "O":
        outside = np.array([not low <= int(item) <= high for item in flat], dtype=bool)
    else:
        # Each type compares with its own integers.
        least, largest = ends_of(flat.dtype)
        outside = np.full(flat.shape, low > largest or high < least)
        if least < low <= largest:
            outside |= flat < flat.dtype.type(low)
        if least <= high < largest:
            outside |= flat > flat.dtype.type(high)
    if outside.any():
        place = int(np.flatnonzero(outside)[0])
        raise OutsideBounds(f"integer {place} that is {what} is {int(flat[place])}: it must be from {low} to {high} as {dtype}, correct it or take another dtype or bounds")
    return flat.astype(np.uint64).view(np.int64) if dtype.kind == "u" else flat.astype(np.int64)


def _in_full(values: npt.NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> npt.NDArray[np.int64]:
    """Clear integers broadcast to a shape."""
    try:
        broadcast = np.broadcast_to(values, shape)
    except ValueError as error:
        raise ShapeError(f"clear integers of shape {values.shape} for encrypted ones of shape {shape}: give a shape that broadcasts to it") from error
    return _checked(broadcast, ends_of(dtype), dtype, what)


def _encrypted_as(
    context: Context, keys: PublicKeys, values: Any, shape: tuple[int, ...], dtype: np.dtype[Any], refuse: bool, what: str
) -> IntegerArray:
    """Clear integers as an encrypted array, with the bounds that they have."""
    flat = _in_full(_integers(values), shape, dtype, what)
    own = flat.view(np.uint64) if dtype.kind == "u" else flat
    return _encrypted(context, flat, shape, dtype, (int(own.min()), int(own.max())), keys.encryption, keys, refuse)


def _encrypted(
    context: Context,
    flat: npt.NDArray[np.int64],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    bounds: Ends,
    key: Union[_native.SecretKey, _native.PublicKey],
    keys: PublicKeys,
    refuse: bool,
) -> IntegerArray:
    evaluator, batches, start = evaluator_of(context, keys), [], 0
    for count in counts_of(context, flat.size):
        encoded = evaluator.encode(dtype.name, bounds, np.ascontiguousarray(flat[start : start + count]))
        batches.append(_native.IntegerBatch(dtype.name, count, bounds, [key.encrypt(digit) for digit in encoded]))
        start += count
    return IntegerArray._make(context, batches, shape, dtype, keys, refuse)


def integers_encrypted(
    context: Context,
    values: npt.ArrayLike,
    key: Union[_native.SecretKey, _native.PublicKey],
    keys: PublicKeys,
    dtype: Optional[npt.DTypeLike],
    bounds: Optional[Ends],
    overflow: str,
) -> IntegerArray:
    """Encrypts integers of a type of numpy."""
    if isinstance(values, OfIntegers):
        raise TypeError("the integers are encrypted already: compute with them, or open them with keys.decrypt_integers(array)")
    check_integers(context)
    if overflow not in ("wrap", "refuse"):
        raise ValueError(f'overflow = {overflow!r}: take "wrap" or "refuse"')
    array = np.asarray(values)
    kind = integer_dtype(array.dtype if dtype is None else dtype)
    if array.size == 0:
        raise ShapeError("an array without integers: there is nothing to encrypt")
    ends = ends_of(kind)
    if bounds is not None:
        low, high = (_number(end, "bounds with") for end in bounds)
        if not ends[0] <= low <= high <= ends[1]:
            raise OutsideBounds(f"bounds from {low} to {high} for {kind}: they must be from {ends[0]} to {ends[1]}, the lower one first")
        ends = (low, high)
    flat = _checked(_integers(values), ends, kind, "encrypted")
    return _encrypted(context, flat, array.shape, kind, ends, key, keys, overflow == "refuse")


def integers_decrypted(array: IntegerArray, secret: _native.SecretKey, keys: PublicKeys) -> npt.NDArray[Any]:
    """All integers; noise that may have led a digit to the next one is refused."""
    evaluator = evaluator_of(array._context, keys)
    opened = np.concatenate([evaluator.decrypt(batch, secret) for batch in array._batches]).reshape(array._shape)
    return opened.view(np.uint64 if array._dtype.kind == "u" else np.int64).astype(array._dtype)
