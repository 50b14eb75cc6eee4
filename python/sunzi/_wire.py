"""Objects of Python as bytes: a header of the wire format, a record of fields, and whole objects of the library after it. No pickle is among them.

docs/format.md has them byte by byte. Bytes may come from anybody: lengths are checked before anything is made of them, and whatever does not fit is an
``errors.FormatError`` of its own class.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _native, errors

T = TypeVar("T")
#: What holds bytes.
Bytes = Union[bytes, bytearray, memoryview]

#: Numbers of kinds, which ``_native.kind_name`` words.
ARRAY, PUBLIC_KEYS, PLAN, BOOTSTRAP_CONTEXT, TABLE, ELEMENTS = 0x0D01, 0x0D02, 0x0D03, 0x0D04, 0x0D05, 0x0D06
MESSAGES, INTEGERS, CONDITIONS, SHARES, SHARE = 0x0D07, 0x0D08, 0x0D09, 0x0D0A, 0x0D0B
#: Bytes of a header.
HEADER = 64
#: Bytes of the first record: lengths of fields and of what follows.
_LENGTHS = 16
#: Bytes of a checksum.
_CHECKSUM = 8
#: Bytes of the fields of an object, but for a plan, which has the clear numbers of its program.
_MOST_FIELDS = 1 << 16
_MOST_PLAN = 1 << 30
#: Bytes of a text, and characters of an integer.
MOST_TEXT = 4096
#: Types of clear numbers.
_NUMBERS: tuple[np.dtype[Any], ...] = (np.dtype("<i8"), np.dtype("<f8"), np.dtype("<c16"))


def truncated() -> errors.Truncated:
    """The error of bytes that end too soon."""
    return errors.Truncated("the bytes end before their object does: copy them again")


def value(what: str, expected: object, got: object) -> errors.Value:
    """The error of a number that no object has."""
    return errors.Value(f"{what}: expected {expected}, got {str(got)[:100]}; the bytes are damaged")


class Fields:
    """Writes the fields of a record, little-endian."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def word(self, number: int) -> None:
        self._parts.append(struct.pack("<Q", number))

    def words(self, numbers: Sequence[int]) -> None:
        """Their count first."""
        self._parts.append(struct.pack(f"<{len(numbers) + 1}Q", len(numbers), *numbers))

    def double(self, number: float) -> None:
        self._parts.append(struct.pack("<d", number))

    def raw(self, data: bytes) -> None:
        """Bytes of a count that readers know."""
        self._parts.append(data)

    def text(self, text: str) -> None:
        """The count of its bytes first; a longer one is cut off."""
        data = text.encode("utf-8", "replace")[:MOST_TEXT].decode("utf-8", "ignore").encode()
        self.word(len(data))
        self._parts.append(data)

    def integer(self, number: int) -> None:
        """Of any size that a text holds: a sign and decimal digits."""
        if abs(number).bit_length() > 3 * MOST_TEXT:
            raise errors.ShapeError(f"an integer of {abs(number).bit_length()} bits: {3 * MOST_TEXT} at most can be written")
        self.text(str(number))

    def optional(self, item: T | None, put: Callable[[T], None]) -> None:
        """A word, 1 or 0, and what is there."""
        self.word(int(item is not None))
        if item is not None:
            put(item)

    def numbers(self, values: npt.NDArray[Any]) -> None:
        """A word for their type, their count, and the numbers."""
        flat = np.ascontiguousarray(values).reshape(-1)
        place = next((i for i, kind in enumerate(_NUMBERS) if kind.kind == flat.dtype.kind), None)
        if place is None:
            raise TypeError(f"clear numbers of {flat.dtype}: integers of 64 bits, real and complex numbers are written")
        self.word(place)
        self.word(flat.size)
        self._parts.append(flat.astype(_NUMBERS[place], copy=False).tobytes())

    def to_bytes(self) -> bytes:
        return b"".join(self._parts)


class FieldReader:
    """Reads what ``Fields`` wrote."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = memoryview(data), 0

    @property
    def left(self) -> int:
        """Bytes that are left."""
        return len(self._data) - self._place

    def take(self, count: int) -> bytes:
        if not 0 <= count <= self.left:
            raise truncated()
        start, self._place = self._place, self._place + count
        return bytes(self._data[start : self._place])

    def word(self, what: str, low: int = 0, high: int = 2**64 - 1) -> int:
        """A number between these."""
        (number,) = struct.unpack("<Q", self.take(8))
        if not low <= number <= high:
            raise value(what, f"{low} to {high}", number)
        return int(number)

    def words(self, what: str, most: int, low: int = 0, high: int = 2**64 - 1) -> list[int]:
        """At most so many numbers between these."""
        count = self.word(f"the count of {what}", 0, min(most, 2**60))
        if 8 * count > self.left:
            raise truncated()
        return [self.word(what, low, high) for _ in range(count)]

    def double(self, what: str, *, finite: bool = True) -> float:
        """A number, and never none."""
        (number,) = struct.unpack("<d", self.take(8))
        if math.isnan(number) or (finite and math.isinf(number)):
            raise value(what, "a finite number" if finite else "a number", number)
        return float(number)

    def text(self, what: str) -> str:
        try:
            return self.take(self.word(f"the length of {what}", 0, MOST_TEXT)).decode()
        except UnicodeDecodeError:
            raise value(what, "UTF-8", "other bytes") from None

    def integer(self, what: str) -> int:
        text = self.text(what)
        digits = text[1:] if text.startswith("-") else text
        # No more digits than every Python converts.
        if not (digits.isascii() and digits.isdigit() and len(digits) <= MOST_TEXT):
            raise value(what, "decimal digits", text)
        return int(text)

    def optional(self, what: str, get: Callable[[], T]) -> T | None:
        return get() if self.word(f"whether there is {what}", 0, 1) else None

    def numbers(self, what: str) -> npt.NDArray[Any]:
        kind = _NUMBERS[self.word(f"the type of {what}", 0, len(_NUMBERS) - 1)]
        count = self.word(f"the count of {what}", 0, 2**56)
        # A copy of their own: readers may keep them, and they are aligned.
        values = np.frombuffer(self.take(count * kind.itemsize), dtype=kind).astype(kind.newbyteorder("="))
        if kind.kind != "i" and not np.isfinite(values).all():
            raise value(what, "finite numbers", "others")
        return values

    def finish(self) -> None:
        """Fails where bytes are left."""
        if self.left:
            raise errors.Trailing(f"{self.left} bytes follow the fields: the bytes are damaged, or of a later version")


def _record(data: bytes) -> bytes:
    return data + struct.pack("<Q", _native.checksum(data))


def packed(kind: int, fields: bytes, objects: Sequence[bytes], *, like: int | None = None) -> bytes:
    """An object of this kind. Its header has the parameters and the key of the object with the index ``like``, or none."""
    if len(fields) > _most(kind):
        raise errors.ShapeError(f"{_native.kind_name(kind)} with {len(fields)} bytes of fields: {_most(kind)} at most can be written")
    rest = sum(map(len, objects))
    body = [_record(struct.pack("<QQ", len(fields), len(objects))), _record(fields)]
    length = sum(map(len, body)) + rest
    header = _native.header(kind, length, None if like is None else objects[like][:HEADER])
    return b"".join([header, *body, *objects])


def unpacked(kind: int, data: Bytes) -> tuple[FieldReader, list[bytes], str | None]:
    """The fields, the objects and the name of the key of bytes that ``packed`` made. Objects are cut apart, and not read yet."""
    data = _as_bytes(data)
    found, _, _, key, length = _native.read_header(data)
    if found != kind:
        raise errors.Kind(f"expected {_native.kind_name(kind)}, got {_native.kind_name(found)}: give the bytes to what reads them")
    if length > len(data) - HEADER:
        raise truncated()
    if length < len(data) - HEADER:
        raise errors.Trailing(f"{len(data) - HEADER - length} bytes follow the object: cut them off")
    lengths, place = _checked(data, HEADER, _LENGTHS, "the lengths")
    count, many = struct.unpack("<QQ", lengths)
    if count > _most(kind):
        raise value("the length of the fields", f"at most {_most(kind)}", count)
    fields, place = _checked(data, place, count, "the fields")
    objects = cut(data, place)
    if len(objects) != many:
        raise value("the count of objects", many, len(objects))
    for own in map(key_of, objects):
        # Those of parameters have none.
        if own is not None and own != key:
            raise errors.MixedKeys(f"an object of the key {own[:8]} in one of the key {(key or 'none')[:8]}: take the bytes that to_bytes() made")
    return FieldReader(fields), objects, key


def is_kind(kind: int, data: bytes) -> bool:
    """Whether bytes say that they are an object of this kind, as far as a glance tells."""
    return bytes(data[10:12]) == struct.pack("<H", kind)


def cut(data: bytes, place: int = 0) -> list[bytes]:
    """Whole objects, one after the other to the end of the bytes."""
    found = []
    while place < len(data):
        end = place + HEADER + _native.read_header(data[place : place + HEADER])[4]
        if end > len(data):
            raise truncated()
        found.append(data[place:end])
        place = end
    return found


def key_of(data: bytes) -> str | None:
    """The name of the key of an object."""
    return _native.read_header(data[:HEADER])[3]


def _most(kind: int) -> int:
    return _MOST_PLAN if kind == PLAN else _MOST_FIELDS


def _as_bytes(data: Any) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"bytes are read, not {type(data).__name__}: give what to_bytes() made")


def _checked(data: bytes, place: int, count: int, what: str) -> tuple[bytes, int]:
    """A record, and where the next one begins."""
    end = place + count + _CHECKSUM
    if end > len(data):
        raise truncated()
    record = data[place : place + count]
    if struct.unpack("<Q", data[end - _CHECKSUM : end])[0] != _native.checksum(record):
        raise errors.Checksum(f"the checksum of {what} is wrong: the bytes are damaged, copy them again")
    return record, end
