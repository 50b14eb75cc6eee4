"""Errors of protocols of several parties."""

from ._groups import PartiesError


class PartySetting(PartiesError):
    """A roster, a session or a secret that is not possible, or does not belong to what it is used with."""


class PartyMessage(PartiesError):
    """A message of a party that is refused: ``sender``, ``fault`` and ``is_fatal`` say whose, what is wrong with it, and whether the session has ended."""


class PartyMissing(PartiesError):
    """Messages that did not come in time, or not yet: ask the parties that are named to send again, and go on."""


class SessionAborted(PartiesError):
    """A session that was given up, and is never gone on with."""


class RequestRefused(PartiesError):
    """A request that a party does not answer."""


class HandedOn(PartiesError):
    """Keys whose secret was handed on to other parties, who answer in their place: the message says to whom, and in which session."""


class PartyRecords(PartiesError):
    """Records of a party that cannot be used."""


class SessionClosed(PartiesError):
    """A session, a dealing or a decryptor that was closed in this process, or stopped by an error: made again with the same records it goes on."""


class PartyChannel(PartiesError):
    """A channel to other parties that fails."""


class PartyPeer(PartiesError):
    """Something that came over a channel and is no message of a party: a link tells of it and goes on."""
