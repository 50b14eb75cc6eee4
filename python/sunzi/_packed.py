"""What arrays of encrypted messages, integers and conditions have in common: their shape, their keys, and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import numpy as np

from . import _native
from ._context import Context
from .errors import MissingKey, ShapeError, WrongScheme

if TYPE_CHECKING:
    from ._keys import PublicKeys

Self = TypeVar("Self", bound="Packed")


class Packed:
    """An array in batches of two numbers for each slot. Arrays are never changed."""

    __slots__ = ("_context", "_keys", "_shape")

    _context: Context
    _keys: PublicKeys | None
    _shape: tuple[int, ...]

    #: Name of what is encrypted, for refusals; what they advise in the place of a truth value and of a numpy array, and what they say of members of other arrays, with
    #: {} for the name of the class.
    _called: ClassVar[str]
    _to_choose: ClassVar[str]
    _to_open: ClassVar[str]
    _members: ClassVar[str]

    #: numpy leaves operators to these classes, and makes no array of objects.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    @property
    def context(self) -> Context:
        """Parameters and tables."""
        return self._context

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of all dimensions."""
        return self._shape

    @property
    def size(self) -> int:
        """How many there are."""
        return int(np.prod(self._shape, dtype=np.int64))

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("an array of no dimension has no length")
        return self._shape[0]

    @property
    def keys(self) -> PublicKeys | None:
        """The keys it computes with; none after it was unpickled, or read for a context alone: see ``with_keys``."""
        return self._keys

    def _need_keys(self) -> PublicKeys:
        if self._keys is None:
            raise MissingKey("the array has no keys to compute with, as after it was read for a context alone: give it some by with_keys(keys.public)")
        return self._keys

    def _beside(self, other: Packed) -> None:
        """Refuses an array that is not of the same context and shape."""
        if self._context != other._context:
            raise WrongScheme("the arrays belong to different contexts: encrypt both in one")
        if self._shape != other._shape:
            raise ShapeError(f"encrypted arrays of shapes {self._shape} and {other._shape}: they are not broadcast, give two of one shape")

    def __copy__(self: Self) -> Self:
        return self

    def __deepcopy__(self: Self, memo: dict[int, Any]) -> Self:
        return self

    def __bool__(self) -> NoReturn:
        raise TypeError(f"whether an encrypted array is true is unknown: {self._to_choose}")

    # Type checkers would take whatever has one of these for an array of numbers.
    if not TYPE_CHECKING:

        def __array__(self, *_: object, **__: object) -> NoReturn:
            raise TypeError(f"{self._called} are no numpy array: {self._to_open}")

        def __getattr__(self, name: str) -> NoReturn:
            from ._array import EncryptedArray

            own = type(self).__name__
            if not name.startswith("_") and hasattr(EncryptedArray, name):
                raise AttributeError(f"{name} of {self._members.format(own)}")
            raise AttributeError(f"{own} has no {name}")


class OfIntegers(Packed):
    """An array of integers or of conditions."""

    __slots__ = ()

    _called = "encrypted integers and conditions"
    _to_choose = "open it with the keys, or choose by condition.where(a, b)"
    _to_open = "compute with their operators and methods, or open them with the keys"
    _members = "{}: sunzi.IntegerArray and sunzi.ConditionArray say what they have"

    def _evaluator(self, refuse: bool = False) -> _native.IntegerEvaluator:
        return evaluator_of(self._context, self._need_keys(), refuse)


def check_integers(context: Context) -> None:
    """Refuses a context without what integers take."""
    if not context.has_integers:
        raise WrongScheme(f"integers with carries in {context!r}, which has no tables for them: make a context with Context.for_integers")


def evaluator_of(context: Context, keys: PublicKeys, refuse: bool = False) -> _native.IntegerEvaluator:
    """What computes with integers of a context."""
    check_integers(context)
    if keys.bootstrapping is None:
        raise MissingKey("there are no keys for integers: keygen makes them in a context of Context.for_integers")
    return _native.IntegerEvaluator(keys.bootstrapper, keys.bootstrapping, refuse=refuse)


def counts_of(context: Context, size: int) -> list[int]:
    """How many of so many are in each batch."""
    most = 2 * context.slots
    return [min(most, size - start) for start in range(0, size, most)]
