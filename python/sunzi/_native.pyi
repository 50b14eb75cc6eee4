"""What is written in Rust."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, final

import numpy as np
import numpy.typing as npt

from ._native_bootstrap import BootstrapKeys as BootstrapKeys
from ._native_bootstrap import Bootstrapper as Bootstrapper
from ._native_bootstrap import IntegerBatch as IntegerBatch
from ._native_bootstrap import IntegerEvaluator as IntegerEvaluator
from ._native_bootstrap import MessageTable as MessageTable
from ._native_bootstrap import bootstrap_context as bootstrap_context
from ._native_bootstrap import bootstrap_levels_left as bootstrap_levels_left
from ._native_bootstrap import bootstrap_set as bootstrap_set
from ._native_bootstrap import bootstrap_sets as bootstrap_sets
from ._native_bootstrap import bootstrap_slots as bootstrap_slots
from ._native_bootstrap import decode_messages as decode_messages
from ._native_bootstrap import encode_messages as encode_messages
from ._native_bootstrap import has_integers as has_integers
from ._native_bootstrap import integer_set as integer_set
from ._native_bootstrap import table_bits as table_bits
from ._native_bootstrap import table_set as table_set
from ._native_fields import Field as Field
from ._native_fields import SlotRotation as SlotRotation
from ._native_matrices import MatrixBatch as MatrixBatch
from ._native_matrices import MatrixKeys as MatrixKeys
from ._native_matrices import PlainMatrix as PlainMatrix
from ._native_parties import Card as Card
from ._native_parties import Contacts as Contacts
from ._native_parties import Identity as Identity
from ._native_parties import PartyDealing as PartyDealing
from ._native_parties import PartyDecryptor as PartyDecryptor
from ._native_parties import PartyHandingOn as PartyHandingOn
from ._native_parties import PartyKeySession as PartyKeySession
from ._native_parties import PartyLink as PartyLink
from ._native_parties import PartyOpening as PartyOpening
from ._native_parties import PartyRefreshing as PartyRefreshing
from ._native_parties import PartySecret as PartySecret
from ._native_parties import PartySharing as PartySharing
from ._native_parties import PartySwitching as PartySwitching
from ._native_parties import Roster as Roster
from ._native_parties import additive_request as additive_request
from ._native_parties import decryption_request as decryption_request
from ._native_parties import party_ledger as party_ledger
from ._native_parties import read_party_request as read_party_request
from ._native_parties import refresh_request as refresh_request
from ._native_parties import request_channel as request_channel
from ._native_parties import session_nonce as session_nonce
from ._native_parties import switch_request as switch_request
from ._native_reencryption import ReencryptionKey as ReencryptionKey
from ._native_reencryption import ReencryptionPublicKey as ReencryptionPublicKey
from ._native_tables import TableBytes as TableBytes
from ._native_tables import TableKeys as TableKeys
from ._native_tables import TablePlan as TablePlan
from ._native_tables import TableProgram as TableProgram
from ._native_tables import TableResults as TableResults
from ._native_tables import TableSchema as TableSchema

Progress = Callable[[int, int], object]
Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]

@final
class threads:  # noqa: N801
    """``with sunzi.threads(k):`` what this thread calls inside computes on k threads of its own."""

    def __new__(cls, count: int) -> threads: ...
    @property
    def count(self) -> int: ...
    def __enter__(self) -> threads: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Context:
    """Parameters and tables."""

    @staticmethod
    def choose(scheme: str, request: Mapping[str, int | tuple[int, int] | None]) -> Context: ...
    @staticmethod
    def choose_field(scheme: str, request: dict[str, Any], prime: int, slots: int) -> Context: ...
    @staticmethod
    def choose_all(scheme: str, request: Mapping[str, int | tuple[int, int] | None]) -> list[Context]:
        """One for each plaintext modulus: of as many as the integers take."""
    @staticmethod
    def bfv_of(contexts: Sequence[Context]) -> list[Context]:
        """Those of BFV with the ring, the keys and the plaintext moduli of these of BGV."""
    def shares_keys(self, other: Context) -> bool:
        """Whether keys of this context serve another one."""
    @staticmethod
    def explain(scheme: str, request: Mapping[str, int | tuple[int, int] | None]) -> str: ...
    @staticmethod
    def explicit(
        scheme: str,
        log2_degree: int,
        moduli: Sequence[int],
        *,
        special_moduli: Sequence[int],
        plain_modulus: int | None,
        levels: Sequence[int] | None,
        scale_bits: int | None,
        message_bits: int,
        digits: int | None,
        security: int | None,
        parties: int = 1,
    ) -> Context: ...
    @staticmethod
    def from_bytes(data: bytes, *, insecure_for_research_only: bool = False) -> Context: ...
    @staticmethod
    def all_from_bytes(data: bytes, *, insecure_for_research_only: bool = False) -> list[Context]:
        """From one file of parameters after the other, which differ in their plaintext moduli."""
    def to_bytes(self) -> bytes: ...
    @property
    def scheme(self) -> str: ...
    @property
    def degree(self) -> int: ...
    @property
    def ring_index(self) -> int:
        """m of the ring modulo the m-th cyclotomic polynomial."""
    @property
    def slots(self) -> int: ...
    @property
    def depth(self) -> int | None: ...
    @property
    def plain_modulus(self) -> int | None: ...
    @property
    def moduli(self) -> list[int]: ...
    @property
    def special_moduli(self) -> list[int]: ...
    @property
    def log2_modulus(self) -> float: ...
    @property
    def log2_key_modulus(self) -> float: ...
    @property
    def security(self) -> int: ...
    @property
    def parties(self) -> int: ...
    @property
    def message_bound(self) -> float: ...
    def scale(self, level: int) -> float:
        """The canonical scale of a level, of CKKS."""
    def encode_integers(self, values: Integers, slots: int) -> Plaintext:
        """Integers in [-t/2, t/2), repeated with period ``slots``; missing ones are 0."""
    def encode_reals(self, values: Reals, slots: int, level: int | None = None, scale: float | None = None) -> Plaintext:
        """Real numbers in so many slots, at the highest level and its canonical scale unless given."""
    def encode_complex(
        self, values: Complexes, slots: int, level: int | None = None, scale: float | None = None
    ) -> Plaintext: ...
    def decode_integers(self, plaintext: Plaintext) -> Integers: ...
    def decode_reals(self, plaintext: Plaintext) -> Reals: ...
    def decode_complex(self, plaintext: Plaintext) -> Complexes: ...
    def rotation_exponent(self, steps: int) -> int:
        """The k of X → X^k that turns slots left: both rows of integers."""
    def swap_exponent(self) -> int:
        """The k of X → X^k that swaps the rows of integers, or conjugates."""

@final
class Plaintext:
    """Encoded slots: secret if what they hold is."""

    @property
    def level(self) -> int | None: ...
    @property
    def scale(self) -> float | None: ...
    @property
    def slots(self) -> int: ...

@final
class SecretKey:
    """Whoever has it can decrypt."""

    @staticmethod
    def generate(context: Context) -> SecretKey: ...
    @staticmethod
    def generate_alone(context: Context) -> SecretKey:
        """The key of one holder in a context of several parties."""
    def export(self) -> bytes:
        """The secret in bytes, for those who mean it."""
    @staticmethod
    def from_export(context: Context, data: bytes) -> SecretKey: ...
    @property
    def id(self) -> str: ...
    def within(self, context: Context) -> SecretKey:
        """The same key in a context of the same ring and another plaintext modulus."""
    def encrypt(self, plaintext: Plaintext) -> Ciphertext: ...
    def decrypt(self, ciphertext: Ciphertext) -> Plaintext: ...

@final
class PublicKey:
    """Whoever has it can encrypt."""

    @property
    def context(self) -> Context: ...
    @staticmethod
    def generate(secret: SecretKey) -> PublicKey: ...
    @property
    def id(self) -> str: ...
    def within(self, context: Context) -> PublicKey:
        """The same key in a context of the same ring and another plaintext modulus."""
    def encrypt(self, plaintext: Plaintext) -> Ciphertext: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(context: Context, data: bytes) -> PublicKey: ...

@final
class EvaluationKeys:
    """Whoever has them can compute."""

    @property
    def context(self) -> Context: ...
    @staticmethod
    def generate(
        secret: SecretKey,
        *,
        relinearization: bool,
        exponents: Sequence[int],
        level: int | None = None,
        progress: Progress | None = None,
    ) -> EvaluationKeys:
        """A relinearisation key if wanted, and one key for each X → X^k, for ciphertexts of at most a level of CKKS."""
    @property
    def id(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def can_multiply(self) -> bool: ...
    @property
    def exponents(self) -> list[int]: ...
    def with_merged_digits(self) -> EvaluationKeys:
        """The same keys with sums of their polynomials, by which key switches below the highest level take fewer transforms. Bytes leave the sums out."""
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(context: Context, data: bytes) -> EvaluationKeys: ...

@final
class Ciphertext:
    """One ciphertext. What it holds changes only by ``+=``, ``-=`` and ``assign``."""

    @property
    def context(self) -> Context: ...
    def add(self, other: Ciphertext) -> Ciphertext: ...
    def sub(self, other: Ciphertext) -> Ciphertext: ...
    def negate(self) -> Ciphertext: ...
    def multiply(self, other: Ciphertext, keys: EvaluationKeys) -> Ciphertext:
        """Relinearised, and rescaled in CKKS."""
    def multiply_unrelinearized(self, other: Ciphertext) -> Ciphertext:
        """Three parts, at the product of both scales in CKKS."""
    def relinearize(self, keys: EvaluationKeys) -> Ciphertext: ...
    def rescale(self) -> Ciphertext: ...
    def add_plain(self, plaintext: Plaintext) -> Ciphertext: ...
    def sub_plain(self, plaintext: Plaintext) -> Ciphertext: ...
    def multiply_plain(self, plaintext: Plaintext, *, rescale: bool = True) -> Ciphertext: ...
    @staticmethod
    def sum_of_plain_products(terms: Sequence[tuple[Ciphertext, Plaintext]]) -> Ciphertext:
        """Rescaled once in CKKS."""
    @staticmethod
    def sum_of_products(terms: Sequence[tuple[Ciphertext, Ciphertext]], keys: EvaluationKeys) -> Ciphertext:
        """Relinearised once, and rescaled once in CKKS."""
    @staticmethod
    def linear_combination(terms: Sequence[tuple[float, Ciphertext]], constant: float = 0.0) -> Ciphertext:
        """Σ c_i·a_i + c of CKKS, rescaled once."""
    def multiply_integer(self, factor: int) -> Ciphertext:
        """Takes no level."""
    def add_constant(self, constant: complex) -> Ciphertext: ...
    def multiply_constant(self, constant: complex, *, scale: float | None = None) -> Ciphertext:
        """Rescaled; or with the constant at this scale, and not rescaled."""
    def drop_to(self, level: int) -> Ciphertext:
        """Moduli dropped, scale kept."""
    def level_to(self, level: int) -> Ciphertext:
        """At the canonical scale of a lower level."""
    def set_scale(self, level: int, scale: float) -> Ciphertext: ...
    def switched(self, context: Context) -> Ciphertext:
        """The same integers in a context of the other exact scheme, BFV or BGV, of the same ring and plaintext modulus."""
    def with_magnitude(self, magnitude: float) -> Ciphertext:
        """With a tighter bound on the slots, which the caller knows."""
    def with_error(self, error: float) -> Ciphertext:
        """With errors of at most this in every slot, which the caller knows better than the estimate does."""
    def read_as(self, slots: int) -> Ciphertext:
        """The same real numbers read as more slots, in which they repeat, or as fewer, after which they do."""
    def bounded_by(self, others: Sequence[Ciphertext]) -> Ciphertext:
        """The same, of which it is known that no number is larger than those of others may be."""
    def rotate(self, steps: int, keys: EvaluationKeys) -> Ciphertext:
        """Slot i + steps moves to slot i, in both rows of integers."""
    def rotate_many(self, steps: Sequence[int], keys: EvaluationKeys) -> list[Ciphertext]:
        """Hoisted: what the rotations have in common is done once."""
    def swap(self, keys: EvaluationKeys) -> Ciphertext:
        """Swaps the rows of integers, conjugates complex slots."""
    def automorphism(self, exponent: int, keys: EvaluationKeys) -> Ciphertext: ...
    def polynomial(self, coefficients: Sequence[int], keys: EvaluationKeys) -> Ciphertext:
        """Σ c_i·x^i modulo t, at the least depth."""
    def series(self, series: Series, keys: EvaluationKeys) -> Ciphertext:
        """The value of a series; slots have to lie in its interval, which nobody checks here."""
    def __iadd__(self, other: Ciphertext) -> Ciphertext: ...
    def __isub__(self, other: Ciphertext) -> Ciphertext: ...
    def assign(self, other: Ciphertext) -> None:
        """Takes over what another holds: how any operation is done in place."""
    def __copy__(self) -> Ciphertext: ...
    def __deepcopy__(self, memo: Any) -> Ciphertext: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(context: Context, data: bytes) -> Ciphertext: ...
    @property
    def level(self) -> int | None: ...
    @property
    def scale(self) -> float | None: ...
    @property
    def slots(self) -> int: ...
    @property
    def bits_left(self) -> float: ...
    @property
    def precision(self) -> float | None: ...
    @property
    def magnitude(self) -> float | None: ...
    @property
    def noise(self) -> float:
        """log2 of the bound on its noise: what whoever made it themselves may declare to share a result."""
    @property
    def parts(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def trace(self) -> str: ...
    @property
    def steps(self) -> list[tuple[str, int, float, float]]:
        """The latest operations, those in a row together: name, how many times, bits that were spent, and bits left afterwards."""
    @property
    def key_id(self) -> str: ...

@final
class Series:
    """A polynomial with real coefficients, of powers or of Chebyshev polynomials on an interval."""

    @staticmethod
    def power(coefficients: Reals) -> Series: ...
    @staticmethod
    def chebyshev(low: float, high: float, coefficients: Reals) -> Series: ...
    @staticmethod
    def approximate(
        function: str | Callable[[float], float],
        low: float,
        high: float,
        *,
        degree: int | None = None,
        error: float | None = None,
        lipschitz: float | None = None,
        second_derivative: float | None = None,
    ) -> Series:
        """The Chebyshev series of a function, to a degree or to an error.

        The error of ``np.exp``, ``np.tanh``, ``np.log``, ``np.sqrt``, ``np.reciprocal``, ``np.sin`` and ``np.cos``, of the same in ``math``, and of
        ``"exp"``, ``"sigmoid"``, ``"tanh"``, ``"log"``, ``"sqrt"``, ``"inverse"``, ``"inverse_sqrt"``, ``"sin"`` and ``"cos"`` is proved all over the interval.
        The error of another callable f is proved if ``lipschitz`` bounds |f(x) - f(y)|/|x - y|, or ``second_derivative`` bounds |f''|, and if that is true. Else it is
        measured on a grid.
        """
    @staticmethod
    def restored(
        interval: tuple[float, float] | None, coefficients: Reals, error: float | None, proved: bool, function: str | None
    ) -> Series:
        """What a pickle of a series holds."""
    @property
    def error(self) -> float | None:
        """By how much it is off from the function at most, if it stands for one."""
    @property
    def error_is_proved(self) -> bool:
        """Whether ``error`` holds all over the interval; else it was measured on a grid. True for a polynomial that stands for nothing but itself."""
    @property
    def function(self) -> str | None:
        """The name of the known function that it stands for."""
    @property
    def degree(self) -> int: ...
    @property
    def depth(self) -> int:
        """Levels that its value takes."""
    @property
    def interval(self) -> tuple[float, float] | None: ...
    @property
    def coefficients(self) -> Reals: ...
    def __call__(self, x: float) -> float: ...

@final
class LinearTransform:
    """A matrix for the slots of CKKS, by diagonals: entry i of diagonal d is that of row i and column i + d. Takes a level."""

    def __new__(cls, context: Context, size: int, diagonals: Mapping[int, Complexes], level: int) -> LinearTransform: ...
    @property
    def rotations(self) -> list[int]:
        """Steps of the rotations it takes keys for."""
    @property
    def level(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def apply(self, a: Ciphertext, keys: EvaluationKeys) -> Ciphertext: ...

def seconds_of_work() -> float:
    """Seconds that the calls of this process have worked in Rust so far, by the clock: from where work begins, on the thread of the caller or on one of those that compute, to where it ends.

    Calls that run at once count each. What a call takes beyond this is what Python adds: arguments, and the way to other threads and back.
    """

def header(kind: int, body_len: int, like: bytes | None = None) -> bytes:
    """The 64 bytes before an object of this kind, with the parameters and the key of another object's header."""

def read_header(data: bytes) -> tuple[int, bytes, bytes, str | None, int]:
    """Of the header that bytes begin with: number of the kind, fingerprints of ring and scheme, name of the key, bytes of the body."""

def checksum(data: bytes) -> int:
    """The word that follows a record."""

def write_file(path: str | PathLike[str], bytes: bytes) -> None:
    """Replaces a file, which anybody may see, in one step."""

def kind_name(number: int) -> str:
    """What an object of the kind with this number is, in words."""

def kind_is_secret(number: int) -> bool:
    """Whether an object of the kind with this number is secret."""

@final
class SharingLedger:
    """How many results of a secret key were shared, and how many may be: in a file that counts before it gives, or in memory."""

    @staticmethod
    def create(secret: SecretKey, queries: int, statistical_bits: int, path: str | PathLike[str] | None = None) -> SharingLedger: ...
    @staticmethod
    def open(secret: SecretKey, queries: int, statistical_bits: int, path: str | PathLike[str]) -> SharingLedger: ...
    @property
    def queries(self) -> int: ...
    @property
    def statistical_bits(self) -> int: ...
    @property
    def used(self) -> int: ...
    def decrypt(self, ciphertext: Ciphertext, secret: SecretKey, noise: float) -> Plaintext:
        """Opens a ciphertext whose noise is at most 2^noise for somebody else to see."""

Numbers = Integers | Reals | Complexes
Report = tuple[int | None, float, float | None, float | None, int]

@final
class Tape:
    """Operations on ciphertexts, written down: each method notes one and names its place."""

    def __new__(cls, real: bool) -> Tape: ...
    def input(self, runs: Sequence[tuple[float, int]]) -> int: ...
    def add(self, a: int, b: int) -> int: ...
    def sub(self, a: int, b: int) -> int: ...
    def negate(self, a: int) -> int: ...
    def multiply(self, a: int, b: int) -> int: ...
    def add_plain(self, a: int, values: Numbers, period: int) -> int: ...
    def sub_plain(self, a: int, values: Numbers, period: int) -> int: ...
    def plain_products(self, terms: Sequence[tuple[int, Numbers]], period: int) -> int: ...
    def products(self, terms: Sequence[tuple[int, int]]) -> int: ...
    def integer(self, a: int, factor: int) -> int: ...
    def constant(self, a: int, factor: complex) -> int: ...
    def rotate(self, a: int, steps: int) -> int: ...
    def swap(self, a: int) -> int: ...
    def polynomial(self, a: int, coefficients: Sequence[int]) -> int: ...
    def series(self, a: int, series: Series) -> int: ...
    def bounded(self, a: int, others: Sequence[int]) -> int: ...
    def output(self, place: int, size: int) -> None: ...
    @property
    def steps(self) -> list[tuple[str, list[int]]]:
        """The name of every step and the places of its operands."""
    @property
    def depth(self) -> int: ...
    @property
    def multiplies(self) -> bool: ...
    def choose(
        self,
        log2_degree: int,
        *,
        precision: int,
        security: int,
        largest: float | None = None,
        scheme: str | None = None,
        sharing: tuple[int, int] | None = None,
    ) -> tuple[list[Context], Rehearsal, list[str]]:
        """The least parameters of a ring degree, as a context for each plaintext modulus, what a run will be like, and why."""
    def rehearse(self, context: Context, *, sharing: tuple[int, int] | None = None) -> Rehearsal: ...

@final
class Rehearsal:
    """What a run will be like: level, bits left, precision, magnitude and bytes of the result of every step."""

    reports: list[Report]
    key_bytes: int
    peak_bytes: int
    bits_left: float
    precision: float | None
    failed: tuple[int, str, str] | None
