"""Columns of numpy and pandas as cells of a table, which Rust reads as it reads those of files."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional, Protocol, Union

import numpy as np
import numpy.typing as npt

from .errors import Column, ShapeError

if TYPE_CHECKING:
    from . import _native_tables as native

_Mask = Optional[npt.NDArray[np.bool_]]
#: Types of cells of an array of objects.
_NUMBERS = (int, float, np.integer, np.floating, np.bool_, decimal.Decimal)


class Frame(Protocol):
    """A table with columns by name, such as ``pandas.DataFrame``."""

    @property
    def columns(self) -> Iterable[Any]: ...
    def __getitem__(self, name: Any, /) -> Any: ...


#: A table in the clear: columns by their names, each of one dimension.
Table = Union[Mapping[str, Any], Frame]


def columns_of(table: Table) -> list[native.Column]:
    """The columns of a table."""
    names = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
    if not names:
        raise TypeError("a table without columns: give a dict of arrays by the names of columns, or a DataFrame")
    if len(set(names)) < len(names):
        raise Column("two columns have one name: give each another")
    return [_column(str(name), table[name]) for name in names]


def _column(name: str, cells: Any) -> native.Column:
    masked = isinstance(cells, np.ma.MaskedArray)
    mask: _Mask = np.array(np.ma.getmaskarray(cells), dtype=np.bool_) if masked else None
    array = np.asarray(np.ma.getdata(cells) if masked else cells)
    if array.ndim != 1:
        raise ShapeError(f"column {name!r} has the shape {array.shape}: give one cell for each row")
    kind = array.dtype.kind
    if kind in "bi":
        return name, "number", array.astype(np.int64), mask
    if kind == "u":
        return _unsigned(name, array, mask)
    if kind == "f":
        return name, "number", _doubles(array), mask
    if kind == "M":
        return _moments(name, array, mask)
    if kind == "U":
        return name, "label", [str(cell) for cell in array], mask
    if kind == "O":
        return _objects(name, array, mask)
    raise Column(f"column {name!r} is of {array.dtype}: give numbers, texts, or dates as datetime64")


def _unsigned(name: str, array: npt.NDArray[Any], mask: _Mask) -> native.Column:
    if array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise Column(f"column {name!r} has the number {int(array.max())}: cells are within 2^53 units")
    return name, "number", array.astype(np.int64), mask


def _doubles(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Doubles that are written in as few digits: those of a shorter type have more digits as doubles."""
    return array.astype(np.float64) if array.dtype.itemsize >= 8 else array.astype(np.str_).astype(np.float64)


def _moments(name: str, array: npt.NDArray[Any], mask: _Mask) -> native.Column:
    absent = np.isnat(array)
    unit = np.datetime_data(array.dtype)[0]
    kind, to = ("date", "D") if unit in ("Y", "M", "W", "D") else ("nanoseconds", "ns") if unit in ("ns", "ps", "fs", "as") else ("microseconds", "us")
    return name, kind, array.astype(f"datetime64[{to}]").astype(np.int64), absent if mask is None else absent | mask


def _objects(name: str, array: npt.NDArray[Any], mask: _Mask) -> native.Column:
    """Cells of any types: all that are not missing must be of one kind."""
    absent = np.array([_is_missing(cell) for cell in array], dtype=np.bool_)
    if mask is not None:
        absent |= mask
    present = [cell for cell, missing in zip(array, absent) if not missing]
    if all(isinstance(cell, str) for cell in present):
        return name, "label", [None if missing else str(cell) for cell, missing in zip(array, absent)], absent
    if all(isinstance(cell, _NUMBERS) for cell in present):
        return name, "number", [None if missing else _digits(cell) for cell, missing in zip(array, absent)], absent
    if all(isinstance(cell, datetime.date) for cell in present):
        dates = not any(isinstance(cell, datetime.datetime) for cell in present)
        moments = np.array([None if missing else _in_utc(cell) for cell, missing in zip(array, absent)], dtype="datetime64[D]" if dates else "datetime64[us]")
        return _moments(name, moments, absent)
    found = sorted({type(cell).__name__ for cell in present})
    raise Column(f"column {name!r} has cells of the types {', '.join(found)}: give numbers, texts or dates alone")


def _is_missing(cell: Any) -> bool:
    """Whether there is no cell: None, a number that is none, and what pandas has for it."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, np.datetime64):
        return bool(np.isnat(cell))
    return isinstance(cell, (float, np.floating)) and bool(np.isnan(cell)) or isinstance(cell, decimal.Decimal) and cell.is_nan()


def _digits(number: Any) -> str:
    """A number with all its digits."""
    return str(int(number)) if isinstance(number, (bool, np.bool_)) else str(number)


def _in_utc(moment: Any) -> Any:
    zone = getattr(moment, "tzinfo", None)
    return moment if zone is None else moment.astimezone(datetime.timezone.utc).replace(tzinfo=None)
