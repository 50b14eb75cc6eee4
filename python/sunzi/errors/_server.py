"""Errors of clients of a server."""

from __future__ import annotations

from ._groups import ServerError, SunziError


class ServerRefused(ServerError):
    """A request that the server refuses: the message has what it says."""

    #: The status code of HTTP.
    status: int = 0
    #: What is wrong, by what the server says.
    reason: str = ""
    #: What the server expected; None where it does not say.
    expected: str | None = None
    #: What came, by what the server says; None where it does not say.
    got: str | None = None
    #: What to do, by what the server says; None where it does not say.
    remedy: str | None = None
    #: Seconds after which to ask again; None where the server does not say.
    retry_after: float | None = None


class WrongToken(ServerRefused, PermissionError):
    """A token that opens no account."""


class NotStored(ServerRefused, LookupError):
    """A name or a job that the account does not have."""


class TooManyRequests(ServerRefused):
    """A quota or a queue that is full, or too many uploads at a time: ``retry_after`` says when to ask again."""


class ServerUnavailable(ServerRefused):
    """A server that is stopping, or cannot use its files now."""


class ServerUnreachable(ServerError, ConnectionError):
    """A server that is not reached, whose certificate is not trusted, or whose connections break."""


class ForeignAnswer(ServerError):
    """An answer that no server of Sunzi gives, a redirect among them."""


class DamagedTransfer(ServerError):
    """Bytes that are not those which were sent, or which the server says it has."""


class JobFailed(ServerError):
    """A job that failed: the message says why."""


class JobUnfinished(ServerError, TimeoutError):
    """A job that is not done in the time that was given: it goes on."""


class LoginUnusable(ServerError, ValueError):
    """An address, a token or a kept login that cannot be used, or none at all."""


class NameUnusable(ServerError, ValueError):
    """A name that nothing on a server can have."""


class SecretRefused(ServerError, ValueError):
    """Bytes that say they are a secret, which never goes to a server: nothing was sent."""


class MissingPackage(SunziError, ImportError):
    """A package that is not installed: the message says how to install it."""
