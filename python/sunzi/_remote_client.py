"""Clients of a server, with and without asyncio: both have the calls of ``_remote_calls``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Optional, Union

from ._remote_calls import Calls, Watch
from ._remote_files import PathLike
from ._remote_login import Login, login_of
from ._remote_records import Account, AnyKind, JobStatus, Kind, Stored, job_id
from ._remote_steps import Progress
from .errors import MissingPackage
from .tables import EncryptedTable, Keys, Plan, Program

if TYPE_CHECKING:
    from ._remote_http import AsyncTransport, Transport

#: What is sent as a program: its text, a file with it, or a program on tables with all that it takes.
AnyProgram = Union[str, "os.PathLike[str]", Program, Plan]
#: What is sent as a table: a file, its bytes, or the table.
AnyTable = Union[str, "os.PathLike[str]", bytes, EncryptedTable]
# Methods of clients have the name of the type.
_Entries = list[Stored]
_Statuses = list[JobStatus]

#: Seconds that each request waits at most for a server that is busy or not reached, unless told otherwise.
PATIENCE = 30.0


def _transports() -> tuple[type[Transport], type[AsyncTransport]]:
    """What talks HTTP, which takes packages that nothing else takes."""
    try:
        from ._remote_http import AsyncTransport, Transport
    except ImportError as error:
        raise MissingPackage(f"clients of a server take the package {error.name}: pip install 'sunzi[client]'") from error
    return Transport, AsyncTransport


class _Side:
    """What both clients have: the address of a server, and calls."""

    #: The address of the server.
    server: str
    _calls: Calls

    def _login(self, server: Optional[str], token: Optional[str], ca: Optional[PathLike], patience: float) -> Login:
        login = login_of(server, token, ca)
        self.server, self._calls = login.server, Calls(login, patience)
        return login

    def __repr__(self) -> str:
        return f"<sunzi.{type(self).__name__} of {self.server}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a client has a token and is not pickled: make another one")


class Client(_Side):
    """What an account has on a server, and what it computes there; the calls are those of ``sunzi remote``.

    ``server`` is an address such as ``https://compute.example.org``, ``token`` what ``sunzi account add`` printed, ``ca`` a file in PEM with the certificates to
    trust in place of those of the system. Without them they are those of the environment variables ``SUNZI_SERVER``, ``SUNZI_TOKEN`` and ``SUNZI_CA``, or those
    that ``sunzi remote login`` kept. Certificates are always verified, ``http://`` is for this machine alone, redirects and proxies are not taken.

    A server that is busy is asked again for ``patience`` seconds at most, one that is not reached is asked five times in all; what may not be done twice is not
    repeated. Calls from several threads do not disturb each other. ``with Client() as client:`` closes connections at the end.
    """

    def __init__(self, server: Optional[str] = None, *, token: Optional[str] = None, ca: Optional[PathLike] = None, patience: float = PATIENCE) -> None:
        login = self._login(server, token, ca, patience)
        self._transport = _transports()[0](login)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes connections. A client that is closed is of no further use."""
        self._transport.close()

    def account(self) -> Account:
        """What the account has, and its limits."""
        return self._transport.run(self._calls.account())

    def keep(self) -> Path:
        """Keeps address and token for ``Client()`` and ``sunzi remote``, in a file that its owner alone can read; returns its path. Fails for a token that opens no account."""
        return self._transport.run(self._calls.keep())

    def put_keys(self, name: str, keys: Union[PathLike, Keys], *, progress: Optional[Progress] = None) -> _Entries:
        """Sends evaluation keys: the folder ``eval`` that ``sunzi keygen`` or ``Keys.save`` made, or keys, which are written to a temporary folder for it without the
        secret one. ``progress`` is called with the bytes that were sent, and all."""
        return self._transport.run(self._calls.put_keys(name, keys, progress))

    def put_program(self, name: str, program: AnyProgram) -> Stored:
        """Sends a program: its text, a ``Path`` of a file with it, or a ``sunzi.tables`` program or plan, which goes as JSON with its schema and the files that it names."""
        return self._transport.run(self._calls.put_program(name, program))

    def put_table(self, name: str, table: AnyTable, *, progress: Optional[Progress] = None) -> Stored:
        """Sends an encrypted table: a path of a file that ``sunzi encrypt`` wrote, its bytes, or a ``sunzi.tables.EncryptedTable``."""
        return self._transport.run(self._calls.put_table(name, table, progress))

    def run(self, program: str, tables: Union[str, Sequence[str]], *, keys: str, precision: Optional[int] = None) -> Job:
        """Asks the server to compute a program on a table, or on the tables of several parties, all by their names; ``precision`` is that of CKKS, 4 to 30 bits."""
        status = self._transport.run(self._calls.run(program, tables, keys, precision))
        return Job(self, status.id)

    def job(self, id: str) -> Job:
        """The job with this ``Job.id``."""
        return Job(self, job_id(id))

    def jobs(self) -> _Statuses:
        """The jobs of the account, the newest thousand, newest first."""
        return self._transport.run(self._calls.jobs())

    def list(self, kind: Kind) -> _Entries:
        """Lists ``"keys"``, ``"programs"`` or ``"tables"``."""
        return self._transport.run(self._calls.listed(kind))

    def delete(self, kind: AnyKind, name: str) -> None:
        """Removes one of ``"keys"`` with all its files, ``"programs"``, ``"tables"`` or ``"jobs"``."""
        return self._transport.run(self._calls.delete(kind, name))


class Job:
    """A job on a server. It goes on without the client: ``client.job(id)`` finds it again."""

    def __init__(self, client: Client, id: str) -> None:
        self._client = client
        #: The name of the job, 32 hexadecimal digits.
        self.id = id

    def __repr__(self) -> str:
        return f"<sunzi.remote.Job {self.id}>"

    def status(self) -> JobStatus:
        """What the server says of the job."""
        return self._client._transport.run(self._client._calls.status(self.id))

    def wait(self, *, timeout: Optional[float] = None, progress: Optional[Watch] = None) -> JobStatus:
        """Waits until the job is done, ``timeout`` seconds at most: ``errors.JobFailed`` says why it failed, ``errors.JobUnfinished`` that it goes on. ``progress`` is
        called with each status that was looked at."""
        return self._client._transport.run(self._client._calls.wait(self.id, timeout, progress))

    def result(self, *, timeout: Optional[float] = None, progress: Optional[Progress] = None) -> bytes:
        """Waits, and returns the result, which ``sunzi.tables.Results.from_bytes`` reads. ``progress`` is called with the bytes that have come, and all."""
        return self._client._transport.run(self._client._calls.result(self.id, timeout, progress))

    def save(self, path: PathLike, *, force: bool = False, timeout: Optional[float] = None, progress: Optional[Progress] = None) -> Path:
        """Waits, and writes the result to a file, which gets its name once it is whole; one that is there is replaced with ``force`` alone. Its bytes are those that the
        server says, also over connections that break."""
        return self._client._transport.run(self._client._calls.save(self.id, path, force, timeout, progress))

    def delete(self) -> None:
        """Removes the job and its result; one that runs is stopped."""
        self._client.delete("jobs", self.id)


class AsyncClient(_Side):
    """A ``Client`` whose calls are coroutines; files are read and written in other threads. ``async with AsyncClient() as client:`` closes connections at the end."""

    def __init__(self, server: Optional[str] = None, *, token: Optional[str] = None, ca: Optional[PathLike] = None, patience: float = PATIENCE) -> None:
        login = self._login(server, token, ca, patience)
        self._transport = _transports()[1](login)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await self.close()

    async def close(self) -> None:
        """As ``Client.close``."""
        await self._transport.close()

    async def account(self) -> Account:
        """As ``Client.account``."""
        return await self._transport.run(self._calls.account())

    async def keep(self) -> Path:
        """As ``Client.keep``."""
        return await self._transport.run(self._calls.keep())

    async def put_keys(self, name: str, keys: Union[PathLike, Keys], *, progress: Optional[Progress] = None) -> _Entries:
        """As ``Client.put_keys``."""
        return await self._transport.run(self._calls.put_keys(name, keys, progress))

    async def put_program(self, name: str, program: AnyProgram) -> Stored:
        """As ``Client.put_program``."""
        return await self._transport.run(self._calls.put_program(name, program))

    async def put_table(self, name: str, table: AnyTable, *, progress: Optional[Progress] = None) -> Stored:
        """As ``Client.put_table``."""
        return await self._transport.run(self._calls.put_table(name, table, progress))

    async def run(self, program: str, tables: Union[str, Sequence[str]], *, keys: str, precision: Optional[int] = None) -> AsyncJob:
        """As ``Client.run``."""
        status = await self._transport.run(self._calls.run(program, tables, keys, precision))
        return AsyncJob(self, status.id)

    def job(self, id: str) -> AsyncJob:
        """As ``Client.job``; the server is not asked."""
        return AsyncJob(self, job_id(id))

    async def jobs(self) -> _Statuses:
        """As ``Client.jobs``."""
        return await self._transport.run(self._calls.jobs())

    async def list(self, kind: Kind) -> _Entries:
        """As ``Client.list``."""
        return await self._transport.run(self._calls.listed(kind))

    async def delete(self, kind: AnyKind, name: str) -> None:
        """As ``Client.delete``."""
        return await self._transport.run(self._calls.delete(kind, name))


class AsyncJob:
    """A ``Job`` whose calls are coroutines."""

    def __init__(self, client: AsyncClient, id: str) -> None:
        self._client = client
        #: The name of the job, 32 hexadecimal digits.
        self.id = id

    def __repr__(self) -> str:
        return f"<sunzi.remote.AsyncJob {self.id}>"

    async def status(self) -> JobStatus:
        """As ``Job.status``."""
        return await self._client._transport.run(self._client._calls.status(self.id))

    async def wait(self, *, timeout: Optional[float] = None, progress: Optional[Watch] = None) -> JobStatus:
        """As ``Job.wait``."""
        return await self._client._transport.run(self._client._calls.wait(self.id, timeout, progress))

    async def result(self, *, timeout: Optional[float] = None, progress: Optional[Progress] = None) -> bytes:
        """As ``Job.result``."""
        return await self._client._transport.run(self._client._calls.result(self.id, timeout, progress))

    async def save(self, path: PathLike, *, force: bool = False, timeout: Optional[float] = None, progress: Optional[Progress] = None) -> Path:
        """As ``Job.save``."""
        return await self._client._transport.run(self._client._calls.save(self.id, path, force, timeout, progress))

    async def delete(self) -> None:
        """As ``Job.delete``."""
        await self._client.delete("jobs", self.id)
