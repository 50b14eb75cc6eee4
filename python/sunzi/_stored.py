"""Arrays and public keys as bytes, for whoever is not trusted: what ``to_bytes`` writes and ``from_bytes`` reads and checks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union, cast

import numpy as np

from . import _native, _wire, errors
from ._context import _INSECURE, Context, _restored
from ._crt import CrtCiphertext, CrtContext
from ._encoding import Bounds
from ._facts import Fill, Shape
from ._known import BOUNDS, UNDECLARED, Known
from ._layout import power_of_two
from ._wire import ARRAY, CONDITIONS, ELEMENTS, INTEGERS, MESSAGES, PUBLIC_KEYS, Bytes, FieldReader, Fields, packed, unpacked, value

if TYPE_CHECKING:
    from ._array import EncryptedArray
    from ._conditions import ConditionArray
    from ._fields import FieldArray
    from ._integers import IntegerArray
    from ._keys import Keys, PublicKeys
    from ._messages import MessageArray

T = TypeVar("T")
#: What bytes have to belong to.
Owner = Union["Keys", "PublicKeys", Context]

#: Dimensions that every numpy has.
_MOST_DIMENSIONS = 32
_MOST_SIZE = 1 << 48
#: Types of numbers.
_INTEGERS, _REALS, _COMPLEX = range(3)
_TYPES = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.complex128))


class Layout:
    """What an array is besides its ciphertexts."""

    def __init__(self, shape: Shape, period: int, dtype: np.dtype[Any], divisor: int, fill: Fill, known: Known) -> None:
        self.shape, self.period, self.dtype, self.divisor, self.fill, self.known = shape, period, dtype, divisor, fill, known

    @property
    def count(self) -> int:
        """How many ciphertexts."""
        return -(-math.prod(self.shape) // self.period)

    @classmethod
    def of(cls, array: EncryptedArray) -> Layout:
        return cls(array._shape, array._period, array._dtype, array._divisor, array._fill, array._known)

    def put(self, fields: Fields) -> None:
        fields.words(self.shape)
        fields.word(self.period)
        fields.word({"i": _INTEGERS, "f": _REALS, "c": _COMPLEX}[self.dtype.kind])
        fields.integer(self.divisor)
        real = self.dtype.kind != "i"
        finite = self.fill is not None and math.isfinite(abs(self.fill)) if real else self.fill is not None
        fields.optional(self.fill if finite else None, lambda fill: _put_fill(fields, fill, real))
        put_known(fields, self.known)

    @classmethod
    def get(cls, fields: FieldReader, context: Context) -> Layout:
        shape = _shape_in(fields, "numbers")
        period = fields.word("the period", 1, context.slots)
        if period != power_of_two(period):
            raise value("the period", "a power of two", period)
        low, high = (_REALS, _COMPLEX) if context.is_real else (_INTEGERS, _INTEGERS)
        dtype = _TYPES[fields.word("the type of the numbers", low, high)]
        divisor = fields.integer("the divisor")
        if divisor == 0 or (context.is_real and divisor != 1):
            raise value("the divisor", "1" if context.is_real else "an integer other than 0", divisor)
        fill = fields.optional("a fill", lambda: _get_fill(fields, context))
        known = get_known(fields)
        told = context.is_real or (math.isfinite(known.low) and math.isfinite(known.high))
        return cls(shape, period, dtype, divisor, fill, known._replace(watch=BOUNDS if told else UNDECLARED))

    def array(self, context: Context, chunks: list[_native.Ciphertext], keys: PublicKeys | None) -> EncryptedArray:
        """Of these ciphertexts."""
        from ._array import EncryptedArray

        return EncryptedArray._make(context, chunks, self.shape, self.period, self.fill, self.dtype, keys, self.divisor, self.known)


def _put_fill(fields: Fields, fill: complex, real: bool) -> None:
    if real:
        fields.double(complex(fill).real)
        fields.double(complex(fill).imag)
    else:
        # Integers of several plaintext moduli are wider than doubles.
        fields.integer(int(fill.real))


def _get_fill(fields: FieldReader, context: Context) -> complex:
    if context.is_real:
        return complex(fields.double("the fill"), fields.double("the fill"))
    fill, half = fields.integer("the fill"), (context.plain_modulus or 0) // 2
    if abs(fill) > half:
        raise value("the fill", f"{-half} to {half}", fill)
    return fill


def put_known(fields: Fields, known: Known) -> None:
    """What is known of numbers, but for what whoever encrypted them saw."""
    fields.double(known.low)
    fields.double(known.high)
    fields.double(known.off)
    fields.optional(known.unproved, fields.text)


def get_known(fields: FieldReader) -> Known:
    """Bounds that can be."""
    low, high = fields.double("the lower bound", finite=False), fields.double("the upper bound", finite=False)
    off = fields.double("the distance of approximations", finite=False)
    if not (low <= high and off >= 0):
        raise value("bounds", "the lower one first, and a distance that is not negative", (low, high, off))
    return Known(low, high, off, fields.optional("a reason", lambda: fields.text("the reason that an error is not proved")))


def owner_of(owner: Owner) -> tuple[Context, PublicKeys | None]:
    """The context and, if they are given, the keys that bytes have to belong to."""
    if isinstance(owner, Context):
        return owner, None
    public: Any = getattr(owner, "public", owner)
    context = getattr(public, "context", None)
    if not isinstance(context, Context):
        raise TypeError(f"bytes are read for keys or a context that they must belong to, not for {type(owner).__name__}: give keys.public")
    return context, cast("PublicKeys", public)


def check_key(key: str | None, keys: PublicKeys | None) -> None:
    """Fails for an object of other keys."""
    if keys is not None and key != keys.id:
        raise errors.Key(f"the bytes belong to the key {(key or 'none')[:8]}, the keys to {keys.id[:8]}: give those that were made together")


# Arrays.


def array_bytes(array: EncryptedArray) -> bytes:
    """An array: its layout, and its ciphertexts after it."""
    fields = Fields()
    Layout.of(array).put(fields)
    objects = [part.to_bytes() for chunk in array._chunks for part in _parts(chunk)]
    return packed(ARRAY, fields.to_bytes(), objects, like=0)


def _parts(chunk: _native.Ciphertext) -> tuple[_native.Ciphertext, ...]:
    """One for each plaintext modulus."""
    return chunk.parts if isinstance(chunk, CrtCiphertext) else (chunk,)


def read_array(data: Bytes, owner: Owner, bounds: Optional[Bounds] = None) -> EncryptedArray:
    """The array of ``array_bytes``, which must belong to these keys or to this context, with a promise of bounds if one is given."""
    array = _array_of(data, owner)
    return array if bounds is None else array.declared(*bounds)


def _array_of(data: Bytes, owner: Owner) -> EncryptedArray:
    context, keys = owner_of(owner)

    def layout_in(fields: FieldReader) -> tuple[Layout, int]:
        layout = Layout.get(fields, context)
        return layout, layout.count

    layout, ciphers = _read(ARRAY, data, context, keys, layout_in)
    parts = context._parts
    if isinstance(context.lowlevel, CrtContext):
        joined = [CrtCiphertext(ciphers[i : i + parts]) for i in range(0, len(ciphers), parts)]
        return layout.array(context, [cast(_native.Ciphertext, one) for one in joined], keys)
    return layout.array(context, ciphers, keys)


def _read(
    kind: int, data: Bytes, context: Context, keys: PublicKeys | None, get: Callable[[FieldReader], tuple[T, int]]
) -> tuple[T, list[_native.Ciphertext]]:
    """What the fields of an array say, and its ciphertexts, of which ``get`` says how many there are for each plaintext modulus."""
    fields, objects, key = unpacked(kind, data)
    check_key(key, keys)
    if not objects:
        raise value("the count of ciphertexts", "1 at least", 0)
    # Of other parameters nothing else would be true, and the first ciphertext tells.
    native, parts = context._contexts, context._parts
    first = _native.Ciphertext.from_bytes(native[0], objects[0])
    said, count = get(fields)
    fields.finish()
    if len(objects) != count * parts:
        raise value("the count of ciphertexts", count * parts, len(objects))
    ciphers = [first, *(_native.Ciphertext.from_bytes(native[i % parts], one) for i, one in enumerate(objects[1:], 1))]
    if any(cipher.key_id != key for cipher in ciphers):
        raise errors.MixedKeys("the array has ciphertexts of several keys: take the bytes that to_bytes() made")
    return said, ciphers


def elements_bytes(array: FieldArray) -> bytes:
    """An array of field elements: its shape, and its ciphertexts after it."""
    fields = Fields()
    fields.words(array._shape)
    return packed(ELEMENTS, fields.to_bytes(), [chunk.to_bytes() for chunk in array._chunks], like=0)


def read_elements(data: Bytes, owner: Owner) -> FieldArray:
    """The array of ``elements_bytes``, which must belong to these keys or to this context."""
    from ._fields import FieldArray, field_of

    context, keys = owner_of(owner)

    def shape_in(fields: FieldReader) -> tuple[Shape, int]:
        field = field_of(context)
        shape = _shape_in(fields, f"numbers, the last dimension {field.degree}", last=field.degree)
        return shape, -(-math.prod(shape[:-1]) // field.slots)

    shape, chunks = _read(ELEMENTS, data, context, keys, shape_in)
    return FieldArray._make(context, chunks, shape, keys)


def messages_bytes(array: MessageArray) -> bytes:
    """An array of messages: its shape and the bits of a message, and its ciphertexts after them."""
    fields = Fields()
    fields.words(array._shape)
    fields.word(array._bits)
    fields.word(array._reduced)
    return packed(MESSAGES, fields.to_bytes(), [chunk.to_bytes() for chunk in array._chunks], like=0)


def read_messages(data: Bytes, owner: Owner) -> MessageArray:
    """The array of ``messages_bytes``, which must belong to these keys or to this context."""
    from ._messages import MessageArray, message_bits

    context, keys = owner_of(owner)

    def layout_in(fields: FieldReader) -> tuple[tuple[Shape, int, bool], int]:
        most = message_bits(context)
        shape = _shape_in(fields, "messages")
        bits, reduced = fields.word("the bits of messages", 1, most), fields.word("whether numbers are reduced", 0, 1)
        return (shape, bits, bool(reduced)), _batches(shape, context)

    (shape, bits, reduced), chunks = _read(MESSAGES, data, context, keys, layout_in)
    _check_slots(chunks, context)
    return MessageArray._make(context, chunks, shape, bits, keys, reduced)


def integers_bytes(array: IntegerArray) -> bytes:
    """An array of integers: its shape, their bits, whether they have a sign, public bounds, whether results beyond the type are refused, and its ciphertexts."""
    fields = Fields()
    fields.words(array._shape)
    fields.word(8 * array._dtype.itemsize)
    fields.word(array._dtype.kind == "i")
    for end in array.bounds:
        fields.integer(end)
    fields.word(array._refuse)
    objects = []
    for batch in array._batches:
        digits = batch.ciphertexts if batch.is_stored else array._evaluator().digits(batch)
        objects += [digit.to_bytes() for digit in digits]
    return packed(INTEGERS, fields.to_bytes(), objects, like=0)


def read_integers(data: Bytes, owner: Owner) -> IntegerArray:
    """The array of ``integers_bytes``, which must belong to these keys or to this context."""
    from ._integers import IntegerArray, ends_of
    from ._packed import check_integers, counts_of

    context, keys = owner_of(owner)

    def layout_in(fields: FieldReader) -> tuple[tuple[Shape, np.dtype[Any], tuple[int, int], bool], int]:
        check_integers(context)
        shape = _shape_in(fields, "integers")
        bits, signed = fields.word("the bits of integers", 8, 64), fields.word("whether integers have a sign", 0, 1)
        if bits not in (8, 16, 32, 64):
            raise value("the bits of integers", "8, 16, 32 or 64", bits)
        dtype = np.dtype(f"{'int' if signed else 'uint'}{bits}")
        low, high = fields.integer("the lower bound"), fields.integer("the upper bound")
        least, largest = ends_of(dtype)
        if not least <= low <= high <= largest:
            raise value("bounds", f"{least} to {largest}, the lower one first", (low, high))
        refuse = fields.word("whether results are refused", 0, 1)
        return (shape, dtype, (low, high), bool(refuse)), _batches(shape, context) * bits // 4

    (shape, dtype, bounds, refuse), chunks = _read(INTEGERS, data, context, keys, layout_in)
    _check_slots(chunks, context)
    digits, batches = dtype.itemsize * 2, []
    for i, count in enumerate(counts_of(context, math.prod(shape))):
        batches.append(_native.IntegerBatch(dtype.name, count, bounds, chunks[digits * i : digits * (i + 1)]))
    return IntegerArray._make(context, batches, shape, dtype, keys, refuse)


def conditions_bytes(array: ConditionArray) -> bytes:
    """An array of conditions: its shape, and its ciphertexts after it."""
    fields = Fields()
    fields.words(array._shape)
    return packed(CONDITIONS, fields.to_bytes(), [chunk.to_bytes() for chunk in array._chunks], like=0)


def read_conditions(data: Bytes, owner: Owner) -> ConditionArray:
    """The array of ``conditions_bytes``, which must belong to these keys or to this context."""
    from ._conditions import ConditionArray
    from ._packed import check_integers

    context, keys = owner_of(owner)

    def layout_in(fields: FieldReader) -> tuple[Shape, int]:
        check_integers(context)
        shape = _shape_in(fields, "conditions")
        return shape, _batches(shape, context)

    shape, chunks = _read(CONDITIONS, data, context, keys, layout_in)
    _check_slots(chunks, context)
    return ConditionArray._make(context, chunks, shape, keys)


def _shape_in(fields: FieldReader, what: str, last: int | None = None) -> Shape:
    """A shape of at most as many numbers as an array may have, and with this last dimension if one is given."""
    shape = tuple(fields.words("a dimension", _MOST_DIMENSIONS, 1, _MOST_SIZE))
    if math.prod(shape) > _MOST_SIZE or (last is not None and shape[-1:] != (last,)):
        raise value("the shape", f"at most {_MOST_SIZE} {what}", shape)
    return shape


def _batches(shape: Shape, context: Context) -> int:
    """How many batches of two for each slot."""
    return -(-math.prod(shape) // (2 * context.slots))


def _check_slots(chunks: list[_native.Ciphertext], context: Context) -> None:
    if any(chunk.slots != context.slots for chunk in chunks):
        raise value("the slots of a ciphertext", context.slots, [chunk.slots for chunk in chunks])


# Public keys.


def keys_bytes(keys: PublicKeys) -> bytes:
    """Parameters, the public key, evaluation keys and those of a bootstrapping."""
    parameters, evaluation = _wire.cut(keys.context._bytes), _wire.cut(keys.evaluation.to_bytes())
    boot = keys.bootstrapping
    fields = Fields()
    fields.text(keys.context._set)
    fields.words([len(parameters), len(evaluation), 0 if boot is None else keys.bootstrapper.slots])
    objects = [*parameters, keys.encryption.to_bytes(), *evaluation]
    if boot is not None:
        objects.append(boot.to_bytes())
    return packed(PUBLIC_KEYS, fields.to_bytes(), objects, like=len(parameters))


def read_keys(data: Bytes, expected: Context | None, accept: bool) -> PublicKeys:
    """The keys of ``keys_bytes``, of an expected context if one is given."""
    from ._keys import PublicKeys

    fields, objects, key = unpacked(PUBLIC_KEYS, data)
    name, counts = fields.text("the name of a bootstrapping set"), fields.words("a count", 3)
    fields.finish()
    if len(counts) != 3 or len(objects) != counts[0] + 1 + counts[1] + (counts[2] > 0) or not counts[0]:
        raise value("the counts of keys", "those of the objects that follow", counts)
    parameters = b"".join(objects[: counts[0]])
    if expected is not None and (parameters, name) != (expected._bytes, expected._set):
        raise errors.Parameters(f"the keys belong to other parameters than {expected!r}: make them in that context")
    context = expected or _restored(parameters, name, accept or _INSECURE.get())
    native, rest = context._contexts[0], objects[counts[0] :]
    encryption = _native.PublicKey.from_bytes(native, rest[0])
    evaluation = _native.EvaluationKeys.from_bytes(native, b"".join(rest[1 : 1 + counts[1]]))
    if not encryption.id == evaluation.id == key:
        raise errors.MixedKeys(f"a public key {encryption.id[:8]} and evaluation keys {evaluation.id[:8]}: take those that were made together")
    if not counts[2]:
        return PublicKeys(context, encryption, evaluation)
    bootstrapper = _native.Bootstrapper(native, name, counts[2])
    return PublicKeys(context, encryption, evaluation, bootstrapper.read_keys(rest[-1]), bootstrapper)
