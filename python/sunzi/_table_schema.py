"""What is public of a table: its columns and how many rows it has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Optional, Union

from . import _native
from ._cells import Table, columns_of

#: An end of a range: a number, or a text with a number of many digits, a date or a time.
End = Union[int, float, Decimal, str]


@dataclass(frozen=True)
class Column:
    """What is public of a column: made by ``integer``, ``decimal``, ``real``, ``category`` and ``date``."""

    kind: Mapping[str, Any]
    encrypted: bool = True
    missing: bool = False
    unit: Optional[str] = None


def integer(low: End, high: End, *, encrypted: bool = True, missing: bool = False) -> Column:
    """A column of whole numbers from ``low`` to ``high``, within 2^53. Whoever computes knows the cells of a column that is not ``encrypted``; only columns with
    ``missing`` may have missing cells, which statistics leave out."""
    return decimal(low, high, decimals=0, encrypted=encrypted, missing=missing)


def decimal(low: End, high: End, *, decimals: int, encrypted: bool = True, missing: bool = False) -> Column:
    """A column of numbers with so many decimals, 15 at most, within 2^53 units of the last one; see ``integer``."""
    return Column({"decimal": {"decimals": decimals, "range": [_end(low), _end(high)]}}, encrypted, missing)


def real(low: float, high: float, *, encrypted: bool = True, missing: bool = False) -> Column:
    """A column of real numbers from ``low`` to ``high``, for CKKS; see ``integer``."""
    return Column({"real": {"range": [float(low), float(high)]}}, encrypted, missing)


def category(*labels: str, encrypted: bool = True, missing: bool = False) -> Column:
    """A column of labels; see ``integer``."""
    return Column({"category": {"labels": [str(label) for label in labels]}}, encrypted, missing)


def date(low: End, high: End, *, encrypted: bool = True, missing: bool = False) -> Column:
    """A column of dates, such as from ``"2024-01-01"`` to ``"2024-12-31"``, which count days; see ``integer``."""
    return Column({"decimal": {"range": [str(low), str(high)]}}, encrypted, missing, "days since 1970-01-01")


def _end(end: End) -> str:
    # A text keeps all digits.
    return str(end)


class Schema:
    """What is public of a table: names, kinds and ranges of its columns, and how many rows it has.

    >>> schema = tables.Schema(1000, {"age": tables.integer(0, 120), "region": tables.category("north", "south")})
    >>> schema
    <sunzi.tables.Schema of 1000 rows: age integer, region category>
    """

    __slots__ = ("_inner",)
    _inner: _native.TableSchema
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rows: int, columns: Mapping[str, Column]) -> None:
        named = [_declared(name, column) for name, column in columns.items()]
        self._inner = _native.TableSchema(json.dumps({"rows": rows, "columns": named}))

    @classmethod
    def _of(cls, inner: _native.TableSchema) -> Schema:
        schema = cls.__new__(cls)
        schema._inner = inner
        return schema

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        ranges: Optional[Mapping[str, tuple[End, End]]] = None,
        clear: Iterable[str] = (),
        categories: Iterable[str] = (),
        missing: bool = False,
    ) -> Schema:
        """The schema of a table at hand. A column has the range of its cells and their decimals where ``ranges`` declares none, and texts are labels.

        **A schema is public**: declare ranges where the least and the largest cell would tell too much, and write a schema where labels would. Columns named
        by ``clear`` are not encrypted, numbers named by ``categories`` are labels, and with ``missing`` columns with missing cells are declared so.
        """
        given = [(name, str(low), str(high)) for name, (low, high) in (ranges or {}).items()]
        return cls._of(_native.TableSchema.survey(columns_of(table), list(clear), list(categories), given, missing))

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """From JSON, as ``to_json`` and ``sunzi schema`` write it."""
        return cls._of(_native.TableSchema(text))

    def to_json(self) -> str:
        """In JSON, as ``sunzi plan --schema`` reads it."""
        return self._inner.to_json()

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self._inner.rows

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [name for name, *_ in self._inner.columns]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._inner == other._inner

    def __repr__(self) -> str:
        told = [f"{name} {kind}{'' if encrypted else ' in the clear'}{' with missing cells' if missing else ''}" for name, kind, encrypted, missing in self._inner.columns]
        return f"<sunzi.tables.Schema of {self.rows} rows: {', '.join(told)}>"


def _declared(name: str, column: Column) -> dict[str, Any]:
    if not isinstance(column, Column):
        raise TypeError(f"column {name!r} is declared by {type(column).__name__}: take tables.integer, decimal, real, category or date")
    return {"name": name, **{key: value for key, value in asdict(column).items() if value is not None}}
