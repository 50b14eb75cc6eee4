"""Servers for tests of clients: ``sunzi serve``, one that answers what a test tells it, and a relay that cuts connections."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional, Union
from urllib.parse import urlsplit

import pytest

import sunzi

#: A token that opens nothing.
TOKEN = f"sunzi-{'0' * 16}-{'1' * 64}"


def binary() -> str:
    """The command line: of ``cargo xtask python``, or as cargo built it last."""
    named = os.environ.get("SUNZI_BINARY")
    root = Path(__file__).resolve().parents[2]
    built = Path(os.environ.get("CARGO_TARGET_DIR") or root / "target") / "debug" / "sunzi"
    found = Path(named) if named else built
    if not found.is_file():
        pytest.skip(f"there is no {found}: cargo xtask python builds the command line, and SUNZI_BINARY names another one")
    return str(found)


class Server:
    """``sunzi serve --demo`` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.log = folder / "log"
        self.address, self.token = "", ""
        command = [binary(), "serve", "--demo", "--listen", "127.0.0.1:0", *options]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("export SUNZI_TOKEN="):
                self.token = line.split("=", 1)[1].strip()
            if "listening at " in line:
                self.address = line.split("listening at ", 1)[1].strip()
                break
        assert self.address, self.log.read_text()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextlib.contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    """A server until the end of a block."""
    server = Server(folder, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


class Awaited:
    """A client or a job whose coroutines are awaited here, so that one test serves both clients."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._inner, self._loop = inner, loop

    def __repr__(self) -> str:
        return repr(self._inner)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*args: Any, **options: Any) -> Any:
            result = found(*args, **options)
            if inspect.isawaitable(result):
                result = self._loop.run_until_complete(self._wait(result))
            return Awaited(result, self._loop) if isinstance(result, sunzi.remote.AsyncJob) else result

        return call

    @staticmethod
    async def _wait(awaitable: Any) -> Any:
        return await awaitable


#: Makes a client from its arguments.
Making = Callable[..., Any]


def making(kind: str) -> Iterator[Making]:
    """What makes clients of a kind, which are closed at the end."""
    made: list[Any] = []
    loop = asyncio.new_event_loop()

    def make(*args: Any, **options: Any) -> Any:
        client = sunzi.Client(*args, **options) if kind == "sync" else Awaited(sunzi.AsyncClient(*args, **options), loop)
        made.append(client)
        return client

    try:
        yield make
        for client in made:
            client.close()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


class Hostile:
    """A server that takes requests and answers each connection with bytes in order, the last ones again and again. It keeps what it was sent."""

    def __init__(self, *answers: Union[bytes, Callable[[socket.socket], None]]) -> None:
        self._answers = list(answers)
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            with connection, contextlib.suppress(OSError):
                self.requests.append(_request(connection))
                if callable(answer):
                    answer(connection)
                else:
                    connection.sendall(answer)

    def close(self) -> None:
        _close(self._listener)

    def __enter__(self) -> Hostile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _close(listener: socket.socket) -> None:
    """Closes a socket that another thread waits at: the shutdown wakes it."""
    with contextlib.suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _request(connection: socket.socket) -> bytes:
    """A whole request."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16) or b"\r\n\r\n"
    head, body = data.split(b"\r\n\r\n", 1)
    length = [line.split(b":", 1)[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(body) < int((length or [b"0"])[0]):
        more = connection.recv(1 << 16)
        if not more:
            break
        body += more
    return head + b"\r\n\r\n" + body


def answer(body: bytes, status: int = 200, *headers: str, length: Optional[int] = None) -> bytes:
    """An answer of HTTP, with a length of its own if one is given."""
    lines = [f"HTTP/1.1 {status} x", f"content-length: {len(body) if length is None else length}", "connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Relay:
    """Passes bytes between clients and a server, which may be another one later, and cuts connections: the first ones after so many bytes of the server, in order."""

    def __init__(self, address: str, *cuts: int) -> None:
        self.cuts = list(cuts)
        self.to(address)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def to(self, address: str) -> None:
        """Passes what comes from now on to this server."""
        parts = urlsplit(address)
        self._server = (str(parts.hostname), int(parts.port or 0))

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                server = socket.create_connection(self._server)
                cut = self.cuts.pop(0) if self.cuts else None
                threading.Thread(target=_both, args=(client, server, cut), daemon=True).start()
                continue
            client.close()

    def close(self) -> None:
        _close(self._listener)


def _both(client: socket.socket, server: socket.socket, cut: Optional[int]) -> None:
    """Passes bytes both ways until either side has ended."""
    with client, server:
        back = threading.Thread(target=_pass, args=(server, client, cut), daemon=True)
        back.start()
        _pass(client, server, None)
        back.join()


def _pass(source: socket.socket, target: socket.socket, cut: Optional[int]) -> None:
    passed = 0
    with contextlib.suppress(OSError):
        while block := source.recv(1 << 14):
            if cut is not None and passed + len(block) > cut:
                target.sendall(block[: cut - passed])
                break
            target.sendall(block)
            passed += len(block)
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
