"""Results that several parties open by shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Optional

import numpy as np
import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._encoding import decrypted
from ._keys import PublicKeys, checked_noise
from ._party_answers import HASH, Asked, Collected, InOrder, Terms, asked_in, check_context, check_count, ciphertexts_of, objects_in
from ._party_encryptions import encrypt_share
from ._party_keys import PartyKeys
from ._party_links import Link, Refusals
from ._party_refreshes import Refreshing
from ._party_shares import AdditiveShare, Sharing, check_integers, share_of
from ._party_switches import Switching, target_of
from ._wire import Bytes

#: Ciphertexts of one array that links between machines carry requests and answers for.
_MOST_CIPHERTEXTS = 256


class Decryptor:
    """A party that answers requests to open, refresh, switch or share results, by shares that decrypt nothing alone.

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

    def opening(self, result: EncryptedArray, *, noise: float, quorum: Optional[Sequence[str]] = None, purpose: str = "", program: bytes = bytes(HASH)) -> Opening:
        """An ``Opening`` by the policy of this party's ledger, which all parties must have."""
        check_context(result, self.keys.context)
        sharing = (self.queries, self.statistical_bits)
        return Opening(self.keys.roster, result, noise=noise, sharing=sharing, quorum=quorum, purpose=purpose, program=program)

    def read(self, request: Bytes) -> Asked:
        """What a request says: whether to open, to refresh, to switch or to share, what for, of whom, how much noise. ``errors.RequestRefused`` for other parties than decrypt together."""
        return asked_in(self.keys.context, self.keys.roster, objects_in(request))

    def refreshing(self, array: EncryptedArray, *, noise: float, quorum: Optional[Sequence[str]] = None, purpose: str = "", program: bytes = bytes(HASH)) -> Refreshing:
        """A ``Refreshing`` by the policy of this party's ledger, which all parties must have."""
        check_context(array, self.keys.context)
        sharing = (self.queries, self.statistical_bits)
        return Refreshing(self.keys.roster, array, noise=noise, sharing=sharing, quorum=quorum, purpose=purpose, program=program)

    def switching(
        self, array: EncryptedArray, target: PublicKeys, *, noise: float, quorum: Optional[Sequence[str]] = None, purpose: str = "", program: bytes = bytes(HASH)
    ) -> Switching:
        """A ``Switching`` of an array to the public keys ``target`` of somebody else, by the policy of this party's ledger, which all parties must have."""
        check_context(array, self.keys.context)
        sharing = (self.queries, self.statistical_bits)
        return Switching(self.keys.roster, array, target, noise=noise, sharing=sharing, quorum=quorum, purpose=purpose, program=program)

    def sharing(self, array: EncryptedArray, *, noise: float, quorum: Optional[Sequence[str]] = None, purpose: str = "", program: bytes = bytes(HASH)) -> Sharing:
        """A ``Sharing`` by the policy of this party's ledger, which all parties must have."""
        check_context(array, self.keys.context)
        sharing = (self.queries, self.statistical_bits)
        return Sharing(self.keys.roster, array, noise=noise, sharing=sharing, quorum=quorum, purpose=purpose, program=program)

    def answer(self, request: Bytes, result: EncryptedArray, *, noise: float) -> bytes:
        """This party's share of a result, for whoever asked: it may be seen by those alone who may know the result.

        ``result`` is the array as this party has it: it computed it itself, or somebody it trusts did. **A party that answers for whatever it is shown gives away the
        inputs of all.** ``noise`` is what this party knows of it: log2 of a bound, by ``PartyKeys.declared_noise``, or by its own analysis; neither the request
        nor the array is taken at its word. Another array, key, party or more noise than this is ``errors.RequestRefused``, and counts nothing;
        ``errors.SharingSpent`` where all is used up; ``errors.SharingRoom`` where parameters have no room (``Context.for_depth(..., sharing=...)``);
        ``errors.HandedOn`` by keys that were handed on to others.
        """
        parts, requests, declared = self._checked(request, result, noise)
        return b"".join(self._inner.answer(parts, requests, declared))

    def refresh(self, request: Bytes, array: EncryptedArray, *, noise: float) -> bytes:
        """This party's share of a refresh, for whoever asked (``Refreshing``): nobody learns the numbers, and the array that all shares give has the noise of an encryption.

        It counts as a result for every ciphertext, and is refused, as ``answer``, whose ``noise`` and errors it has; in CKKS a level too low is
        ``errors.SharingRoom`` too. A share is made once for a ciphertext and those who are asked: asked again by the same request it is the same and does not
        count, by another one ``errors.RequestRefused``.
        """
        parts, requests, declared = self._checked(request, array, noise)
        return b"".join(self._inner.refresh(parts, requests, declared))

    def switch(self, request: Bytes, array: EncryptedArray, target: PublicKeys, *, noise: float) -> bytes:
        """This party's share of a switch to the public key of somebody else, for whoever asked (``Switching``): the holder of that key alone learns the numbers.

        ``target`` is whom this party means the result for, and never what came with the request: compare ``parties.recipient_fingerprint(target)`` with its holder before. A request to another key, or whose
        noise is not the declared one, is ``errors.RequestRefused``; a key of another context ``errors.ContextMismatch``. Otherwise it counts, is refused and is made
        once as ``refresh``.
        """
        key = target_of(array, target).encryption
        parts, requests, declared = self._checked(request, array, noise)
        return b"".join(self._inner.switch(parts, requests, declared, key))

    def share_additively(self, request: Bytes, array: EncryptedArray, *, noise: float) -> AdditiveShare:
        """This party's additive share of an array of integers, which it keeps, and its answer to whoever asked (``Sharing``): a pair ``answer``, ``numbers``.

        It counts as a result for every ciphertext, and is refused and made once as ``refresh``: asked again by the same request, answer and share are the same. Keys in a folder
        keep both there. Real numbers are ``errors.WrongScheme``, an array that is divided when it is opened is ``errors.PartySetting``.
        """
        parts, requests, declared = self._checked(request, array, noise)
        check_integers(array)
        made = self._inner.share_additively(parts, requests, declared)
        return AdditiveShare(b"".join(answer for answer, _ in made), share_of(array, (own for _, own in made)))

    def encrypt_share(self, request: Bytes, numbers: npt.ArrayLike) -> bytes:
        """An additive share of this party, encrypted under the joint key for whoever asked (``Encrypting``): ``parties.encrypt_share`` under its name. Nothing is counted."""
        return encrypt_share(self.keys.public, self.me, request, numbers)

    def _checked(self, request: Bytes, result: EncryptedArray, noise: float) -> tuple[list[_native.Ciphertext], list[bytes], float]:
        """The ciphertexts, the request of each, and the declared noise."""
        self.keys._check_here()
        declared, parts = checked_noise(noise), ciphertexts_of(result)
        check_context(result, self.keys.context)
        requests = objects_in(request)
        check_count(len(requests), len(parts))
        return parts, requests, declared

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


class Opening(Collected[_native.PartyOpening]):
    """A result on its way to whoever may know it: the request to the parties, and their answers.

    ``noise`` is log2 of a bound on the noise of ``result``, by which parties answer or refuse (``PartyKeys.declared_noise``: all who run the agreed computation have
    the same); ``sharing`` is the policy of their ledgers, a pair of results and statistical bits. ``quorum`` are the names of the parties that are asked: all, or as many
    as the roster's threshold says. ``purpose`` is text for people, ``program`` 32 bytes for programs. Whoever has ``result`` and all answers knows it, so let
    answers be seen by nobody else.

    >>> opening = parties.Opening(roster, total, noise=noise, sharing=(10, 40), purpose="mean age")     # doctest: +SKIP
    >>> opening.receive("north", north.answer(opening.request, total, noise=noise))                     # doctest: +SKIP
    >>> opening.open()                                                                                  # doctest: +SKIP
    """

    _operation = "open"
    _opened: Optional[npt.NDArray[Any]] = None

    def _ask(self, ciphertext: _native.Ciphertext, roster: _native.Roster, terms: Terms) -> bytes:
        return _native.decryption_request(ciphertext, roster, terms)

    def _collect(self, ciphertext: _native.Ciphertext, roster: _native.Roster, request: bytes, sharing: tuple[int, int]) -> _native.PartyOpening:
        return _native.PartyOpening(ciphertext, roster, request, *sharing)

    @classmethod
    def of(cls, roster: _native.Roster, result: EncryptedArray, request: Bytes, *, sharing: tuple[int, int]) -> Opening:
        """The opening of a request that somebody else made, for those who take the answers."""
        opening = cls.__new__(cls)
        opening._take(roster, result, request, sharing)
        return opening

    def open(self) -> npt.NDArray[Any]:
        """The numbers, once all answers are there: of the shape and dtype of the result. ``errors.PartyMissing`` names those whose answers are missing.

        Shares that a party made of something else than it should cannot be told, and spoil the result.
        """
        if self._opened is None:
            each = iter(self._each)
            self._opened = np.asarray(decrypted(self._result, InOrder(lambda: next(each).open())))
        return self._opened.copy()

    def run(self, link: Link, *, timeout: float = 60.0, refused: Optional[Refusals] = None) -> npt.NDArray[Any]:
        """Asks over a link, waits at most ``timeout`` seconds for the answers that are missing, and opens the result. The own answer is given by ``receive`` before."""
        self._gather(link, timeout, refused)
        return self.open()
