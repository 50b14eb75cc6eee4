"""What numpy does with encrypted arrays: its functions work, or say what to do instead. None of them ever makes an array of objects, or tells an answer that nobody
can know without the secret key.

``WORKS`` and ``REFUSED`` are the table; python/README.md shows it.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union

import numpy as np

from ._layout import normalized_axes
from .errors import ShapeError

if TYPE_CHECKING:
    from ._array import EncryptedArray

Axis = Union[int, tuple[int, ...], None]

_COMPARED = "what is larger, equal or zero cannot be told without the secret key: decrypt first, or subtract and let the owner of the key look"
_DECRYPT = "decrypt first: keys.decrypt(array)"
_SMOOTH = "it is no polynomial: array.apply(function, interval, degree=...) takes an approximation of it, or decrypt first"


class NumpyProtocol:
    """The protocols of numpy and of Python's numbers, for encrypted arrays."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        work = WORKS.get(function)
        if work is None:
            raise refusal(function)
        return _called(function, work, args, kwargs)

    if not TYPE_CHECKING:
        # Type checkers would take whatever has it for an array of numbers.
        def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
            raise TypeError(
                "an encrypted array does not become an array of numpy: keys.decrypt(array) opens it; np.concatenate and np.stack put encrypted arrays together"
            )

        # Nor would they miss an attribute then.
        def __getattr__(self, name: str) -> NoReturn:
            function = None if name.startswith("_") else getattr(np, name, None)
            told = ""
            if callable(function):
                told = f": np.{name}(array) works" if function in WORKS else f": {REFUSED.get(function, _OTHER)}"
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{told}")

    def __bool__(self) -> bool:
        raise TypeError(f"whether an encrypted number is zero: {_COMPARED}")

    def __contains__(self, item: object) -> bool:
        raise TypeError(f"whether a number is in an encrypted array: {_COMPARED}")

    # Equality of encrypted numbers is unknown, and that of objects is ``is``. What has no equality has no hash.

    def __eq__(self, other: object) -> NoReturn:
        _compare("==")

    def __ne__(self, other: object) -> NoReturn:
        _compare("!=")

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: object) -> NoReturn:
        _compare("<")

    def __le__(self, other: object) -> NoReturn:
        _compare("<=")

    def __gt__(self, other: object) -> NoReturn:
        _compare(">")

    def __ge__(self, other: object) -> NoReturn:
        _compare(">=")

    def __int__(self) -> NoReturn:
        raise TypeError(f"an integer of an encrypted array: {_DECRYPT}")

    def __float__(self) -> NoReturn:
        raise TypeError(f"a float of an encrypted array: {_DECRYPT}")

    def __complex__(self) -> NoReturn:
        raise TypeError(f"a complex number of an encrypted array: {_DECRYPT}")

    def __index__(self) -> NoReturn:
        raise TypeError(f"an index of an encrypted array: {_DECRYPT}")

    def __abs__(self) -> NoReturn:
        raise refusal(np.absolute)

    def __mod__(self, other: object) -> NoReturn:
        raise refusal(np.remainder)

    __rmod__ = __mod__

    def __floordiv__(self, other: object) -> NoReturn:
        raise refusal(np.floor_divide)

    __rfloordiv__ = __floordiv__

    def __rpow__(self, other: object) -> NoReturn:
        raise TypeError("a power with an encrypted exponent: array.apply(lambda x: base**x, interval) takes an approximation of it")

    def __pos__(self: Any) -> Any:
        return self.__copy__()


def _compare(sign: str) -> NoReturn:
    raise TypeError(f"encrypted arrays under {sign}: {_COMPARED}; a is b tells whether two names are of one array")


def refusal(function: Any, why: Optional[str] = None) -> TypeError:
    """The error of a function that does not work, with what to do."""
    return TypeError(f"numpy.{_title(function)} does not work on encrypted arrays: {why or REFUSED.get(function, _OTHER)}")


#: Of functions that nobody thought of.
_OTHER = "write it with + - * @ ** [] sum mean var polyval apply, or decrypt first"


def is_encrypted(value: object) -> bool:
    """Whether a value is an encrypted array."""
    return isinstance(value, NumpyProtocol)


# Functions of each number.


def _ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs.get("out") is not None:
        raise refusal(ufunc, "a clear array cannot hold its result: write x = x + y for x += y, and no out=")
    kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    if method == "reduce" and ufunc is np.add:
        return _called(np.sum, _sum, (inputs[0], kwargs.pop("axis", 0)), kwargs)
    if method != "__call__":
        raise refusal(ufunc, f"its method {method} is not there; a.sum(axis) sums")
    work = WORKS.get(ufunc)
    if work is None:
        raise refusal(ufunc)
    return _called(ufunc, work, inputs, kwargs)


def _called(function: Any, work: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Settings that are not there are named as those of numpy's own function."""
    try:
        inspect.signature(work).bind(*args, **kwargs)
    except TypeError as wrong:
        raise refusal(function, f"{wrong}; leave that setting out, or decrypt first") from None
    return work(*args, **kwargs)


def _binary(operation: Callable[[Any, Any], Any], reflected: str) -> Callable[[Any, Any], Any]:
    """An operator; with a clear number on the left, numpy must not be asked again."""

    def work(x: Any, y: Any) -> Any:
        return operation(x, y) if is_encrypted(x) else getattr(y, reflected)(x)

    return work


def _power(x: Any, exponent: Any) -> Any:
    if not is_encrypted(x):
        return exponent.__rpow__(x)
    number = np.asarray(exponent) if not is_encrypted(exponent) else None
    if number is None or number.ndim or number.dtype.kind not in "iu":
        raise refusal(np.power, "the exponent is one clear integer from 1 on; of other exponents array.apply(lambda x: x**p, interval) takes an approximation")
    return x ** int(number)


def _applied(ufunc: Any) -> Callable[[Any], Any]:
    """A known function on the bounds of the array."""
    return lambda x: x.apply(ufunc)


def _conjugate(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise refusal(np.conjugate, "encrypt real and imaginary parts as two arrays, or take swap of sunzi.lowlevel")
    return +x


# Sums and products.


def _kept(x: Any, found: Any, axis: Axis, keepdims: bool) -> Any:
    """With axes of length 1 for those that were summed, where they are to be kept."""
    if not keepdims:
        return found
    axes = range(x.ndim) if axis is None else [one % x.ndim for one in ((axis,) if isinstance(axis, (int, np.integer)) else axis)]
    return found.reshape(tuple(1 if i in set(axes) else length for i, length in enumerate(x.shape)))


def _sum(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _kept(a, a.sum(axis), axis, keepdims)


def _mean(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _kept(a, a.mean(axis), axis, keepdims)


def _var(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _kept(a, a.var(axis), axis, keepdims)


def _dot(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return WORKS[np.multiply](a, b)
    return WORKS[np.matmul](a, b)


def _inner(a: Any, b: Any) -> Any:
    if np.ndim(a) != 1 or np.ndim(b) != 1:
        raise refusal(np.inner, "of arrays of one dimension it is a @ b; of matrices write a @ b.T")
    return WORKS[np.matmul](a, b)


def _outer(a: Any, b: Any) -> Any:
    def column(x: Any, shape: tuple[int, int]) -> Any:
        return x.reshape(shape) if is_encrypted(x) else np.asarray(x).reshape(shape)

    return WORKS[np.multiply](column(a, (-1, 1)), column(b, (1, -1)))


def _size(a: Any, axis: Axis = None) -> int:
    return math.prod(a.shape[one] for one in normalized_axes(axis, a.ndim))


def _trace(a: Any) -> Any:
    return np.diagonal(a).sum()


def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    if n < 0:
        raise ValueError(f"differences of the order {n}: 0 or more")
    normalized_axes(axis, a.ndim)
    for _ in range(n):
        length = a.shape[axis]
        a = np.take(a, range(1, length), axis=axis) - np.take(a, range(length - 1), axis=axis)
    return a


def _triangle(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda m, k=0: m * function(np.ones(m.shape, dtype=np.int64), k)


def _polyval(p: Any, x: Any) -> Any:
    if is_encrypted(p):
        raise refusal(np.polyval, "coefficients are clear: sum encrypted ones times clear powers")
    return x.polyval(np.asarray(p)[::-1])


# Numbers that move.


def _moves(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that only moves the numbers of its first argument, whatever that is called."""

    def work(*args: Any, **kwargs: Any) -> Any:
        from ._joins import moved

        if args and is_encrypted(args[0]):
            return moved(function, args[0], *args[1:], **kwargs)
        name = next((name for name, value in kwargs.items() if is_encrypted(value)), None)
        if name is None or args:
            raise refusal(function, "only its first argument may be encrypted, an index or a condition may not")
        return moved(lambda places: function(**{**kwargs, name: places}), kwargs[name])

    return work


def _take(a: Any, indices: Any, axis: Any = None, *, mode: str = "raise") -> Any:
    # An array for out= would get the places of numbers.
    return _moves(np.take)(a, indices, axis=axis, mode=mode)


def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    from ._joins import moved

    if axis is None and isinstance(shift, (int, np.integer)):
        return a.rotate(-int(shift))
    return moved(np.roll, a, shift, axis)


def _broadcast_to(array: Any, shape: Any) -> Any:
    target = np.broadcast_shapes(array.shape, shape)
    if target != tuple(np.atleast_1d(shape)):
        raise ShapeError(f"{array.shape} cannot be broadcast to {shape}")
    return array._expanded(target)


def _joins(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """A function that puts arrays together. It takes neither out= nor dtype=, which would get the places of numbers."""

    def work(arrays: Any, /) -> Any:
        from ._joins import joined

        return joined(function, (arrays,), None)

    return work


def _joins_along(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that puts arrays together along an axis."""

    def work(arrays: Any, /, axis: Any = 0) -> Any:
        from ._joins import joined

        return joined(function, (arrays,), None, axis=axis)

    return work


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    from ._joins import joined

    return joined(np.append, (arr, values), None, None, axis=axis)


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    from ._joins import joined

    if is_encrypted(condition) or x is None or y is None:
        raise refusal(np.where, f"the condition is clear, and both choices are given: {_COMPARED}")
    return joined(np.where, (x, y), np.asarray(condition, dtype=bool), None, None)


_MOVES = (
    np.reshape,
    np.ravel,
    np.transpose,
    np.swapaxes,
    np.moveaxis,
    np.squeeze,
    np.expand_dims,
    np.flip,
    np.fliplr,
    np.flipud,
    np.rot90,
    np.repeat,
    np.tile,
    np.delete,
    np.diagonal,
    np.split,
    np.array_split,
    np.hsplit,
    np.vsplit,
    np.atleast_1d,
    np.atleast_2d,
)

#: What works, and how.
WORKS: dict[Any, Callable[..., Any]] = {
    np.add: _binary(operator.add, "__radd__"),
    np.subtract: _binary(operator.sub, "__rsub__"),
    np.multiply: _binary(operator.mul, "__rmul__"),
    np.true_divide: _binary(operator.truediv, "__rtruediv__"),
    np.matmul: _binary(operator.matmul, "__rmatmul__"),
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.square: lambda x: x * x,
    np.power: _power,
    np.conjugate: _conjugate,
    np.reciprocal: _applied(np.reciprocal),
    np.exp: _applied(np.exp),
    np.log: _applied(np.log),
    np.sqrt: _applied(np.sqrt),
    np.tanh: _applied(np.tanh),
    np.sin: _applied(np.sin),
    np.cos: _applied(np.cos),
    np.sum: _sum,
    np.mean: _mean,
    np.var: _var,
    np.dot: _dot,
    np.inner: _inner,
    np.outer: _outer,
    np.trace: _trace,
    np.diff: _diff,
    np.tril: _triangle(np.tril),
    np.triu: _triangle(np.triu),
    np.polyval: _polyval,
    **{function: _moves(function) for function in _MOVES},
    np.take: _take,
    np.roll: _roll,
    np.broadcast_to: _broadcast_to,
    np.concatenate: _joins_along(np.concatenate),
    np.stack: _joins_along(np.stack),
    np.vstack: _joins(np.vstack),
    np.hstack: _joins(np.hstack),
    np.dstack: _joins(np.dstack),
    np.column_stack: _joins(np.column_stack),
    np.append: _append,
    np.block: _joins(np.block),
    np.where: _where,
    np.copy: lambda a: a.__copy__(),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: _size,
    np.iscomplexobj: lambda x: bool(x.dtype.kind == "c"),
    np.isrealobj: lambda x: bool(x.dtype.kind != "c"),
}

#: What does not, and what to do.
REFUSED: dict[Any, str] = {
    **dict.fromkeys((np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal), _COMPARED),
    **dict.fromkeys((np.array_equal, np.allclose, np.isclose, np.all, np.any, np.count_nonzero, np.nonzero), _COMPARED),
    **dict.fromkeys((np.max, np.min, np.argmax, np.argmin, np.maximum, np.minimum, np.clip), _COMPARED),
    **dict.fromkeys((np.sort, np.argsort, np.median, np.percentile, np.quantile, np.unique, np.searchsorted, np.histogram), _COMPARED),
    **dict.fromkeys((np.logical_and, np.logical_or, np.logical_not), "of numbers that are 0 or 1, and is a * b, or is a + b - a * b, and not is 1 - a"),
    **dict.fromkeys((np.isnan, np.isfinite, np.isinf), "encrypted numbers are always finite: encryption refuses others"),
    np.absolute: "array.apply(abs, interval, degree=..., lipschitz=1.0) takes an approximation of it, and (a * a) is its square",
    np.sign: _SMOOTH,
    np.floor: _SMOOTH,
    np.ceil: _SMOOTH,
    np.rint: _SMOOTH,
    np.round: "round what was decrypted",
    np.floor_divide: "a / k of integers divides when it is decrypted: take the floor there",
    np.remainder: "results are modulo the plaintext modulus alone: take the remainder of what was decrypted",
    np.std: "np.sqrt(keys.decrypt(a.var())): the owner of the key takes the root; or a.var().apply(np.sqrt, interval)",
    np.prod: "multiply in pairs, which takes the fewest levels: a[0::2] * a[1::2], and again",
    np.cumsum: "np.tri(len(a)) @ a, with dtype=int for integers",
    np.cumprod: "multiply step by step: each takes a level",
    np.average: "a.mean(axis), or (a * weights).sum(axis) / weights.sum()",
    np.einsum: "write it with *, @, sum and reshape",
    np.tensordot: "reshape to two dimensions and take @",
    np.kron: "np.outer and reshape",
    np.convolve: "a matrix of shifted kernels @ a",
    np.linalg.norm: "(a * a).sum() is its square: the owner of the key takes the root",
    np.linalg.inv: "decrypt first: a division by encrypted numbers has no bound",
    np.linalg.solve: "decrypt first; sunzi.ml.LinearRegression lets the owner of the key solve",
    np.zeros_like: "np.zeros(a.shape, a.dtype) are clear zeros",
    np.ones_like: "np.ones(a.shape, a.dtype) are clear ones",
    np.full_like: "np.full(a.shape, value) are clear numbers",
    np.save: "a.to_bytes() makes bytes, EncryptedArray.from_bytes(data, keys) reads them",
    np.savetxt: "a.to_bytes() makes bytes, EncryptedArray.from_bytes(data, keys) reads them",
}


def table() -> str:
    """The table of functions in Markdown: what works, and what to do where it does not."""
    works = ", ".join(f"`{_title(function)}`" for function in WORKS)
    rows: dict[str, list[str]] = {}
    for function, why in REFUSED.items():
        rows.setdefault(why, []).append(f"`{_title(function)}`")
    lines = [f"| {works} | work |", *(f"| {', '.join(names)} | {why} |" for why, names in rows.items())]
    return "\n".join(["| numpy | with encrypted arrays |", "|---|---|", *lines]) + "\n"


def _title(function: Any) -> str:
    module = str(getattr(function, "__module__", None)).split(".")
    where = next((f"{part}." for part in ("linalg", "fft") if part in module), "")
    name = getattr(function, "__name__", str(function))
    return where + {"true_divide": "divide", "amax": "max", "amin": "min", "round_": "round"}.get(name, name)
