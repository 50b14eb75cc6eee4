"""What clients decide without a network: addresses, tokens, kept logins, how often and when they ask again."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from serving import TOKEN

import sunzi
from sunzi import errors
from sunzi._remote_calls import Calls
from sunzi._remote_login import Login, login_of
from sunzi._remote_steps import Answer, Ask, Flow, Lost, Pause, Work

ACCOUNT = json.dumps({"name": "ada", "created": 0, "bytes": 1, "jobs": 1, "limits": {}}).encode()


def play(flow: Flow[Any], *answers: object) -> tuple[Any, list[float]]:
    """Performs a call: each request gets the next answer. Returns the result and the pauses."""
    left, pauses = list(answers), []
    try:
        step = next(flow)
        while True:
            if isinstance(step, Pause):
                pauses.append(step.seconds)
                step = flow.send(None)
            elif isinstance(step, Work):
                step = flow.send(step.function())
            else:
                told = left.pop(0)
                step = flow.throw(told) if isinstance(told, Exception) else flow.send(told)
    except StopIteration as stop:
        assert not left
        return stop.value, pauses


def calls(patience: float) -> Calls:
    return Calls(Login("https://example.org", TOKEN), patience)


def fine(body: bytes = ACCOUNT) -> Answer:
    return Answer(200, {}, body)


def busy(status: int, retry: str | None = None) -> Answer:
    return Answer(status, {} if retry is None else {"retry-after": retry}, b"{}")


def test_pauses() -> None:
    lost = Lost("it broke")
    assert play(calls(60).account(), fine())[1] == []
    assert play(calls(60).account(), lost, lost, lost, lost, fine())[1] == [0.5, 1.0, 1.5, 2.0]
    assert play(calls(60).account(), busy(429, "7"), busy(503, "5"), lost, fine())[1] == [7, 5, 0.5]
    # A server that asks for no pause is not flooded.
    assert play(calls(60).account(), busy(429, "0"), busy(503), fine())[1] == [0.5, 0.5]
    assert play(calls(10).account(), busy(429, "10"), fine())[1] == [10]
    cases: list[tuple[list[object], type[errors.SunziError]]] = [
        ([lost] * 5, errors.ServerUnreachable),
        ([Lost("untrusted", hopeless=True)], errors.ServerUnreachable),
        ([busy(429, "7")] * 9, errors.TooManyRequests),
        ([busy(503)] * 121, errors.ServerUnavailable),
        # Answers of a server that is busy are no losses.
        ([*[busy(503)] * 9, *[lost] * 5], errors.ServerUnreachable),
        ([busy(500, "1")], errors.ServerUnavailable),
        ([busy(429, "61")], errors.TooManyRequests),
        ([Answer(101, {}, b"")], errors.ForeignAnswer),
    ]
    for answers, kind in cases:
        with pytest.raises(kind):
            play(calls(60).account(), *answers)
    for patience in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="patience"):
            calls(patience)


def test_what_is_asked() -> None:
    flow = calls(0).run("p", "t", "k", 12)
    step = next(flow)
    assert isinstance(step, Ask) and isinstance(step.body, bytes) and (step.method, step.path) == ("POST", "/v1/jobs")
    asked = json.loads(step.body)
    assert len(asked.pop("request")) == 64 and asked == {"program": "p", "keys": "k", "tables": ["t"], "precision": 12}
    assert TOKEN not in repr(step)
    step = next(calls(0).delete("jobs", "ab" * 16))
    assert isinstance(step, Ask) and (step.method, step.path) == ("DELETE", f"/v1/jobs/{'ab' * 16}")


def test_waiting() -> None:
    def told(state: str) -> Answer:
        done = {"bytes": 1, "sha256": "ab" * 32} if state == "done" else {}
        return fine(json.dumps({"id": "ab" * 16, "state": state, "program": "p", "keys": "k", "tables": ["t"], "created": 0, **done}).encode())

    states = ["queued"] * 3 + ["running"] * 7
    seen: list[str] = []
    status, pauses = play(calls(0).wait("ab" * 16, None, lambda status: seen.append(status.state)), *map(told, [*states, "done"]))
    assert status.state == "done" and seen == [*states, "done"]
    assert pauses == [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.0, 2.0, 2.0]
    with pytest.raises(errors.JobUnfinished, match="it goes on"):
        play(calls(0).wait("ab" * 16, 0, None), told("running"))
    with pytest.raises(errors.JobFailed, match="does not say why"):
        play(calls(0).wait("ab" * 16, None, None), told("failed"))


def test_addresses() -> None:
    for own in ("http://127.0.0.1:1", "http://localhost", "http://[::1]:8732/x", "https://example.org", "https://example.org:8732/sunzi/"):
        assert login_of(own, TOKEN, None).server == own.rstrip("/")
    for other in (
        "http://example.org",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "http://0.0.0.0",
        "http://localhost@example.org",
        "http://127.0.0.1:1@example.org",
        "http://example.org\\@localhost",
        "http://local\nhost",
        "http:///x",
        "http://localhost:99999",
        "http://localhost?x",
        "http://localhost#x",
        "https://user:password@example.org",
        "https://exam ple.org",
        "https://",
        "ftp://localhost",
        "localhost",
        "",
    ):
        with pytest.raises(errors.LoginUnusable):
            login_of(other, TOKEN, None)
        with pytest.raises(errors.LoginUnusable):
            sunzi.Client(other, token=TOKEN)
    pytest.importorskip("httpx")
    for other in ("https://a..b", "https://xn--", f"https://{'a' * 300}", "https://256.1.1.1"):
        with pytest.raises(errors.LoginUnusable, match="no name of a machine"):
            sunzi.Client(other, token=TOKEN)
    for wrong in ("", "x", TOKEN + "\n", TOKEN[:-1], TOKEN.upper(), TOKEN + "\r\nhost: x"):
        with pytest.raises(errors.LoginUnusable, match="no token") as caught:
            login_of("https://example.org", wrong, None)
        assert wrong == "" or wrong not in str(caught.value) or wrong == "x"
    assert TOKEN not in repr(login_of("https://example.org", TOKEN, None))


def test_logins_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SUNZI_SERVER", "SUNZI_TOKEN", "SUNZI_CA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "sunzi" / "remote.json"
    file.parent.mkdir()
    good = {"server": "https://example.org", "token": TOKEN, "ca": None}
    for text in (
        "",
        "[]",
        "[" * 60_000,
        "{" + " " * 70_000,
        json.dumps({**good, "more": 1}),
        json.dumps({**good, "token": 1}),
        json.dumps({**good, "ca": 1}),
        json.dumps({"server": good["server"]}),
    ):
        file.write_text(text)
        with pytest.raises(errors.LoginUnusable, match="login again"):
            login_of(None, None, None)
    file.write_text(json.dumps({**good, "server": "http://example.org"}))
    with pytest.raises(errors.LoginUnusable, match="in the clear"):
        login_of(None, None, None)
    file.write_text(json.dumps(good))
    assert login_of(None, None, None) == Login("https://example.org", TOKEN)
    for server, token, ca in (("https://example.org", None, None), (None, TOKEN, None), (None, None, "ca.pem")):
        with pytest.raises(errors.LoginUnusable, match="or nothing"):
            login_of(server, token, ca)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(errors.LoginUnusable, match="login again"):
        login_of(None, None, None)
    for name in ("XDG_CONFIG_HOME", "HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(errors.LoginUnusable, match="no home folder"):
        login_of(None, None, None)


def test_without_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sunzi._remote_http", raising=False)
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(errors.MissingPackage, match=r"httpx: pip install 'sunzi\[client\]'"):
        sunzi.Client("https://example.org", token=TOKEN)
    with pytest.raises(ImportError):
        sunzi.AsyncClient("https://example.org", token=TOKEN)


def test_programs_as_json() -> None:
    schema = sunzi.tables.Schema(9, {"age": sunzi.tables.integer(18, 20)})
    program = sunzi.tables.Program('sum(lookup(age, "rates"))', schema, files={"rates": {18: 1, 19: 2, 20: 3}})
    told = json.loads(program.to_json())
    assert isinstance(told, dict) and "age" in program.to_json()
    assert program.plan()._inner.program.to_json() == program.to_json()
