"""Planned programs as bytes: parameters, operations on ciphertexts, and clear numbers. Whoever reads them runs no code of the sender.

An operation is a number in the order of ``_TAKES`` and what it takes. docs/format.md has the bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _native, _wire, errors
from ._array import EncryptedArray
from ._context import Context, _restored
from ._encoding import encoded
from ._layout import period_of, power_of_two
from ._stored import Layout
from ._trace import Like, Line, Trace, Traced, dry_context
from ._wire import Bytes, FieldReader, Fields, value

if TYPE_CHECKING:
    from ._keys import PublicKeys

#: What each operation takes: p place of a step before it, w period, n numbers, i integer, c complex, t places and numbers, m pairs of places, l integers, s series, o places.
#: Their order never changes.
_TAKES = {
    "add": "pp",
    "sub": "pp",
    "negate": "p",
    "multiply": "pp",
    "add_plain": "pnw",
    "sub_plain": "pnw",
    "plain_products": "tw",
    "products": "m",
    "integer": "pi",
    "constant": "pc",
    "rotate": "pi",
    "swap": "p",
    "polynomial": "pl",
    "series": "ps",
    "bounded": "po",
}
_NAMES = tuple(_TAKES)
_MOST_STEPS = 1 << 24
_MOST_TERMS = 1 << 20
_MOST_COEFFICIENTS = 1 << 12
#: Ciphertexts of all arguments: what a dry run keeps of them comes with no bytes.
_MOST_CIPHERTEXTS = 1 << 14
#: Forms of a result, and how deep they nest.
_ARRAY, _TUPLE, _LIST, _DICT = range(4)
_DEPTH = 16

Operation = tuple[str, tuple[Any, ...]]


class _Writer:
    def __init__(self, fields: Fields) -> None:
        self._fields = fields

    def operation(self, name: str, args: tuple[Any, ...]) -> None:
        self._fields.word(_NAMES.index(name))
        for kind, arg in zip(_TAKES[name], args):
            self._one(kind, arg)

    def _one(self, kind: str, arg: Any) -> None:
        fields = self._fields
        if kind in "pw":
            fields.word(arg)
        elif kind == "n":
            fields.numbers(arg)
        elif kind == "i":
            fields.integer(int(arg))
        elif kind == "c":
            fields.double(complex(arg).real)
            fields.double(complex(arg).imag)
        elif kind == "o":
            fields.words(arg)
        elif kind == "s":
            fields.optional(arg.interval, self._ends)
            fields.numbers(arg.coefficients)
        else:
            fields.word(len(arg))
            for part in arg:
                for inner, one in zip({"t": "pn", "m": "pp", "l": "i"}[kind], part if kind != "l" else (part,)):
                    self._one(inner, one)

    def _ends(self, interval: tuple[float, float]) -> None:
        for end in interval:
            self._fields.double(end)


class _Reader:
    """Checks each operation against the steps before it and the slots of the context."""

    def __init__(self, fields: FieldReader, context: Context) -> None:
        self._fields, self._context = fields, context

    def operation(self, steps: int) -> Operation:
        name = _NAMES[self._fields.word("an operation", 0, len(_NAMES) - 1)]
        args = tuple(self._one(kind, steps) for kind in _TAKES[name])
        if "w" in _TAKES[name]:
            clear = args[-2] if name != "plain_products" else max((m for _, m in args[0]), key=len)
            if len(clear) > args[-1]:
                raise value("the count of clear numbers", f"at most the period {args[-1]}", len(clear))
        return name, args

    def _one(self, kind: str, steps: int) -> Any:
        fields = self._fields
        if kind == "p":
            return fields.word("the place of a step", 0, steps - 1)
        if kind == "w":
            period = fields.word("a period", 1, self._context.slots)
            if period != power_of_two(period):
                raise value("a period", "a power of two", period)
            return period
        if kind == "n":
            numbers = fields.numbers("clear numbers")
            if (numbers.dtype.kind == "i") == self._context.is_real or not numbers.size:
                raise value("clear numbers", "real numbers" if self._context.is_real else "integers", numbers.dtype)
            return numbers
        if kind == "i":
            number = fields.integer("an integer")
            if not -(2**63) <= number < 2**63:
                raise value("an integer", "64 bits", number)
            return number
        if kind == "c":
            return complex(fields.double("a constant"), fields.double("a constant"))
        if kind == "o":
            return fields.words("the place of a step", _MOST_TERMS, 0, steps - 1)
        if kind == "s":
            return self._series()
        inner, most = {"t": ("pn", _MOST_TERMS), "m": ("pp", _MOST_TERMS), "l": ("i", _MOST_COEFFICIENTS)}[kind]
        count = fields.word("the count of terms", 1, most)
        if 8 * count > fields.left:
            raise _wire.truncated()
        parts = [tuple(self._one(one, steps) for one in inner) for _ in range(count)]
        return [part[0] for part in parts] if kind == "l" else parts

    def _series(self) -> _native.Series:
        fields = self._fields
        ends = fields.optional("an interval", lambda: (fields.double("an end"), fields.double("an end")))
        coefficients = fields.numbers("coefficients")
        if coefficients.dtype.kind != "f" or coefficients.size > _MOST_COEFFICIENTS:
            raise value("coefficients", f"at most {_MOST_COEFFICIENTS} real numbers", f"{coefficients.size} of {coefficients.dtype}")
        return _native.Series.restored(ends, coefficients, None, True, None)


# Arguments and results.


def _put_argument(fields: Fields, like: Like) -> None:
    fields.words(like.shape)
    fields.word("ifc".index("i" if np.dtype(like.dtype).kind in "iub" else np.dtype(like.dtype).kind))
    for number in (like.bound, *like._within()):
        fields.double(number)


def _get_argument(fields: FieldReader, context: Context) -> Like:
    shape = tuple(fields.words("a dimension", 32, 1, 1 << 40))
    kind = fields.word("the type of an argument", 0, 2)
    if (kind == 0) == context.is_real:
        raise value("the type of an argument", "that of the scheme", kind)
    bound, low, high = (fields.double("a bound") for _ in range(3))
    if not low <= high or max(abs(low), abs(high)) > bound:
        raise value("bounds", "the lower one first, and none beyond the largest", (low, high, bound))
    return Like(shape, (np.int64, np.float64, np.complex128)[kind], bound, (low, high))


def _ciphertexts(likes: Sequence[Like], context: Context) -> int:
    """How many ciphertexts the arguments are."""
    sizes = [math.prod(like.shape) for like in likes]
    return sum(-(-size // period_of(context, size)) for size in sizes)


def _put_result(fields: Fields, result: Any, depth: int = 0) -> None:
    if depth > _DEPTH:
        raise errors.ShapeError(f"results that nest more than {_DEPTH} deep are not written")
    if isinstance(result, EncryptedArray):
        fields.word(_ARRAY)
        Layout.of(result).put(fields)
        fields.words([cast(Traced, chunk).place for chunk in result._chunks])
        return
    named = isinstance(result, Mapping)
    fields.word(_DICT if named else _TUPLE if isinstance(result, tuple) else _LIST)
    fields.word(len(result))
    for part in result.items() if named else result:
        if named:
            name, part = part
            if not isinstance(name, str):
                raise TypeError(f"a result that is named {name!r}: names are texts in bytes")
            fields.text(name)
        _put_result(fields, part, depth + 1)


def _get_result(fields: FieldReader, context: Context, trace: Trace, depth: int = 0) -> Any:
    form = fields.word("the form of a result", 0, _DICT)
    if form == _ARRAY:
        layout, places = Layout.get(fields, context), fields.words("the place of a step", _MOST_TERMS, 0, len(trace.lines) - 1)
        if len(places) != layout.count:
            raise value("the count of ciphertexts", layout.count, len(places))
        chunks = [cast(_native.Ciphertext, Traced(trace, place, layout.period)) for place in places]
        return layout.array(context, chunks, None)
    count = fields.word("the count of results", 0, _MOST_TERMS)
    if depth >= _DEPTH or count * 8 > fields.left:
        raise value("results", f"at most {_DEPTH} deep, and all of them there", count)
    if form == _DICT:
        return {fields.text("the name of a result"): _get_result(fields, context, trace, depth + 1) for _ in range(count)}
    parts = [_get_result(fields, context, trace, depth + 1) for _ in range(count)]
    return tuple(parts) if form == _TUPLE else parts


# Plans.


def plan_bytes(context: Context, trace: Trace, sharing: tuple[int, int] | None) -> bytes:
    """Parameters, arguments, operations and results."""
    if _ciphertexts(trace.arguments, context) > _MOST_CIPHERTEXTS:
        raise errors.ShapeError(f"a plan for arguments of more than {_MOST_CIPHERTEXTS} ciphertexts is not written: plan for a part of the rows")
    fields = Fields()
    fields.text(context._set)
    fields.optional(sharing, fields.words)
    fields.word(len(trace.arguments))
    for like in trace.arguments:
        _put_argument(fields, like)
    writer = _Writer(fields)
    fields.word(len(trace.operations))
    for name, args in trace.operations:
        writer.operation(name, args)
    _put_result(fields, trace.result)
    return _wire.packed(_wire.PLAN, fields.to_bytes(), _wire.cut(context._bytes))


def read_plan(data: Bytes, accept: bool) -> tuple[Context, Trace, tuple[int, int] | None]:
    """What ``plan_bytes`` wrote, with a tape that was told the same."""
    fields, objects, _ = _wire.unpacked(_wire.PLAN, data)
    context = _restored(b"".join(objects), fields.text("the name of a bootstrapping set"), accept)
    sharing = fields.optional("a policy of sharing", lambda: fields.words("a number of sharing", 2, 0, 2**32 - 1))
    if sharing is not None and len(sharing) != 2:
        raise value("a policy of sharing", "two numbers", len(sharing))
    trace, dry = Trace(context.is_real), dry_context(context.scheme, context.degree.bit_length() - 1)
    likes = [_get_argument(fields, context) for _ in range(fields.word("the count of arguments", 1, 4096))]
    if _ciphertexts(likes, context) > _MOST_CIPHERTEXTS:
        raise value("the shapes of arguments", f"at most {_MOST_CIPHERTEXTS} ciphertexts", [like.shape for like in likes])
    for like in likes:
        trace.argument(like, dry, None)
    reader = _Reader(fields, context)
    for _ in range(fields.word("the count of operations", 0, _MOST_STEPS)):
        name, args = reader.operation(len(trace.lines))
        trace.note(context.slots, name, *args)
    trace.finish(_get_result(fields, context, trace))
    fields.finish()
    trace.lines = [Line("a planned program", number) for number in range(1, len(trace.lines) + 1)]
    return context, trace, None if sharing is None else (sharing[0], sharing[1])


# Runs.


def checked_arguments(context: Context, likes: Sequence[Like], arrays: Sequence[EncryptedArray]) -> None:
    """Fails for arrays that are not what was planned for."""
    if len(arrays) != len(likes):
        raise TypeError(f"{len(arrays)} arrays for a program of {len(likes)} arguments")
    for i, (like, array) in enumerate(zip(likes, arrays)):
        low, high = like._within()
        if not isinstance(array, EncryptedArray):
            raise TypeError(f"argument {i} is {type(array).__name__}: encrypt it, plan.encrypt(keys, ...) does it as planned")
        if array._context != context:
            raise errors.WrongScheme(f"argument {i} was encrypted in {array._context!r}, the plan is for {context!r}")
        if array._shape != tuple(like.shape) or array._period != period_of(context, array.size) or array._divisor != 1:
            raise errors.ShapeError(f"argument {i} has the shape {array._shape}, planned was {tuple(like.shape)} as it is encrypted: plan.encrypt(keys, ...) does that")
        own = array.bounds
        if np.dtype(like.dtype).kind != "c" and not (low <= own[0] and own[1] <= high):
            raise errors.OutsideBounds(
                f"argument {i} lies between {own[0]:g} and {own[1]:g} as far as it says, planned was {low:g} to {high:g}: encrypt it by plan.encrypt(keys, ...), or "
                "promise it: array.declared(low, high)"
            )


def run(context: Context, trace: Trace, arrays: Sequence[EncryptedArray], keys: PublicKeys) -> Any:
    """The operations on the ciphertexts of arrays. What no later operation takes is dropped."""
    chunks: list[Any] = [chunk for array in arrays for chunk in array._chunks]
    first, last = len(chunks), _last_uses(trace, len(chunks))
    machine = _Machine(context, keys)
    for step, (name, args) in enumerate(trace.operations, first):
        chunks.append(machine.do(name, args, chunks))
        for place in last.get(step, ()):
            chunks[place] = None
    return _filled(trace.result, context, keys, chunks)


def _places(name: str, args: tuple[Any, ...]) -> list[int]:
    """The steps that an operation takes."""
    found: list[int] = []
    for kind, arg in zip(_TAKES[name], args):
        if kind == "p":
            found.append(arg)
        elif kind == "o":
            found.extend(arg)
        elif kind in "tm":
            found.extend(one for part in arg for one in (part if kind == "m" else part[:1]))
    return found


def _last_uses(trace: Trace, first: int) -> dict[int, list[int]]:
    """For each step the results that nothing takes afterwards."""
    last: dict[int, int] = {}
    for step, (name, args) in enumerate(trace.operations, first):
        for place in _places(name, args):
            last[place] = step
    kept, found = set(_outputs(trace.result)), dict[int, list[int]]()
    for place, step in last.items():
        if place not in kept:
            found.setdefault(step, []).append(place)
    return found


def _outputs(result: Any) -> list[int]:
    if isinstance(result, EncryptedArray):
        return [cast(Traced, chunk).place for chunk in result._chunks]
    return [place for part in (result.values() if isinstance(result, Mapping) else result) for place in _outputs(part)]


def _filled(result: Any, context: Context, keys: PublicKeys, chunks: list[Any]) -> Any:
    """The result with ciphertexts in the place of steps."""
    if isinstance(result, EncryptedArray):
        return Layout.of(result).array(context, [chunks[place] for place in _outputs(result)], keys)
    if isinstance(result, Mapping):
        return {name: _filled(part, context, keys, chunks) for name, part in result.items()}
    parts = [_filled(part, context, keys, chunks) for part in result]
    return tuple(parts) if isinstance(result, tuple) else parts


class _Machine:
    """Operations of a tape on ciphertexts."""

    def __init__(self, context: Context, keys: PublicKeys) -> None:
        self._context, self._keys = context, keys.evaluation

    def _encoded(self, chunk: Any, values: Any, period: int, adds: bool) -> Any:
        return encoded(self._context, values, period, chunk.level, chunk.scale if adds else None)

    def do(self, name: str, args: tuple[Any, ...], chunks: list[Any]) -> Any:
        """One operation."""
        keys = self._keys
        if name == "plain_products":
            terms, period = args
            return chunks[terms[0][0]].sum_of_plain_products([(chunks[a], self._encoded(chunks[a], m, period, False)) for a, m in terms])
        if name == "products":
            return chunks[args[0][0][0]].sum_of_products([(chunks[a], chunks[b]) for a, b in args[0]], keys)
        a, rest = chunks[args[0]], args[1:]
        calls: dict[str, Callable[[], Any]] = {
            "add": lambda: a.add(chunks[rest[0]]),
            "sub": lambda: a.sub(chunks[rest[0]]),
            "negate": lambda: a.negate(),
            "multiply": lambda: a.multiply(chunks[rest[0]], keys),
            "add_plain": lambda: a.add_plain(self._encoded(a, rest[0], rest[1], True)),
            "sub_plain": lambda: a.sub_plain(self._encoded(a, rest[0], rest[1], True)),
            "integer": lambda: a.multiply_integer(rest[0]),
            "constant": lambda: a.multiply_constant(rest[0]),
            "rotate": lambda: a.rotate(rest[0], keys),
            "swap": lambda: a.swap(keys),
            "polynomial": lambda: a.polynomial(rest[0], keys),
            "series": lambda: a.series(rest[0], keys),
            "bounded": lambda: a.bounded_by([chunks[place] for place in rest[0]]),
        }
        return calls[name]()
