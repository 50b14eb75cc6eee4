"""Programs of field elements: parameters by a count of what a function does to ciphertexts, in the ring that is asked for or the cheapest one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, Optional, Union, cast

from . import _native
from ._context import Context
from ._fields import FieldArray, field_of, slot_dimension
from ._keys import Keys, Progress, PublicKeys, keygen
from .errors import NothingFits, ShapeError

#: The shape of an argument without the coefficients of its elements, or how many; None for all slots of one ciphertext.
Shaped = Union[int, Sequence[int], None]

#: Rings that are chosen one after the other until one holds what is done in it.
_MOST_ROUNDS = 8
#: Automorphisms for which a term of a sum has room: see ``Context.for_field``.
_MAPS = 8


class FieldPlan:
    """What a program of field elements takes: a context with room for its products in a row, and the keys of its rotations."""

    def __init__(self, context: Context, count: _Count) -> None:
        self.context = context
        #: Products of encrypted elements in a row.
        self.depth = count.depth
        #: log2 of the arrays that are summed between products.
        self.sums = count.sums
        #: Products with clear elements and masks in a row, between products.
        self.plain_products = count.plain
        #: Pairs of steps and dimension to make keys for.
        self.rotations = sorted(count.rotations)

    def keygen(self, *, progress: Optional[Progress] = None) -> Keys:
        """The keys of the program: those for Frobenius maps, for its rotations, and for products where it has some."""
        return keygen(self.context, rotations=self.rotations, products=self.depth > 0, progress=progress)

    def __repr__(self) -> str:
        room = f"depth {self.depth}, sums of 2^{self.sums}, {self.plain_products} products with clear elements in a row"
        return f"<sunzi.FieldPlan {self.context!r}, {room}, {len(self.rotations)} rotations>"


class _Count:
    """What was done so far. It stands for keys that have everything."""

    evaluation = None

    def __init__(self) -> None:
        self.depth, self.terms, self.plain, self.maps = 0, 1, 0, 0
        self.rotations: set[tuple[int, int]] = set()

    @property
    def sums(self) -> int:
        """log2 of the terms that there has to be room for."""
        return (max(self.terms, -(-self.maps // _MAPS)) - 1).bit_length()

    @property
    def exponents(self) -> _Count:
        return self

    def __contains__(self, exponent: int) -> bool:
        return True


class _Counted:
    """A ciphertext of which nothing is there but how it was made: products in a row, and since the last one terms, clear factors, automorphisms."""

    level, bits_left = None, math.inf

    def __init__(self, count: _Count, depth: int = 0, terms: int = 1, plain: int = 0, maps: int = 0) -> None:
        self._count, self._depth, self._terms, self._plain, self._maps = count, depth, terms, plain, maps
        count.depth, count.terms = max(count.depth, depth), max(count.terms, terms)
        count.plain, count.maps = max(count.plain, plain), max(count.maps, maps)

    def _with(self, terms: int, plain: int, maps: int) -> _Counted:
        return _Counted(self._count, self._depth, terms, plain, maps)

    def add(self, other: _Counted) -> _Counted:
        depth, plain = max(self._depth, other._depth), max(self._plain, other._plain)
        return _Counted(self._count, depth, self._terms + other._terms, plain, self._maps + other._maps)

    sub = add

    def negate(self) -> _Counted:
        return self

    def add_plain(self, _: _native.Plaintext) -> _Counted:
        return self

    sub_plain = add_plain

    def multiply(self, other: _Counted, _: object) -> _Counted:
        return _Counted(self._count, max(self._depth, other._depth) + 1)

    def multiply_plain(self, _: _native.Plaintext) -> _Counted:
        return self._with(self._terms, self._plain + 1, self._maps)

    def automorphism(self, _: int, __: object) -> _Counted:
        return self._with(self._terms, self._plain, self._maps + 1)

    def turned(self, good: bool) -> _Counted:
        """Rotated: along a bad dimension b + mask·(a - b), of two automorphisms a and b."""
        if good:
            return self._with(self._terms, self._plain, self._maps + 1)
        return self._with(3 * self._terms, self._plain + 1, 3 * self._maps + 3)


class _CountedArray(FieldArray):
    """An argument of a program whose operations are counted."""

    __slots__ = ()

    def rotate(self, steps: int, dimension: int = 0) -> FieldArray:
        turn = self._turn(steps, dimension)
        if turn == 0:
            return self._like(self._chunks)
        self._counts.rotations.add((turn, int(dimension)))
        good = slot_dimension(self._context, dimension).good
        return self._like([cast(Any, chunk).turned(good) for chunk in self._chunks])

    @property
    def _counts(self) -> _Count:
        return cast(_Count, self._need_keys())


def _counted(function: Callable[..., Any], shapes: Sequence[Shaped], context: Context) -> _Count:
    """What a function does to arrays of these shapes in a context."""
    count, field = _Count(), field_of(context)
    arguments = []
    for shape in shapes:
        own = (field.slots,) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        if min(own, default=1) < 1:
            raise ShapeError(f"an argument of shape {own}: give lengths from 1 on, without the coefficients of elements")
        chunks = [_Counted(count) for _ in range(-(-math.prod(own) // field.slots))]
        keys = cast(PublicKeys, count)
        arguments.append(_CountedArray._make(context, cast("list[_native.Ciphertext]", chunks), (*own, field.degree), keys))
    function(*arguments)
    return count


def field_plan(
    function: Callable[..., Any],
    shapes: Sequence[Shaped],
    *,
    prime: int,
    ring_index: Optional[int],
    slots: int,
    exponent: int,
    scheme: Literal["bfv", "bgv"],
    security: int,
) -> FieldPlan:
    """Parameters that have room for what a function does. Where the ring is to be chosen, the function is called again in each ring that is tried: what it does
    may depend on the dimensions of the slots."""
    asked: dict[str, Any] = {"prime": prime, "ring_index": ring_index, "slots": slots, "exponent": exponent, "scheme": scheme}
    context = Context.for_field(1, security=0, **asked)
    for _ in range(_MOST_ROUNDS):
        count = _counted(function, shapes, context)
        found = Context.for_field(count.depth, sums=count.sums, plain_products=count.plain, security=security, **asked)
        if field_of(found).ring_index == field_of(context).ring_index:
            return FieldPlan(found, count)
        context = found
    raise NothingFits("the rings that are chosen for the program change what it does, and so the ring: name one by ring_index")
