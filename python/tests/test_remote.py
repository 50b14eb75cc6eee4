"""Clients of a server, each call with and without asyncio: what comes back from ``sunzi serve`` is what the key holder would have computed."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import shutil
import signal
import stat
import subprocess
import traceback
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import TOKEN, Making, Relay, Server, binary, serving

import sunzi
from sunzi import errors, tables

#: A call that fails.
Call = Callable[[], object]

AGES, COSTS = [34, 58, 41, 67], [120.5, 980.0, 75.25, 1310.75]
PROGRAM = "mean(cost); corr(age, cost)"


class Owner:
    """Keys, an encrypted table, and the results that this machine computes itself."""

    def __init__(self, folder: Path) -> None:
        schema = tables.Schema(4, {"age": tables.integer(0, 120), "cost": tables.decimal(0, 9999.99, decimals=2)})
        self.program = tables.Program(PROGRAM, schema)
        self.plan = self.program.plan()
        self.keys = self.plan.keygen()
        self.table = self.plan.encrypt(self.keys.public, {"age": AGES, "cost": COSTS})
        self.own = self.plan.compute(self.keys, self.table).to_bytes()
        self.folder, self.file = folder / "keys", folder / "visits.sz"
        self.keys.save(self.folder)
        self.file.write_bytes(self.table.to_bytes())

    def check(self, result: bytes) -> None:
        opened = self.plan.decrypt(self.keys, tables.Results.from_bytes(result))
        mean, corr = opened["mean(cost)"], opened["corr(age, cost)"]
        assert isinstance(mean, tables.Number) and isinstance(corr, tables.Number)
        assert mean.exact is not None and float(mean.exact) == np.mean(COSTS)
        assert corr.value == pytest.approx(np.corrcoef(AGES, COSTS)[0, 1], abs=1e-9)

    def send(self, client: Any, name: str = "k") -> None:
        client.put_keys(name, self.folder / "eval")
        client.put_program("p", PROGRAM)
        client.put_table("t", self.table)


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Owner:
    return Owner(tmp_path_factory.mktemp("owner"))


@pytest.fixture
def client(server: Server, make: Making) -> Any:
    return make(server.address, token=server.token)


def test_whole_path(client: Any, owner: Owner, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    stored = client.put_keys("visits-keys", owner.keys, progress=lambda *step: told.append(step))
    assert [(one.name, one.file) for one in stored] == [("visits-keys", f"{part}.sz") for part in ("galois", "parameters", "relinearization")]
    total = sum(one.nbytes for one in stored)
    assert told[-1] == (total, total) and told == sorted(told)
    assert client.put_program("statistics", owner.program).nbytes == len(owner.program.to_json())
    assert client.put_table("visits", str(owner.file)).nbytes == owner.table.nbytes
    job = client.run("statistics", "visits", keys="visits-keys")
    seen: list[sunzi.remote.JobStatus] = []
    status = job.wait(timeout=600, progress=seen.append)
    assert (status.state, status.program, status.keys, status.tables, status.error) == ("done", "statistics", "visits-keys", ["visits"], None)
    assert seen[-1] == status == job.status() and status.nbytes is not None and status.finished is not None
    told.clear()
    result = job.result(progress=lambda *step: told.append(step))
    assert result == owner.own and told[-1] == (len(result), len(result))
    owner.check(result)
    saved = job.save(tmp_path / "results.sz")
    assert saved.read_bytes() == result and os.listdir(tmp_path) == ["results.sz"]
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE(_made(tmp_path / "other").stat().st_mode)
    assert client.job(job.id).status() == status
    assert job.id in [one.id for one in client.jobs()]
    job.delete()
    with pytest.raises(errors.NotStored):
        job.status()


def _made(path: Path) -> Path:
    path.touch()
    return path


def test_lists_and_removal(client: Any, owner: Owner, tmp_path: Path) -> None:
    (tmp_path / "program.txt").write_text("mean(age)")
    owner.send(client)
    client.put_program("from-file", tmp_path / "program.txt")
    client.put_program("from-plan", owner.plan)
    client.put_table("from-bytes", bytearray(owner.table.to_bytes()))
    assert {one.file for one in client.list("keys") if one.name == "k"} == {"galois.sz", "parameters.sz", "relinearization.sz"}
    programs = {one.name: one for one in client.list("programs")}
    assert programs["from-file"].nbytes == 9 and programs["from-plan"].nbytes == len(owner.program.to_json())
    assert {one.name: one.sha256 for one in client.list("tables")}["from-bytes"] == {one.name: one.sha256 for one in client.list("tables")}["t"]
    account = client.account()
    assert account.name == "demo" and account.nbytes > owner.table.nbytes and account.limits["upload_bytes"] == 16 << 30
    job = client.run("from-plan", ["t"], keys="k")
    assert job.result() == owner.own
    for kind, name in [("keys", "k"), ("programs", "p"), ("tables", "t"), ("jobs", job.id)]:
        client.delete(kind, name)
        with pytest.raises(errors.NotStored, match="nothing of this name") as caught:
            client.delete(kind, name)
        assert caught.value.status == 404 and caught.value.remedy == "list what there is, and check the name"


def test_what_the_server_refuses(client: Any, make: Making, server: Server, owner: Owner) -> None:
    with pytest.raises(errors.WrongToken, match="opens no account") as caught:
        make(server.address, token=TOKEN).account()
    assert caught.value.status == 401 and caught.value.expected is not None
    owner.send(client)
    with pytest.raises(errors.NotStored, match="no programs"):
        client.run("absent", "t", keys="k")
    with pytest.raises(errors.ServerRefused, match="4 to 30") as refused:
        client.run("p", "t", keys="k", precision=99)
    assert refused.value.status == 400 and refused.value.got == "99"
    with pytest.raises(errors.ServerRefused, match="cannot be used"):
        client.run("p", [], keys="k")
    with pytest.raises(errors.ServerRefused, match="another kind of file") as another:
        client.put_table("t", owner.folder / "eval" / "galois.sz")
    assert another.value.status == 422
    client.put_program("wrong", "mean(absent)")
    job = client.run("wrong", "t", keys="k")
    with pytest.raises(errors.JobFailed, match="absent"):
        job.result()
    assert job.status().state == "failed"


def test_what_is_not_sent(client: Any, owner: Owner, tmp_path: Path) -> None:
    before = client.account().nbytes
    secret = owner.folder / "secret"
    secrets: list[Call] = [
        lambda: client.put_keys("s", secret),
        lambda: client.put_table("s", secret / "secret.sz"),
        lambda: client.put_table("s", (secret / "secret.sz").read_bytes()),
        lambda: client.put_program("s", secret / "secret.sz"),
    ]
    for send in secrets:
        with pytest.raises(errors.SecretRefused, match="never goes to a server"):
            send()
    with pytest.raises(errors.NotRegular, match="folder eval"):
        client.put_keys("s", owner.folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(errors.MissingKey, match="is empty"):
        client.put_keys("s", tmp_path / "empty")
    with pytest.raises(errors.MissingKey, match="folder eval"):
        client.put_keys("s", tables.Keys.load(owner.folder / "public"))
    with pytest.raises(FileNotFoundError):
        client.put_table("s", tmp_path / "absent")
    with pytest.raises(errors.NotRegular):
        client.put_table("s", tmp_path)
    named: list[Callable[[str], object]] = [
        lambda name: client.put_table(name, owner.file),
        lambda name: client.put_program(name, "mean(age)"),
        lambda name: client.put_keys(name, owner.keys),
        lambda name: client.delete("tables", name),
        lambda name: client.run(name, "t", keys="k"),
        lambda name: client.job(name),
    ]
    for name in ("", "../x", "a/b", "ä", "x" * 65, "a\n", "%2e"):
        for call in named:
            with pytest.raises(errors.NameUnusable):
                call(name)
    kinds: list[Call] = [lambda: client.put_table("s", 1), lambda: client.put_program("s", sunzi.program(abs))]
    for wrong in kinds:
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(errors.NameUnusable, match="no kind"):
        client.delete("accounts", "a")
    with pytest.raises(errors.NameUnusable, match="client.jobs"):
        client.list("jobs")
    assert client.account().nbytes == before


def test_files_are_replaced_by_force_alone(client: Any, owner: Owner, tmp_path: Path) -> None:
    owner.send(client)
    job, target = client.run("p", "t", keys="k"), tmp_path / "out.sz"
    target.write_text("mine")
    with pytest.raises(errors.Io, match="force=True"):
        job.save(target)
    assert target.read_text() == "mine"
    assert job.save(target, force=True) == target and target.read_bytes() == owner.own
    with pytest.raises(FileNotFoundError):
        job.save(tmp_path / "absent" / "out.sz")
    assert os.listdir(tmp_path) == ["out.sz"]


def test_files_are_never_whole_in_memory(client: Any, owner: Owner, tmp_path: Path) -> None:
    big, length = tmp_path / "big.sz", 48 << 20
    with big.open("wb") as file:
        file.write(owner.table.to_bytes()[:64])
        file.truncate(length)
    tracemalloc.start()
    try:
        assert client.put_table("big", big).nbytes == length
        assert tracemalloc.get_traced_memory()[1] < length // 8
    finally:
        tracemalloc.stop()
    client.delete("tables", "big")


def test_broken_downloads_go_on(server: Server, make: Making, owner: Owner, tmp_path: Path) -> None:
    direct = make(server.address, token=server.token)
    owner.send(direct)
    job = direct.run("p", "t", keys="k")
    job.wait()
    # The state of the job comes over the first connection, which carries the beginning of the result too.
    relay = Relay(server.address, 200_000, 100_000, 300_000)
    told: list[int] = []
    saved = make(relay.address, token=server.token).job(job.id).save(tmp_path / "out.sz", progress=lambda come, _: told.append(come))
    relay.close()
    assert saved.read_bytes() == owner.own and told == sorted(told) and not relay.cuts


def test_a_server_that_is_gone_and_comes_back(make: Making, owner: Owner, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    # A demonstration makes its own account anew: this one stays.
    added = subprocess.run([binary(), "account", "add", "ada", *data], capture_output=True, text=True, check=True)
    token = added.stdout.strip()
    with serving(tmp_path, *data) as first:
        relay = Relay(first.address)
        client, hasty = make(relay.address, token=token, patience=600), make(first.address, token=token, patience=0)
        owner.send(client)
        job = client.run("p", "t", keys="k")
        first.stop(signal.SIGKILL)
    own = hasty.job(job.id)
    for call in (hasty.account, own.wait, own.result, lambda: hasty.put_table("t", owner.file), lambda: hasty.delete("tables", "t")):
        with pytest.raises(errors.ServerUnreachable, match="whether the server runs"):
            call()
    # An accepted job is not lost.
    with serving(tmp_path, *data) as second:
        relay.to(second.address)
        assert job.result() == owner.own
    relay.close()


def test_quota_and_length(make: Making, owner: Owner, tmp_path: Path) -> None:
    big = tmp_path / "big.sz"
    beginning = owner.table.to_bytes()[:64]
    with serving(tmp_path, "--quota", "1M", "--upload", "64M") as server:
        client = make(server.address, token=server.token)
        with big.open("wb") as file:
            file.write(beginning)
            file.truncate(40 << 20)
        # The server asks for more patience than the client has, and says so before it has all.
        with pytest.raises(errors.TooManyRequests, match="quota") as full:
            client.put_table("t", big)
        assert full.value.status == 429 and full.value.retry_after == 60
        os.truncate(big, 80 << 20)
        with pytest.raises(errors.ServerRefused, match="too long") as long:
            client.put_table("t", big)
        assert long.value.status == 413
        assert client.list("tables") == []


def test_the_token_is_told_nowhere(make: Making, server: Server, owner: Owner, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = make(server.address, token=server.token)
    owner.send(client)
    shown = repr(client) + repr(client.run("p", "t", keys="k"))
    failing: list[Call] = [lambda: client.delete("tables", "absent"), make("http://127.0.0.1:1", token=server.token, patience=0).account]
    for call in failing:
        with pytest.raises(errors.ServerError) as caught:
            call()
        shown += "".join(traceback.format_exception(type(caught.value), caught.value, caught.value.__traceback__))
    secret = server.token.split("-")[2]
    assert secret not in shown and secret not in caplog.text and secret not in server.log.read_text()
    inner = client if isinstance(client, sunzi.Client) else client._inner
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(inner)


def test_logins_are_those_of_the_command_line(make: Making, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SUNZI_SERVER", "SUNZI_TOKEN", "SUNZI_CA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(errors.LoginUnusable, match="sunzi remote login"):
        make()
    subprocess.run([binary(), "remote", "login", server.address], input=server.token, text=True, check=True, capture_output=True)
    assert make().account().name == "demo"
    file = tmp_path / "sunzi" / "remote.json"
    file.unlink()
    assert make(server.address + "/", token=server.token).keep() == file
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and os.listdir(file.parent) == ["remote.json"]
    subprocess.run([binary(), "remote", "list"], check=True, capture_output=True)
    with pytest.raises(errors.WrongToken):
        make(server.address, token=TOKEN).keep()
    assert make().account().name == "demo"
    monkeypatch.setenv("SUNZI_SERVER", server.address)
    with pytest.raises(errors.LoginUnusable, match="set both"):
        make()
    monkeypatch.setenv("SUNZI_TOKEN", server.token)
    file.unlink()
    assert make().account().name == "demo"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a certificate for this machine and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("certificate")
    asked = "req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -days 30 -keyout key.pem -out cert.pem"
    subprocess.run(["openssl", *asked.split()], cwd=folder, check=True, capture_output=True)
    yield folder


def test_certificates_are_verified(make: Making, certificate: Path, owner: Owner, tmp_path: Path) -> None:
    cert, key = certificate / "cert.pem", certificate / "key.pem"
    with serving(tmp_path, "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        assert server.address.startswith("https://")
        with pytest.raises(errors.ServerUnreachable, match="ca names a file"):
            make(server.address, token=server.token).account()
        client = make(server.address, token=server.token, ca=cert)
        owner.send(client)
        owner.check(client.run("p", "t", keys="k").result())
        for wrong in (key, tmp_path / "absent"):
            with pytest.raises(errors.LoginUnusable, match="certificates in PEM"):
                make(server.address, token=server.token, ca=wrong)


def test_many_at_once(server: Server, owner: Owner) -> None:
    pytest.importorskip("httpx")

    async def all_of_them() -> list[bytes]:
        async with sunzi.AsyncClient(server.address, token=server.token, patience=300) as client:
            await client.put_keys("many", owner.keys)
            await client.put_program("p", owner.program)
            await asyncio.gather(*(client.put_table(f"many-{i}", owner.table) for i in range(6)))
            jobs = await asyncio.gather(*(client.run("p", f"many-{i}", keys="many") for i in range(6)))
            return list(await asyncio.gather(*(job.result() for job in jobs)))

    assert asyncio.run(all_of_them()) == [owner.own] * 6
