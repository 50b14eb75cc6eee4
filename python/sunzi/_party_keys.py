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
from ._party_links import Gathering, Link, Refusals, StepProgress
from ._wire import Bytes
from .errors import Ledger, PartySetting, Sharing

#: What a party's folder has.
_PUBLIC, _SECRET, _SHARE, _LEDGER = "public.sz", "secret.sz", "share.sz", "sharing.sz"
_SESSION, _DEALING, _SHARES = "session", "dealing", "shares"
#: Seconds that a round waits for messages.
_TIMEOUT = 60.0


def nonce() -> bytes:
    """32 random bytes that tell sessions of equal terms apart. Whoever calls the parties together draws them for each session, and tells all: they are no secret."""
    return _native.session_nonce()


class PartyKeys:
    """What one of several parties holds: its part of the joint secret, which decrypts nothing alone, and the public keys of all.

    ``public`` encrypts and computes, and may go anywhere. The secret is in no bytes, no pickle and no text: ``save`` writes it, for its owner alone.
    """

    __slots__ = ("_dealt", "_decryptor", "_folder", "_secret", "public", "roster")

    #: What encrypts and computes: the same for all parties.
    public: PublicKeys
    #: The parties, and how many of them decrypt.
    roster: _native.Roster
    _secret: _native.PartySecret
    _folder: Optional[Path]
    #: What answers, once there is something: it counts, so that there is no second one.
    _decryptor: Optional[_native.PartyDecryptor]
    #: Numbers of dealings in memory, none of which is drawn again.
    _dealt: set[bytes]

    def __init__(self, public: PublicKeys, roster: _native.Roster, secret: _native.PartySecret, folder: Optional[Path] = None) -> None:
        self.public, self.roster, self._secret, self._folder, self._decryptor = public, roster, secret, folder, None
        self._dealt = set()

    @property
    def me(self) -> str:
        """The name of this party."""
        return self._secret.me

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
        """Whether this is a share of a threshold, from a ``Dealing``, and not the own secret of the party."""
        return self._secret.is_share

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
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        secret = path / (_SHARE if self.is_share else _SECRET)
        if secret.exists():
            # What is there must be the same, and its ledger may count already.
            _native.PartySecret.load(self.public.encryption, self.roster, self.me, secret, self.is_share)
        else:
            if not any((path / name).exists() for name in (_LEDGER, _SECRET, _SHARE)):
                self._secret.prepare_ledger(path / _LEDGER)
            _native.write_file(path / _PUBLIC, self.public.to_bytes())
            self._secret.save(secret)
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
        """The keys that ``save``, or a session with a ``store``, left in a folder: the share of a threshold if the roster has one. Keys of another party or of
        another session are ``errors.PartySetting``, of another ``context`` ``errors.Parameters``.
        """
        path = Path(folder).absolute()
        data: Bytes = (path / _PUBLIC).read_bytes()
        public = PublicKeys.from_bytes(data, context=context, insecure_for_research_only=insecure_for_research_only)
        dealt = roster.threshold < len(roster) and (path / _SHARE).exists()
        secret = _native.PartySecret.load(public.encryption, roster, me, path / (_SHARE if dealt else _SECRET), dealt)
        return cls(public, roster, secret, path)

    def _answering(self, queries: int, statistical_bits: int) -> _native.PartyDecryptor:
        """What answers requests, with the ledger of these keys."""
        decryptor, files = self._decryptor, None
        if self._folder is not None and decryptor is None:
            files = (self._folder / _LEDGER, self._folder / _SHARES)
            if not files[0].exists():
                raise Ledger(f"{files[0]} is missing, and without it nobody knows what was opened under these keys: put it back, or make other keys")
        if decryptor is None:
            decryptor = _native.PartyDecryptor(self._secret, queries, statistical_bits, files)
        if (decryptor.queries, decryptor.statistical_bits) != (queries, statistical_bits):
            raise Sharing(
                f"the ledger promises {decryptor.queries} results at 2^-{decryptor.statistical_bits}, not {queries} at 2^-{statistical_bits}: "
                "what a key promised is not changed"
            )
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
        return f"<sunzi.parties.PartyKeys {self.id[:8]} of {self.me} with {what}, {self.context!r}>"


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
        records = None if self._folder is None else self._folder / _SESSION
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
        records = None if keys._folder is None else keys._folder / _DEALING
        if records is None and bytes(nonce) in keys._dealt:
            raise PartySetting("a second dealing in memory of one nonce: pieces of both would tell too much, so take the first one, a new nonce, or keys in a folder")
        self._inner = _native.PartyDealing(keys._secret, bytes(nonce), records)
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
