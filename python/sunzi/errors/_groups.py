"""The groups of errors."""

from __future__ import annotations


class SunziError(Exception):
    """Whatever Sunzi refuses: the message says what was expected, what came and what to do."""


class ParameterError(SunziError, ValueError):
    """Parameters, or a request for them, that cannot be."""


class NoiseError(SunziError, ArithmeticError):
    """A computation that goes beyond what its parameters are made for."""


class MismatchError(SunziError, ValueError):
    """Operands, keys and contexts that do not belong together."""


class MissingKeyError(SunziError, LookupError):
    """A key that the operation takes is not there."""


class ShapeError(SunziError, ValueError):
    """Arrays or numbers of a shape or size that does not fit."""


class ValueRangeError(SunziError, ValueError):
    """Numbers out of the range that can be encrypted or computed with."""


class FormatError(SunziError, ValueError):
    """Bytes that are no object of Sunzi, or not the one that was expected."""


class SystemFault(SunziError, RuntimeError):
    """Not the caller's fault."""


class SharingError(SunziError, PermissionError):
    """A decryption that may not be shared with others."""


class PartiesError(SunziError, RuntimeError):
    """Something between several parties that does not go on: a message, a setting, a request, a party that is silent."""

    #: The party whose message is refused, by what the channel said; None where there is no such message.
    sender: str | None = None
    #: What is wrong with the message, in a word, as ``"OtherSender"``, ``"Conflict"`` or ``"Diverged"``; None where there is no such message.
    fault: str | None = None
    #: Whether the session has ended by it: no honest party sends such a message.
    is_fatal: bool = False


class ServerError(SunziError, RuntimeError):
    """A call of ``sunzi.Client`` that does not go on: a server that refuses, fails, answers something else or is not reached, or input that is not sent to one."""
