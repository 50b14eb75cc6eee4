"""Encrypted elements of GF(p^d) or GR(p^r, d), one in each slot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._context import Context, SlotDimension
from ._stored import Owner, elements_bytes, read_elements
from ._wire import Bytes
from .errors import ElementDegree, MissingKey, NoDimension, ShapeError, WrongScheme

if TYPE_CHECKING:
    from ._keys import PublicKeys

Elements = npt.NDArray[np.int64]
Operation = Callable[[_native.Ciphertext, Any], _native.Ciphertext]


class FieldArray:
    """An array of elements of the field of its context under encryption; the last axis of its shape has their coefficients.

    ``+ - *`` take other such arrays of its shape, clear elements that broadcast to it, and integers, which stand for constants; ``**`` takes integers from 1
    on, and ``frobenius`` raises to powers of p without a product. ``rotate`` moves elements along a dimension of their slots. Arrays are never changed.

    >>> keys = sunzi.keygen(sunzi.Context.for_field(1, prime=2, ring_index=21845))          # doctest: +SKIP
    >>> x = keys.encrypt_elements([[0, 1] + 14 * [0]])                                      # doctest: +SKIP
    >>> keys.decrypt_elements(x * x)[0, :4]                                                 # doctest: +SKIP
    array([0, 0, 1, 0])
    """

    __slots__ = ("_chunks", "_context", "_keys", "_shape")

    _chunks: tuple[_native.Ciphertext, ...]
    _context: Context
    _keys: PublicKeys | None
    _shape: tuple[int, ...]

    #: numpy leaves operators to this class, and makes no array of objects.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        raise TypeError("make arrays of field elements with Keys.encrypt_elements or PublicKeys.encrypt_elements")

    @classmethod
    def _make(cls, context: Context, chunks: Sequence[_native.Ciphertext], shape: tuple[int, ...], keys: PublicKeys | None) -> FieldArray:
        array = cls.__new__(cls)
        array._context, array._chunks, array._shape, array._keys = context, tuple(chunks), shape, keys
        return array

    def _like(self, chunks: Sequence[_native.Ciphertext]) -> FieldArray:
        return self._make(self._context, chunks, self._shape, self._keys)

    # What it is.

    @property
    def context(self) -> Context:
        """Parameters and tables."""
        return self._context

    @property
    def field(self) -> _native.Field:
        """What its elements are of."""
        return field_of(self._context)

    @property
    def keys(self) -> PublicKeys | None:
        """The keys it computes with; none after it was unpickled, or read for a context alone: see ``with_keys``."""
        return self._keys

    def with_keys(self, keys: PublicKeys) -> FieldArray:
        """The same array, computing with these keys."""
        return FieldArray._make(self._context, self._chunks, self._shape, keys)

    def _need_keys(self) -> PublicKeys:
        if self._keys is None:
            raise MissingKey("the array has no keys to compute with, as after it was read for a context alone: give it some by with_keys(keys.public)")
        return self._keys

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of all dimensions, the last one d."""
        return self._shape

    @property
    def ciphertexts(self) -> tuple[_native.Ciphertext, ...]:
        """The ciphertexts it is made of."""
        return self._chunks

    @property
    def level(self) -> int | None:
        """Multiplications in a row that are left; None for BFV, where ``bits_left`` tells."""
        return min((chunk.level for chunk in self._chunks if chunk.level is not None), default=None)

    @property
    def bits_left(self) -> float:
        """Bits before decryption refuses."""
        return min(chunk.bits_left for chunk in self._chunks)

    def __repr__(self) -> str:
        field = self.field
        what = f"GF({field.prime}^{field.degree})" if field.exponent == 1 else f"GR({field.prime}^{field.exponent}, {field.degree})"
        return f"<sunzi.FieldArray {self._shape} of {what}, {len(self._chunks)} ciphertexts, {self.bits_left:.0f} bits left>"

    # Copies and bytes.

    def to_bytes(self) -> bytes:
        """The array in bytes that anybody may read by ``from_bytes``: its ciphertexts as files of the wire format, after its shape. No key is in them, and no
        pickle."""
        return elements_bytes(self)

    @classmethod
    def from_bytes(cls, data: Bytes, owner: Owner) -> FieldArray:
        """From the bytes of ``to_bytes``, which may come from anybody. They must belong to these keys (``Keys`` or ``PublicKeys``), which the array then
        computes with, or to this context. Bytes of other keys are ``errors.Key``, of other parameters ``errors.Parameters``, and damaged ones another
        ``errors.FormatError``.
        """
        return read_elements(data, owner)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_elements, (self.to_bytes(), self._context)

    def __copy__(self) -> FieldArray:
        return self._like(self._chunks)

    def __deepcopy__(self, memo: dict[int, Any]) -> FieldArray:
        return self.__copy__()

    # Arithmetic.

    def __neg__(self) -> FieldArray:
        return self._like([chunk.negate() for chunk in self._chunks])

    def __add__(self, other: Any) -> FieldArray:
        return self._with(other, lambda a, b: a.add(b), lambda a, m: a.add_plain(m))

    __radd__ = __add__

    def __sub__(self, other: Any) -> FieldArray:
        return self._with(other, lambda a, b: a.sub(b), lambda a, m: a.sub_plain(m))

    def __rsub__(self, other: Any) -> FieldArray:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> FieldArray:
        return self._with(other, lambda a, b: a.multiply(b, self._need_keys().evaluation), lambda a, m: a.multiply_plain(m))

    __rmul__ = __mul__

    def _with(self, other: Any, encrypted: Operation, clear: Operation) -> FieldArray:
        """An operation with encrypted elements, or with clear ones."""
        if isinstance(other, FieldArray):
            if self._context != other._context:
                raise WrongScheme("the arrays belong to different contexts: encrypt both in one")
            if self._shape != other._shape:
                raise ShapeError(f"elements of shapes {self._shape} and {other._shape}: encrypted elements are not broadcast, give two of one shape")
            return self._like([encrypted(a, b) for a, b in zip(self._chunks, other._chunks)])
        field = self.field
        values = np.broadcast_to(_clear(field, other), self._shape).reshape(-1, field.degree)
        return self._like([clear(chunk, field.encode(part)) for chunk, part in zip(self._chunks, _parts(field, values))])

    def __pow__(self, exponent: int) -> FieldArray:
        if not isinstance(exponent, (int, np.integer)) or exponent < 1:
            raise TypeError(f"an exponent of {exponent!r}: take an integer from 1 on; x**(p**d - 2) is the inverse of x in GF(p^d)")
        powers = {1: self}

        def power(k: int) -> FieldArray:
            if k not in powers:
                powers[k] = power(k // 2) * power(k - k // 2)
            return powers[k]

        return power(int(exponent))

    def frobenius(self, times: int = 1) -> FieldArray:
        """Every element to the power p^``times``, by automorphisms: no product and no level. For GR(p^r, d) it is Y → Y^(p^times)."""
        field = self.field
        steps, chunks, keys = int(times) % field.degree, list(self._chunks), self._need_keys()
        for bit in range(steps.bit_length()):
            if steps >> bit & 1:
                exponent = field.frobenius_exponent(1 << bit)
                if exponent not in keys.exponents:
                    raise MissingKey(f"there is no key for Y → Y^(p^{1 << bit}): keygen makes them in a context of Context.for_field")
                chunks = [chunk.automorphism(exponent, keys.evaluation) for chunk in chunks]
        return self._like(chunks)

    def rotate(self, steps: int, dimension: int = 0) -> FieldArray:
        """The elements turned left along a dimension of the slots: element e + steps of every line moves to place e, cyclically.

        The elements of each ciphertext are an array of the lengths of ``Context.slot_dimensions`` in the order of C, whose axis ``dimension`` turns as by
        ``numpy.roll(..., -steps, axis=dimension)``; so they must fill it. A good dimension takes one automorphism, a bad one two and a product with a mask,
        one of the ``plain_products`` of ``Context.for_field``. The keys are those of ``keygen(context, rotations=[(steps, dimension), ...])``.
        """
        if self._turn(steps, dimension) == 0:
            return self._like(self._chunks)
        keys, rotation = self._need_keys(), rotation_of(self._context, steps, dimension)
        if not keys.exponents.issuperset(rotation.exponents):
            raise MissingKey(f"there is no key for {steps} steps along dimension {dimension}: keygen(context, rotations=[({steps}, {dimension})]) makes it")
        return self._like([rotation.apply(chunk, keys.evaluation) for chunk in self._chunks])

    def _turn(self, steps: int, dimension: int) -> int:
        """The steps of a rotation that can be, less than the length of its dimension."""
        count, length = int(np.prod(self._shape[:-1])), slot_dimension(self._context, dimension).length
        if count % self.field.slots:
            raise ShapeError(f"a rotation of {count} elements: it moves all slots, give a multiple of {self.field.slots} elements")
        return int(steps) % length

    # What there is not.

    def __truediv__(self, other: object) -> NoReturn:
        raise TypeError("division of encrypted elements: multiply by x**(p**d - 2), the inverse of x in GF(p^d), or by a clear inverse")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("equality under encryption is unknown: x**(p**d - 1) is 0 for 0 and 1 for all other elements of GF(p^d)")

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("encrypted elements are no numpy array: compute with + - * **, or open them with keys.decrypt_elements(array)")

    def __getattr__(self, name: str) -> NoReturn:
        from ._array import EncryptedArray

        if not name.startswith("_") and hasattr(EncryptedArray, name):
            raise AttributeError(f"{name} of elements of a field: they have + - * **, frobenius, and rotate along a dimension of their slots")
        raise AttributeError(f"FieldArray has no {name}")


def field_of(context: Context) -> _native.Field:
    field = context.field
    if field is None:
        raise WrongScheme(f"elements of a field in {context!r}, whose slots hold numbers: make a context with Context.for_field, or encrypt numbers")
    return field


def _clear(field: _native.Field, values: Any) -> Elements:
    """Clear elements, reduced: an integer is a constant."""
    array = np.asarray(values)
    if array.dtype.kind not in "iub":
        raise TypeError(f"elements of {array.dtype}: give integers, the coefficients of each element")
    reduced: Elements = np.asarray(array % field.prime**field.exponent, dtype=np.int64)
    if array.ndim == 0:
        return np.concatenate([reduced.reshape(1), np.zeros(field.degree - 1, dtype=np.int64)])
    if array.shape[-1] != field.degree:
        raise ElementDegree(f"elements of {array.shape[-1]} coefficients in shape {array.shape}: the last axis has the {field.degree} coefficients of each")
    return reduced


def _parts(field: _native.Field, values: Elements) -> list[Elements]:
    """The elements of each ciphertext."""
    return [np.ascontiguousarray(values[start : start + field.slots]) for start in range(0, len(values), field.slots)]


def elements_encrypted(
    context: Context, values: npt.ArrayLike, key: Union[_native.SecretKey, _native.PublicKey], keys: PublicKeys
) -> FieldArray:
    """Encrypts elements of the field of a context."""
    field = field_of(context)
    array = np.asarray(values)
    if array.ndim == 0 or array.size == 0:
        raise ShapeError(f"elements of shape {array.shape}: give (…, {field.degree}), the coefficients of at least one element")
    elements = _clear(field, array)
    chunks = [key.encrypt(field.encode(part)) for part in _parts(field, elements.reshape(-1, field.degree))]
    return FieldArray._make(context, chunks, elements.shape, keys)


def elements_decrypted(array: FieldArray, secret: _native.SecretKey) -> Elements:
    """The coefficients of all elements."""
    field = array.field
    opened = np.concatenate([field.decode(secret.decrypt(chunk)) for chunk in array._chunks])
    count = int(np.prod(array._shape[:-1], dtype=np.int64))
    return opened[:count].reshape(array._shape)


def slot_dimension(context: Context, dimension: int) -> SlotDimension:
    """A dimension of the slots of a context, which must be there."""
    dimensions = context.slot_dimensions
    if not isinstance(dimension, (int, np.integer)) or not 0 <= dimension < len(dimensions):
        raise NoDimension(f"a dimension {dimension!r} of slots that have {len(dimensions)}: Context.slot_dimensions lists them, from 0 on")
    return dimensions[dimension]


def rotation_of(context: Context, steps: int, dimension: int) -> _native.SlotRotation:
    """A rotation along a dimension of the slots, whose mask is encoded once."""
    place = int(dimension), int(steps) % slot_dimension(context, dimension).length
    if place not in context._rotations:
        context._rotations[place] = _native.SlotRotation(context.lowlevel, *place)
    return context._rotations[place]


def rotation_exponents(context: Context, rotations: Iterable[int | tuple[int, int]]) -> list[int]:
    """The k of X → X^k of rotations: pairs of steps and dimension, or steps along dimension 0."""
    pairs = [(rotation, 0) if isinstance(rotation, (int, np.integer)) else rotation for rotation in rotations]
    return sorted({exponent for steps, dimension in pairs for exponent in rotation_of(context, steps, dimension).exponents})


def frobenius_exponents(field: _native.Field) -> list[int]:
    """The k of X → X^k that raise to p, p^2, p^4, …, of which all others are made."""
    return [field.frobenius_exponent(1 << bit) for bit in range((field.degree - 1).bit_length())]
