"""Results of programs on tables: bytes for whoever computes, numbers for the key holder."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _html, _native


class Results:
    """Encrypted results. Their bytes are the file that ``sunzi eval`` writes and ``sunzi decrypt`` reads."""

    __slots__ = ("_inner",)
    _inner: _native.TableResults

    def __init__(self) -> None:
        raise TypeError("make results with Plan.compute, or read them with Results.from_bytes")

    @classmethod
    def _of(cls, inner: _native.TableResults) -> Results:
        results = cls.__new__(cls)
        results._inner = inner
        return results

    @classmethod
    def from_bytes(cls, data: bytes) -> Results:
        """From the bytes of ``to_bytes``, or of a file of ``sunzi eval``, which may come from anybody: ``Plan.decrypt`` reads them in full."""
        return cls._of(_native.TableResults.from_bytes(data))

    def to_bytes(self) -> bytes:
        """The results in bytes."""
        return self._inner.to_bytes()

    @property
    def nbytes(self) -> int:
        """How many bytes they have."""
        return self._inner.nbytes

    def __repr__(self) -> str:
        return f"<sunzi.tables.Results, {_html.megabytes(self.nbytes)}>"


@dataclass(frozen=True)
class Number:
    """A number of the results: ``float(number)`` and ``number.value`` are the nearest double."""

    #: The nearest double; not a number where there is none.
    value: float
    #: What the number is off by at most; 0 where it is exact.
    error: float
    #: The number itself, where it is exact.
    exact: Optional[Fraction]
    #: Why there is no number, as of the mean of no rows; None where there is one.
    undefined: Optional[str]
    #: Whether it was computed from clear columns alone: whoever computes knows it, and may have written any number.
    never_encrypted: bool

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, eq=False)
class Rows:
    """A column of the results, a number for each row: ``np.asarray(rows)`` and ``rows.values`` are the nearest doubles."""

    #: The nearest doubles; not a number in rows in which a cell is missing.
    values: npt.NDArray[np.float64]
    #: What each is off by at most, beside its rounding to a double; 0 where the column is exact.
    errors: npt.NDArray[np.float64]
    #: Whether the column was computed from clear columns alone.
    never_encrypted: bool

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=True if copy is None else copy)


#: A result by its name: groups by their label, or by tuples of labels where there are several columns of them.
Value = Union[Number, dict[Any, Number], Rows]


def opened(value: Any) -> Value:
    """A result as Rust gives it."""
    if isinstance(value, list):
        return {labels[0] if len(labels) == 1 else tuple(labels): _number(told) for labels, told in value}
    return Rows(*value) if isinstance(value[0], np.ndarray) else _number(value)


def _number(told: Any) -> Number:
    value, error, exact, undefined, clear = told
    return Number(value, error, None if exact is None else Fraction(exact), undefined, clear)
