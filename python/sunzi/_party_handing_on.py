"""Keys of several parties that are handed on: parties join and leave, and public keys and ciphertexts stay."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import NoReturn, Optional

from . import _native
from ._keys import PublicKeys
from ._party_folders import HANDING_ON, is_used
from ._party_keys import _TIMEOUT, PartyKeys, check_policy
from ._party_links import Gathering, Link, Refusals
from ._wire import Bytes
from .errors import Ledger, PartySetting, Sharing, SharingSpent


class HandingOn:
    """One party's part in handing the key of a threshold on to the parties of another roster: some join, some leave, and public keys and ciphertexts stay.

    ``dealers`` are as many names of the roster ``before`` as its threshold says; ``to`` names those who get shares, and how many of them decrypt: at most as many as
    the parameters have parties. Parties of both rosters have the same name in both. The session has the parties of ``to`` and the dealers that leave
    (``parties``), and all of them take part: a party of ``before`` that is none of them calls ``PartyKeys.retire`` and ``erase`` itself.

    All agree on both rosters, the dealers, a new ``nonce``, the policy of the ledgers (``queries``, ``statistical_bits``), which is that of before, and on ``opened``: the most
    ciphertexts that any party answered for under the key so far (``Decryptor.used``), 0 to ``queries``. Parties that agreed on something else are in another session, whose messages are
    refused. The new ledgers go on from ``opened``; a party whose own ledger counts more is ``errors.Ledger``. Answer nothing meanwhile.

    A party of ``before`` gives its ``keys``, one that joins the ``public`` keys. With a ``store``, a folder of this party alone, records, the new share and its ledger are kept there:
    whoever stopped makes it again and goes on with the same messages, also without ``keys``. It is another folder than that of ``keys``, and keys in a folder need one.

    Every dealer has a message of its own for each party of ``to``, which must be **hidden from everybody else**; then all confirm that they have their shares. ``run`` does all over a
    ``Link``, whose parties are those of the session. Or step by step: send ``message_for`` each party, ``receive`` until nothing is ``missing``, ``advance``, send
    ``message`` to all, ``receive`` theirs, ``finish``. From then on the old ``keys`` answer nothing (``errors.HandedOn``). As many old shares as the old
    threshold still open everything, so all ``PartyKeys.erase`` theirs, **once a result was opened with the new ones**: nothing tells before that all dealers dealt
    their own shares.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def together(names, act):
    ...     with ThreadPoolExecutor(len(names)) as pool:
    ...         return dict(zip(names, pool.map(act, names)))
    >>> before, numbers = parties.Roster(["north", "south", "west"], threshold=2), [parties.nonce() for _ in range(3)]
    >>> context = sunzi.Context.for_depth(0, dtype=int, parties=3, sharing=(10, 40), result_bound=1000, security=0, log2_degree=10)
    >>> links = parties.local(before)
    >>> def deal(me):
    ...     keys = parties.KeySession(context, before, me, nonce=numbers[0], products=False, rotations=[]).run(links[me])
    ...     return parties.Dealing(keys, nonce=numbers[1]).run(links[me])
    >>> keys = together(before.names, deal)
    >>> array, noise = keys["north"].encrypt([1, 2]), keys["north"].declared_noise(lambda a: a, [0, 0])

    North leaves and east joins; north and west deal, and the link has all who take part:

    >>> public, to, links = keys["north"].public, parties.Roster(["east", "south", "west"], 2), parties.local(parties.Roster(["east", "south", "west", "north"]))
    >>> def hand_on(me):
    ...     handing = parties.HandingOn(
    ...         before, ["north", "west"], to, me, nonce=numbers[2], keys=keys.get(me), public=public, queries=10, statistical_bits=40, opened=0)
    ...     return handing.run(links[me])
    >>> new = together(list(links), hand_on)
    >>> new["north"] is None, new["east"].id == keys["west"].id
    (True, True)
    >>> holders = {me: parties.Decryptor(new[me], queries=10, statistical_bits=40) for me in ("east", "south")}
    >>> opening = holders["east"].opening(array, noise=noise, quorum=["east", "south"])
    >>> for me, holder in holders.items():
    ...     _ = opening.receive(me, holder.answer(opening.request, array, noise=noise))
    >>> [int(x) for x in opening.open()]
    [1, 2]
    >>> for old in keys.values():
    ...     old.erase()

    Settings that do not fit are ``errors.PartySetting``, ``errors.Sharing`` for another policy than the ledger's, ``errors.SharingSpent`` for more results than it
    allows, ``errors.HandedOn`` for keys that were handed on before, ``errors.PartyRecords`` for a ``store`` of another session.
    """

    def __init__(
        self,
        before: _native.Roster,
        dealers: Sequence[str],
        to: _native.Roster,
        me: str,
        *,
        nonce: bytes,
        keys: Optional[PartyKeys] = None,
        public: Optional[PublicKeys] = None,
        queries: int,
        statistical_bits: int,
        opened: int,
        store: str | PathLike[str] | None = None,
    ) -> None:
        if isinstance(dealers, str):
            raise TypeError(f"dealers {dealers!r}: give a list of names")
        if to.handed_on is not None:
            raise PartySetting("the roster of those who get shares: expected one without handed_on, got one with it: HandingOn.roster says the new session")
        self._public = _public_of(keys, public)
        _check_counts(opened, queries, statistical_bits)
        number = _bound(bytes(nonce), queries, statistical_bits, opened)
        self._folder = None if store is None else Path(store).absolute()
        _check_store(self._folder, keys)
        deals, secret = me in dealers, None
        if keys is not None:
            _check_keys(keys, before, me)
            secret = self._secret_of(keys, deals, number)
            _check_ledger(keys, (queries, statistical_bits), opened)
        self.before, self.me, self._old = before, me, keys
        self._policy, self._opened = (queries, statistical_bits), opened
        records = None if self._folder is None else self._folder / HANDING_ON
        self._inner = _native.PartyHandingOn(
            self._public.encryption, before, list(dealers), to, me, number, self._policy, secret=secret, folder=records
        )
        if secret is not None and keys is not None and records is None:
            keys._dealt.add(number)
        self._new: Optional[PartyKeys] = None
        self._finished = False

    def _secret_of(self, keys: PartyKeys, deals: bool, number: bytes) -> Optional[_native.PartySecret]:
        """The share that a dealer deals; none where it was dealt, and all confirmed."""
        if not deals:
            return None
        if keys._went() is not None:
            if self._folder is None or not (self._folder / HANDING_ON).exists():
                keys._check_here()
            return None
        if self._folder is None and number in keys._dealt:
            raise PartySetting("a second handing on in memory of one nonce: pieces of both would tell too much, so take the first one, a new nonce, or a store")
        return keys._held()

    @property
    def name(self) -> str:
        """The name of the session, hexadecimal: equal for all parties who agree on everything."""
        return self._inner.name

    @property
    def roster(self) -> _native.Roster:
        """Those who get shares, by whose roster they decrypt: ``to``, with the session in ``handed_on``. ``PartyKeys.load`` takes it."""
        return self._inner.roster

    @property
    def parties(self) -> tuple[str, ...]:
        """The names of all who take part: the parties of ``to``, and the dealers that leave."""
        return tuple(self._inner.parties)

    def _channel(self) -> tuple[bytes, int]:
        return self._inner.channel()

    def message_for(self, party: str) -> bytes:
        """The message of this dealer for one other party: SECRET, and for that party alone. Python erases no bytes, so send them and let them go. ``errors.PartySetting`` where there is none: for this
        party itself, for one that gets no share, from one that deals nothing, and after all have confirmed.
        """
        message = self._inner.message_for(party)
        if message is None:
            why = "it is this party itself" if party == self.me else "it gets no share"
            if party != self.me and party in self.roster:
                why = "all have theirs and confirmed it" if self._inner.deals else f"{self.me} is no dealer"
            raise PartySetting(f"a message for {party}: {why}")
        return message

    def receive(self, sender: str, message: Bytes) -> bool:
        """Takes the message of a dealer or, after ``advance``, the confirmation of ``sender``, by what the channel says, as ``KeySession.receive``."""
        return self._inner.receive(sender, bytes(message)) in ("accepted", "kept")

    @property
    def missing(self) -> tuple[str, ...]:
        """The parties whose messages did not come yet: those of dealers, and confirmations after ``advance``."""
        return tuple(self._inner.missing)

    def advance(self) -> None:
        """Opens the round of confirmations, once the messages of all dealers are there; ``errors.PartyMissing`` before, and nothing is lost."""
        self._inner.advance()

    @property
    def message(self) -> bytes:
        """The confirmation of this party, for all others, after ``advance``. It may be seen by anybody."""
        return self._inner.message

    def finish(self) -> Optional[PartyKeys]:
        """The keys of this party with its new share, None for one that leaves, once all have confirmed; ``errors.PartyMissing`` before. The old keys that were given are retired."""
        if not self._finished:
            secret, old = self._inner.finish(), self._old
            if secret is not None:
                keys, ledger = PartyKeys(self._public, self.roster, secret), None if old is None or old._went() is not None else old._ledger()
                keys._begun = (*self._policy, max(self._opened, ledger[2] if ledger is not None else 0))
                if self._folder is not None:
                    keys.save(self._folder)
                self._new = keys
            if old is not None:
                old.retire(self.roster)
            self._finished = True
        return self._new

    def run(self, link: Link, *, timeout: float = _TIMEOUT, refused: Optional[Refusals] = None) -> Optional[PartyKeys]:
        """Does what is left over a link, whose ``send_to`` hides messages from all others, and gives what ``finish`` gives: waits at most ``timeout`` seconds for messages, and as many
        for confirmations, then ``errors.PartyMissing`` names who is silent, and it can be run again.
        """
        if not self._finished:
            for party in self.roster.names:
                message = self._inner.message_for(party)
                if message is not None:
                    link.send_to(party, message)
            gathering = Gathering(link, self.receive, lambda: self.missing, refused)
            if self._inner.step == 1:
                gathering.gather(timeout, lambda: None)
                self.advance()
            link.send(self.message)
            gathering.gather(timeout, lambda: None)
        return self.finish()

    def close(self) -> None:
        """Lets the folder go, as ``KeySession.close``; ``with`` does so too."""
        self._inner.close()

    def __enter__(self) -> HandingOn:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a handing on holds secrets and is not pickled: give it a store, and make it again")

    def __repr__(self) -> str:
        return f"<sunzi.parties.HandingOn: {self._inner!r}>"


def _public_of(keys: Optional[PartyKeys], public: Optional[PublicKeys]) -> PublicKeys:
    """The public keys of the joint secret."""
    if keys is None and public is None:
        raise PartySetting("the key that is handed on: expected keys of this party, or the public ones, got neither")
    if keys is None:
        assert public is not None
        return public
    if public is not None and public.id != keys.id:
        raise PartySetting(f"the key that is handed on: expected the public keys of {keys.id[:8]}, as the keys of this party, got those of {public.id[:8]}")
    return keys.public


def _bound(nonce: bytes, queries: int, statistical_bits: int, opened: int) -> bytes:
    """The number of a session that parties of another policy or another count are not in."""
    if len(nonce) != 32:
        raise PartySetting(f"a nonce of {len(nonce)} bytes: give the 32 that parties.nonce() made for this session")
    return hashlib.sha256(b"sunzi terms of a ledger" + nonce + struct.pack("<QQQ", queries, statistical_bits, opened)).digest()


def _check_keys(keys: PartyKeys, before: _native.Roster, me: str) -> None:
    if not keys.is_share:
        raise PartySetting("what is handed on: expected a share of a threshold, got the own secret of this party: deal it first (Dealing)")
    if keys.me != me:
        raise PartySetting(f"what is handed on: expected the share of {me}, got that of {keys.me}")
    if keys.roster != before:
        raise PartySetting(f"what is handed on: expected a share of the roster before, {before!r}, got one of {keys.roster!r}")


def _check_counts(opened: int, queries: int, statistical_bits: int) -> None:
    counts = (opened, queries, statistical_bits)
    if any(isinstance(count, bool) or not isinstance(count, int) for count in counts):
        raise TypeError(f"opened, queries and statistical_bits are integers, not {', '.join(type(count).__name__ for count in counts)}")
    if not 0 < queries < 2**63 or opened < 0 or not 0 <= statistical_bits < 2**32:
        raise Sharing(
            f"a policy of {queries} results at 2^-{statistical_bits}, of which {opened} were opened: expected 1 result at least, bits of a statistical distance, and 0 "
            "opened ones at least"
        )
    if opened > queries:
        raise SharingSpent(f"{opened} ciphertexts were opened under this key, and its policy allows {queries}: make new keys")


def _check_ledger(keys: PartyKeys, policy: tuple[int, int], opened: int) -> None:
    """Fails for a ledger of another policy, or with more results than were agreed on."""
    ledger = None if keys._went() is not None else keys._ledger()
    if ledger is None:
        return
    check_policy(ledger, *policy)
    if ledger[2] > opened:
        raise Ledger(f"what was opened under this key: the ledger of {keys.me} counts {ledger[2]}, and {opened} were agreed on: agree on the largest count of all parties")


def _check_store(store: Optional[Path], keys: Optional[PartyKeys]) -> None:
    """Fails for a folder that has other keys."""
    if store is None:
        if keys is not None and keys._folder is not None:
            raise PartySetting(f"the store of a party whose keys are in {keys._folder}: expected a folder for the new ones, got none, and a restart would lose them")
        return
    own = keys is not None and keys._folder == store
    if own or (is_used(store) and not (store / HANDING_ON).exists()):
        raise PartySetting(f"the store of the new keys: expected a folder of its own, got {store}, where other keys are")
