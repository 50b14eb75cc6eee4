"""Arrays that several parties switch to the public key of somebody else by shares."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Optional

from . import _native
from ._array import EncryptedArray
from ._context import Context
from ._keys import Keys, PublicKeys, made_keys
from ._party_answers import HASH, Collected, Terms, replaced
from ._party_links import Link, Refusals
from ._wire import Bytes
from .errors import ContextMismatch, PartySetting


def recipient_keys(context: Context, *, rotations: Iterable[int] = (), products: bool = False, swap: bool = False, level: int | None = None) -> Keys:
    """Keys of somebody who gets arrays of several parties by a ``Switching`` and decrypts them alone: made in the ``context`` of the parties, by one of them or by anybody else.

    ``public`` goes to the parties, who compare ``parties.recipient_fingerprint(public)`` with its owner before they answer: whoever made it reads what is switched to it. Keys to go on computing with what
    was switched are asked for as of ``sunzi.keygen``. A context of one party is ``errors.PartySetting``: its keys come from ``sunzi.keygen``.
    """
    if context.parties < 2:
        raise PartySetting("keys of a recipient in a context of one party: take those of sunzi.keygen(context)")
    return made_keys(context, _native.SecretKey.generate_alone(context._contexts[0]), rotations, products, swap, level)


def recipient_fingerprint(public: PublicKeys) -> str:
    """Eight groups of four hexadecimal digits of the public key to which arrays are switched, which its owner reads out: another key has others, also one of the same ``id``."""
    digest = hashlib.sha256(b"sunzi recipient" + public.encryption.to_bytes()).hexdigest()
    return " ".join(digest[i : i + 4] for i in range(0, 32, 4))


def target_of(array: EncryptedArray, target: PublicKeys) -> PublicKeys:
    """The public keys to which an array is switched, as keys of its context."""
    if not isinstance(target, PublicKeys):
        raise TypeError(f"arrays are switched to public keys, not to {type(target).__name__}: give keys.public of the recipient")
    if not isinstance(array, EncryptedArray):
        raise TypeError(f"parties switch encrypted arrays of numbers, not {type(array).__name__}")
    if not array.context._shares_keys(target.context):
        raise ContextMismatch(
            f"a switch of an array of {array.context!r} to keys of {target.context!r}: the recipient makes them in the context of the parties, by parties.recipient_keys(context)"
        )
    return target.within(array.context)


class Switching(Collected[_native.PartySwitching]):
    """A switch on its way: the request to the parties, and their answers, which together make an array of the same numbers under the public key of somebody else, who alone
    decrypts it. Nobody else learns the numbers: anybody may ask, and answers and array may be seen by whoever computes.

    ``target`` is the ``PublicKeys`` of the recipient, made in the context of the parties: by ``parties.recipient_keys(context)``, or by a session of other parties. The other arguments are
    those of ``Opening``: ``noise`` is log2 of a bound on the noise of ``array``, and here all parties declare exactly that, since the noise of the result follows from it; ``sharing`` is the
    policy of their ledgers, ``quorum`` the names of those who are asked, ``purpose`` and ``program`` for people and programs. Whoever holds the other key sees the noise of the
    array beside the flooding noise of all, as in an opened result: each ciphertext counts as one, and parameters need the room (``Context.for_depth(..., sharing=...)``).
    The array has the shape, the dtype and, in CKKS, the level of before, and the precision of an opened result; in BGV its level may be lower.

    >>> roster, number = parties.Roster(["north", "south"]), parties.nonce()
    >>> context = sunzi.Context.for_depth(0, dtype=int, parties=2, sharing=(10, 40), result_bound=1000, security=0, log2_degree=10)
    >>> sessions = {me: parties.KeySession(context, roster, me, nonce=number, products=False, rotations=[]) for me in roster.names}
    >>> while not all(session.done for session in sessions.values()):
    ...     messages = {me: session.message for me, session in sessions.items()}
    ...     for me, session in sessions.items():
    ...         for sender, message in messages.items():
    ...             if sender != me:
    ...                 _ = session.receive(sender, message)
    ...         session.advance()
    >>> holders = {me: parties.Decryptor(session.keys, queries=10, statistical_bits=40) for me, session in sessions.items()}
    >>> keys, doctor = sessions["north"].keys, parties.recipient_keys(context)
    >>> ages, noise = keys.encrypt([71, 64]), keys.declared_noise(lambda a: a, [0, 0])
    >>> switching = holders["north"].switching(ages, doctor.public, noise=noise, purpose="for the doctor")
    >>> for me, holder in holders.items():
    ...     _ = switching.receive(me, holder.switch(switching.request, ages, doctor.public, noise=noise))
    >>> doctor.decrypt(switching.switched()).tolist(), holders["south"].used
    ([71, 64], 1)

    Errors are those of ``Opening``: a request that no party would answer, or for another key, is ``errors.RequestRefused``, noise without room ``errors.SharingRoom``; keys of another
    context are ``errors.ContextMismatch``.
    """

    _operation = "switch"

    def __init__(
        self,
        roster: _native.Roster,
        array: EncryptedArray,
        target: PublicKeys,
        *,
        noise: float,
        sharing: tuple[int, int],
        quorum: Optional[Sequence[str]] = None,
        purpose: str = "",
        program: bytes = bytes(HASH),
    ) -> None:
        self._target = target_of(array, target)
        super().__init__(roster, array, noise=noise, sharing=sharing, quorum=quorum, purpose=purpose, program=program)

    def _ask(self, ciphertext: _native.Ciphertext, roster: _native.Roster, terms: Terms) -> bytes:
        return _native.switch_request(ciphertext, roster, terms, self._target.encryption)

    def _collect(self, ciphertext: _native.Ciphertext, roster: _native.Roster, request: bytes, sharing: tuple[int, int]) -> _native.PartySwitching:
        return _native.PartySwitching(ciphertext, roster, request, *sharing, self._target.encryption)

    @classmethod
    def of(cls, roster: _native.Roster, array: EncryptedArray, target: PublicKeys, request: Bytes, *, sharing: tuple[int, int]) -> Switching:
        """The switch of a request that somebody else made, for those who take the answers; ``errors.RequestRefused`` for one to another key."""
        switching = cls.__new__(cls)
        switching._target = target_of(array, target)
        switching._take(roster, array, request, sharing)
        return switching

    def switched(self) -> EncryptedArray:
        """The array under the public key, which computes with the keys of its holder, once all answers are there: its shape, its dtype, and what is known of its numbers are those of
        before. ``errors.PartyMissing`` names those whose answers are missing.

        Shares that a party made of something else than it should cannot be told, and spoil the numbers.
        """
        return replaced(self._result, (one.switched() for one in self._each)).with_keys(self._target)

    def run(self, link: Link, *, timeout: float = 60.0, refused: Optional[Refusals] = None) -> EncryptedArray:
        """Asks over a link, waits at most ``timeout`` seconds for the answers that are missing, and gives the array. The own answer is given by ``receive`` before."""
        self._gather(link, timeout, refused)
        return self.switched()
