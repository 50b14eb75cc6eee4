"""Arrays that several parties refresh by shares."""

from __future__ import annotations

from typing import Optional

from . import _native
from ._array import EncryptedArray
from ._party_answers import Collected, Terms, replaced
from ._party_links import Link, Refusals
from ._wire import Bytes


class Refreshing(Collected[_native.PartyRefreshing]):
    """A refresh on its way: the request to the parties, and their answers, which together make an array of the same numbers with the noise of an encryption, in BGV and
    CKKS at the highest level. Nobody learns the numbers, and anybody may ask: the answers and the fresh array may be seen by whoever computes.

    The arguments are those of ``Opening``: ``noise`` is log2 of a bound on the noise of ``array``, by which parties answer or refuse, ``sharing`` the policy of
    their ledgers, ``quorum`` the names of those who are asked, ``purpose`` and ``program`` for people and programs. A refresh opens the numbers under masks, with the flooding
    noise of an opened result beside the noise: each ciphertext counts as a result, and parameters need the room of one (``Context.for_depth(...,
    sharing=...)``). In CKKS the flooding noise stays in the numbers, as in an opened result, so each refresh costs precision; masks as wide as the numbers need
    a level or two left.

    The noise to declare of what is computed afterwards begins anew: ``PartyKeys.declared_noise`` of that part alone.

    >>> import numpy as np
    >>> roster, number = parties.Roster(["north", "south"]), parties.nonce()
    >>> context = sunzi.Context.for_depth(1, dtype=int, parties=2, sharing=(10, 40), result_bound=1000, security=0, log2_degree=10)
    >>> sessions = {me: parties.KeySession(context, roster, me, nonce=number, rotations=[]) for me in roster.names}
    >>> while not all(session.done for session in sessions.values()):
    ...     messages = {me: session.message for me, session in sessions.items()}
    ...     for me, session in sessions.items():
    ...         for sender, message in messages.items():
    ...             if sender != me:
    ...                 _ = session.receive(sender, message)
    ...         session.advance()
    >>> holders = {me: parties.Decryptor(session.keys, queries=10, statistical_bits=40) for me, session in sessions.items()}
    >>> def square(a):
    ...     return a * a
    >>> keys = sessions["north"].keys
    >>> squares, noise = square(keys.encrypt([1, 2, 3], bounds=(0, 3))), keys.declared_noise(square, np.zeros(3, int), bounds=[(0, 3)])
    >>> refreshing = holders["north"].refreshing(squares, noise=noise, purpose="before the second half")
    >>> for me, holder in holders.items():
    ...     _ = refreshing.receive(me, holder.refresh(refreshing.request, squares, noise=noise))
    >>> fresh = refreshing.refreshed()
    >>> fresh.ciphertexts[0].noise < squares.ciphertexts[0].noise
    True
    >>> fourth, noise = square(fresh), keys.declared_noise(square, np.zeros(3, int), bounds=[(0, 9)])
    >>> opening = holders["south"].opening(fourth, noise=noise)
    >>> for me, holder in holders.items():
    ...     _ = opening.receive(me, holder.answer(opening.request, fourth, noise=noise))
    >>> [int(x) for x in opening.open()], holders["south"].used
    ([1, 16, 81], 2)

    Errors are those of ``Opening``: a request that no party would answer is ``errors.RequestRefused``, noise without room ``errors.SharingRoom``.
    """

    _operation = "refresh"

    def _ask(self, ciphertext: _native.Ciphertext, roster: _native.Roster, terms: Terms) -> bytes:
        return _native.refresh_request(ciphertext, roster, terms)

    def _collect(self, ciphertext: _native.Ciphertext, roster: _native.Roster, request: bytes, sharing: tuple[int, int]) -> _native.PartyRefreshing:
        return _native.PartyRefreshing(ciphertext, roster, request, *sharing)

    @classmethod
    def of(cls, roster: _native.Roster, array: EncryptedArray, request: Bytes, *, sharing: tuple[int, int]) -> Refreshing:
        """The refresh of a request that somebody else made, for those who take the answers."""
        refreshing = cls.__new__(cls)
        refreshing._take(roster, array, request, sharing)
        return refreshing

    def refreshed(self) -> EncryptedArray:
        """The array of fresh ciphertexts, once all answers are there: its shape, its dtype, and what is known of its numbers are those of before. ``errors.PartyMissing`` names those whose
        answers are missing.

        Shares that a party made of something else than it should cannot be told, and spoil the numbers.
        """
        return replaced(self._result, (one.refreshed() for one in self._each))

    def run(self, link: Link, *, timeout: float = 60.0, refused: Optional[Refusals] = None) -> EncryptedArray:
        """Asks over a link, waits at most ``timeout`` seconds for the answers that are missing, and gives the array. The own answer is given by ``receive`` before."""
        self._gather(link, timeout, refused)
        return self.refreshed()
