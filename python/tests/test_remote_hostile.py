"""Clients of servers that are none, break connections, lie or attack: typed errors, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import socket
import threading
import traceback
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from serving import TOKEN, Hostile, Making, answer

import sunzi
from sunzi import errors

ID = "ab" * 16
RESULT = bytes(range(256)) * 1000
HASH = hashlib.sha256(RESULT).hexdigest()
STORED = {"name": "t", "bytes": 5, "sha256": HASH, "created": 0}
JOB = {"id": ID, "state": "done", "program": "p", "keys": "k", "tables": ["t"], "created": 0, "finished": 1, "bytes": len(RESULT), "sha256": HASH}
ACCOUNT = {"name": "ada", "created": 0, "bytes": 1, "jobs": 1, "limits": {"bytes": 1}}


def told(value: object) -> bytes:
    return answer(json.dumps(value).encode())


def job(**changes: object) -> dict[str, object]:
    return {**JOB, **changes}


def part(begin: int, end: int, *, length: int | None = None, total: object = len(RESULT)) -> bytes:
    """A part of the result."""
    return answer(RESULT[begin:end], 206, f"content-range: bytes {begin}-{end - 1}/{total}", length=length)


def at(hostile: Hostile, make: Making, **options: Any) -> Any:
    return make(hostile.address, token=TOKEN, **{"patience": 0, **options})


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b"\xff\xfe",
        b"<html></html>",
        b'{"name": "ada", "bytes": NaN}',
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'{"bytes": ' + b"9" * 1_000_000 + b"}",
        b"[" + b"0," * 1_000_000 + b"0]",
    ],
    ids=range(12),
)
def test_answers_that_are_none(body: bytes, make: Making) -> None:
    with Hostile(answer(body)) as hostile:
        client = at(hostile, make)
        for call in (client.account, client.jobs, lambda: client.list("keys"), lambda: client.run("p", "t", keys="k"), client.job(ID).status):
            with pytest.raises(errors.ForeignAnswer, match="check the address"):
                call()


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "../../../etc"},
        {"id": "cd" * 16},
        {"id": None},
        {"state": "odd"},
        {"state": ["done"]},
        {"program": "\x1b[2J"},
        {"keys": "a/b"},
        {"tables": "t"},
        {"tables": [1]},
        {"tables": [["t"]]},
        {"created": -1},
        {"created": 1.5},
        {"created": True},
        {"finished": "soon"},
        {"bytes": 1 << 64},
        {"bytes": None},
        {"sha256": "no"},
        {"sha256": "AB" * 32},
        {"error": {}},
    ],
    ids=str,
)
def test_jobs_that_are_none(changes: dict[str, object], make: Making, tmp_path: Path) -> None:
    with Hostile(told(job(**changes))) as hostile:
        own = at(hostile, make).job(ID)
        for call in (own.status, own.wait, own.result, lambda: own.save(tmp_path / "out")):
            with pytest.raises(errors.ForeignAnswer):
                call()
    with Hostile(told({"jobs": [job(), {**JOB, **changes}]})) as hostile:
        if changes != {"id": "cd" * 16}:
            with pytest.raises(errors.ForeignAnswer):
                at(hostile, make).jobs()
    assert os.listdir(tmp_path) == []


def test_records_that_are_none(make: Making) -> None:
    changes: list[dict[str, object]] = [{"name": 1}, {"bytes": "1"}, {"limits": []}, {"limits": {"bytes": "many"}}, {"jobs": None}]
    for change in changes:
        with Hostile(told({**ACCOUNT, **change})) as hostile, pytest.raises(errors.ForeignAnswer):
            at(hostile, make).account()
    for entry in (1, {}, {**STORED, "name": ".."}, {**STORED, "file": 1}, {**STORED, "file": "a/b"}, {**STORED, "bytes": 0.5}):
        with Hostile(told({"keys": [entry]})) as hostile, pytest.raises(errors.ForeignAnswer):
            at(hostile, make).list("keys")
    # What a later version adds does no harm.
    with Hostile(told({**ACCOUNT, "more": [{}]})) as hostile:
        assert at(hostile, make).account() == sunzi.remote.Account("ada", 1, 1, {"bytes": 1})


def test_answers_without_an_end(make: Making) -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")

    with Hostile(endless) as hostile, pytest.raises(errors.ForeignAnswer, match="bytes, which no server"):
        at(hostile, make).account()
    # What is compressed could be of any length, and is not unpacked.
    with Hostile(answer(gzip.compress(json.dumps(ACCOUNT).encode()), 200, "content-encoding: gzip")) as hostile, pytest.raises(errors.ForeignAnswer):
        at(hostile, make).account()
    for raw in (b"", b"\x00" * 100, b"SSH-2.0-x\r\n", b"HTTP/1.1 200 x\r\n" + b"a: b\r\n" * 100_000, b"HTTP/1.1 999999 x\r\n\r\n"):
        with Hostile(raw) as hostile, pytest.raises(errors.ServerUnreachable):
            at(hostile, make).account()


def test_redirects_are_not_followed(make: Making, tmp_path: Path) -> None:
    with Hostile(told(ACCOUNT)) as other:
        for status in (301, 302, 303, 307, 308):
            with Hostile(answer(b"", status, f"location: {other.address}/v1/account", f"set-cookie: {TOKEN}")) as hostile:
                client = at(hostile, make)
                own = client.job(ID)
                for call in (client.account, own.status, lambda: client.put_program("p", "mean(x)"), lambda: client.run("p", "t", keys="k")):
                    with pytest.raises(errors.ForeignAnswer, match="redirects"):
                        call()
                assert not any(b"cookie" in request.lower() for request in hostile.requests)
        with Hostile(told(JOB), answer(b"", 302, f"location: {other.address}/")) as hostile:
            with pytest.raises(errors.ForeignAnswer, match="redirects"):
                at(hostile, make).job(ID).save(tmp_path / "out")
        assert other.requests == [] and os.listdir(tmp_path) == []


def test_what_a_server_says_is_told_on_with_care(make: Making) -> None:
    refusal = {"error": f"no {TOKEN}\x1b[31m\nforged: line" + "x" * 10_000, "expected": TOKEN * 60, "got": 7, "remedy": "\u202edo"}
    with Hostile(answer(json.dumps(refusal).encode(), 400)) as hostile:
        with pytest.raises(errors.ServerRefused) as caught:
            at(hostile, make).account()
    error = caught.value
    shown = str(error) + repr(vars(error)) + "".join(traceback.format_exception(type(error), error, error.__traceback__))
    assert TOKEN.split("-")[2] not in shown and TOKEN[:40] not in shown
    assert str(error).isprintable() and len(str(error)) < 7000
    assert (error.status, error.got) == (400, None) and error.expected is not None
    with Hostile(told(job(state="failed", error="\x1b]0;title\x07" + TOKEN))) as hostile:
        with pytest.raises(errors.JobFailed) as failed:
            at(hostile, make).job(ID).wait()
    assert str(failed.value).isprintable() and TOKEN[:40] not in str(failed.value)
    for status, kind in [(401, errors.WrongToken), (404, errors.NotStored), (418, errors.ServerRefused), (429, errors.TooManyRequests), (500, errors.ServerUnavailable), (503, errors.ServerUnavailable)]:
        for retry, expected in [("7", 7), ("Wed, 21 Oct", None), ("-1", None), ("9" * 30, None), ("999999999", 86400)]:
            with Hostile(answer(b"no JSON", status, f"retry-after: {retry}")) as hostile, pytest.raises(kind) as refused:
                at(hostile, make).account()
            assert (refused.value.status, refused.value.retry_after) == (status, expected)
            assert type(refused.value) is kind


def test_busy_servers_are_asked_again(make: Making) -> None:
    busy = answer(b'{"error": "busy"}', 429, "retry-after: 0")
    with Hostile(busy, answer(b"", 503), told(ACCOUNT)) as hostile:
        assert at(hostile, make, patience=60).account().name == "ada"
        assert len(hostile.requests) == 3
    body = b"mean(age)"
    with Hostile(busy, told({"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()})) as hostile:
        at(hostile, make, patience=60).put_program("p", body.decode())
        assert [request.endswith(b"\r\n\r\n" + body) for request in hostile.requests] == [True, True]
    # More patience than the client has.
    with Hostile(answer(b"", 429, "retry-after: 100")) as hostile:
        with pytest.raises(errors.TooManyRequests, match="in 100 s"):
            at(hostile, make, patience=99).account()
        assert len(hostile.requests) == 1


def test_lost_answers(make: Making) -> None:
    # A job has one name however often it is asked for.
    with Hostile(b"", b"", told(JOB)) as hostile:
        assert at(hostile, make, patience=60).run("p", "t", keys="k").id == ID
        names = [json.loads(request.split(b"\r\n\r\n", 1)[1])["request"] for request in hostile.requests]
        assert len(names) == 3 and len(set(names)) == 1 and len(names[0]) == 64
    with Hostile(b"", told(JOB)) as hostile:
        with pytest.raises(errors.ServerUnreachable):
            at(hostile, make, patience=60).delete("tables", "t")
        assert len(hostile.requests) == 1


def test_other_bytes_than_were_sent(make: Making) -> None:
    for answered in ({"bytes": 9, "sha256": HASH}, {"bytes": 8, "sha256": hashlib.sha256(b"mean(age)").hexdigest()}):
        with Hostile(told(answered)) as hostile, pytest.raises(errors.DamagedTransfer, match="send it again"):
            at(hostile, make).put_program("p", "mean(age)")


Failure = tuple[type[errors.SunziError], list[bytes]]
HALF = len(RESULT) // 2
DAMAGED: dict[str, Failure] = {
    "cut": (errors.ServerUnreachable, [part(0, HALF, length=len(RESULT)), b""]),
    "nothing": (errors.ServerUnreachable, [b""]),
    "wrong bytes": (errors.DamagedTransfer, [answer(RESULT[::-1])]),
    "too long": (errors.DamagedTransfer, [answer(RESULT + b"x")]),
    "another part": (errors.DamagedTransfer, [part(0, HALF, length=len(RESULT)), part(HALF + 1, len(RESULT))]),
    "from the beginning": (errors.DamagedTransfer, [part(0, HALF, length=len(RESULT)), answer(RESULT)]),
    "no range": (errors.DamagedTransfer, [answer(RESULT, 206)]),
    "a range of words": (errors.DamagedTransfer, [answer(RESULT, 206, "content-range: bytes all")]),
    "gone": (errors.NotStored, [answer(b"{}", 404)]),
    "unsatisfiable": (errors.ServerRefused, [answer(b"", 416)]),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_downloads_that_fail(case: str, make: Making, tmp_path: Path) -> None:
    kind, answers = DAMAGED[case]
    ways: list[Callable[[Any], object]] = [lambda own: own.save(tmp_path / "out"), lambda own: own.result()]
    for fetch in ways:
        with Hostile(told(JOB), *answers) as hostile, pytest.raises(kind):
            fetch(at(hostile, make).job(ID))
        assert os.listdir(tmp_path) == []


def test_downloads_go_on_where_they_broke(make: Making, tmp_path: Path) -> None:
    with Hostile(told(JOB), part(0, 1000, length=5000), part(1000, HALF, total="*"), part(HALF, len(RESULT))) as hostile:
        assert at(hostile, make).job(ID).save(tmp_path / "out").read_bytes() == RESULT
        asked = [line for request in hostile.requests[1:] for line in request.lower().split(b"\r\n") if line.startswith((b"range", b"if-range"))]
        tag = f'if-range: "{HASH}"'.encode()
        assert asked == [b"range: bytes=0-", tag, b"range: bytes=1000-", tag, f"range: bytes={HALF}-".encode(), tag]
    with Hostile(told(job(bytes=0, sha256=hashlib.sha256(b"").hexdigest()))) as hostile:
        assert at(hostile, make).job(ID).result() == b""
    with Hostile(told(job(bytes=1 << 40))) as hostile, pytest.raises(errors.Memory, match="save it to a file"):
        at(hostile, make).job(ID).result()


def test_downloads_by_the_byte_come_to_an_end(make: Making, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sunzi._remote_calls._CONNECTIONS", 20)
    with Hostile(told(JOB), *(part(n, n + 1, length=len(RESULT) - n) for n in range(30))) as hostile:
        with pytest.raises(errors.ServerUnreachable, match="broke 20 connections"):
            at(hostile, make).job(ID).save(tmp_path / "out")
        assert len(hostile.requests) == 21 and os.listdir(tmp_path) == []


def test_results_are_never_whole_in_memory(make: Making, tmp_path: Path) -> None:
    block, count = bytes(1 << 20), 48

    def long(connection: socket.socket) -> None:
        connection.sendall(f"HTTP/1.1 200 x\r\ncontent-length: {count << 20}\r\n\r\n".encode())
        for _ in range(count):
            connection.sendall(block)

    nothing = hashlib.sha256(bytes(count << 20)).hexdigest()
    with Hostile(told(job(bytes=count << 20, sha256=nothing)), long) as hostile:
        own = at(hostile, make).job(ID)
        tracemalloc.start()
        try:
            assert own.save(tmp_path / "out").stat().st_size == count << 20
            assert tracemalloc.get_traced_memory()[1] < count << 17
        finally:
            tracemalloc.stop()


class _Stop(BaseException):
    """What ends a process, as Ctrl-C does."""


def test_nothing_is_left_of_a_download_that_is_stopped(tmp_path: Path) -> None:
    pytest.importorskip("httpx")
    released = threading.Event()

    def stalls(connection: socket.socket) -> None:
        connection.sendall(part(0, HALF, length=len(RESULT)))
        released.wait(60)

    def stop(come: int, nbytes: int) -> None:
        assert 0 < come < nbytes and len(os.listdir(tmp_path)) == 1
        raise _Stop

    with Hostile(told(JOB), stalls) as hostile, sunzi.Client(hostile.address, token=TOKEN) as client:
        with pytest.raises(_Stop):
            client.job(ID).save(tmp_path / "out", progress=stop)
    assert os.listdir(tmp_path) == []
    released.set()
    released.clear()

    async def cancelled(address: str) -> None:
        async with sunzi.AsyncClient(address, token=TOKEN) as client:
            begun = asyncio.Event()
            task = asyncio.ensure_future(client.job(ID).save(tmp_path / "out", progress=lambda *_: begun.set()))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with Hostile(told(JOB), stalls) as hostile:
        asyncio.run(cancelled(hostile.address))
    released.set()
    assert os.listdir(tmp_path) == []


def test_uploads_that_are_cancelled(tmp_path: Path) -> None:
    pytest.importorskip("httpx")
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(256 << 20)
    sent: list[int] = []

    async def cancelled(address: str) -> None:
        async with sunzi.AsyncClient(address, token=TOKEN) as client:
            begun = asyncio.Event()

            def progress(done: int, nbytes: int) -> None:
                sent.append(done)
                begun.set()

            task = asyncio.ensure_future(client.put_table("t", big, progress=progress))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with Hostile(b"") as hostile:
        asyncio.run(cancelled(hostile.address))
    assert 0 < sent[-1] < 256 << 20


def test_files_that_change_while_they_are_sent(make: Making, tmp_path: Path) -> None:
    file = tmp_path / "table"
    file.write_bytes(bytes(3 << 20))
    calls: list[Callable[[], None]] = [lambda: os.truncate(file, 1 << 20)]

    def shrink(_sent: int, _total: int) -> None:
        if calls:
            calls.pop()()

    with Hostile(b"") as hostile, pytest.raises(errors.Changed, match="became shorter"):
        at(hostile, make).put_table("t", file, progress=shrink)
