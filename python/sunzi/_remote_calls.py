"""Every call to a server, written once as a generator of steps (``_remote_steps``) for clients with and without asyncio."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Optional, TypeVar, Union

from . import errors
from ._remote_files import Download, EvaluationFolder, Memory, PartFile, PathLike, Source, Target, Upload, program_bytes, table_content
from ._remote_login import Login, keep
from ._remote_records import Account, JobStatus, Reader, Stored, job_id, kind, name, retry_after
from ._remote_steps import Answer, Ask, Flow, Lost, Pause, Progress, work
from .tables import EncryptedTable, Keys, Plan, Program

T = TypeVar("T")
Watch = Callable[[JobStatus], object]

#: How often a request is sent whose answer is lost.
TRIES = 5
#: Seconds before a request is sent again, the longer the oftener it was sent.
PAUSE = 0.5
#: Seconds between two looks at a job: short at first, then longer.
_PAUSES = (0.02, 2.0)
#: How often a download may break without a byte before it is given up.
_BREAKS = 5
#: How many connections a download may take, besides one for each MiB.
_CONNECTIONS = 1000
#: Longest result that is taken into memory.
_MOST_IN_MEMORY = 1 << 30


class Calls:
    """The calls of one client. ``patience`` is the number of seconds that each request waits at most for a server that is busy or not reached."""

    def __init__(self, login: Login, patience: float) -> None:
        if not 0 <= patience < float("inf"):
            raise ValueError(f"patience={patience}: give a finite number of seconds, 0 to wait for nothing")
        self._login, self._patience = login, patience
        self._reader = Reader(login.server, login.token)

    # Requests.

    def _insist(self, make: Callable[[], Ask], repeatable: bool = True) -> Flow[Answer]:
        """Sends a request until it is answered, within the client's patience. One that may not be repeated is sent once more only where the server refused it."""
        waited, losses = 0.0, 0
        while True:
            try:
                answer: Answer = yield make()
            except Lost as lost:
                losses += 1
                pause = PAUSE * losses
                if not repeatable or lost.hopeless or losses == TRIES or waited + pause > self._patience:
                    self._unreachable(str(lost))
            else:
                if answer.status not in (429, 503):
                    return self._checked(answer)
                # A pause of its own where the server asks for none, so that it is not flooded.
                pause = max(retry_after(answer) or 0.0, PAUSE)
                if waited + pause > self._patience:
                    raise self._reader.refusal(answer)
            yield Pause(pause)
            waited += pause

    def _unreachable(self, why: str) -> NoReturn:
        server = self._login.server
        raise errors.ServerUnreachable(f"{server}: {self._reader.one_line(why)}: check the address, and whether the server runs") from None

    def _checked(self, answer: Answer) -> Answer:
        if 300 <= answer.status < 400:
            server = self._login.server
            raise errors.ForeignAnswer(f"{server} redirects, and a token goes to the address alone that was given for it: check the address")
        if answer.status >= 400:
            raise self._reader.refusal(answer)
        if answer.status < 200:
            raise self._reader.foreign()
        return answer

    def _get(self, path: str) -> Flow[dict[str, Any]]:
        answer = yield from self._insist(lambda: Ask("GET", path))
        return self._reader.json(answer)

    # What an account has.

    def account(self) -> Flow[Account]:
        return self._reader.account((yield from self._get("/v1/account")))

    def keep(self) -> Flow[Path]:
        yield from self.account()
        return (yield from work(lambda: keep(self._login)))

    def listed(self, what: str) -> Flow[list[Stored]]:
        if kind(what) == "jobs":
            raise errors.NameUnusable("jobs are listed by client.jobs()")
        told = yield from self._get(f"/v1/{what}")
        return [self._reader.stored(entry) for entry in self._reader.entries(told, what)]

    def jobs(self) -> Flow[list[JobStatus]]:
        told = yield from self._get("/v1/jobs")
        return [self._reader.job(entry) for entry in self._reader.entries(told, "jobs")]

    def delete(self, what: str, own: str) -> Flow[None]:
        path = f"/v1/{kind(what)}/{job_id(own) if what == 'jobs' else name(own)}"
        yield from self._insist(lambda: Ask("DELETE", path), repeatable=False)

    # What is sent.

    def put_keys(self, own: str, keys: Union[PathLike, Keys], progress: Optional[Progress]) -> Flow[list[Stored]]:
        name(own)
        folder = EvaluationFolder(keys)
        try:
            sources = yield from work(folder.sources)
            before, total, found = 0, sum(source.nbytes for source in sources), []
            for source in sources:
                path = f"/v1/keys/{own}/{name(source.name)}"
                found.append((yield from self._put(path, source, own, source.name, (before, total), progress)))
                before += source.nbytes
            return found
        finally:
            folder.close()

    def put_program(self, own: str, program: Union[str, PathLike, Program, Plan]) -> Flow[Stored]:
        content = yield from work(lambda: program_bytes(program))
        return (yield from self._put_one(f"/v1/programs/{name(own)}", own, content, None))

    def put_table(self, own: str, table: Union[PathLike, bytes, EncryptedTable], progress: Optional[Progress]) -> Flow[Stored]:
        content = yield from work(lambda: table_content(table))
        return (yield from self._put_one(f"/v1/tables/{name(own)}", own, content, progress))

    def _put_one(self, path: str, own: str, content: Union[Path, bytes], progress: Optional[Progress]) -> Flow[Stored]:
        source = yield from work(lambda: Source(own, content))
        return (yield from self._put(path, source, own, None, (0, source.nbytes), progress))

    def _put(
        self, path: str, source: Source, own: str, file: Optional[str], place: tuple[int, int], progress: Optional[Progress]
    ) -> Flow[Stored]:
        """Sends bytes, and compares what the server says that it has with what was sent. An upload takes the place of an earlier one, so it may be repeated."""
        uploads: list[Upload] = []
        headers = {"content-type": "application/octet-stream", "content-length": str(source.nbytes)}

        def make() -> Ask:
            uploads[:] = [Upload(source, *place, progress)]
            return Ask("PUT", path, headers, uploads[0])

        answer = yield from self._insist(make)
        stored = self._reader.sent(self._reader.json(answer), own, file)
        if (stored.sha256, stored.nbytes) != (uploads[0].sha256, source.nbytes):
            raise errors.DamagedTransfer(f"{file or own}: the server has other bytes than those that were sent: send it again")
        return stored

    # Jobs.

    def run(self, program: str, tables: Union[str, Sequence[str]], keys: str, precision: Optional[int]) -> Flow[JobStatus]:
        names = [tables] if isinstance(tables, str) else list(tables)
        asked: dict[str, Any] = {"program": name(program), "keys": name(keys), "tables": [name(table) for table in names]}
        if precision is not None:
            asked["precision"] = precision
        # With a name, so that it is one job however often it is sent.
        asked["request"] = secrets.token_hex(32)
        body = json.dumps(asked).encode()
        answer = yield from self._insist(lambda: Ask("POST", "/v1/jobs", {"content-type": "application/json"}, body))
        return self._reader.job(self._reader.json(answer))

    def status(self, own: str) -> Flow[JobStatus]:
        status = self._reader.job((yield from self._get(f"/v1/jobs/{job_id(own)}")))
        if status.id != own:
            raise self._reader.foreign()
        return status

    def wait(self, own: str, timeout: Optional[float], progress: Optional[Watch]) -> Flow[JobStatus]:
        pause, longest = _PAUSES
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            status = yield from self.status(own)
            if progress is not None:
                progress(status)
            if status.state == "done":
                return status
            if status.state == "failed":
                raise errors.JobFailed(f"the job failed: {status.error or 'the server does not say why'}")
            left = pause if end is None else end - time.monotonic()
            if left <= 0:
                raise errors.JobUnfinished(f"the job {own} is {status.state} after {timeout:g} s: it goes on, wait for it again")
            yield Pause(min(pause, left))
            pause = min(2 * pause, longest)

    def result(self, own: str, timeout: Optional[float], progress: Optional[Progress]) -> Flow[bytes]:
        status = yield from self.wait(own, timeout, None)
        if (status.nbytes or 0) > _MOST_IN_MEMORY:
            raise errors.Memory(f"a result of {status.nbytes} bytes, and {_MOST_IN_MEMORY} at most are taken into memory: save it to a file")
        result: bytes = yield from self._fetch(status, Memory(), progress)
        return result

    def save(self, own: str, path: PathLike, force: bool, timeout: Optional[float], progress: Optional[Progress]) -> Flow[Path]:
        target = PartFile(path, force)
        yield from work(target.check)
        status = yield from self.wait(own, timeout, None)
        saved: Path = yield from self._fetch(status, target, progress)
        return saved

    def _fetch(self, status: JobStatus, target: Target, progress: Optional[Progress]) -> Flow[Any]:
        """Takes the result of a job that is done, from where it was on after a connection broke."""
        nbytes, sha256 = status.nbytes, status.sha256
        if nbytes is None or sha256 is None:
            raise self._reader.foreign()
        try:
            yield from work(target.open)
            download = Download(target, nbytes, sha256, progress)
            breaks, connections = 0, 0
            while download.come < nbytes:
                # A server could give a byte over each of them.
                if connections == _CONNECTIONS + (nbytes >> 20):
                    self._unreachable(f"the server broke {connections} connections")
                connections += 1
                before = download.come
                why = yield from self._take(status.id, download)
                if download.come == before:
                    breaks += 1
                    pause = PAUSE * breaks
                    if breaks == _BREAKS or pause * (breaks + 1) / 2 > self._patience:
                        self._unreachable(why or "the server sends nothing more of the result")
                    yield Pause(pause)
            download.check()
            return (yield from work(target.finish))
        finally:
            target.discard()

    def _take(self, own: str, download: Download) -> Flow[Optional[str]]:
        """Takes as much as comes over one connection; returns why it broke, if it did."""
        headers = {"range": f"bytes={download.come}-", "if-range": f'"{download.sha256}"'}
        ask = partial(Ask, "GET", f"/v1/jobs/{own}/result", headers, None, download)
        waited = 0.0
        while True:
            try:
                answer: Answer = yield ask()
            except Lost as lost:
                if lost.hopeless:
                    self._unreachable(str(lost))
                return str(lost)
            if answer.status not in (429, 503):
                self._checked(answer)
                return None
            pause = max(retry_after(answer) or 0.0, PAUSE)
            if waited + pause > self._patience:
                raise self._reader.refusal(answer)
            yield Pause(pause)
            waited += pause
