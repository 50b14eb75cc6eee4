"""Keys of several parties: sessions that make them, what each party holds, thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Optional

import numpy.typing as npt

from . import _native
from ._array import EncryptedArray
from ._context import Context
from ._encoding import Bounds
from ._keys import PublicKeys, _exponents, declared_noise
from ._party_folders import DEALING, LEDGER, PUBLIC, SECRET, SESSION, SHARE, SHARES, erase_secrets, gone_from, is_used, mark_gone, origin_of, write_origin
from ._party_links import Gathering, Link, Refusals, StepProgress
from ._wire import Bytes
from .errors import HandedOn, Ledger, PartySetting, Sharing

#: Seconds that a round waits for messages.
_TIMEOUT = 60.0


def nonce() -> bytes:
    """32 random bytes that tell sessions of equal terms apart. Whoever calls the parties together draws them for each session, and tells all: they are no secret."""
    return _native.session_nonce()


class PartyKeys:
    """What one of several parties holds: its part of the joint secret, which decrypts nothing alone, and the public keys of all.

    ``public`` encrypts and computes, and may go anywhere. The secret is in no bytes, no pickle and no text: ``save`` writes it, for its owner alone.
    """

    __slots__ = ("_begun", "_dealt", "_decryptor", "_folder", "_gone", "_is_share", "_me", "_secret", "public", "roster")

    #: What encrypts and computes: the same for all parties.
    public: PublicKeys
    #: The parties, and how many of them decrypt.
    roster: _native.Roster
    #: None once it was erased.
    _secret: Optional[_native.PartySecret]
    _folder: Optional[Path]
    #: What answers, once there is something: it counts, so that there is no second one.
    _decryptor: Optional[_native.PartyDecryptor]
    #: Numbers of dealings in memory, none of which is drawn again.
    _dealt: set[bytes]
    #: Where the share went, in words, if it was handed on to others.
    _gone: Optional[str]
    #: Results, statistical bits and the count from which the ledger of a share goes on that was handed on to this party.
    _begun: Optional[tuple[int, int, int]]

    def __init__(self, public: PublicKeys, roster: _native.Roster, secret: _native.PartySecret, folder: Optional[Path] = None) -> None:
        self.public, self.roster, self._secret, self._folder, self._decryptor = public, roster, secret, folder, None
        self._me, self._is_share = secret.me, secret.is_share
        self._dealt = set()
        self._gone = self._begun = None

    @property
    def me(self) -> str:
        """The name of this party."""
        return self._me

    @property
    def context(self) -> Context:
        """The parameters."""
        return self.public.context

    @property
    def id(self) -> str:
        """The name of the joint secret."""
        return self.public.id

    @property
    def is_share(self) -> bool:
        """Whether this is a share of a threshold, from a ``Dealing`` or a ``HandingOn``, and not the own secret of the party."""
        return self._is_share

    def encrypt(self, values: npt.ArrayLike, *, level: int | None = None, bounds: Optional[Bounds] = None) -> EncryptedArray:
        """Encrypts an array under the joint public key: ``PublicKeys.encrypt`` of ``public``."""
        return self.public.encrypt(values, level=level, bounds=bounds)

    def declared_noise(
        self, compute: Any, *values: npt.ArrayLike, level: int | None = None, bounds: Optional[Sequence[Optional[Bounds]]] = None
    ) -> Any:
        """log2 of a bound on the noise of what the agreed computation leaves, for ``Decryptor.answer``: this party runs it on arrays that it encrypts itself, as
        ``Keys.declared_noise``. Zeros of the shapes of the inputs do: noise depends on no number. All parties who run the same get the same.
        """
        return declared_noise(self.public, compute, values, level, bounds)

    def save(self, folder: str | PathLike[str]) -> None:
        """Keeps the keys in a folder, made for its owner alone: the public keys, the secret (mode 0600, no file is replaced), and the ledger of what is opened,
        which the keys have for all their life. Never copy the folder to go on in two places, and never put an old copy back.

        Keys of a session with a ``store`` are in its folder already. Keys that have opened results in memory cannot be saved: ``errors.Ledger``.
        """
        path = Path(folder).absolute()
        if self._folder is not None and self._folder != path:
            raise Ledger(f"these keys are in {self._folder}, with the ledger of what was opened: a second one would count anew")
        if self._folder is None and self._decryptor is not None:
            raise Ledger("these keys have opened results in memory, where their ledger is: save keys before a Decryptor is made of them")
        held = self._held()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        secret = path / (SHARE if self.is_share else SECRET)
        if secret.exists():
            # What is there must be the same, and its ledger may count already.
            _check_origin(path, self.roster)
            _native.PartySecret.load(self.public.encryption, self.roster, self.me, secret, self.is_share)
        else:
            if not is_used(path):
                held.prepare_ledger(path / LEDGER) if self._begun is None else held.begin_ledger(path / LEDGER, *self._begun)
            _native.write_file(path / PUBLIC, self.public.to_bytes())
            if self.roster.handed_on is not None:
                write_origin(path, self.roster.handed_on)
            held.save(secret)
        self._folder = path

    @classmethod
    def load(
        cls,
        folder: str | PathLike[str],
        roster: _native.Roster,
        me: str,
        *,
        context: Context | None = None,
        insecure_for_research_only: bool = False,
    ) -> PartyKeys:
        """The keys that ``save``, or a session with a ``store``, left in a folder: the share of a threshold if the roster has one. Of a share that was handed on to this
        party the roster says in which session: ``Roster(names, threshold, handed_on=...)``. Keys of another party or of another session are
        ``errors.PartySetting``, of another ``context`` ``errors.Parameters``; keys that were handed on and erased are ``errors.HandedOn``.
        """
        path = Path(folder).absolute()
        gone = gone_from(path)
        if gone is not None and not ((path / SHARE).exists() or (path / SECRET).exists()):
            raise HandedOn(f"the keys in {path}: {gone}, and what was left of them was erased")
        _check_origin(path, roster)
        data: Bytes = (path / PUBLIC).read_bytes()
        public = PublicKeys.from_bytes(data, context=context, insecure_for_research_only=insecure_for_research_only)
        dealt = roster.handed_on is not None or (roster.has_shares and (path / SHARE).exists())
        secret = _native.PartySecret.load(public.encryption, roster, me, path / (SHARE if dealt else SECRET), dealt)
        return cls(public, roster, secret, path)

    def retire(self, roster: _native.Roster) -> None:
        """Says that the secret was handed on to the parties of ``roster``, which is the ``HandingOn.roster`` of those who took part: these keys answer nothing from now on,
        here and wherever their folder is loaded, but ``errors.HandedOn``. ``HandingOn.finish`` does so for the keys it was given; a party that had no part in it
        does it itself. A roster to whom nothing was handed on is ``errors.PartySetting``.
        """
        session = roster.handed_on
        if session is None or session == self.roster.handed_on:
            got = "these parties themselves" if session is not None else "a roster to whom nothing was handed on"
            raise PartySetting(f"the roster to whom the secret was handed on: expected the roster of a HandingOn, got {got}")
        if self._went() is None:
            words = f"the secret was handed on to {', '.join(roster.names)} in session {session.hex()}"
            if self._folder is not None:
                mark_gone(self._folder, words)
            self._gone = words
        if self._decryptor is not None:
            self._decryptor.close()
            self._decryptor = None

    def erase(self) -> None:
        """Erases for good what these keys have of the secret, after it was handed on to others: share and own secret, the records that they follow from, and what was
        answered. Public keys and the ledger stay. Keys that were not handed on are ``errors.PartySetting``.

        **Open a result with the new keys first**: nothing can tell that all dealers dealt their own shares, and without the old ones a secret that was dealt
        wrong is lost. All parties of before have to erase theirs, since as many old shares as the old threshold still open everything. A disk, and copies of the
        folder, may keep what a file system removes.
        """
        if self._went() is None:
            raise PartySetting("keys to erase: expected some that were handed on to other parties (HandingOn, or retire(roster)), got some that are in use")
        if self._folder is not None:
            erase_secrets(self._folder)
        self._secret = None

    def _went(self) -> Optional[str]:
        """Where the share went, in words. Another process may have handed it on."""
        if self._gone is None and self._folder is not None:
            self._gone = gone_from(self._folder)
        return self._gone

    def _check_here(self) -> None:
        """Fails for keys that were handed on."""
        gone = self._went()
        if gone is not None:
            raise HandedOn(f"these keys of {self.me} answer nothing any more: {gone}, so ask those parties, and take the keys that HandingOn.finish() gave")

    def _held(self) -> _native.PartySecret:
        """What this party holds of the secret."""
        if self._secret is None:
            self._check_here()
            raise HandedOn(f"these keys of {self.me} were erased: take those that HandingOn.finish() gave")
        return self._secret

    def _ledger(self) -> Optional[tuple[int, int, int]]:
        """Results, statistical bits and the count of the ledger; None while nothing was opened."""
        if self._folder is not None:
            return _native.party_ledger(self._existing_ledger())
        if self._decryptor is not None:
            return self._decryptor.queries, self._decryptor.statistical_bits, self._decryptor.used
        return self._begun

    def _existing_ledger(self) -> Path:
        assert self._folder is not None
        path = self._folder / LEDGER
        if not path.exists():
            raise Ledger(f"{path} is missing, and without it nobody knows what was opened under these keys: put it back, or make other keys")
        return path

    def _answering(self, queries: int, statistical_bits: int) -> _native.PartyDecryptor:
        """What answers requests, with the ledger of these keys."""
        self._check_here()
        decryptor, files, used = self._decryptor, None, 0
        if self._folder is not None and decryptor is None:
            files = (self._existing_ledger(), self._folder / SHARES)
        elif self._begun is not None:
            check_policy(self._begun, queries, statistical_bits)
            used = self._begun[2]
        if decryptor is None:
            decryptor = _native.PartyDecryptor(self._held(), queries, statistical_bits, files, used)
        check_policy((decryptor.queries, decryptor.statistical_bits, 0), queries, statistical_bits)
        self._decryptor = decryptor
        return decryptor

    def _close_decryptor(self) -> None:
        if self._folder is not None and self._decryptor is not None:
            self._decryptor.close()
            self._decryptor = None

    def to_bytes(self) -> NoReturn:
        """Refused: ``public.to_bytes()`` may go anywhere, ``save`` keeps the secret."""
        raise TypeError("bytes of these keys would hold the SECRET of a party: public.to_bytes() may go anywhere, save(folder) keeps the rest")

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets of parties are not pickled: save(folder) keeps one, public may go anywhere")

    def __repr__(self) -> str:
        what = "its SECRET threshold share" if self.is_share else "its SECRET"
        if self._went() is not None:
            what = "nothing of the secret any more" if self._secret is None else f"{what}, handed on to others"
        return f"<sunzi.parties.PartyKeys {self.id[:8]} of {self.me} with {what}, {self.context!r}>"


def _check_origin(folder: Path, roster: _native.Roster) -> None:
    """Fails unless the share in a folder is from the session of the roster."""
    origin, got = origin_of(folder), roster.handed_on
    if origin != got:
        words = [f"handed_on=bytes.fromhex({session.hex()!r})" if session is not None else "no handed_on" for session in (origin, got)]
        raise PartySetting(f"the roster of the keys in {folder}: expected one with {words[0]}, as the share there has, got one with {words[1]}")


def check_policy(ledger: tuple[int, int, int], queries: int, statistical_bits: int) -> None:
    """Fails where a ledger has another policy."""
    if ledger[:2] != (queries, statistical_bits):
        raise Sharing(
            f"the ledger promises {ledger[0]} results at 2^-{ledger[1]}, not {queries} at 2^-{statistical_bits}: what a key promised is not changed"
        )


class KeySession:
    """One party's part in making the keys of all, in six rounds (five without products): in each round every party sends one message to all others.

    All parties make it of the same context (``Context.for_depth(..., parties=3)``), roster, nonce and keys; ``me`` is the name of this one. ``rotations``,
    ``products``, ``swap`` and ``level`` are those of ``sunzi.keygen``. With a ``store``, a folder of this party alone, everything is kept there: a party that
    stopped makes the session again and goes on with the same messages, and keys, secret and ledger end up there too. Without one it is in memory.

    ``run`` does all over a ``Link``. Or step by step: send ``message`` to all, ``receive`` theirs until none is ``missing``, ``advance``, until it is ``done``:

    >>> roster, number = parties.Roster(["north", "south"]), parties.nonce()
    >>> context = sunzi.Context.for_depth(1, dtype=int, parties=2, security=0, log2_degree=10)
    >>> sessions = {me: parties.KeySession(context, roster, me, nonce=number, rotations=[]) for me in roster.names}
    >>> while not all(session.done for session in sessions.values()):
    ...     messages = {me: session.message for me, session in sessions.items()}
    ...     for me, session in sessions.items():
    ...         for sender, message in messages.items():
    ...             if sender != me:
    ...                 _ = session.receive(sender, message)
    ...         session.advance()
    >>> sessions["north"].keys.id == sessions["south"].keys.id
    True

    Errors are ``errors.PartiesError``: ``PartySetting`` for terms that do not fit, ``PartyMessage`` for a message that is refused, with its ``sender``.
    """

    def __init__(
        self,
        context: Context,
        roster: _native.Roster,
        me: str,
        *,
        nonce: bytes,
        store: str | PathLike[str] | None = None,
        rotations: Optional[Iterable[int | tuple[int, int]]] = None,
        products: bool = True,
        swap: bool | None = None,
        level: int | None = None,
    ) -> None:
        exponents = _exponents(context, rotations, swap)
        self.context, self.roster, self.me = context, roster, me
        self._folder = None if store is None else Path(store).absolute()
        records = None if self._folder is None else self._folder / SESSION
        self._inner = _native.PartyKeySession(
            context._contexts[0], roster, me, bytes(nonce), relinearization=products, exponents=exponents, level=level, folder=records
        )
        self._keys: Optional[PartyKeys] = None

    @property
    def name(self) -> str:
        """The name of the session, hexadecimal: equal for all parties who agree on everything."""
        return self._inner.name

    def _channel(self) -> tuple[bytes, int]:
        return self._inner.channel()

    @property
    def message(self) -> bytes:
        """The message of this round, for all others. It may be seen by anybody."""
        return self._inner.message

    @property
    def messages(self) -> list[bytes]:
        """All messages of this party so far, for one that begins again and lacks them: what it has already changes nothing."""
        return self._inner.messages()

    def receive(self, sender: str, message: Bytes) -> bool:
        """Takes a message that came from ``sender``, by what the channel says, and keeps it for a restart. Whether it counts from now on: one of the next round is kept, one
        that came before changes nothing. A message that is refused is ``errors.PartyMessage``; unless it ``is_fatal`` the round goes on.
        """
        return self._inner.receive(sender, bytes(message)) in ("accepted", "kept")

    @property
    def missing(self) -> tuple[str, ...]:
        """The parties whose messages of this round did not come yet."""
        return tuple(self._inner.missing)

    @property
    def round(self) -> int | None:
        """The number of the round, from 1 to 6; None once it is over."""
        step = self._inner.step
        return None if step is None else step[0]

    @property
    def longest_message(self) -> int:
        """The most bytes of a message of this round: a transport need not take more."""
        return self._inner.longest_message

    def advance(self) -> None:
        """Opens the next round, or makes the keys after the last one. ``errors.PartyMissing`` while messages are missing, and nothing is lost."""
        self._inner.advance()
        if self.done:
            # Keys are in the folder before anybody uses them.
            _ = self.keys

    @property
    def done(self) -> bool:
        """Whether the keys are made."""
        return self._inner.done

    @property
    def keys(self) -> PartyKeys:
        """The keys of this party, once the session is ``done``."""
        if self._keys is None:
            made = self._inner.keys()
            if made is None:
                raise PartySetting("keys of a session that is not over: advance() until done, or run(link)")
            encryption, evaluation, secret = made
            keys = PartyKeys(PublicKeys(self.context, encryption, evaluation), self.roster, secret)
            if self._folder is not None:
                keys.save(self._folder)
            self._keys = keys
        return self._keys

    def close(self) -> None:
        """Lets the folder go, so that the session can be made again, here or in another process; ``with`` does so too. Keys that are made stay."""
        self._inner.close()

    def __enter__(self) -> KeySession:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def abort(self, reason: str) -> None:
        """Gives the session up for good: its secrets are removed, and it is never gone on with."""
        self._inner.abort(reason)

    def run(
        self, link: Link, *, timeout: float = _TIMEOUT, progress: Optional[StepProgress] = None, refused: Optional[Refusals] = None
    ) -> PartyKeys:
        """Does what is left of the session over a link, and gives the keys: waits at most ``timeout`` seconds for each round, then ``errors.PartyMissing`` names who
        is silent, and it can be run again. ``progress`` is told the step, how many messages are there, and how many there will be; ``refused`` of each message
        that is refused while others are waited for.
        """
        gathering = Gathering(link, self.receive, lambda: self.missing, refused)
        total = len(self.roster)
        # Somebody who began again may lack earlier ones.
        unsent = self.messages
        while not self.done:
            for message in unsent:
                link.send(message)
            number, name = self._inner.step or (0, "")
            step = f"round {number} ({name})"
            told = (lambda step=step: progress(step, self._inner.received, total)) if progress else (lambda: None)
            told()
            gathering.gather(timeout, told)
            self.advance()
            unsent = [self.message]
        return self.keys

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session holds a secret and is not pickled: give it a store, and make it again")

    def __repr__(self) -> str:
        return f"<sunzi.parties.KeySession of {self.me}: {self._inner!r}>"


class Dealing:
    """One party's part in dealing a threshold: afterwards any t parties of n open results, and nobody needs its own secret any more.

    The roster of the keys says t (``Roster(names, threshold=t)``). Every party has a message of its own for each other one, which must be **hidden from everybody else**: whoever
    sees those for t parties knows the joint secret. All make it of the keys of one session and a new ``nonce``. Keys in a folder keep its records and
    the share there, and begin the same dealing again; keys in memory deal once under a nonce.
    """

    def __init__(self, keys: PartyKeys, *, nonce: bytes) -> None:
        records = None if keys._folder is None else keys._folder / DEALING
        if records is None and bytes(nonce) in keys._dealt:
            raise PartySetting("a second dealing in memory of one nonce: pieces of both would tell too much, so take the first one, a new nonce, or keys in a folder")
        keys._check_here()
        self._inner = _native.PartyDealing(keys._held(), bytes(nonce), records)
        keys._dealt.add(bytes(nonce))
        self._old = keys
        self._keys: Optional[PartyKeys] = None

    def _channel(self) -> tuple[bytes, int]:
        return self._inner.channel()

    def message_for(self, party: str) -> bytes:
        """The message for one other party: SECRET, and for that party alone. Python erases no bytes, so send them and let them go."""
        return self._inner.message_for(party)

    def receive(self, sender: str, message: Bytes) -> bool:
        """Takes the message of ``sender``, by what the channel says, as ``KeySession.receive``."""
        return self._inner.receive(sender, bytes(message)) == "accepted"

    @property
    def missing(self) -> tuple[str, ...]:
        """The parties whose messages did not come yet."""
        return tuple(self._inner.missing)

    def finish(self) -> PartyKeys:
        """The keys of this party with its share of the threshold, once the messages of all are there; ``errors.PartyMissing`` before."""
        if self._keys is None:
            keys = PartyKeys(self._old.public, self._old.roster, self._inner.finish())
            if self._old._folder is not None:
                keys.save(self._old._folder)
            self._keys = keys
        return self._keys

    def run(self, link: Link, *, timeout: float = _TIMEOUT, refused: Optional[Refusals] = None) -> PartyKeys:
        """Deals over a link, whose ``send_to`` hides messages from all others, and gives the keys: waits at most ``timeout`` seconds."""
        if self._keys is None:
            for party in self._old.roster.names:
                if party != self._old.me:
                    link.send_to(party, self.message_for(party))
            Gathering(link, self.receive, lambda: self.missing, refused).gather(timeout, lambda: None)
        return self.finish()

    def close(self) -> None:
        """Lets the folder go, as ``KeySession.close``; ``with`` does so too."""
        self._inner.close()

    def __enter__(self) -> Dealing:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a dealing holds secrets and is not pickled: keys in a folder keep its records there")

    def __repr__(self) -> str:
        return f"<sunzi.parties.Dealing: {self._inner!r}>"
