"""What calls to a server are made of: generators of steps, which a transport performs, with or without asyncio. Nothing here sends or receives.

A generator yields a step and is sent what came of it; what it returns is the result of the call. So each call is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

if TYPE_CHECKING:
    from ._remote_files import Download, Upload

T = TypeVar("T")
#: Called with the number of bytes that were sent or have come, and of all.
Progress = Callable[[int, int], object]

#: Bytes that are read, written and hashed at a time.
BLOCK = 1 << 18


@dataclass(frozen=True)
class Ask:
    """A request. Its answer is a ``Answer``; a connection that breaks is ``Lost``."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Optional[Union[bytes, Upload]] = None
    #: What takes the bytes of an answer with status 200 or 206, in place of the answer itself.
    into: Optional[Download] = None


@dataclass(frozen=True)
class Pause:
    """Some seconds in which nothing is done."""

    seconds: float


@dataclass(frozen=True)
class Work:
    """A function that reads or writes files, or takes a while."""

    function: Callable[[], Any]


@dataclass(frozen=True)
class Answer:
    """An answer of the server: status code, headers in lower case, and all of its body but what a download took."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Lost(Exception):
    """A connection that did not come about, or broke before the whole answer was there."""

    def __init__(self, told: str, *, hopeless: bool = False) -> None:
        super().__init__(told)
        #: Whether it would break again: the certificate is not trusted.
        self.hopeless = hopeless


Step = Union[Ask, Pause, Work]
#: A call that returns a T.
Flow = Generator[Step, Any, T]


def work(function: Callable[[], T]) -> Flow[T]:
    """Calls a function where it keeps nobody waiting."""
    result: T = yield Work(function)
    return result
