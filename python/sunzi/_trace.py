"""What a function does to ciphertexts, written down without any.

The arrays of the function are those of every run: their ciphertexts note each operation on a tape, with the line that asked for it.
"""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union, cast

import numpy as np
import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._context import Context
from ._encoding import Bounds, checked_bounds
from ._known import Known
from ._layout import period_of
from .errors import MissingKey, OutsideBounds, ShapeError

#: Code of this package is not what a line of a program is.
_PACKAGE = __name__.partition(".")[0] + "."
#: Rotations by more distances than this many times log2 of the slots are put together from powers of two.
_KEYS_PER_BIT = 2

Result = Union[EncryptedArray, Sequence["Result"], Mapping[str, "Result"]]


@dataclass(frozen=True)
class Like:
    """What an argument of a program will be: its shape, its type, and the largest absolute value in it. ``bounds`` says between what its numbers lie
    where that is more, as for ``Keys.encrypt``: a pair of which none is beyond ``bound``.
    """

    shape: tuple[int, ...]
    dtype: npt.DTypeLike = float
    bound: float = 1.0
    bounds: Optional[Bounds] = None

    def __post_init__(self) -> None:
        low, high = self._within()
        if max(abs(low), abs(high)) > self.bound:
            raise OutsideBounds(f"numbers between {low:g} and {high:g}, and a bound of {self.bound:g}: give one that holds for both ends")

    def _within(self) -> Bounds:
        return (-self.bound, self.bound) if self.bounds is None else checked_bounds(*self.bounds)

    @classmethod
    def of(cls, example: Any) -> Like:
        """As this one, or as an example: of its shape, and no larger than its largest number."""
        if isinstance(example, cls):
            return example
        values = np.asarray(example)
        if values.dtype.kind not in "iubfc" or values.size == 0:
            raise TypeError(f"an argument of {values.dtype} and {values.size} numbers: give an example, or sunzi.Like(shape, dtype, bound)")
        return cls(values.shape, values.dtype, float(np.abs(values).max()))


@dataclass(frozen=True)
class Line:
    """A line of a program."""

    file: str
    number: int

    @property
    def text(self) -> str:
        """What it says."""
        return linecache.getline(self.file, self.number).strip()

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}: {self.text}"


def calling_line() -> Line:
    """The line outside of this package that asks for something."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_PACKAGE):
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno)


@dataclass(frozen=True)
class Numbers:
    """Clear numbers on the tape."""

    values: npt.NDArray[Any]
    period: int


class Trace:
    """A tape and the line of every step."""

    def __init__(self, real: bool) -> None:
        self.tape = _native.Tape(real)
        self.lines: list[Line] = []
        #: What the tape was told after the arguments: names of its methods, and what they took.
        self.operations: list[tuple[str, tuple[Any, ...]]] = []
        #: What the arguments are like, and what the function returned.
        self.arguments: list[Like] = []
        self.result: Any = None
        #: Distances of rotations, and whether rows are swapped.
        self.steps: set[int] = set()
        self.swaps = False
        #: What approximations leave of all results, and the largest absolute value in them.
        self.known = Known(0.0, 0.0)

    def argument(self, like: Like, context: Context, keys: Any) -> EncryptedArray:
        """The array of an argument."""
        size = math.prod(like.shape)
        period, chunks = period_of(context, size), []
        for start in range(0, size, period):
            filled = min(period, size - start)
            chunks.append(cast(_native.Ciphertext, self._noted(self.tape.input([(like.bound, filled), (0.0, period - filled)]), period)))
        kind = np.dtype(like.dtype)
        dtype = kind if kind.kind == "c" else context.dtype
        self.arguments.append(like)
        return EncryptedArray._make(context, chunks, like.shape, period, 0, dtype, keys, known=Known(*like._within()))

    def note(self, period: int, name: str, *args: Any) -> Traced:
        """A step: a method of the tape, and what it takes."""
        place: int = getattr(self.tape, name)(*args)
        self.operations.append((name, args))
        if name == "rotate":
            self.steps.add(args[1])
        self.swaps = self.swaps or name == "swap"
        return self._noted(place, period)

    def _noted(self, place: int, period: int) -> Traced:
        self.lines.append(calling_line())
        return Traced(self, place, period)

    def finish(self, result: Any) -> None:
        """Takes what the function returned: arrays, or tuples, lists and dictionaries of them."""
        self.result = result
        for array in flattened(result):
            self._keep(array._known)
            for i, chunk in enumerate(array._chunks):
                size = min(array._period, array.size - i * array._period)
                self.tape.output(cast(Traced, chunk).place, size)

    def _keep(self, known: Known) -> None:
        """The worst of what is known of all results."""
        most, off = max(self.known.high, known.most), max(self.known.off, known.off)
        self.known = Known(-most, most, off, self.known.unproved or known.unproved)


class Traced:
    """In the place of a ciphertext."""

    __slots__ = ("period", "place", "trace_")

    #: What is not known before parameters are.
    level = scale = precision = magnitude = None
    bits_left = float("inf")
    nbytes = 0
    key_id = trace = "dry run"
    steps: tuple[()] = ()

    def __init__(self, trace: Trace, place: int, period: int) -> None:
        self.trace_, self.place, self.period = trace, place, period

    def _note(self, name: str, *args: Any, beside: Sequence[Traced] = (), period: int = 0) -> Traced:
        """A step on this ciphertext and others, or on clear numbers of a period."""
        return self.trace_.note(max([self.period, period, *(other.period for other in beside)]), name, *args)

    def add(self, other: Traced) -> Traced:
        return self._note("add", self.place, other.place, beside=[other])

    def sub(self, other: Traced) -> Traced:
        return self._note("sub", self.place, other.place, beside=[other])

    def negate(self) -> Traced:
        return self._note("negate", self.place)

    def multiply(self, other: Traced, keys: object) -> Traced:
        return self._note("multiply", self.place, other.place, beside=[other])

    def add_plain(self, numbers: Numbers) -> Traced:
        return self._note("add_plain", self.place, numbers.values, numbers.period, period=numbers.period)

    def sub_plain(self, numbers: Numbers) -> Traced:
        return self._note("sub_plain", self.place, numbers.values, numbers.period, period=numbers.period)

    def multiply_plain(self, numbers: Numbers) -> Traced:
        return self.sum_of_plain_products([(self, numbers)])

    @staticmethod
    def sum_of_plain_products(terms: Sequence[tuple[Traced, Numbers]]) -> Traced:
        (first, numbers), period = terms[0], max(m.period for _, m in terms)
        products = [(a.place, m.values) for a, m in terms]
        return first._note("plain_products", products, numbers.period, beside=[a for a, _ in terms], period=period)

    @staticmethod
    def sum_of_products(terms: Sequence[tuple[Traced, Traced]], keys: object) -> Traced:
        return terms[0][0]._note("products", [(a.place, b.place) for a, b in terms], beside=[b for _, b in terms])

    def multiply_integer(self, factor: int) -> Traced:
        return self._note("integer", self.place, factor)

    def multiply_constant(self, constant: complex) -> Traced:
        return self._note("constant", self.place, constant)

    def rotate(self, steps: int, keys: object) -> Traced:
        return self._note("rotate", self.place, steps)

    def rotate_many(self, steps: Sequence[int], keys: object) -> list[Traced]:
        return [self.rotate(step, keys) if step else self for step in steps]

    def swap(self, keys: object) -> Traced:
        return self._note("swap", self.place)

    def polynomial(self, coefficients: Sequence[int], keys: object) -> Traced:
        return self._note("polynomial", self.place, coefficients)

    def series(self, series: _native.Series, keys: object) -> Traced:
        return self._note("series", self.place, series)

    def bounded_by(self, others: Sequence[Traced]) -> Traced:
        return self._note("bounded", self.place, [other.place for other in others])

    def level_to(self, level: int) -> Traced:
        raise ShapeError("level_to in a program: levels are chosen by its plan")

    def to_bytes(self) -> bytes:
        raise MissingKey("a dry run encrypts nothing")


class _Anything(frozenset[int]):
    """Keys for every rotation."""

    def __contains__(self, exponent: object) -> bool:
        return True


class _Native:
    """In the place of a context of single ciphertexts."""

    depth = plain_modulus = None
    moduli: tuple[int, ...] = ()
    special_moduli: tuple[int, ...] = ()
    log2_key_modulus = 0.0
    security = 0
    parties = 1

    def __init__(self, real: bool, log2_degree: int, scheme: str) -> None:
        self.scheme = scheme
        self.degree, self.ring_index = 1 << log2_degree, 2 << log2_degree
        self.slots = self.degree // 2 if real else self.degree

    def encode_integers(self, values: npt.NDArray[Any], slots: int) -> Numbers:
        return Numbers(np.ascontiguousarray(values, dtype=np.int64), slots)

    def encode_reals(self, values: npt.NDArray[Any], slots: int, level: object, scale: object) -> Numbers:
        return Numbers(np.ascontiguousarray(values, dtype=np.float64), slots)

    def encode_complex(self, values: npt.NDArray[Any], slots: int, level: object, scale: object) -> Numbers:
        return Numbers(np.ascontiguousarray(values, dtype=np.complex128), slots)

    def rotation_exponent(self, steps: int) -> int:
        """The steps themselves: keys are found by them."""
        return steps % (self.degree // 2)


class _Keys:
    """In the place of keys."""

    evaluation = bootstrapping = None

    def __init__(self, exponents: frozenset[int]) -> None:
        self.exponents = exponents

    @property
    def bootstrapper(self) -> Any:
        raise MissingKey("bootstrapping in a program: plan what is between two bootstrappings")


def traced(function: Any, arguments: Sequence[Like], scheme: str, log2_degree: int) -> Trace:
    """Calls a function with arrays that note what is done to them, with keys for all rotations or, if those are many, for powers of two."""
    trace = _traced(function, arguments, scheme, log2_degree, _Anything())
    if len(trace.steps) <= _KEYS_PER_BIT * (log2_degree - 1):
        return trace
    powers = frozenset(1 << i for i in range(log2_degree - 1))
    return _traced(function, arguments, scheme, log2_degree, powers)


def dry_context(scheme: str, log2_degree: int) -> Context:
    """In the place of a context, before there are parameters."""
    context = Context.__new__(Context)
    context._inner = cast(_native.Context, _Native(scheme == "ckks", log2_degree, scheme))
    context._bytes, context._set, context._top = b"dry run", "", None
    return context


def _traced(function: Any, arguments: Sequence[Like], scheme: str, log2_degree: int, exponents: frozenset[int]) -> Trace:
    context, trace, keys = dry_context(scheme, log2_degree), Trace(scheme == "ckks"), cast(Any, _Keys(exponents))
    trace.finish(function(*[trace.argument(like, context, keys) for like in arguments]))
    return trace


def flattened(result: Any) -> list[EncryptedArray]:
    """All arrays that a function returns."""
    if isinstance(result, EncryptedArray):
        return [result]
    if isinstance(result, Mapping):
        return [array for value in result.values() for array in flattened(value)]
    if isinstance(result, (tuple, list)):
        return [array for value in result for array in flattened(value)]
    raise TypeError(f"a program that returns {type(result).__name__}: return encrypted arrays, or tuples, lists or dicts of them")
