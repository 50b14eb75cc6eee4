"""Performs the steps of calls over HTTP, with and without asyncio. This is the one module that takes httpx."""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Iterator
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Optional, TypeVar, Union, cast

import anyio
import anyio.from_thread
import anyio.to_thread
import httpx

from ._remote_files import Download, Upload
from ._remote_login import Login
from ._remote_records import LONGEST
from ._remote_steps import Answer, Ask, Flow, Lost, Step, Work
from .errors import ForeignAnswer, LoginUnusable

T = TypeVar("T")

#: Seconds to connect, and without a byte in either direction.
_PATIENCE = 120.0
#: What errors without a text mean.
_SILENT = {"ConnectTimeout": "no connection in time", "ReadTimeout": "no answer in time", "WriteTimeout": "nothing is taken any more"}


def _settings(login: Login) -> dict[str, Any]:
    """What all clients of httpx are made with: no redirect, no proxy and no file of the environment, certificates always verified."""
    try:
        httpx.URL(login.server).host.encode("idna")
    except (httpx.InvalidURL, UnicodeError):
        raise LoginUnusable(f"{login.server!r} has no name of a machine: expected an address such as https://compute.example.org") from None
    # An answer that is compressed could be of any length.
    headers = {"authorization": f"Bearer {login.token}", "accept-encoding": "identity", "user-agent": "sunzi-python"}
    return {"verify": _trusted(login), "headers": headers, "timeout": _PATIENCE, "follow_redirects": False, "trust_env": False}


def _trusted(login: Login) -> ssl.SSLContext:
    """The certificates to trust: of a file, or of the system; none within this machine, where there is no TLS."""
    if not login.server.lower().startswith("https://"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        trusted = ssl.create_default_context(cafile=login.ca)
    except (OSError, ssl.SSLError) as error:
        raise LoginUnusable(f"{login.ca} has no certificates in PEM that can be read ({error}): give another file") from None
    trusted.minimum_version = ssl.TLSVersion.TLSv1_2
    return trusted


def _forget_cookies(client: Union[httpx.Client, httpx.AsyncClient]) -> None:
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))


class _Body:
    """The body of an answer, of limited length and time."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._bytes, self._end = 0, time.monotonic() + _PATIENCE

    def take(self, block: bytes) -> None:
        self._bytes += len(block)
        if self._bytes > LONGEST:
            raise ForeignAnswer(f"an answer of more than {LONGEST} bytes, which no server of Sunzi gives: check the address")
        if time.monotonic() > self._end:
            raise Lost("the answer comes too slowly")
        self._parts.append(block)

    def __bytes__(self) -> bytes:
        return b"".join(self._parts)


def _download_of(ask: Ask, response: httpx.Response) -> Optional[Download]:
    """The download that takes this answer; None for one that is told."""
    if ask.into is None or response.status_code not in (200, 206):
        return None
    ask.into.begin(response.status_code, response.headers)
    return ask.into


def _answer(response: httpx.Response, body: _Body) -> Answer:
    return Answer(response.status_code, {own.lower(): value for own, value in response.headers.items()}, bytes(body))


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Tells an error of the connection without the request, which has the token."""
    try:
        yield
    except httpx.TransportError as error:
        text = str(error)
        untrusted = "CERTIFICATE_VERIFY_FAILED" in text
        if untrusted:
            text += " (ca names a file of certificates to trust)"
        raise Lost(text or _SILENT.get(type(error).__name__, "the connection broke"), hopeless=untrusted) from None


class Transport:
    """Performs steps one after the other; a call keeps its thread waiting."""

    def __init__(self, login: Login) -> None:
        self._server = login.server
        self._client = httpx.Client(**_settings(login))
        _forget_cookies(self._client)

    def run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    result = self._perform(step)
                except Exception as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as stop:
            return cast(T, stop.value)
        finally:
            flow.close()

    def _perform(self, step: Step) -> Any:
        if isinstance(step, Ask):
            return self.ask(step)
        if isinstance(step, Work):
            return step.function()
        time.sleep(step.seconds)
        return None

    def ask(self, ask: Ask) -> Answer:
        content = self._blocks(ask.body) if isinstance(ask.body, Upload) else ask.body
        body = _Body()
        with _told():
            request = self._client.build_request(ask.method, self._server + ask.path, headers=dict(ask.headers), content=content)
            with contextlib.closing(self._client.send(request, stream=True)) as response:
                download = _download_of(ask, response)
                for block in response.iter_raw():
                    if download is None:
                        body.take(block)
                    else:
                        download.take(block)
                        download.tell()
        return _answer(response, body)

    def _blocks(self, upload: Upload) -> Iterator[bytes]:
        for block in upload.blocks():
            yield block
            upload.tell()

    def close(self) -> None:
        self._client.close()


class AsyncTransport:
    """Performs steps one after the other; uploads are sent and files written in other threads, so that a call keeps no task waiting."""

    def __init__(self, login: Login) -> None:
        self._server = login.server
        self._client, self._uploads = httpx.AsyncClient(**_settings(login)), Transport(login)
        _forget_cookies(self._client)

    async def run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    result = await self._perform(step)
                except Exception as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as stop:
            return cast(T, stop.value)
        finally:
            flow.close()

    async def _perform(self, step: Step) -> Any:
        if isinstance(step, Ask):
            return await self._ask(step)
        if isinstance(step, Work):
            return await anyio.to_thread.run_sync(step.function)
        await anyio.sleep(step.seconds)
        return None

    async def _ask(self, ask: Ask) -> Answer:
        if isinstance(ask.body, Upload):
            return await self._upload(ask, ask.body)
        body = _Body()
        with _told():
            request = self._client.build_request(ask.method, self._server + ask.path, headers=dict(ask.headers), content=ask.body)
            response = await self._client.send(request, stream=True)
            try:
                download = _download_of(ask, response)
                async for block in response.aiter_raw():
                    if download is None:
                        body.take(block)
                    else:
                        await anyio.to_thread.run_sync(download.take, block)
                        download.tell()
            finally:
                await response.aclose()
        return _answer(response, body)

    async def _upload(self, ask: Ask, upload: Upload) -> Answer:
        """Sends an upload in another thread. asyncio reads nothing while it writes, and the answer of a server that refuses an upload before its end would be lost with the connection."""
        upload.tell_through(anyio.from_thread.run_sync)
        try:
            return await anyio.to_thread.run_sync(self._uploads.ask, ask, abandon_on_cancel=True)
        finally:
            # Where the task was cancelled the thread still sends.
            upload.stop()

    async def close(self) -> None:
        self._uploads.close()
        await self._client.aclose()
