"""Requests of parties for what they do to a result, and the answers to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Generic, NamedTuple, Optional, Protocol, TypeVar, cast

from . import _native
from ._array import EncryptedArray
from ._context import Context
from ._crt import CrtCiphertext
from ._keys import checked_noise
from ._party_links import Gathering, Link, Refusals
from ._stored import _parts
from ._wire import Bytes, cut
from .errors import ContextMismatch, FormatError, PartyMessage, PartySetting, RequestRefused

#: Bytes of the hash of a program.
HASH = 32


class Asked(NamedTuple):
    """What a request says. All of it is the word of whoever made it."""

    #: What the result is for, in the words of whoever asks.
    purpose: str
    #: log2 of a bound on the noise of the result: never hand it to ``answer``, which wants what this party knows itself.
    noise: float
    #: The parties that are asked.
    parties: tuple[str, ...]
    #: The hash of the program that made the result, 32 bytes; zeros for none.
    program: bytes
    #: How many ciphertexts are opened, refreshed, switched or shared: each counts as one result.
    ciphertexts: int
    #: What is asked for: "open", "refresh", "switch" or "share".
    operation: str = "open"


class Collector(Protocol):
    """The answers for one ciphertext."""

    def receive(self, sender: str, answer: bytes, /) -> str: ...
    @property
    def missing(self) -> list[str]: ...


One = TypeVar("One", bound=Collector)
#: What a request says besides the ciphertext: names of the parties, log2 of the noise, shared results and statistical bits of the policy, hash of the program, purpose.
Terms = tuple[list[str], float, int, int, bytes, str]


class Collected(Generic[One]):
    """The requests for the ciphertexts of an array, one for each, and the answers of all who are asked."""

    #: What is asked for, as in ``Asked``.
    _operation: ClassVar[str]

    def _ask(self, ciphertext: _native.Ciphertext, roster: _native.Roster, terms: Terms) -> bytes:
        """The request for one ciphertext."""
        raise NotImplementedError

    def _collect(self, ciphertext: _native.Ciphertext, roster: _native.Roster, request: bytes, sharing: tuple[int, int]) -> One:
        """The answers to the request for one ciphertext, none at first."""
        raise NotImplementedError

    @staticmethod
    def _check(result: EncryptedArray, /) -> None:
        """Fails for an array with which this cannot be done."""

    def __init__(
        self,
        roster: _native.Roster,
        result: EncryptedArray,
        *,
        noise: float,
        sharing: tuple[int, int],
        quorum: Optional[Sequence[str]] = None,
        purpose: str = "",
        program: bytes = bytes(HASH),
    ) -> None:
        self._check(result)
        declared, parts = checked_noise(noise), ciphertexts_of(result)
        if len(program) != HASH:
            raise PartySetting(f"the hash of a program: expected {HASH} bytes, got {len(program)}")
        if isinstance(quorum, str):
            raise TypeError(f"a quorum of {quorum!r}: give a list of names")
        members = list(roster.names if quorum is None else quorum)
        if quorum is None and roster.threshold < len(roster):
            raise PartySetting(f"a quorum of all {len(roster)} parties, of whom {roster.threshold} decrypt: name those who are asked")
        terms = (members, declared, *sharing, bytes(program), purpose)
        requests = [self._ask(part, roster, terms) for part in parts]
        self._set(roster, result, sharing, requests)

    def _take(self, roster: _native.Roster, result: EncryptedArray, request: Bytes, sharing: tuple[int, int]) -> None:
        """Takes a request that somebody else made."""
        self._check(result)
        requests = objects_in(request)
        check_count(len(requests), len(ciphertexts_of(result)))
        self._set(roster, result, sharing, requests)

    def _set(self, roster: _native.Roster, result: EncryptedArray, sharing: tuple[int, int], requests: list[bytes]) -> None:
        self.roster, self._result, self._requests = roster, result, requests
        self.asked = asked_in(result.context, roster, requests)
        if self.asked.operation != self._operation:
            raise RequestRefused(f"the request is refused: what is asked for: expected {self._operation}, got {self.asked.operation}")
        self._each = [self._collect(part, roster, one, sharing) for part, one in zip(ciphertexts_of(result), requests)]

    @property
    def request(self) -> bytes:
        """The request in bytes, for all parties that are asked."""
        return b"".join(self._requests)

    @property
    def missing(self) -> tuple[str, ...]:
        """The parties whose answers did not come yet."""
        missing = {name for one in self._each for name in one.missing}
        return tuple(name for name in self.roster.names if name in missing)

    def receive(self, sender: str, answer: Bytes) -> bool:
        """Takes the answer of ``sender``, by what the channel says. Whether it counts from now on; one that is refused is ``errors.PartyMessage``, which names the sender."""
        if sender not in self.roster:
            raise PartySetting(f"the name of a party: expected {', '.join(self.roster.names)}, got {sender}")
        try:
            answers = objects_in(answer)
        except FormatError as error:
            raise refused_message(sender, "Malformed", f"it cannot be read: {error}") from error
        if len(answers) != len(self._each):
            raise refused_message(sender, "Length", f"it has {len(answers)} shares, the result takes {len(self._each)}")
        return "accepted" in [one.receive(sender, share) for one, share in zip(self._each, answers)]

    def _gather(self, link: Link, timeout: float, refused: Optional[Refusals]) -> None:
        """Asks over a link, and waits for the answers that are missing."""
        for party in self.missing:
            link.send_to(party, self.request)
        Gathering(link, self.receive, lambda: self.missing, refused).gather(timeout, lambda: None)

    def __repr__(self) -> str:
        return f"<sunzi.parties.{type(self).__name__}: {len(self.missing)} of {len(self.asked.parties)} answers missing>"


def ciphertexts_of(result: EncryptedArray) -> list[_native.Ciphertext]:
    """All single ciphertexts of an array, those of one number together."""
    if not isinstance(result, EncryptedArray):
        raise TypeError(f"parties open and refresh encrypted arrays of numbers, not {type(result).__name__}")
    return [part for chunk in result._chunks for part in _parts(chunk)]


def replaced(array: EncryptedArray, fresh: Iterable[_native.Ciphertext]) -> EncryptedArray:
    """The array of the same numbers in other ciphertexts, one in the place of each single one."""
    each = iter(fresh)

    def next_for(chunk: _native.Ciphertext) -> _native.Ciphertext:
        if isinstance(chunk, CrtCiphertext):
            return cast(_native.Ciphertext, CrtCiphertext([next(each) for _ in chunk.parts]))
        return next(each)

    return array._like([next_for(chunk) for chunk in array._chunks], fill=array._fill)


class InOrder:
    """Opens ciphertexts one after the other by what parties answered, in the place of the secret key."""

    def __init__(self, opened: Callable[[], _native.Plaintext]) -> None:
        self._opened = opened

    def within(self, context: _native.Context) -> InOrder:
        return self

    def decrypt(self, ciphertext: _native.Ciphertext) -> _native.Plaintext:
        return self._opened()


def check_context(result: EncryptedArray, context: Context) -> None:
    if isinstance(result, EncryptedArray) and not context._shares_keys(result.context):
        raise ContextMismatch(f"an array of {result.context!r}, the keys are of {context!r}: compute with the keys of these parties")


def objects_in(data: Bytes) -> list[bytes]:
    return cut(bytes(data))


def check_count(requests: int, ciphertexts: int) -> None:
    if requests != ciphertexts:
        raise RequestRefused(f"the request is refused: ciphertexts: expected {ciphertexts}, as the array has, got {requests}")


def asked_in(context: Context, roster: _native.Roster, requests: list[bytes]) -> Asked:
    """What requests of one array say: the same in all of them."""
    if not requests:
        raise RequestRefused("the request is refused: ciphertexts: expected 1 at least, got 0")
    said = [_native.read_party_request(context._contexts[0], roster, request) for request in requests]
    if any(one != said[0] for one in said):
        raise RequestRefused("the request is refused: what is asked for the ciphertexts of one array: expected the same for all, got several")
    operation, purpose, noise, members, program = said[0]
    return Asked(purpose, noise, tuple(members), program, len(requests), operation)


def refused_message(sender: str, fault: str, what: str) -> PartyMessage:
    """The error of a message of a party."""
    error = PartyMessage(f"message of party {sender}: {what}")
    error.sender, error.fault = sender, fault
    return error
