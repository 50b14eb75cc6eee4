"""What a server tells: answers in JSON, whose types, lengths and names are checked, and refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Optional, cast

from . import errors
from ._remote_steps import Answer

#: Longest answer in JSON, in bytes.
LONGEST = 1 << 24
#: Longest text of an answer that is told on, in characters.
_LONGEST_TEXT = 2000
#: Largest number of an answer: no server stores as many bytes.
_LARGEST = (1 << 63) - 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ID = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
#: Longest time to wait that a server may ask for, in seconds: a day.
_LONGEST_PAUSE = 86400

Kind = Literal["keys", "programs", "tables"]
AnyKind = Literal["keys", "programs", "tables", "jobs"]
State = Literal["queued", "running", "done", "failed"]
KINDS = ("keys", "programs", "tables", "jobs")
STATES = ("queued", "running", "done", "failed")


@dataclass(frozen=True)
class Stored:
    """A file that an account has on a server."""

    #: The name that the account gave it.
    name: str
    #: The name of the file among those of evaluation keys; None for programs and tables.
    file: Optional[str]
    nbytes: int
    sha256: str


@dataclass(frozen=True)
class JobStatus:
    """What a server says of a job."""

    id: str
    #: ``"queued"``, ``"running"``, ``"done"`` or ``"failed"``.
    state: State
    #: The name of the program.
    program: str
    #: The name of the evaluation keys.
    keys: str
    #: The names of the tables.
    tables: list[str]
    #: When it was asked for, in seconds since 1970.
    created: int
    #: When it ended, in seconds since 1970; None where it has not.
    finished: Optional[int]
    #: Why it failed; None where it did not.
    error: Optional[str]
    #: The bytes of the result; None where there is none.
    nbytes: Optional[int]
    #: The hash of the result; None where there is none.
    sha256: Optional[str]


@dataclass(frozen=True)
class Account:
    """What an account has on a server, and its limits."""

    name: str
    nbytes: int
    #: How many jobs there are, finished ones too.
    jobs: int
    #: Limits by their names: ``bytes``, ``unfinished_jobs``, ``jobs``, ``upload_bytes``, ``job_seconds``, ``job_memory_bytes``.
    limits: dict[str, int]


def name(text: str) -> str:
    """A name; fails for a text that is none."""
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        expected = "1 to 64 of the characters a-z, A-Z, 0-9, '.', '_' and '-', the first of them a letter or digit"
        raise errors.NameUnusable(f"{text!r} is no name: expected {expected}")
    return text


def job_id(text: str) -> str:
    """The name of a job; fails for a text that is none."""
    if not isinstance(text, str) or not _ID.fullmatch(text):
        raise errors.NameUnusable(f"{text!r} is no job: expected 32 hexadecimal digits, as Job.id has them")
    return text


def kind(text: str) -> str:
    """The name of a kind; fails for a text that is none."""
    if text not in KINDS:
        raise errors.NameUnusable(f"{text!r} is no kind: expected one of {', '.join(KINDS)}")
    return text


class Reader:
    """Reads the answers of one server. Texts of it are told on without the token, without signs that steer a terminal, and shortened."""

    def __init__(self, server: str, token: str) -> None:
        self.server, self._token = server, token

    def foreign(self) -> errors.ForeignAnswer:
        """The error of an answer that no server of Sunzi gives."""
        return errors.ForeignAnswer(f"{self.server} answers something else than a server of Sunzi: check the address")

    def one_line(self, text: str) -> str:
        """A text of the server for whoever reads a message."""
        # The whole text, so that no part of a token is left at the end.
        hidden = text.replace(self._token, "…")[:_LONGEST_TEXT]
        return "".join(sign if sign.isprintable() else " " for sign in hidden)

    def json(self, answer: Answer) -> dict[str, Any]:
        """The object of an answer."""
        found = _parsed(answer.body)
        if found is None:
            raise self.foreign()
        return found

    def refusal(self, answer: Answer) -> errors.ServerRefused:
        """The error of an answer that refuses."""
        status = answer.status
        told = _parsed(answer.body) or {}
        parts = {part: self.one_line(text) for part in ("error", "expected", "got", "remedy") if isinstance(text := told.get(part), str)}
        reason = parts.get("error", f"the server answered with status {status}")
        message = reason
        for before, part in ((": expected ", "expected"), (", got ", "got"), (": ", "remedy")):
            message += before + parts[part] if part in parts else ""
        after = retry_after(answer)
        if after is not None and (status == 429 or status >= 500):
            message += f"; try again in {after:g} s"
        own = {401: errors.WrongToken, 404: errors.NotStored, 429: errors.TooManyRequests}
        made = own.get(status, errors.ServerUnavailable if status >= 500 else errors.ServerRefused)(message)
        made.status, made.reason, made.retry_after = status, reason, after
        made.expected, made.got, made.remedy = parts.get("expected"), parts.get("got"), parts.get("remedy")
        return made

    # Records.

    def stored(self, told: object) -> Stored:
        """An entry of a list of keys, programs or tables."""
        fields = self._fields(told)
        file = None if fields.get("file") is None else self._matching(fields, "file", _NAME)
        return Stored(self._matching(fields, "name", _NAME), file, self.number(fields, "bytes"), self._matching(fields, "sha256", _SHA256))

    def sent(self, told: object, own: str, file: Optional[str]) -> Stored:
        """The answer to an upload."""
        fields = self._fields(told)
        return Stored(own, file, self.number(fields, "bytes"), self._matching(fields, "sha256", _SHA256))

    def job(self, told: object) -> JobStatus:
        """A job."""
        fields = self._fields(told)
        state, tables, error = fields.get("state"), fields.get("tables"), fields.get("error")
        if state not in STATES or not isinstance(tables, list) or not isinstance(error, (str, type(None))):
            raise self.foreign()
        if not all(isinstance(table, str) and _NAME.fullmatch(table) for table in tables):
            raise self.foreign()
        there = state == "done"
        return JobStatus(
            self._matching(fields, "id", _ID),
            cast(State, state),
            self._matching(fields, "program", _NAME),
            self._matching(fields, "keys", _NAME),
            tables,
            self.number(fields, "created"),
            None if fields.get("finished") is None else self.number(fields, "finished"),
            None if error is None else self.one_line(error),
            self.number(fields, "bytes") if there else None,
            self._matching(fields, "sha256", _SHA256) if there else None,
        )

    def account(self, told: object) -> Account:
        """An account."""
        fields = self._fields(told)
        limits = self._fields(fields.get("limits"))
        known = {own: self.number(limits, own) for own in limits if _NAME.fullmatch(own)}
        return Account(self._matching(fields, "name", _NAME), self.number(fields, "bytes"), self.number(fields, "jobs"), known)

    def entries(self, told: Mapping[str, Any], what: str) -> list[Any]:
        """The entries of a list."""
        found = told.get(what)
        if not isinstance(found, list):
            raise self.foreign()
        return found

    def number(self, fields: Mapping[str, Any], own: str) -> int:
        """A number of a record."""
        found = fields.get(own)
        # True is an int in Python.
        if type(found) is not int or not 0 <= found <= _LARGEST:
            raise self.foreign()
        return found

    def _matching(self, fields: Mapping[str, Any], own: str, pattern: re.Pattern[str]) -> str:
        found = fields.get(own)
        if not isinstance(found, str) or not pattern.fullmatch(found):
            raise self.foreign()
        return found

    def _fields(self, told: object) -> dict[str, Any]:
        if not isinstance(told, dict):
            raise self.foreign()
        return told


def retry_after(answer: Answer) -> Optional[float]:
    """The seconds after which the server asks to be asked again."""
    text = answer.headers.get("retry-after", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        return None
    return float(min(int(text), _LONGEST_PAUSE))


def _parsed(body: bytes) -> Optional[dict[str, Any]]:
    """The object that a body has in JSON; None for anything else, however long or deep."""
    try:
        found = json.loads(body.decode(), parse_int=_integer, parse_constant=_none)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _integer(digits: str) -> int:
    # Longer ones take quadratic time in old versions of Python, and are no number of a record.
    if len(digits) > 20:
        raise ValueError("too many digits")
    return int(digits)


def _none(constant: str) -> NoReturn:
    raise ValueError(constant)
