"""Integers wider than one plaintext modulus: a ciphertext for each of several, under one set of keys.

Results are put together by the Chinese remainder theorem. To arrays all this looks like single ciphertexts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

Values = npt.NDArray[Any]


class CrtPlaintext:
    """Encoded slots modulo each plaintext modulus."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[_native.Plaintext]) -> None:
        self.parts = tuple(parts)


class CrtContext:
    """In the place of a context of one plaintext modulus."""

    def __init__(self, parts: Sequence[_native.Context]) -> None:
        self.parts = tuple(parts)
        self._moduli = [part.plain_modulus or 1 for part in parts]
        self.plain_modulus = math.prod(self._moduli)
        # What is 1 modulo one of them and 0 modulo the others.
        rests = [self.plain_modulus // t for t in self._moduli]
        self._units = [rest * pow(rest, -1, t) for rest, t in zip(rests, self._moduli)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parts[0], name)

    def encode_integers(self, values: Values, slots: int) -> CrtPlaintext:
        """Integers of any size, modulo each of them."""

        def reduced(t: int) -> npt.NDArray[np.int64]:
            residues = values % t
            return np.asarray(np.where(residues > t // 2, residues - t, residues), dtype=np.int64)

        parts = zip(self.parts, self._moduli)
        return CrtPlaintext([part.encode_integers(reduced(t), slots) for part, t in parts])

    def decode_integers(self, plaintext: CrtPlaintext) -> Values:
        """All slots, as Python integers."""
        total: Values = np.zeros(self.parts[0].slots, dtype=object)
        for part, residues, unit in zip(self.parts, plaintext.parts, self._units):
            total = total + part.decode_integers(residues).astype(object) * unit
        half = self.plain_modulus // 2
        return (total + half) % self.plain_modulus - half

    def to_bytes(self) -> bytes:
        """One file of parameters after the other."""
        return b"".join(part.to_bytes() for part in self.parts)


class CrtKey:
    """A key seen from the context of every plaintext modulus: keys do not depend on it."""

    def __init__(self, key: Any, context: CrtContext) -> None:
        self.parts = [key.within(part) for part in context.parts]

    def encrypt(self, plaintext: CrtPlaintext) -> CrtCiphertext:
        return CrtCiphertext(key.encrypt(part) for key, part in zip(self.parts, plaintext.parts))

    def decrypt(self, ciphertext: CrtCiphertext) -> CrtPlaintext:
        return CrtPlaintext([key.decrypt(part) for key, part in zip(self.parts, ciphertext.parts)])


class CrtCiphertext:
    """A ciphertext for each plaintext modulus."""

    __slots__ = ("parts",)

    #: As of integers.
    scale = precision = magnitude = None

    def __init__(self, parts: Iterable[_native.Ciphertext]) -> None:
        self.parts = tuple(parts)

    def _each(self, operation: Callable[[_native.Ciphertext], _native.Ciphertext]) -> CrtCiphertext:
        return CrtCiphertext(operation(part) for part in self.parts)

    def _both(self, other: Any, operation: Callable[[_native.Ciphertext, Any], _native.Ciphertext]) -> CrtCiphertext:
        return CrtCiphertext(operation(a, b) for a, b in zip(self.parts, other.parts))

    def add(self, other: CrtCiphertext) -> CrtCiphertext:
        return self._both(other, lambda a, b: a.add(b))

    def sub(self, other: CrtCiphertext) -> CrtCiphertext:
        return self._both(other, lambda a, b: a.sub(b))

    def negate(self) -> CrtCiphertext:
        return self._each(lambda a: a.negate())

    def multiply(self, other: CrtCiphertext, keys: _native.EvaluationKeys) -> CrtCiphertext:
        return self._both(other, lambda a, b: a.multiply(b, keys))

    def add_plain(self, plaintext: CrtPlaintext) -> CrtCiphertext:
        return self._both(plaintext, lambda a, m: a.add_plain(m))

    def sub_plain(self, plaintext: CrtPlaintext) -> CrtCiphertext:
        return self._both(plaintext, lambda a, m: a.sub_plain(m))

    def multiply_plain(self, plaintext: CrtPlaintext) -> CrtCiphertext:
        return self._both(plaintext, lambda a, m: a.multiply_plain(m))

    @staticmethod
    def sum_of_plain_products(terms: Sequence[tuple[CrtCiphertext, CrtPlaintext]]) -> CrtCiphertext:
        columns = [[(a.parts[i], m.parts[i]) for a, m in terms] for i in range(len(terms[0][0].parts))]
        return CrtCiphertext(_native.Ciphertext.sum_of_plain_products(column) for column in columns)

    @staticmethod
    def sum_of_products(terms: Sequence[tuple[CrtCiphertext, CrtCiphertext]], keys: _native.EvaluationKeys) -> CrtCiphertext:
        columns = [[(a.parts[i], b.parts[i]) for a, b in terms] for i in range(len(terms[0][0].parts))]
        return CrtCiphertext(_native.Ciphertext.sum_of_products(column, keys) for column in columns)

    def multiply_integer(self, factor: int) -> CrtCiphertext:
        return self._each(lambda a: a.multiply_integer(factor))

    def switched(self, context: CrtContext) -> CrtCiphertext:
        return CrtCiphertext(part.switched(other) for part, other in zip(self.parts, context.parts))

    def bounded_by(self, others: object) -> CrtCiphertext:
        return self

    def rotate(self, steps: int, keys: _native.EvaluationKeys) -> CrtCiphertext:
        return self._each(lambda a: a.rotate(steps, keys))

    def rotate_many(self, steps: Sequence[int], keys: _native.EvaluationKeys) -> list[CrtCiphertext]:
        rotated = [part.rotate_many(steps, keys) for part in self.parts]
        return [CrtCiphertext(parts) for parts in zip(*rotated)]

    def swap(self, keys: _native.EvaluationKeys) -> CrtCiphertext:
        return self._each(lambda a: a.swap(keys))

    def polynomial(self, coefficients: Sequence[int], keys: _native.EvaluationKeys) -> CrtCiphertext:
        return self._each(lambda a: a.polynomial(coefficients, keys))

    @property
    def level(self) -> int | None:
        return self.parts[0].level

    @property
    def _worst(self) -> _native.Ciphertext:
        return min(self.parts, key=lambda part: part.bits_left)

    @property
    def bits_left(self) -> float:
        return self._worst.bits_left

    @property
    def noise(self) -> float:
        return max(part.noise for part in self.parts)

    @property
    def trace(self) -> str:
        return self._worst.trace

    @property
    def steps(self) -> list[tuple[str, int, float, float]]:
        return self._worst.steps

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    @property
    def key_id(self) -> str:
        return self.parts[0].key_id
