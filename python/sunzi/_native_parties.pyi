"""What is written in Rust of protocols of several parties."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import final

from ._native import Ciphertext, Context, EvaluationKeys, Plaintext, PublicKey
from .errors import PartiesError

Path = str | PathLike[str]
#: Terms of a request: names of the parties, log2 of the noise, shared results and statistical bits of the policy, hash of the program, purpose.
Terms = tuple[list[str], float, int, int, bytes, str]

@final
class Roster:
    """The parties, by name, in an order that all agree on, and how many of them decrypt: all unless ``threshold`` says t of them, 2 to all.

    2 to 1024 different names of 1 to 64 bytes, without control characters and without spaces at their ends; others are ``errors.PartySetting``. ``handed_on`` are the 32 bytes of the session
    in which the secret was handed on to these parties, ``HandingOn.roster.handed_on``: requests and shares of the parties before them are others.
    """

    def __new__(cls, names: Sequence[str], threshold: int | None = None, *, handed_on: bytes | None = None) -> Roster: ...
    @property
    def names(self) -> list[str]:
        """The names of all, in their order."""
    @property
    def threshold(self) -> int:
        """How many parties decrypt."""
    @property
    def handed_on(self) -> bytes | None:
        """The session in which the secret was handed on to these parties, 32 bytes; None where it was made or dealt by them."""
    @property
    def has_shares(self) -> bool:
        """Whether the parties decrypt by shares of a threshold, and not each by its own secret: also where all decrypt, to whom it was handed on."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: str) -> bool: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Identity:
    """The SECRET keys by which a party is known on channels: it signs and reads messages by them. They make no keys for computing."""

    @staticmethod
    def generate(name: str) -> Identity:
        """The identity of a party of this name, with new keys."""
    @staticmethod
    def load(path: Path) -> Identity:
        """From its file; one that others can read is ``errors.PartySetting``."""
    def save(self, path: Path) -> None:
        """To a new file of mode 0600."""
    def card(self, address: str | None = None) -> Card:
        """What the other parties need: name and public keys, and the address where this party listens for ``tls``, as ``"north.example:7411"``, if it does."""
    @property
    def name(self) -> str: ...

@final
class Card:
    """Name, public keys and address of a party, for anybody to see. Compare its ``fingerprint`` by another way than the one it came."""

    @staticmethod
    def from_json(text: str) -> Card: ...
    def to_json(self) -> str: ...
    @staticmethod
    def load(path: Path) -> Card: ...
    def save(self, path: Path) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def address(self) -> str | None: ...
    @property
    def fingerprint(self) -> str:
        """Eight groups of four digits, of name and keys."""
    def __eq__(self, other: object) -> bool: ...

@final
class Contacts:
    """The cards of all parties, in the order that all agree on."""

    def __new__(cls, cards: Sequence[Card]) -> Contacts: ...
    def roster(self, threshold: int | None = None, *, handed_on: bytes | None = None) -> Roster:
        """The parties in this order, of whom a threshold decrypts, all unless given; ``handed_on`` as of ``Roster``."""
    @property
    def fingerprint(self) -> str:
        """Of all cards in their order: parties who have the same have the same cards."""
    def __eq__(self, other: object) -> bool: ...

@final
class PartyLink:
    """A party's end of a channel to all others."""

    @staticmethod
    def tls(identity: Identity, contacts: Contacts, channel: bytes, longest: int, listen: str | None = None) -> PartyLink: ...
    @staticmethod
    def folder(identity: Identity, contacts: Contacts, channel: bytes, longest: int, folder: Path, poll: float) -> PartyLink: ...
    def send(self, message: bytes) -> None: ...
    def send_to(self, party: str, message: bytes) -> None: ...
    def receive(self, timeout: float) -> tuple[str, bytes] | None: ...
    def refusals(self) -> list[PartiesError]: ...
    def finish(self, timeout: float) -> list[str]: ...
    def close(self) -> None: ...

@final
class PartySecret:
    """What a party holds of a joint secret: its own secret, or a share of a threshold."""

    @staticmethod
    def load(public: PublicKey, roster: Roster, me: str, path: Path, threshold: bool) -> PartySecret: ...
    def save(self, path: Path) -> None:
        """To a new file of mode 0600."""
    def prepare_ledger(self, path: Path) -> None:
        """The file of a ledger that has no policy yet."""
    def begin_ledger(self, path: Path, queries: int, statistical_bits: int, used: int) -> None:
        """The file of a ledger that goes on from a count."""
    @property
    def me(self) -> str: ...
    @property
    def is_share(self) -> bool: ...

@final
class PartyKeySession:
    """The rounds in which one party makes keys with others."""

    def __new__(
        cls,
        context: Context,
        roster: Roster,
        me: str,
        nonce: bytes,
        *,
        relinearization: bool,
        exponents: Sequence[int],
        level: int | None = None,
        folder: Path | None = None,
    ) -> PartyKeySession: ...
    @property
    def name(self) -> str: ...
    def channel(self) -> tuple[bytes, int]: ...
    @property
    def message(self) -> bytes: ...
    def messages(self) -> list[bytes]: ...
    def receive(self, sender: str, message: bytes) -> str:
        """``"accepted"``, ``"repeated"``, ``"kept"`` for the next round, or ``"over"``."""
    def advance(self) -> None: ...
    def close(self) -> None: ...
    def abort(self, reason: str) -> None: ...
    def keys(self) -> tuple[PublicKey, EvaluationKeys, PartySecret] | None: ...
    @property
    def missing(self) -> list[str]: ...
    @property
    def received(self) -> int: ...
    @property
    def step(self) -> tuple[int, str] | None: ...
    @property
    def longest_message(self) -> int: ...
    @property
    def done(self) -> bool: ...

@final
class PartyDealing:
    """The round in which one party deals its secret."""

    def __new__(cls, secret: PartySecret, nonce: bytes, folder: Path | None = None) -> PartyDealing: ...
    def message_for(self, party: str) -> bytes: ...
    def receive(self, sender: str, message: bytes) -> str: ...
    def finish(self) -> PartySecret: ...
    def channel(self) -> tuple[bytes, int]: ...
    def close(self) -> None: ...
    @property
    def missing(self) -> list[str]: ...

@final
class PartyHandingOn:
    """The two rounds in which one party hands a key on, or takes it over."""

    def __new__(
        cls,
        public: PublicKey,
        before: Roster,
        dealers: Sequence[str],
        to: Roster,
        me: str,
        nonce: bytes,
        policy: tuple[int, int],
        *,
        secret: PartySecret | None = None,
        folder: Path | None = None,
    ) -> PartyHandingOn: ...
    def message_for(self, party: str) -> bytes | None: ...
    def receive(self, sender: str, message: bytes) -> str: ...
    def advance(self) -> None: ...
    def finish(self) -> PartySecret | None: ...
    def channel(self) -> tuple[bytes, int]: ...
    def close(self) -> None: ...
    @property
    def message(self) -> bytes: ...
    @property
    def roster(self) -> Roster: ...
    @property
    def parties(self) -> list[str]: ...
    @property
    def deals(self) -> bool: ...
    @property
    def step(self) -> int:
        """1 for pieces, 2 for confirmations, 3 once it is over."""
    @property
    def missing(self) -> list[str]: ...
    @property
    def name(self) -> str: ...

@final
class PartyDecryptor:
    """A party that answers requests, in memory or with the file of a ledger and a folder of shares."""

    def __new__(
        cls, secret: PartySecret, queries: int, statistical_bits: int, files: tuple[Path, Path] | None = None, used: int = 0
    ) -> PartyDecryptor: ...
    def answer(self, ciphertexts: Sequence[Ciphertext], requests: Sequence[bytes], noise: float) -> list[bytes]: ...
    def refresh(self, ciphertexts: Sequence[Ciphertext], requests: Sequence[bytes], noise: float) -> list[bytes]: ...
    def switch(self, ciphertexts: Sequence[Ciphertext], requests: Sequence[bytes], noise: float, target: PublicKey) -> list[bytes]: ...
    def share_additively(self, ciphertexts: Sequence[Ciphertext], requests: Sequence[bytes], noise: float) -> list[tuple[bytes, Plaintext]]: ...
    def close(self) -> None: ...
    @property
    def queries(self) -> int: ...
    @property
    def statistical_bits(self) -> int: ...
    @property
    def used(self) -> int: ...

@final
class PartyOpening:
    """The answers for one ciphertext."""

    def __new__(
        cls, ciphertext: Ciphertext, roster: Roster, request: bytes, queries: int, statistical_bits: int
    ) -> PartyOpening: ...
    def receive(self, sender: str, answer: bytes) -> str: ...
    def open(self) -> Plaintext: ...
    @property
    def missing(self) -> list[str]: ...

@final
class PartyRefreshing:
    """The answers for the refresh of one ciphertext."""

    def __new__(
        cls, ciphertext: Ciphertext, roster: Roster, request: bytes, queries: int, statistical_bits: int
    ) -> PartyRefreshing: ...
    def receive(self, sender: str, answer: bytes) -> str: ...
    def refreshed(self) -> Ciphertext: ...
    @property
    def missing(self) -> list[str]: ...

@final
class PartySwitching:
    """The answers for the switch of one ciphertext to a public key."""

    def __new__(
        cls, ciphertext: Ciphertext, roster: Roster, request: bytes, queries: int, statistical_bits: int, target: PublicKey
    ) -> PartySwitching: ...
    def receive(self, sender: str, answer: bytes) -> str: ...
    def switched(self) -> Ciphertext: ...
    @property
    def missing(self) -> list[str]: ...

@final
class PartySharing:
    """The answers for the additive shares of one ciphertext."""

    def __new__(
        cls, ciphertext: Ciphertext, roster: Roster, request: bytes, queries: int, statistical_bits: int
    ) -> PartySharing: ...
    def receive(self, sender: str, answer: bytes) -> str: ...
    def rest(self) -> Plaintext: ...
    @property
    def missing(self) -> list[str]: ...

def additive_request(ciphertext: Ciphertext, roster: Roster, terms: Terms) -> bytes:
    """The request of additive shares of the message of a ciphertext."""

def decryption_request(ciphertext: Ciphertext, roster: Roster, terms: Terms) -> bytes:
    """The request to open a ciphertext."""

def refresh_request(ciphertext: Ciphertext, roster: Roster, terms: Terms) -> bytes:
    """The request to refresh a ciphertext."""

def switch_request(ciphertext: Ciphertext, roster: Roster, terms: Terms, target: PublicKey) -> bytes:
    """The request to switch a ciphertext to a public key."""

def read_party_request(context: Context, roster: Roster, request: bytes) -> tuple[str, str, float, list[str], bytes]:
    """What is asked for, ``"open"``, ``"refresh"``, ``"switch"`` or ``"share"``, the purpose, log2 of the noise, names of the parties, hash of the program."""

def party_ledger(path: Path) -> tuple[int, int, int] | None:
    """Results, statistical bits and the count of the ledger in a file; None where nothing was shared yet."""

def session_nonce() -> bytes: ...
def request_channel(public: PublicKey) -> tuple[bytes, int]:
    """The channel on which parties of a joint key ask one another, and the most bytes of a message for one ciphertext."""
