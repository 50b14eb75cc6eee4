# Part of the stub of `sunzi._native`, which has these classes: field elements.
from typing import final

from ._native import Ciphertext, Context, EvaluationKeys, Integers, Plaintext

@final
class Field:
    """What every slot of a context of field elements holds: GF(p^d), p the ``prime``, or GR(p^r, d) for an ``exponent`` r above 1. Elements are rows
    of d coefficients from 0 to p^r - 1, that of 1 first, modulo the polynomial Y^d + ``relation``; Y has order m."""

    def __new__(cls, context: Context) -> Field: ...
    @property
    def ring_index(self) -> int: ...
    @property
    def prime(self) -> int: ...
    @property
    def exponent(self) -> int: ...
    @property
    def degree(self) -> int:
        """d: the order of p modulo m, and the number of coefficients of an element."""
    @property
    def slots(self) -> int:
        """Elements in one ciphertext."""
    @property
    def relation(self) -> Integers:
        """The d low coefficients of the polynomial that elements are taken modulo; its leading one is 1."""
    @property
    def dimensions(self) -> list[tuple[int, bool, int]]:
        """Of the hypercube of slots, the last one fastest: length, whether a rotation is one automorphism, and the generator."""
    def frobenius_exponent(self, times: int) -> int:
        """The k of X → X^k that raises every slot to p^times."""
    def encode(self, values: Integers) -> Plaintext: ...
    def decode(self, plaintext: Plaintext) -> Integers: ...
    def multiply(self, a: Integers, b: Integers) -> Integers:
        """The products of clear elements, row by row."""

@final
class SlotRotation:
    """A rotation of the slots along a dimension, with its mask where the dimension is bad: element e + steps of every line moves to place e."""

    def __new__(cls, context: Context, dimension: int, steps: int) -> SlotRotation: ...
    @property
    def exponents(self) -> list[int]:
        """The k of X → X^k that need keys."""
    def apply(self, ciphertext: Ciphertext, keys: EvaluationKeys) -> Ciphertext: ...
