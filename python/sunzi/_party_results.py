"""Results that several parties open by shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, Optional

import numpy as np
import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._context import Context
from ._encoding import decrypted
from ._keys import checked_noise
from ._party_keys import PartyKeys
from ._party_links import Gathering, Link, Refusals
from ._stored import _parts
from ._wire import Bytes, cut
from .errors import ContextMismatch, FormatError, PartyMessage, PartySetting, RequestRefused

#: Bytes of the hash of a program.
_HASH = 32
#: Ciphertexts of one array that links between machines carry requests and answers for.
_MOST_CIPHERTEXTS = 256


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
    #: How many ciphertexts are opened: each counts as one result.
    ciphertexts: int


class Decryptor:
    """A party that answers requests to open results, by shares that decrypt nothing alone.

    Every ciphertext that it answers for counts in the ledger of its keys, before the answer is given: at most ``queries`` of them, together at statistical distance at
    most 2^-``statistical_bits`` from what does not depend on secrets; they stand for all the life of the keys. Asked again for the same, it gives the same
    share, which does not count again. Keys in a folder keep ledger and shares there.
    """

    __slots__ = ("_inner", "keys")

    #: The keys of this party.
    keys: PartyKeys
    _inner: _native.PartyDecryptor

    def __init__(self, keys: PartyKeys, *, queries: int = 1000, statistical_bits: int = 40) -> None:
        self.keys, self._inner = keys, keys._answering(queries, statistical_bits)

    @property
    def me(self) -> str:
        """The name of this party."""
        return self.keys.me

    @property
    def used(self) -> int:
        """How many ciphertexts this party has answered for."""
        return self._inner.used

    @property
    def queries(self) -> int:
        """How many it may answer for."""
        return self._inner.queries

    @property
    def statistical_bits(self) -> int:
        """−log2 of the statistical distance of all of them together."""
        return self._inner.statistical_bits

    def _channel(self) -> tuple[bytes, int]:
        channel, longest = _native.request_channel(self.keys.public.encryption)
        return channel, longest * _MOST_CIPHERTEXTS

    def opening(self, result: EncryptedArray, *, noise: float, quorum: Optional[Sequence[str]] = None, purpose: str = "", program: bytes = bytes(_HASH)) -> Opening:
        """An ``Opening`` by the policy of this party's ledger, which all parties must have."""
        _check_context(result, self.keys.context)
        sharing = (self.queries, self.statistical_bits)
        return Opening(self.keys.roster, result, noise=noise, sharing=sharing, quorum=quorum, purpose=purpose, program=program)

    def read(self, request: Bytes) -> Asked:
        """What a request says: what for, of whom, how much noise. ``errors.RequestRefused`` for other parties than decrypt together."""
        return _asked(self.keys.context, self.keys.roster, _objects(request))

    def answer(self, request: Bytes, result: EncryptedArray, *, noise: float) -> bytes:
        """This party's share of a result, for whoever asked: it may be seen by those alone who may know the result.

        ``result`` is the array as this party has it: it computed it itself, or somebody it trusts did. **A party that answers for whatever it is shown gives away the
        inputs of all.** ``noise`` is what this party knows of it: log2 of a bound, by ``PartyKeys.declared_noise``, or by its own analysis; neither the request
        nor the array is taken at its word. Another array, key, party or more noise than this is ``errors.RequestRefused``, and counts nothing;
        ``errors.SharingSpent`` where all is used up; ``errors.SharingRoom`` where parameters have no room (``Context.for_depth(..., sharing=...)``).
        """
        declared, parts = checked_noise(noise), _ciphertexts(result)
        _check_context(result, self.keys.context)
        requests = _objects(request)
        _check_count(len(requests), len(parts))
        return b"".join(self._inner.answer(parts, requests, declared))

    def close(self) -> None:
        """Lets the folder of the keys go, so that they can be loaded elsewhere; ``with`` does so too. A decryptor in memory stays, since its ledger is there alone."""
        self.keys._close_decryptor()

    def __enter__(self) -> Decryptor:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("what answers requests holds a secret and is not pickled: keys in a folder are loaded by PartyKeys.load")

    def __repr__(self) -> str:
        return f"<sunzi.parties.Decryptor of {self.me}: {self.used} of {self.queries} used>"


class Opening:
    """A result on its way to whoever may know it: the request to the parties, and their answers.

    ``noise`` is log2 of a bound on the noise of ``result``, by which parties answer or refuse (``PartyKeys.declared_noise``: all who run the agreed computation have
    the same); ``sharing`` is the policy of their ledgers, a pair of results and statistical bits. ``quorum`` are the names of the parties that are asked: all, or as many
    as the roster's threshold says. ``purpose`` is text for people, ``program`` 32 bytes for programs. Whoever has ``result`` and all answers knows it, so let
    answers be seen by nobody else.

    >>> opening = parties.Opening(roster, total, noise=noise, sharing=(10, 40), purpose="mean age")     # doctest: +SKIP
    >>> opening.receive("north", north.answer(opening.request, total, noise=noise))                     # doctest: +SKIP
    >>> opening.open()                                                                                  # doctest: +SKIP
    """

    def __init__(
        self,
        roster: _native.Roster,
        result: EncryptedArray,
        *,
        noise: float,
        sharing: tuple[int, int],
        quorum: Optional[Sequence[str]] = None,
        purpose: str = "",
        program: bytes = bytes(_HASH),
    ) -> None:
        declared, parts = checked_noise(noise), _ciphertexts(result)
        if len(program) != _HASH:
            raise PartySetting(f"the hash of a program: expected {_HASH} bytes, got {len(program)}")
        if isinstance(quorum, str):
            raise TypeError(f"a quorum of {quorum!r}: give a list of names")
        members = list(roster.names if quorum is None else quorum)
        if quorum is None and roster.threshold < len(roster):
            raise PartySetting(f"a quorum of all {len(roster)} parties, of whom {roster.threshold} decrypt: name those who are asked")
        requests = [_native.decryption_request(part, roster, members, declared, *sharing, bytes(program), purpose) for part in parts]
        self._set(roster, result, sharing, requests)

    @classmethod
    def of(cls, roster: _native.Roster, result: EncryptedArray, request: Bytes, *, sharing: tuple[int, int]) -> Opening:
        """The opening of a request that somebody else made, for those who take the answers."""
        opening = cls.__new__(cls)
        requests = _objects(request)
        _check_count(len(requests), len(_ciphertexts(result)))
        opening._set(roster, result, sharing, requests)
        return opening

    def _set(self, roster: _native.Roster, result: EncryptedArray, sharing: tuple[int, int], requests: list[bytes]) -> None:
        self.roster, self._result, self._requests = roster, result, requests
        self.asked = _asked(result.context, roster, requests)
        self._openings = [_native.PartyOpening(part, roster, one, *sharing) for part, one in zip(_ciphertexts(result), requests)]
        self._opened: Optional[npt.NDArray[Any]] = None

    @property
    def request(self) -> bytes:
        """The request in bytes, for all parties that are asked."""
        return b"".join(self._requests)

    @property
    def missing(self) -> tuple[str, ...]:
        """The parties whose answers did not come yet."""
        missing = {name for one in self._openings for name in one.missing}
        return tuple(name for name in self.roster.names if name in missing)

    def receive(self, sender: str, answer: Bytes) -> bool:
        """Takes the answer of ``sender``, by what the channel says. Whether it counts from now on; one that is refused is ``errors.PartyMessage``, which names the sender."""
        if sender not in self.roster:
            raise PartySetting(f"the name of a party: expected {', '.join(self.roster.names)}, got {sender}")
        try:
            answers = _objects(answer)
        except FormatError as error:
            raise _refused(sender, "Malformed", f"it cannot be read: {error}") from error
        if len(answers) != len(self._openings):
            raise _refused(sender, "Length", f"it has {len(answers)} shares, the result takes {len(self._openings)}")
        return "accepted" in [one.receive(sender, share) for one, share in zip(self._openings, answers)]

    def open(self) -> npt.NDArray[Any]:
        """The numbers, once all answers are there: of the shape and dtype of the result. ``errors.PartyMissing`` names those whose answers are missing.

        Shares that a party made of something else than it should cannot be told, and spoil the result.
        """
        if self._opened is None:
            self._opened = _opened(self._result, iter(self._openings))
        return self._opened.copy()

    def run(self, link: Link, *, timeout: float = 60.0, refused: Optional[Refusals] = None) -> npt.NDArray[Any]:
        """Asks over a link, waits at most ``timeout`` seconds for the answers that are missing, and opens the result. The own answer is given by ``receive`` before."""
        for party in self.missing:
            link.send_to(party, self.request)
        Gathering(link, self.receive, lambda: self.missing, refused).gather(timeout, lambda: None)
        return self.open()

    def __repr__(self) -> str:
        return f"<sunzi.parties.Opening: {len(self.missing)} of {len(self.asked.parties)} answers missing>"


class _Shares:
    """Opens ciphertexts one after the other by the answers of parties, in the place of the secret key."""

    def __init__(self, openings: Iterator[_native.PartyOpening]) -> None:
        self._openings = openings

    def within(self, context: _native.Context) -> _Shares:
        return self

    def decrypt(self, ciphertext: _native.Ciphertext) -> _native.Plaintext:
        return next(self._openings).open()


def _opened(result: EncryptedArray, openings: Iterator[_native.PartyOpening]) -> npt.NDArray[Any]:
    return np.asarray(decrypted(result, _Shares(openings)))


def _ciphertexts(result: EncryptedArray) -> list[_native.Ciphertext]:
    """All single ciphertexts of an array, those of one number together."""
    if not isinstance(result, EncryptedArray):
        raise TypeError(f"parties open encrypted arrays of numbers, not {type(result).__name__}")
    return [part for chunk in result._chunks for part in _parts(chunk)]


def _check_context(result: EncryptedArray, context: Context) -> None:
    if isinstance(result, EncryptedArray) and not context._shares_keys(result.context):
        raise ContextMismatch(f"an array of {result.context!r}, the keys are of {context!r}: compute with the keys of these parties")


def _objects(data: Bytes) -> list[bytes]:
    return cut(bytes(data))


def _check_count(requests: int, ciphertexts: int) -> None:
    if requests != ciphertexts:
        raise RequestRefused(f"the request is refused: ciphertexts: expected {ciphertexts}, as the array has, got {requests}")


def _asked(context: Context, roster: _native.Roster, requests: list[bytes]) -> Asked:
    """What requests of one array say: the same in all of them."""
    if not requests:
        raise RequestRefused("the request is refused: ciphertexts: expected 1 at least, got 0")
    said = [_native.read_decryption_request(context._contexts[0], roster, request) for request in requests]
    if any(one != said[0] for one in said):
        raise RequestRefused("the request is refused: what is asked for the ciphertexts of one array: expected the same for all, got several")
    purpose, noise, members, program = said[0]
    return Asked(purpose, noise, tuple(members), program, len(requests))


def _refused(sender: str, fault: str, what: str) -> PartyMessage:
    """The error of a message of a party."""
    error = PartyMessage(f"message of party {sender}: {what}")
    error.sender, error.fault = sender, fault
    return error
