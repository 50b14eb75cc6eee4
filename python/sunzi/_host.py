"""The process of a node that has the evaluation keys: it maps them once and forks whoever computes, so that all of them share its pages.

Whoever wants something computed connects to its socket, which lies in a folder of the user's own, and is served by a process of its own until
the connection ends. ``python -m sunzi._host FOLDER SOCKET THREADS`` starts one; it ends when nobody was there for a while.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import hashlib
import json
import mmap
import os
import pickle
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Union

from . import _native
from ._context import _INSECURE, Context, _restored, insecure_for_research_only
from ._keys import PublicKeys

#: Seconds without anybody after which a host ends.
PATIENCE = 60.0
#: Seconds that loading the keys may take.
LOADING = 900.0
#: What tells a host that its keys may be of parameters without security.
_INSECURE_FLAG = "--insecure-for-research-only"
PathLike = Union[str, "os.PathLike[str]"]


def save_keys(keys: PublicKeys, folder: PathLike) -> None:
    """Writes what whoever computes needs into a folder: files of the wire format. No secret is among them."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    context = keys.context
    boot = keys.bootstrapping
    (place / "parameters").write_bytes(context._bytes)
    (place / "public").write_bytes(keys.encryption.to_bytes())
    (place / "evaluation").write_bytes(keys.evaluation.to_bytes())
    if boot is not None:
        (place / "bootstrapping").write_bytes(boot.to_bytes())
    slots = 0 if boot is None else keys.bootstrapper.slots
    (place / "keys.json").write_text(json.dumps({"version": 1, "set": context._set, "slots": slots, "key": keys.id}))


def about_keys(folder: PathLike) -> Path:
    """The small file that says what the keys of a folder are for."""
    saved = Path(folder) / "keys.json"
    return saved if saved.exists() else Path(folder) / "eval" / "parameters.sz"


def load_context(folder: PathLike) -> Context:
    """The parameters that keys belong to: those without security within ``sunzi.insecure_for_research_only()`` only."""
    about = about_keys(folder)
    if about.name != "keys.json":
        return Context.from_bytes(about.read_bytes())
    return _restored((about.parent / "parameters").read_bytes(), str(json.loads(about.read_text())["set"]))


def load_keys(folder: PathLike) -> PublicKeys:
    """Reads what ``save_keys`` wrote, or the folder of ``sunzi keygen``."""
    place, context = Path(folder), load_context(folder)
    native = context._contexts[0]
    if about_keys(folder).name != "keys.json":
        public = _native.PublicKey.from_bytes(native, (place / "public" / "public.sz").read_bytes())
        # One object after the other, those that there are.
        files = [place / "eval" / name for name in ("relinearization.sz", "galois.sz")]
        data = b"".join(_mapped(file) for file in files if file.exists())
        return PublicKeys(context, public, _native.EvaluationKeys.from_bytes(native, data))
    about = json.loads((place / "keys.json").read_text())
    if about.get("version") != 1:
        from .errors import Version

        raise Version(f"{place}: keys of version {about.get('version')}, this release reads version 1")
    public = _native.PublicKey.from_bytes(native, (place / "public").read_bytes())
    evaluation = _native.EvaluationKeys.from_bytes(native, _mapped(place / "evaluation"))
    if not about["slots"]:
        return PublicKeys(context, public, evaluation)
    bootstrapper = _native.Bootstrapper(native, context._set, int(about["slots"]))
    boot = bootstrapper.read_keys(_mapped(place / "bootstrapping"))
    return PublicKeys(context, public, evaluation, boot, bootstrapper)


def _mapped(path: Path) -> bytes:
    """A file by way of a map: its pages are the system's, and go when memory is short."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return view[:]


# Messages: eight bytes of length, then that many.


def send(connection: socket.socket, data: bytes) -> None:
    """One message."""
    connection.sendall(struct.pack("<Q", len(data)))
    connection.sendall(data)


def receive(connection: socket.socket) -> bytes:
    """One message; ``ConnectionError`` where the other side is gone."""
    return _exactly(connection, int(struct.unpack("<Q", _exactly(connection, 8))[0]))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(min(count - len(data), 1 << 20))
        if not part:
            raise ConnectionError("the process that computed is gone")
        data += part
    return bytes(data)


# The side of the workers.


def socket_of(folder: PathLike) -> Path:
    """Where the host of these keys listens on this node, in a folder that nobody else can enter."""
    home = Path(tempfile.gettempdir()) / f"sunzi-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    if home.stat().st_uid != os.getuid() or home.stat().st_mode & 0o077:
        raise PermissionError(f"{home} is not a folder of yours alone: remove it")
    place = Path(folder).resolve()
    written = about_keys(place).stat()
    name = hashlib.sha256(f"{place}\0{written.st_mtime_ns}".encode()).hexdigest()[:16]
    return home / f"{name}.socket"


def connect(folder: PathLike, threads: int) -> socket.socket:
    """A connection to a process that has the keys; starts the host where none is."""
    path = socket_of(folder)
    insecure = _INSECURE.get()
    with (path.with_suffix(".lock")).open("w") as lock:
        # One at a time: all others find the host of the first.
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.suppress(OSError):
            return _connected(path)
        _start(Path(folder).resolve(), path, threads, insecure)
        until = time.monotonic() + LOADING
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                return _connected(path)
            time.sleep(0.02)
    raise TimeoutError(f"the keys of {folder} were not loaded: {path.with_suffix('.log')} may say why")


def _connected(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


def _start(folder: Path, path: Path, threads: int, insecure: bool) -> None:
    """A process that outlives whoever starts it: the first child ends at once."""
    code = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
    command = [sys.executable, "-m", "sunzi._host", str(folder), str(path), str(threads)]
    if insecure:
        command.append(_INSECURE_FLAG)
    with path.with_suffix(".log").open("wb") as log:
        subprocess.run([sys.executable, "-c", code, *command], check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


# The host.


def serve(folder: Path, path: Path, threads: int) -> None:
    """Loads the keys, then forks a process for each connection."""
    keys = load_keys(folder)
    gc.collect()
    # Counting references would write to the pages of all objects there are.
    gc.freeze()
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)
    # Threads of the library sleep now: they hold no lock that a fork would find taken.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    children, last = 0, time.monotonic()
    try:
        while children or time.monotonic() - last < PATIENCE:
            ready = select.select([listener], [], [], 0.25)[0]
            children -= sum(1 for _ in _ended(children))
            if not ready:
                continue
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _work(connection, keys, threads)
            connection.close()
            children, last = children + 1, time.monotonic()
    finally:
        path.unlink(missing_ok=True)


def _ended(children: int) -> Iterator[int]:
    for _ in range(children):
        found, _status = os.waitpid(-1, os.WNOHANG)
        if not found:
            return
        yield found


def _work(connection: socket.socket, keys: PublicKeys, threads: int) -> None:
    """The life of a forked process: tasks until the connection ends."""
    code = 1
    try:
        with contextlib.suppress(ConnectionError), _native.threads(threads):
            while True:
                program, arguments = pickle.loads(receive(connection))
                try:
                    work: Callable[..., Any] = pickle.loads(program)
                    answer: tuple[bool, Any] = (True, work(keys, *arguments))
                    data = pickle.dumps(answer)
                except Exception as error:  # whatever a program raises is the caller's to see
                    data = pickle.dumps((False, (type(error).__name__, str(error), traceback.format_exc())))
                send(connection, data)
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    with insecure_for_research_only() if _INSECURE_FLAG in sys.argv[4:] else contextlib.nullcontext():
        serve(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
