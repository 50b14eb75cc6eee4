"""Runs beside a run: every operation on clear numbers too, and both compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._context import Context
from ._functions import DEVIATIONS
from ._keys import Keys
from ._trace import Line, calling_line
from .errors import ShadowMismatch, SunziError

Clear = npt.NDArray[Any]


class _Side:
    """What all ciphertexts of a run are compared with."""

    def __init__(self, context: Context, secret: _native.SecretKey) -> None:
        self.native, self.secret, self.real = context.lowlevel, context._bound(secret), context.is_real
        self.row, self.modulus = context._row, context.plain_modulus
        #: The bits that each line took.
        self.spent: dict[Line, float] = {}

    def reduced(self, values: Clear) -> Clear:
        """Modulo t, centred."""
        if self.modulus is None:
            return values
        return (values + self.modulus // 2) % self.modulus - self.modulus // 2

    def opened(self, cipher: _native.Ciphertext, period: int) -> Clear:
        plaintext = self.secret.decrypt(cipher)
        slots: Clear = self.native.decode_complex(plaintext) if self.real else self.native.decode_integers(plaintext)
        return slots[:period]


class _Numbers:
    """Clear numbers, encoded and as they are."""

    def __init__(self, plaintext: _native.Plaintext, values: Clear, period: int, real: bool) -> None:
        self.plaintext = plaintext
        self.values = np.zeros(period, dtype=complex if real else object)
        self.values[: values.size] = values


class _Native:
    """A context of single ciphertexts that remembers what it encodes."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def encode_integers(self, values: Clear, slots: int) -> _Numbers:
        return _Numbers(self._native.encode_integers(values, slots), values, slots, False)

    def encode_reals(self, values: Clear, slots: int, level: Any = None, scale: Any = None) -> _Numbers:
        return _Numbers(self._native.encode_reals(values, slots, level, scale), values, slots, True)

    def encode_complex(self, values: Clear, slots: int, level: Any = None, scale: Any = None) -> _Numbers:
        return _Numbers(self._native.encode_complex(values, slots, level, scale), values, slots, True)


class Shadowed:
    """A ciphertext, and what must be in it."""

    __slots__ = ("cipher", "clear", "side")

    def __init__(self, side: _Side, cipher: _native.Ciphertext, clear: Clear) -> None:
        self.side, self.cipher, self.clear = side, cipher, clear

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cipher, name)

    def _made(self, operation: str, call: Callable[[], _native.Ciphertext], clear: Callable[[], Clear]) -> Shadowed:
        line = calling_line()
        try:
            cipher = call()
            expected = self.side.reduced(clear())
            got = self.side.opened(cipher, expected.size)
        except SunziError as refused:
            spent = sorted(self.side.spent.items(), key=lambda pair: -pair[1])[:3]
            told = "".join(f"\n  {bits:.0f} bits were spent at {where}" for where, bits in spent)
            raise type(refused)(f"{refused}\n  {operation} at {line}{told}") from refused
        self._compare(operation, line, cipher, expected, got)
        self.side.spent[line] = self.side.spent.get(line, 0.0) + max(self.cipher.bits_left - cipher.bits_left, 0.0)
        return Shadowed(self.side, cipher, expected)

    def _compare(self, operation: str, line: Line, cipher: _native.Ciphertext, expected: Clear, got: Clear) -> None:
        if cipher.precision is None:
            wrong = np.flatnonzero(got != expected)
        else:
            allowed = DEVIATIONS * 2.0**-cipher.precision + 2.0**-40 * np.abs(expected)
            wrong = np.flatnonzero(~(np.abs(got - expected) <= allowed))
        if wrong.size:
            slot = int(wrong[0])
            bits = "exact" if cipher.precision is None else f"right to {cipher.precision:.1f} bits"
            raise ShadowMismatch(
                f"{operation} at {line}: slot {slot} is {_shown(got[slot])}, in the clear it is {_shown(expected[slot])}, and results are to be {bits}"
            )

    def _pair(self, other: Shadowed) -> tuple[Clear, Clear]:
        return _alike(self.clear, other.clear)

    def add(self, other: Shadowed) -> Shadowed:
        a, b = self._pair(other)
        return self._made("add", lambda: self.cipher.add(other.cipher), lambda: a + b)

    def sub(self, other: Shadowed) -> Shadowed:
        a, b = self._pair(other)
        return self._made("subtract", lambda: self.cipher.sub(other.cipher), lambda: a - b)

    def negate(self) -> Shadowed:
        return self._made("negate", self.cipher.negate, lambda: -self.clear)

    def multiply(self, other: Shadowed, keys: _native.EvaluationKeys) -> Shadowed:
        a, b = self._pair(other)
        return self._made("multiply", lambda: self.cipher.multiply(other.cipher, keys), lambda: a * b)

    def add_plain(self, numbers: _Numbers) -> Shadowed:
        a, b = _alike(self.clear, numbers.values)
        return self._made("add a plaintext", lambda: self.cipher.add_plain(numbers.plaintext), lambda: a + b)

    def sub_plain(self, numbers: _Numbers) -> Shadowed:
        a, b = _alike(self.clear, numbers.values)
        return self._made("subtract a plaintext", lambda: self.cipher.sub_plain(numbers.plaintext), lambda: a - b)

    def multiply_plain(self, numbers: _Numbers) -> Shadowed:
        a, b = _alike(self.clear, numbers.values)
        return self._made("multiply by a plaintext", lambda: self.cipher.multiply_plain(numbers.plaintext), lambda: a * b)

    @staticmethod
    def sum_of_plain_products(terms: Sequence[tuple[Shadowed, _Numbers]]) -> Shadowed:
        first = terms[0][0]
        pairs = [_alike(a.clear, m.values) for a, m in terms]
        native = [(a.cipher, m.plaintext) for a, m in terms]
        return first._made(
            "sum of products",
            lambda: _call(first.cipher.sum_of_plain_products, native),
            lambda: _sum([a * m for a, m in pairs]),
        )

    @staticmethod
    def sum_of_products(terms: Sequence[tuple[Shadowed, Shadowed]], keys: _native.EvaluationKeys) -> Shadowed:
        first = terms[0][0]
        native = [(a.cipher, b.cipher) for a, b in terms]
        return first._made(
            "sum of products",
            lambda: _call(first.cipher.sum_of_products, native, keys),
            lambda: _sum([a * b for a, b in (a._pair(b) for a, b in terms)]),
        )

    def multiply_integer(self, factor: int) -> Shadowed:
        return self._made("multiply by an integer", lambda: self.cipher.multiply_integer(factor), lambda: self.clear * factor)

    def multiply_constant(self, constant: complex) -> Shadowed:
        return self._made("multiply by a constant", lambda: self.cipher.multiply_constant(constant), lambda: self.clear * constant)

    def rotate(self, steps: int, keys: _native.EvaluationKeys) -> Shadowed:
        length = min(self.clear.size, self.side.row)
        return self._made(
            "rotate",
            lambda: self.cipher.rotate(steps, keys),
            lambda: np.roll(self.clear.reshape(-1, length), -steps, axis=1).reshape(-1),
        )

    def rotate_many(self, steps: Sequence[int], keys: _native.EvaluationKeys) -> list[Shadowed]:
        return [self.rotate(step, keys) for step in steps]

    def swap(self, keys: _native.EvaluationKeys) -> Shadowed:
        def clear() -> Clear:
            return np.roll(self.clear, self.side.row) if self.clear.size > self.side.row else self.clear

        return self._made("swap", lambda: self.cipher.swap(keys), clear)

    def polynomial(self, coefficients: Sequence[int], keys: _native.EvaluationKeys) -> Shadowed:
        def clear() -> Clear:
            value: Clear = np.zeros_like(self.clear)
            for coefficient in reversed(coefficients):
                value = self.side.reduced(value * self.clear + coefficient)
            return value

        return self._made("polynomial", lambda: self.cipher.polynomial(coefficients, keys), clear)

    def series(self, series: _native.Series, keys: _native.EvaluationKeys) -> Shadowed:
        def clear() -> Clear:
            return np.array([series(float(x.real)) for x in self.clear], dtype=complex)

        return self._made("series", lambda: self.cipher.series(series, keys), clear)

    def bounded_by(self, others: Sequence[Shadowed]) -> Shadowed:
        return Shadowed(self.side, self.cipher.bounded_by([other.cipher for other in others]), self.clear)

    def with_magnitude(self, magnitude: float) -> Shadowed:
        return Shadowed(self.side, self.cipher.with_magnitude(magnitude), self.clear)

    def level_to(self, level: int) -> Shadowed:
        return self._made("level_to", lambda: self.cipher.level_to(level), lambda: self.clear)


def _shown(value: Any) -> Any:
    return value.real if isinstance(value, complex) and abs(value.imag) < 2.0**-10 else value


def _call(method: Callable[..., _native.Ciphertext], *arguments: Any) -> _native.Ciphertext:
    return method(*arguments)


def _alike(a: Clear, b: Clear) -> tuple[Clear, Clear]:
    """Both with the longer period."""
    period = max(a.size, b.size)
    return np.tile(a, period // a.size), np.tile(b, period // b.size)


def _sum(terms: list[Clear]) -> Clear:
    total = terms[0]
    for term in terms[1:]:
        total, term = _alike(total, term)
        total = total + term
    return total


def shadowed(arrays: Sequence[EncryptedArray], values: Sequence[Clear], keys: Keys) -> list[EncryptedArray]:
    """The same arrays with shadows."""
    context = keys.context
    side = _Side(context, keys.secret)
    shadow = Context.__new__(Context)
    shadow._inner = cast(_native.Context, _Native(context.lowlevel))
    shadow._bytes, shadow._set, shadow._top = context._bytes, context._set, context._top

    def with_shadow(array: EncryptedArray, flat: Clear) -> EncryptedArray:
        chunks = []
        for i, chunk in enumerate(array._chunks):
            clear = np.zeros(array._period, dtype=complex if context.is_real else object)
            part = flat[i * array._period : (i + 1) * array._period]
            clear[: part.size] = part
            chunks.append(cast(_native.Ciphertext, Shadowed(side, chunk, clear)))
        period, fill = array._period, array._fill
        return EncryptedArray._make(shadow, chunks, array._shape, period, fill, array._dtype, array._keys, known=array._known)

    return [with_shadow(array, clear.reshape(-1)) for array, clear in zip(arrays, values)]


def unshadowed(array: EncryptedArray, keys: Keys) -> EncryptedArray:
    """Without its shadow."""
    chunks = [chunk.cipher if isinstance(chunk, Shadowed) else chunk for chunk in array._chunks]
    array = array._like(chunks, fill=array._fill)
    array._context = keys.context
    return array
