"""Additive shares of encrypted integers: one that each of several parties keeps, and the rest for whoever asks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._encoding import residues
from ._party_answers import Collected, InOrder, Terms
from ._party_links import Link, Refusals
from ._wire import Bytes
from .errors import PartySetting, WrongScheme


class AdditiveShare(NamedTuple):
    """What a party makes of a request of additive shares."""

    #: The answer, for whoever asked alone: with those of all it tells the rest, and with the shares of all besides the numbers.
    answer: bytes
    #: The share that this party keeps: SECRET, integers from 0 to t − 1 of the shape of the array, t the plaintext modulus.
    numbers: npt.NDArray[Any]


def check_integers(array: EncryptedArray) -> None:
    """Fails for an array whose numbers have no additive shares modulo t."""
    if not isinstance(array, EncryptedArray):
        raise TypeError(f"parties share encrypted arrays of numbers, not {type(array).__name__}")
    if array.context.is_real:
        raise WrongScheme("additive shares modulo t are of integers, in BFV and BGV; this array is of real numbers: refresh it, switch it or open it")
    if array._divisor != 1:
        raise PartySetting(f"an array that is divided by {array._divisor} when it is opened: integers modulo t have no such quotient, share the numbers before they are divided")


def share_of(array: EncryptedArray, plaintexts: Iterable[_native.Plaintext]) -> npt.NDArray[Any]:
    """The numbers from 0 to t − 1 in plaintexts, one for each ciphertext of an array."""
    each = iter(plaintexts)
    return residues(array, InOrder(lambda: next(each)))


class Sharing(Collected[_native.PartySharing]):
    """Additive shares on their way: the request to the parties, and their answers, which together tell what is left of the numbers beside the shares that the parties keep.

    Afterwards every party that was asked has an array of integers from 0 to t − 1, t the ``plain_modulus`` of the context, and so has whoever asked: ``rest()``. All are of the shape of the
    array, ``int64`` where t is at most 2^63, ``uint64`` up to 2^64 and Python integers beyond; any but one of them are uniform and tell nothing, and **their sum modulo t is the numbers**, negative
    ones as t − 1 for −1. So protocols on additive shares go on from there, and ``Encrypting`` leads back to an encrypted array. Whoever asks may hold no secret, or be a party, which then has two shares.

    The arguments are those of ``Opening``: ``noise`` is log2 of a bound on the noise of ``array``, by which parties answer or refuse, ``sharing`` the policy of their ledgers,
    ``quorum`` the names of those who are asked, ``purpose`` and ``program`` for people and programs. The rest is opened with the flooding noise of an opened result: each ciphertext
    counts as one, and parameters need the room (``Context.for_depth(..., sharing=...)``). Real numbers have none here: ``errors.WrongScheme``.

    >>> import numpy as np
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
    >>> keys, t = sessions["north"].keys, context.plain_modulus
    >>> ages, noise = keys.encrypt([71, -64]), keys.declared_noise(lambda a: a, [0, 0])
    >>> sharing = holders["north"].sharing(ages, noise=noise, purpose="for the other protocol")
    >>> shares = {}
    >>> for me, holder in holders.items():
    ...     made = holder.share_additively(sharing.request, ages, noise=noise)
    ...     shares[me], _ = made.numbers, sharing.receive(me, made.answer)
    >>> total = (shares["north"] + shares["south"] + sharing.rest()) % t
    >>> np.where(total > t // 2, total - t, total).tolist(), holders["south"].used
    ([71, -64], 1)

    And back, where each encrypts its own:

    >>> encrypting = parties.Encrypting(keys.public, ["north", "south", "server"], ages.shape, bounds=(-100, 100))
    >>> for me, holder in holders.items():
    ...     _ = encrypting.receive(me, holder.encrypt_share(encrypting.request, shares[me]))
    >>> _ = encrypting.receive("server", parties.encrypt_share(keys.public, "server", encrypting.request, sharing.rest()))
    >>> again, noise = encrypting.encrypted(), keys.declared_noise(lambda a, b, c: a + b + c, *[[0, 0]] * 3)
    >>> opening = holders["north"].opening(again, noise=noise)
    >>> for me, holder in holders.items():
    ...     _ = opening.receive(me, holder.answer(opening.request, again, noise=noise))
    >>> opening.open().tolist()
    [71, -64]

    Errors are those of ``Opening``: a request that no party would answer is ``errors.RequestRefused``, noise without room ``errors.SharingRoom``; an array that is divided when it is opened, as a mean of integers, is ``errors.PartySetting``.
    """

    _operation = "share"

    _check = staticmethod(check_integers)

    def _ask(self, ciphertext: _native.Ciphertext, roster: _native.Roster, terms: Terms) -> bytes:
        return _native.additive_request(ciphertext, roster, terms)

    def _collect(self, ciphertext: _native.Ciphertext, roster: _native.Roster, request: bytes, sharing: tuple[int, int]) -> _native.PartySharing:
        return _native.PartySharing(ciphertext, roster, request, *sharing)

    @classmethod
    def of(cls, roster: _native.Roster, array: EncryptedArray, request: Bytes, *, sharing: tuple[int, int]) -> Sharing:
        """The sharing of a request that somebody else made, for those who take the answers."""
        shared = cls.__new__(cls)
        shared._take(roster, array, request, sharing)
        return shared

    def rest(self) -> npt.NDArray[Any]:
        """What is left of the numbers, once all answers are there: the share of whoever takes them, SECRET as those of the parties. ``errors.PartyMissing`` names those whose answers are
        missing.

        Shares that a party made of something else than it should cannot be told, and spoil the numbers.
        """
        return share_of(self._result, (one.rest() for one in self._each))

    def run(self, link: Link, *, timeout: float = 60.0, refused: Optional[Refusals] = None) -> npt.NDArray[Any]:
        """Asks over a link, waits at most ``timeout`` seconds for the answers that are missing, and gives the rest. The own answer is given by ``receive`` before."""
        self._gather(link, timeout, refused)
        return self.rest()
