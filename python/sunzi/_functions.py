"""Functions of one real number that polynomials stand for: which are known, and what is known of the polynomials.

The bounds on polynomials are those of a grid. A polynomial of degree n in an interval is at most 1/cos(nπ/2N) times as large as on the N zeros of
the Chebyshev polynomial T_N of that interval (Ehlich and Zeller, 1964).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Optional, Union, cast

import numpy as np
import numpy.typing as npt

from . import _native
from ._known import Known
from .errors import NoiseTooLarge

Function = Union[str, Callable[[float], float], _native.Series]
Reals = npt.NDArray[np.float64]

#: Errors of real numbers stay below this many deviations, but for a share of 2^-40 of all numbers, where they are normally distributed.
DEVIATIONS = 7.2
#: What approximations may take of the room beyond an interval: elements of the basis are then at most 1.03.
OFF_SHARE = 1 / 32
#: Points of a grid for each degree.
_POINTS = 32
#: Half of a unit in the last place, relatively.
_UNIT = 2.0**-53

_NAMES: dict[Any, str] = {
    np.exp: "exp",
    math.exp: "exp",
    np.tanh: "tanh",
    math.tanh: "tanh",
    np.log: "log",
    math.log: "log",
    np.sqrt: "sqrt",
    math.sqrt: "sqrt",
    np.reciprocal: "inverse",
    np.sin: "sin",
    math.sin: "sin",
    np.cos: "cos",
    math.cos: "cos",
}
#: Functions that rise wherever they are defined, and functions that fall on each side of 0.
_RISING = {"exp", "sigmoid", "tanh", "log", "sqrt"}
_FALLING = {"inverse", "inverse_sqrt"}
#: Where they begin to be defined.
_LEAST = {"log": 0.0, "sqrt": 0.0, "inverse_sqrt": 0.0}
#: By how much values of functions in the clear may be off, relatively: 16 units in the last place.
_VALUE_ERROR = 2.0**-49


def known_name(function: Any) -> Optional[str]:
    """The name of a function whose errors are proved; None for any other."""
    if isinstance(function, str):
        return function
    try:
        return _NAMES.get(function)
    except TypeError:
        # What has no hash is none of them.
        return None


def value_at(name: str, x: float) -> float:
    """The value of a known function in the clear."""
    if name == "sigmoid":
        return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
    if name == "inverse":
        return 1 / x
    if name == "inverse_sqrt":
        return 1 / math.sqrt(x)
    return float(getattr(math, name)(x))


def image(series: _native.Series, low: float, high: float) -> tuple[float, float]:
    """Between what the function lies that a series stands for, where its argument lies between these: by the series, and better where more is known."""
    least, most = polynomial_range(series, low, high)
    if series.error is None:
        return least, most
    error, name = series.error, series.function
    least, most = least - error, most + error
    if name is None or not series.error_is_proved:
        return least, most
    if name in _RISING or name in _FALLING:
        ends = value_at(name, low), value_at(name, high)
        first, last = ends if name in _RISING else ends[::-1]
        least, most = max(least, first - abs(first) * _VALUE_ERROR), min(most, last + abs(last) * _VALUE_ERROR)
    if name in ("sin", "cos"):
        least, most = max(least, -1.0), min(most, 1.0)
    return (least, most) if least <= most else (most, least)


def clipped(name: Optional[str], low: float, high: float, by: float) -> tuple[float, float]:
    """An interval that is wider by so much at both ends, as far as the function is defined."""
    if name in _LEAST and low >= _LEAST[name] > low - by:
        return low, high + by
    if name == "inverse" and (low - by <= 0 <= high + by):
        return low, high
    return low - by, high + by


def approximated(
    function: Function,
    low: float,
    high: float,
    degree: Optional[int],
    error: Optional[float],
    lipschitz: Optional[float],
    second_derivative: Optional[float],
) -> _native.Series:
    """The series of a function: those of known functions are found once."""
    if degree is None and error is None:
        error = 2.0**-20
    name = known_name(function)
    if name is not None:
        return _found(name, low, high, degree, error)
    call = cast(Callable[[float], float], function)
    return _native.Series.approximate(
        call, low, high, degree=degree, error=error, lipschitz=lipschitz, second_derivative=second_derivative
    )


@functools.lru_cache(maxsize=256)
def _found(name: str, low: float, high: float, degree: Optional[int], error: Optional[float]) -> _native.Series:
    return _native.Series.approximate(name, low, high, degree=degree, error=error)


def described(function: Any) -> str:
    """A function in a message."""
    return str(known_name(function) or getattr(function, "__name__", "the function"))


def _values(series: _native.Series, points: Reals, order: int) -> tuple[Reals, float]:
    """Values of a series or its derivative at points, and a bound on what roundings change."""
    coefficients = np.asarray(series.coefficients, dtype=np.float64)
    if coefficients.size == 0:
        return np.zeros(points.shape), 0.0
    interval, slope, u = series.interval, 1.0, points
    if interval is not None:
        slope = 2 / (interval[1] - interval[0])
        u = (points - interval[0]) * slope - 1
    family = np.polynomial.polynomial if interval is None else np.polynomial.chebyshev
    derive, value = (family.polyder, family.polyval) if interval is None else (family.chebder, family.chebval)
    found: Reals = coefficients if order == 0 else np.atleast_1d(derive(coefficients)) * slope
    count, reach = found.size, max(1.0, float(np.abs(u).max()))
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(np.sum(np.abs(found) * _growth(reach, count, interval is None)))
        rounding = 16 * _UNIT * (count + 1) ** 2 * largest
        values: Reals = np.asarray(value(u, found), dtype=np.float64)
    return values, rounding


def _growth(reach: float, count: int, powers: bool) -> Reals:
    """Bounds on the elements of a basis up to this |u| from 1 on."""
    base = reach if powers else reach + math.sqrt(reach * reach - 1)
    return np.asarray(base ** np.arange(count), dtype=np.float64)


def _on_grid(series: _native.Series, low: float, high: float, order: int) -> tuple[Reals, float, float]:
    """Values on a grid, by how much they may be off, and what a polynomial is larger by between them."""
    degree = max(series.degree - order, 1)
    count = _POINTS * degree
    angles = np.pi * (2 * np.arange(count) + 1) / (2 * count)
    # A point that is off by some roundings is one of a grid that is finer by next to nothing.
    points: Reals = np.asarray((low + high) / 2 + (high - low) / 2 * np.cos(angles), dtype=np.float64)
    values, rounding = _values(series, np.append(points, [low, high]), order)
    return values, rounding, 1 / math.cos(math.pi / (2 * _POINTS)) + 1e-6


def polynomial_range(series: _native.Series, low: float, high: float) -> tuple[float, float]:
    """Between what a polynomial lies on an interval."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return -math.inf, math.inf
    values, rounding, factor = _on_grid(series, low, high, 0)
    if not np.isfinite(values).all():
        return -math.inf, math.inf
    least, most = float(values.min()), float(values.max())
    centre, radius = (least + most) / 2, (most - least) / 2 * factor
    radius += rounding + 4 * _UNIT * abs(centre)
    return centre - radius, centre + radius


def steepest(series: _native.Series, low: float, high: float) -> float:
    """A bound on how fast a polynomial changes on an interval."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return math.inf
    values, rounding, factor = _on_grid(series, low, high, 1)
    return float(np.abs(values).max()) * factor + rounding


def distance(series: _native.Series, known: Known) -> float:
    """How far what stands in ciphertexts, but for noise, may lie outside of the interval of a series."""
    if series.interval is None:
        return 0.0
    low, high = series.interval
    return max(low - known.low, known.high - high, -known.off) + known.off


def has_room(series: _native.Series, beyond: float, share: float = 1.0) -> bool:
    """Whether a series takes numbers that lie so far outside of its interval: T_k grows like cosh(k·√(2d)) at the distance d, and by no more than a sixth above
    its tangent while k²·d is at most 1, the share that there is."""
    if series.interval is None:
        return True
    low, high = series.interval
    return 2 * beyond / (high - low) * max(series.degree, 1) ** 2 <= share


def check_room(series: _native.Series, known: Known, noise: float) -> None:
    """Fails where a series may not take the numbers: those that are off may come to a 32nd of the room, and noise to the rest."""
    beyond = distance(series, known)
    if has_room(series, beyond + noise) and has_room(series, beyond, OFF_SHARE):
        return
    low, high = series.interval or (-math.inf, math.inf)
    raise NoiseTooLarge(
        f"numbers may lie {beyond + noise:.2g} outside of [{low:g}, {high:g}] by their errors, and a polynomial of degree {series.degree} takes "
        f"{(high - low) / 2 / max(series.degree, 1) ** 2:.2g} of noise there and less of approximations: take a wider interval, a lower degree, or "
        "parameters of more precision"
    )
