"""Encrypted messages of a few bits, and tables of them: each bootstraps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union, cast, overload

import numpy as np
import numpy.typing as npt

from . import _native
from ._context import Context
from ._packed import Packed
from ._stored import Owner, messages_bytes, read_messages
from ._wire import Bytes
from .errors import MissingKey, OutsideBounds, ShapeError, Table, WrongScheme

if TYPE_CHECKING:
    from ._keys import PublicKeys

Words = npt.NDArray[np.uint16]
#: A message for each message: an array of all results, message 0 first, or a function of the message.
MessageFunction = Union[npt.NDArray[Any], Callable[[int], int]]
#: A message for each pair of messages.
PairFunction = Union[npt.NDArray[Any], Callable[[int, int], int]]


class MessageArray(Packed):
    """An array of messages of w bits under encryption: integers modulo 2^w that tables are applied to.

    ``+`` and ``-`` take other such arrays of its shape and clear integers that broadcast to it, and wrap around modulo 2^w; they add noise. ``apply`` looks every
    message up in a table and takes the noise away: a bootstrapping. ``== != < <= > >=`` with clear integers are tables whose results are 1 and 0. Arrays are never changed.

    >>> keys = sunzi.keygen(sunzi.Context.for_tables(4))          # doctest: +SKIP
    >>> x = keys.encrypt_messages([1, 2, 3])                      # doctest: +SKIP
    >>> keys.decrypt_messages((x + 1).apply(lambda m: m * m))     # doctest: +SKIP
    array([4, 9, 0], dtype=uint8)
    """

    __slots__ = ("_bits", "_chunks", "_reduced")

    _bits: int
    _chunks: tuple[_native.Ciphertext, ...]
    #: Whether every message m is the number 2m/2^w from -1 to below 1: sums are that modulo 2.
    _reduced: bool

    _called = "encrypted messages"
    _to_choose = "open it with keys.decrypt_messages(array), or choose by a table"
    _to_open = "compute with + - and apply, or open them with keys.decrypt_messages(array)"
    _members = "encrypted messages: they have + - and comparisons, apply and apply_pairs"

    def __init__(self) -> None:
        raise TypeError("make arrays of messages with Keys.encrypt_messages or PublicKeys.encrypt_messages")

    @classmethod
    def _make(
        cls, context: Context, chunks: Sequence[_native.Ciphertext], shape: tuple[int, ...], bits: int, keys: PublicKeys | None, reduced: bool
    ) -> MessageArray:
        array = cls.__new__(cls)
        array._context, array._chunks, array._shape, array._bits, array._keys, array._reduced = context, tuple(chunks), shape, bits, keys, reduced
        return array

    def _like(self, chunks: Sequence[_native.Ciphertext], bits: int | None = None, reduced: bool = False) -> MessageArray:
        return self._make(self._context, chunks, self._shape, self._bits if bits is None else bits, self._keys, reduced)

    # What it is.

    @property
    def bits(self) -> int:
        """w: messages are integers modulo 2^w."""
        return self._bits

    @property
    def dtype(self) -> np.dtype[Any]:
        """What its messages are when they are opened: the least unsigned type that has room."""
        return np.dtype(np.uint8 if self._bits <= 8 else np.uint16)

    @property
    def ciphertexts(self) -> tuple[_native.Ciphertext, ...]:
        """The ciphertexts it is made of: each has as many messages as the ring degree."""
        return self._chunks

    def with_keys(self, keys: PublicKeys) -> MessageArray:
        """The same array, computing with these keys."""
        return MessageArray._make(self._context, self._chunks, self._shape, self._bits, keys, self._reduced)

    def __repr__(self) -> str:
        return f"<sunzi.MessageArray {self._shape} of {self._bits} bits, {len(self._chunks)} ciphertexts>"

    # Bytes.

    def to_bytes(self) -> bytes:
        """The array in bytes that anybody may read by ``from_bytes``: its ciphertexts as files of the wire format, after its shape. No key is in them, and no
        pickle."""
        return messages_bytes(self)

    @classmethod
    def from_bytes(cls, data: Bytes, owner: Owner) -> MessageArray:
        """From the bytes of ``to_bytes``, which may come from anybody. They must belong to these keys (``Keys`` or ``PublicKeys``), which the array then
        computes with, or to this context. Bytes of other keys are ``errors.Key``, of other parameters ``errors.Parameters``, and damaged ones another
        ``errors.FormatError``.
        """
        return read_messages(data, owner)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_messages, (self.to_bytes(), self._context)

    # Sums.

    def __neg__(self) -> MessageArray:
        return self._like([chunk.negate() for chunk in self._chunks])

    def __add__(self, other: Any) -> MessageArray:
        if isinstance(other, MessageArray):
            self._alike(other)
            return self._like([a.add(b) for a, b in zip(self._chunks, other._chunks)])
        return self._plus_clear(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> MessageArray:
        if isinstance(other, MessageArray):
            self._alike(other)
            return self._like([a.sub(b) for a, b in zip(self._chunks, other._chunks)])
        return self._plus_clear(other, -1)

    def __rsub__(self, other: Any) -> MessageArray:
        return (-self).__add__(other)

    def _alike(self, other: MessageArray) -> None:
        """Refuses an array that is not of the same context, shape and width."""
        self._beside(other)
        if self._bits != other._bits:
            raise WrongScheme(f"messages of {self._bits} and of {other._bits} bits: give one of them the bits of the other by apply(lambda m: m, bits=...)")

    def _plus_clear(self, other: Any, sign: int) -> MessageArray:
        values = _integers(other)
        try:
            flat = np.broadcast_to(_wrapped(values, self._bits), self._shape).reshape(-1)
        except ValueError as error:
            raise ShapeError(f"clear integers of shape {values.shape} for messages of shape {self._shape}: give a shape that broadcasts to it") from error
        chunks = []
        for chunk, part in zip(self._chunks, _parts(self._context, flat)):
            plaintext = _native.encode_messages(self._context.lowlevel, part, 1 << self._bits, chunk.level, chunk.scale)
            chunks.append(chunk.add_plain(plaintext) if sign > 0 else chunk.sub_plain(plaintext))
        return self._like(chunks)

    # Tables.

    @overload
    def apply(self, table: MessageFunction, *, bits: int | None = None) -> MessageArray: ...

    @overload
    def apply(self, table: Sequence[MessageFunction], *, bits: int | None = None) -> list[MessageArray]: ...

    def apply(
        self, table: Union[MessageFunction, Sequence[MessageFunction]], *, bits: int | None = None
    ) -> Union[MessageArray, list[MessageArray]]:
        """The results of a table: for each message m the entry ``table[m]`` of a numpy array of 2^w integers, or ``table(m)`` of a function of integers. Results
        count modulo 2^w, or as messages of so many ``bits``. A list of tables gives a list of arrays, by one bootstrapping for all of them.

        Noise is taken away, and levels are restored. Noise that may have led a message to the next one is ``errors.MessageNoise``.
        """
        if not isinstance(table, (list, tuple)):
            return self.apply([cast(MessageFunction, table)], bits=bits)[0]
        width = message_bits(self._context, self._bits if bits is None else bits)
        tables = [_native.MessageTable(_tabulated(function, 1 << self._bits, width), 1 << width) for function in table]
        return self._looked_up(self._chunks, tables, width)

    def apply_pairs(self, other: MessageArray, table: PairFunction, *, bits: int | None = None) -> MessageArray:
        """The results of a table for the messages a of this array and b of another one: ``table[a, b]`` of a numpy array of shape (2^w, 2^v), or
        ``table(a, b)``. The context must have tables of w + v bits, as that of 8 bits for two of 4. Results are messages of w + v bits, or of so many ``bits``.

        Messages of the other array are encrypted ones or results of tables: those of sums go through a table first.
        """
        if not isinstance(other, MessageArray):
            raise TypeError(f"pairs with {type(other).__name__}: give encrypted messages; a table of one array, by apply, knows clear ones")
        self._beside(other)
        if not other._reduced:
            raise Table("the second array is a sum, which is known modulo 2^w alone: apply(lambda m: m) makes messages of it that pairs take")
        p, q = 1 << self._bits, 1 << other._bits
        both = message_bits(self._context, self._bits + other._bits)
        width = both if bits is None else message_bits(self._context, bits)
        if callable(table):
            function = table
            flat = _tabulated(lambda m: function(m // q, m % q), p * q, width)
        else:
            array = np.asarray(table)
            if array.shape != (p, q):
                raise Table(f"a table of shape {array.shape} for messages of {self._bits} and {other._bits} bits: it must be {(p, q)}")
            flat = _tabulated(array.reshape(-1), p * q, width)
        bootstrapper = self._need_keys().bootstrapper
        joined = [bootstrapper.joined(a, b, p) for a, b in zip(self._chunks, other._chunks)]
        return self._looked_up(joined, [_native.MessageTable(flat, 1 << width, q)], width)[0]

    def _looked_up(self, chunks: Sequence[_native.Ciphertext], tables: list[_native.MessageTable], bits: int) -> list[MessageArray]:
        keys, half = self._need_keys(), self._context.slots
        bootstrapping = keys.bootstrapping
        if bootstrapping is None:
            raise MissingKey("there are no keys for tables: keygen makes them in a context of Context.for_tables")
        results: list[list[_native.Ciphertext]] = [[] for _ in tables]
        for i, chunk in enumerate(chunks):
            # The last ciphertext may have nothing in imaginary parts.
            only_real = self.size - 2 * half * i <= half
            for result, one in zip(results, keys.bootstrapper.apply(chunk, tables, bootstrapping, only_real=only_real)):
                result.append(one)
        return [self._like(result, bits, reduced=True) for result in results]

    def _compared(self, other: Any, holds: Callable[[int, int], bool]) -> MessageArray:
        if not isinstance(other, (int, np.integer)):
            raise TypeError(
                f"a comparison with {type(other).__name__}: an order is looked up beside one clear integer; "
                "apply_pairs(other, lambda a, b: a < b) compares encrypted messages in a context of twice their bits"
            )
        bound = int(other)
        return self.apply(lambda m: holds(m, bound))

    def _difference(self, other: Any) -> MessageArray:
        """0 where messages are equal, and a clear integer that is no message is refused: nothing is equal to it."""
        if not isinstance(other, MessageArray):
            _checked(_integers(other), self._bits, "compared")
        return self.__sub__(other)

    def __eq__(self, other: Any) -> MessageArray:  # type: ignore[override]
        return self._difference(other).apply(lambda m: m == 0)

    def __ne__(self, other: Any) -> MessageArray:  # type: ignore[override]
        return self._difference(other).apply(lambda m: m != 0)

    def __lt__(self, other: Any) -> MessageArray:
        return self._compared(other, operator.lt)

    def __le__(self, other: Any) -> MessageArray:
        return self._compared(other, operator.le)

    def __gt__(self, other: Any) -> MessageArray:
        return self._compared(other, operator.gt)

    def __ge__(self, other: Any) -> MessageArray:
        return self._compared(other, operator.ge)

    # What there is not.

    def __mul__(self, other: object) -> NoReturn:
        raise TypeError("a product of messages: apply(lambda m: 3 * m) multiplies by a clear integer, apply_pairs(other, lambda a, b: a * b) by encrypted messages")

    __rmul__ = __mul__


def message_bits(context: Context, bits: int | None = None) -> int:
    """Bits of messages in a context: as many as it has tables for unless given, and never more."""
    most = context.message_bits
    if most is None:
        raise WrongScheme(f"messages in {context!r}, which has no tables for them: make a context with Context.for_tables")
    if bits is None:
        return most
    if not isinstance(bits, (int, np.integer)) or not 1 <= bits <= most:
        raise Table(f"messages of {bits!r} bits: the context has tables of 1 to {most} bits, Context.for_tables makes others")
    return int(bits)


def _integers(values: Any) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind not in "iub":
        raise TypeError(f"messages of {array.dtype}: give integers")
    return array


def _wrapped(values: npt.NDArray[Any], bits: int) -> Words:
    """Modulo 2^bits; the low bits of two's complement are that."""
    return np.asarray(values.astype(np.uint64, copy=False) & np.uint64((1 << bits) - 1), dtype=np.uint16)


def _checked(values: npt.NDArray[Any], bits: int, what: str) -> Words:
    """Integers that are messages."""
    outside = np.flatnonzero((values < 0) | (values >= 1 << bits)) if values.dtype.kind != "b" else np.zeros(0)
    if outside.size:
        place = int(outside[0])
        number = int(values.reshape(-1)[place])
        advice = "wrap=True takes integers modulo that" if what == "encrypted" else "take it modulo that"
        raise OutsideBounds(f"integer {place} that is {what} is {number}, and messages of {bits} bits are 0 to {(1 << bits) - 1}: correct it, or {advice}")
    return values.astype(np.uint16)


def _tabulated(function: MessageFunction, points: int, bits: int) -> Words:
    """All results of a table, taken modulo 2^bits."""
    if callable(function):
        results = [function(m) for m in range(points)]
        bad = next((result for result in results if not isinstance(result, (int, np.integer, np.bool_))), None)
        if bad is not None:
            raise TypeError(f"a table with the result {bad!r}: give a function from int to int")
        return np.array([int(result) % (1 << bits) for result in results], dtype=np.uint16)
    if not isinstance(function, np.ndarray):
        raise TypeError(f"a table that is {type(function).__name__}: give a numpy array of {points} integers or a function from int to int, or a list of those")
    if function.shape != (points,):
        raise Table(f"a table of shape {function.shape}: it must be {(points,)}, a result for each message")
    return _wrapped(_integers(function), bits)


def _parts(context: Context, flat: Words) -> list[Words]:
    """The messages of each ciphertext."""
    count = 2 * context.slots
    return [np.ascontiguousarray(flat[start : start + count]) for start in range(0, flat.size, count)]


def messages_encrypted(
    context: Context,
    values: npt.ArrayLike,
    key: Union[_native.SecretKey, _native.PublicKey],
    keys: PublicKeys,
    bits: Optional[int],
    wrap: bool,
) -> MessageArray:
    """Encrypts integers modulo a power of two."""
    if isinstance(values, MessageArray):
        raise TypeError("the messages are encrypted already: compute with them, or open them with keys.decrypt_messages(array)")
    width, array = message_bits(context, bits), _integers(values)
    if array.size == 0:
        raise ShapeError("an array without messages: there is nothing to encrypt")
    flat = (_wrapped(array, width) if wrap else _checked(array, width, "encrypted")).reshape(-1)
    encoded = (_native.encode_messages(context.lowlevel, part, 1 << width, context.depth) for part in _parts(context, flat))
    return MessageArray._make(context, [key.encrypt(plaintext) for plaintext in encoded], array.shape, width, keys, True)


def messages_decrypted(array: MessageArray, secret: _native.SecretKey, keys: PublicKeys) -> npt.NDArray[Any]:
    """All messages; noise that may have led one to the next is refused."""
    modulus, parts = 1 << array._bits, []
    for chunk in array._chunks:
        keys.bootstrapper.check_messages(chunk, modulus)
        parts.append(_native.decode_messages(secret.decrypt(chunk), modulus))
    opened = np.concatenate(parts)[: array.size].reshape(array._shape)
    return opened.astype(array.dtype)
