# Part of the stub of `sunzi._native`, which has these classes and functions: bootstrapping, messages and their tables.
from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from ._native import Ciphertext, Context, Plaintext, Progress, SecretKey

@final
class Bootstrapper:
    """Everything of a bootstrapping but its keys."""

    def __new__(cls, context: Context, set: str, slots: int, progress: Progress | None = None) -> Bootstrapper: ...
    @property
    def levels_left(self) -> int: ...
    @property
    def levels_taken(self) -> int: ...
    @property
    def lowest_level(self) -> int:
        """The lowest level that a ciphertext may have to be bootstrapped."""
    @property
    def slots_to_coeffs_first(self) -> bool:
        """Whether SlotsToCoeffs comes first, where two real messages are bootstrapped as one without loss of precision."""
    @property
    def log2_failure(self) -> float:
        """log2 of the probability that a bootstrapping goes wrong."""
    @property
    def slots(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def key_bytes(self) -> int: ...
    def generate_keys(self, secret: SecretKey, progress: Progress | None = None) -> BootstrapKeys: ...
    def read_keys(self, data: bytes) -> BootstrapKeys:
        """Keys of this bootstrapping, from the bytes of ``BootstrapKeys.to_bytes``."""
    def bootstrap(self, a: Ciphertext, keys: BootstrapKeys, *, rounds: int = 1) -> Ciphertext: ...
    def bootstrap_real(self, a: Ciphertext, keys: BootstrapKeys) -> Ciphertext: ...
    def bootstrap_real_pair(self, a: Ciphertext, b: Ciphertext, keys: BootstrapKeys) -> tuple[Ciphertext, Ciphertext]: ...
    def apply(self, a: Ciphertext, tables: Sequence[MessageTable], keys: BootstrapKeys, *, only_real: bool = False) -> list[Ciphertext]:
        """The results of each table for the messages in all slots, or in their real parts alone."""
    def joined(self, a: Ciphertext, b: Ciphertext, upper: int) -> Ciphertext:
        """Messages of a and of b as one, for a table of pairs; ``upper`` is the modulus of a."""
    def check_messages(self, a: Ciphertext, modulus: int) -> None:
        """Refuses noise that may be beyond the next message of this modulus."""

@final
class BootstrapKeys:
    """All keys of a bootstrapping; none of them is secret."""

    @property
    def context(self) -> Context: ...
    @property
    def nbytes(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(context: Context, data: bytes) -> BootstrapKeys:
        """Keys of a whole ring; ``Bootstrapper.read_keys`` reads those of a real ring too."""

def bootstrap_sets() -> list[tuple[str, str]]:
    """All bootstrapping sets, each with what it costs."""

def bootstrap_set(name: str, levels: int | None = None, slots: int | None = None) -> str:
    """The one name of a bootstrapping set, with this many levels left and for this many slots if numbers are given."""

def bootstrap_slots(set: str) -> int:
    """Number of slots of the messages that a set is for."""

def bootstrap_context(set: str, real_slots: bool = False) -> Context: ...
def bootstrap_levels_left(context: Context, set: str) -> int: ...

@final
class MessageTable:
    """A table of messages modulo ``to``: ``values[m]`` for message m, or ``values[a * lower + b]`` for messages a and b of a pair, b modulo ``lower``."""

    def __new__(cls, values: npt.NDArray[np.uint16], to: int, lower: int | None = None) -> MessageTable: ...

def encode_messages(
    context: Context, values: npt.NDArray[np.uint16], modulus: int, level: int | None = None, scale: float | None = None
) -> Plaintext:
    """Messages of one ciphertext, two in a slot, those of real parts first; those that are missing are 0."""

def decode_messages(plaintext: Plaintext, modulus: int) -> npt.NDArray[np.uint16]:
    """All messages of a ciphertext, those of real parts first."""

def table_set(bits: int) -> str:
    """The name of the set for tables of messages of this many bits."""

def table_bits(set: str) -> int | None:
    """Bits of the messages that a set has tables for; None for a set without tables."""
