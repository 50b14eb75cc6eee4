"""Ways between parties: whatever brings bytes from one to the other and tells who sent them."""

from __future__ import annotations

import queue
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Optional, Protocol, TypeVar

from . import _native
from .errors import PartiesError, PartyMessage, PartyMissing

L = TypeVar("L", bound="Link")

#: A message and the name of the party that sent it.
Received = tuple[str, bytes]
#: Told the name of the step, how many messages are there, the own one included, and how many there will be.
StepProgress = Callable[[str, int, int], object]
#: Told of a message that was refused while others are waited for.
Refusals = Callable[[PartiesError], object]

#: Messages of other protocols that are kept for each party.
_MOST_ASIDE = 8


class Link(ABC):
    """A party's way to and from all others of its roster, over whatever it has: sockets, a queue, a shared folder, mail.

    **What it must do**: tell truly who sent a message, so connections are authenticated, by TLS with certificates of both sides for example, and let nobody but
    the party that it is for read what ``send_to`` sends. What ``send`` sends may be seen by anybody. Messages may come late, twice and in any order.

    One link may serve several protocols after each other: messages of one that a party has not come to are kept until it does.
    """

    @abstractmethod
    def send(self, message: bytes) -> None:
        """Sends a message to all others. Those that are not there are no error."""

    @abstractmethod
    def send_to(self, party: str, message: bytes) -> None:
        """Sends a message to one other party, which alone can read it."""

    @abstractmethod
    def receive(self, timeout: float) -> Optional[Received]:
        """The name of a sender and its next message; None if there is none within so many seconds."""

    def refusals(self) -> list[PartiesError]:
        """What was refused since this was asked last, before it was a message: none of it ends a protocol."""
        return []

    def finish(self, timeout: float) -> tuple[str, ...]:
        """Waits until the others have all that was sent to them, at most so many seconds, and names those that may lack something. Whoever is done calls it, for parties
        that begin again late.
        """
        return ()

    def close(self) -> None:
        """Ends the link; ``with`` does so too."""

    def __enter__(self: L) -> L:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    @property
    def _aside(self) -> list[Received]:
        """Messages of protocols that this party has not begun."""
        kept: list[Received] = self.__dict__.setdefault("_kept_aside", [])
        return kept

    def _keep_aside(self, sender: str, message: bytes) -> None:
        if sum(own == sender for own, _ in self._aside) < _MOST_ASIDE:
            self._aside.append((sender, message))


class LocalLink(Link):
    """A link among the threads of one process, made by ``local``: for tests and demonstrations, since whoever has the process has all secrets."""

    def __init__(self, me: str, boxes: dict[str, queue.SimpleQueue[Received]]) -> None:
        self._me, self._boxes = me, boxes

    def send(self, message: bytes) -> None:
        for party in self._boxes:
            if party != self._me:
                self.send_to(party, message)

    def send_to(self, party: str, message: bytes) -> None:
        if party not in self._boxes:
            raise ValueError(f"a message to {party}: there is a link to {', '.join(other for other in self._boxes if other != self._me)}")
        self._boxes[party].put((self._me, bytes(message)))

    def receive(self, timeout: float) -> Optional[Received]:
        try:
            return self._boxes[self._me].get(timeout=max(timeout, 0))
        except queue.Empty:
            return None


def local(roster: _native.Roster) -> dict[str, LocalLink]:
    """A link for each party of a roster by its name, for the threads of one process.

    >>> links = parties.local(roster)                           # doctest: +SKIP
    >>> keys = session.run(links["north"])                      # doctest: +SKIP
    """
    boxes: dict[str, queue.SimpleQueue[Received]] = {name: queue.SimpleQueue() for name in roster.names}
    return {name: LocalLink(name, boxes) for name in roster.names}


class NetLink(Link):
    """A link between machines, made by ``tls`` or ``folder``. It is for one protocol: that of the session, the dealing, or the keys that it was made for."""

    def __init__(self, native: _native.PartyLink) -> None:
        self._native = native

    def send(self, message: bytes) -> None:
        self._native.send(message)

    def send_to(self, party: str, message: bytes) -> None:
        self._native.send_to(party, message)

    def receive(self, timeout: float) -> Optional[Received]:
        return self._native.receive(timeout)

    def refusals(self) -> list[PartiesError]:
        return self._native.refusals()

    def finish(self, timeout: float) -> tuple[str, ...]:
        return tuple(self._native.finish(timeout))

    def close(self) -> None:
        self._native.close()


class Meeting(Protocol):
    """What parties meet for: a ``KeySession``, a ``Dealing``, a ``HandingOn``, or a ``Decryptor``, whose links are for requests and answers."""

    def _channel(self) -> tuple[bytes, int]:
        """The number of the channel, and the most bytes of a message."""


def tls(meeting: Meeting, identity: _native.Identity, contacts: _native.Contacts, *, listen: Optional[str] = None) -> NetLink:
    """A link by TLS to all others, whose keys must be those of their cards. Of two parties the one whose card has no address calls the other; a party that is called
    listens at the address of its card, or at ``listen``, as ``"0.0.0.0:7411"``. Connections that break are made again.

    >>> with parties.KeySession(context, contacts.roster(), "north", nonce=number, store="north") as session:      # doctest: +SKIP
    ...     with parties.tls(session, identity, contacts) as link:
    ...         keys = session.run(link)
    ...         link.finish(10)
    """
    channel, longest = meeting._channel()
    return NetLink(_native.PartyLink.tls(identity, contacts, channel, longest, listen))


def folder(meeting: Meeting, identity: _native.Identity, contacts: _native.Contacts, path: str | PathLike[str], *, poll: float = 0.25) -> NetLink:
    """A link through a folder that all share, by whatever copies files: messages are signed by the keys of cards, and those for one party are encrypted for it. It is
    looked at every ``poll`` seconds.
    """
    channel, longest = meeting._channel()
    return NetLink(_native.PartyLink.folder(identity, contacts, channel, longest, path, poll))


class Gathering:
    """Waits for the messages of a round: what is refused and ends no session does not end the wait either."""

    def __init__(
        self, link: Link, receive: Callable[[str, bytes], bool], missing: Callable[[], Sequence[str]], refused: Optional[Refusals] = None
    ) -> None:
        self._link, self._receive, self._missing = link, receive, missing
        self._refused: Refusals = refused or (lambda error: None)
        self._latest: Optional[PartiesError] = None

    def gather(self, timeout: float, counted: Callable[[], object]) -> None:
        """Takes messages until none is missing. After ``timeout`` seconds those that are missing are ``errors.PartyMissing``."""
        kept, end = list(self._link._aside), time.monotonic() + timeout
        self._link._aside.clear()
        for sender, message in kept:
            self._take(sender, message, counted)
        while self._missing():
            left = end - time.monotonic()
            got = self._link.receive(max(left, 0))
            for refusal in self._link.refusals():
                self._note(refusal)
            # What is there is taken even late, but for what does not count, of which there may be any number.
            if (got is None or not self._take(*got, counted)) and left <= 0:
                names = ", ".join(self._missing())
                latest = f" (the last message that was refused: {self._latest})" if self._latest else ""
                raise PartyMissing(f"nothing came from {names} in {timeout:g} seconds{latest}: ask them to send again, and run this once more")

    def _take(self, sender: str, message: bytes, counted: Callable[[], object]) -> bool:
        """Whether a message counts."""
        try:
            if self._receive(sender, message):
                counted()
                return True
        except PartyMessage as error:
            if error.is_fatal:
                raise
            # Of another protocol, or of a round to come where this party has to catch up.
            if error.fault in ("Kind", "Session", "Early"):
                self._link._keep_aside(sender, message)
            if error.fault not in ("Kind", "Early"):
                self._note(error)
        return False

    def _note(self, error: PartiesError) -> None:
        self._latest = error
        self._refused(error)
