"""Arrays put together from several, encrypted and clear ones: what numpy's own function does with the places of their numbers says where each comes from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._array import EncryptedArray
from ._known import Known, of_numbers
from ._layout import Index, joint
from ._moves import gathered
from .errors import WrongScheme


def moved(function: Callable[..., Any], array: EncryptedArray, *args: Any, **kwargs: Any) -> Any:
    """What a function that only moves numbers makes of an array: one array, or a list of them."""
    found = function(np.arange(array.size, dtype=np.int64).reshape(array.shape), *args, **kwargs)
    if isinstance(found, (list, tuple)):
        return [_at(array, part) for part in found]
    return _at(array, found)


def _at(array: EncryptedArray, places: Index) -> EncryptedArray:
    return gathered(array, np.ascontiguousarray(places).reshape(-1), places.shape)


def joined(function: Callable[..., Any], parts: Sequence[Any], /, *args: Any, **kwargs: Any) -> EncryptedArray:
    """``function(*args with parts in the place of None, **kwargs)`` for a function that puts the numbers of its parts together. Parts may be nested lists.

    Numbers that keep their neighbours cost nothing where they fill their ciphertexts, else a mask: a level of real numbers.
    """
    arrays = _aligned([leaf for part in parts for leaf in _leaves(part) if isinstance(leaf, EncryptedArray)])
    period = max(array._period for array in arrays)
    first, starts = 0, []
    for array in arrays:
        starts.append(first * period)
        first += len(array._chunks)

    def call(of: Callable[[Any], Any]) -> npt.NDArray[Any]:
        mapped = iter([_mapped(part, of) for part in parts])
        return np.asarray(function(*(next(mapped) if arg is None else arg for arg in args), **kwargs))

    places = iter(zip(arrays, starts))
    index = call(lambda leaf: _places(*next(places)) if isinstance(leaf, EncryptedArray) else np.full(np.shape(leaf), -1, dtype=np.int64))
    chunks = [chunk for array in arrays for chunk in array._chunks]
    known, keys = arrays[0]._now(), next((array._keys for array in arrays if array._keys is not None), None)
    dtype = arrays[0]._dtype
    for array in arrays[1:]:
        known, dtype = known.either(array._now()), joint(dtype, array._dtype)
    source = arrays[0]._like(chunks, shape=(len(chunks) * period,), period=period, dtype=dtype, known=known)
    source._keys = keys
    result = gathered(source, np.ascontiguousarray(index, dtype=np.int64).reshape(-1), index.shape)
    clear = index < 0
    if not clear.any():
        return result
    values = arrays[0]._numbers(call(lambda leaf: np.zeros(leaf.shape, dtype=np.int64) if isinstance(leaf, EncryptedArray) else np.asarray(leaf)))
    # Numbers are one or the other, and not the sum of both.
    whole = result._like(result._chunks, fill=result._fill, known=Known()) + values
    return whole._like(whole._chunks, fill=whole._fill, known=known.either(of_numbers(values[clear])))


def _leaves(part: Any) -> list[Any]:
    return [leaf for one in part for leaf in _leaves(one)] if isinstance(part, (list, tuple)) else [part]


def _mapped(part: Any, of: Callable[[Any], Any]) -> Any:
    return [_mapped(one, of) for one in part] if isinstance(part, (list, tuple)) else of(part)


def _places(array: EncryptedArray, start: int) -> Index:
    return np.arange(start, start + array.size, dtype=np.int64).reshape(array.shape)


def _aligned(arrays: list[EncryptedArray]) -> list[EncryptedArray]:
    """Of one context, over one divisor."""
    if any(array._context != arrays[0]._context for array in arrays):
        raise WrongScheme("the arrays belong to different contexts: encrypt all of them in one")
    common = math.lcm(*(array._divisor for array in arrays))
    return [array._over(common) for array in arrays]
