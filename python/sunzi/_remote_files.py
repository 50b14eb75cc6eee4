"""Bytes that go to a server and come from it: counted, hashed, and never all in memory unless that is asked for."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Optional, Protocol, Union

from . import _native, errors
from ._program import Plan as ArrayPlan
from ._program import Program as ArrayProgram
from ._remote_steps import BLOCK, Lost, Progress
from .tables import EncryptedTable, Keys, Plan, Program

PathLike = Union[str, "os.PathLike[str]"]
#: Bytes that say what an object is.
_HEADER = 64
_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")


# What is sent.


class Source:
    """Bytes to send, a file or in memory, which are read anew whenever they are sent again. What says that it is a secret is refused."""

    def __init__(self, name: str, content: Union[Path, bytes]) -> None:
        self.name, self._content = name, content
        with self.open() as opened:
            beginning = opened.read(_HEADER)
            self.nbytes = opened.seek(0, os.SEEK_END)
        try:
            kind = _native.read_header(beginning)[0]
        except errors.SunziError:
            # What is no object of Sunzi is refused by the server, which knows what belongs where.
            return
        if _native.kind_is_secret(kind):
            what = "the folder eval, or the encrypted table"
            raise errors.SecretRefused(f"{self._told()} is {_native.kind_name(kind)}, which never goes to a server: give {what}")

    def _told(self) -> str:
        return str(self._content) if isinstance(self._content, Path) else f"{self.name!r}"

    def open(self) -> IO[bytes]:
        """The bytes from the beginning on."""
        if isinstance(self._content, bytes):
            return io.BytesIO(self._content)
        # A pipe would keep whoever opens it waiting.
        if not stat.S_ISREG(os.stat(self._content).st_mode):
            raise errors.NotRegular(f"{self._told()} is no regular file: give one")
        return self._content.open("rb")

    def changed(self) -> errors.Changed:
        """The error of bytes that are fewer than they were."""
        return errors.Changed(f"{self._told()} became shorter while it was sent: send it again when nobody writes to it")


class Upload:
    """One attempt to send a source: its bytes in blocks, counted and hashed as they go."""

    def __init__(self, source: Source, before: int, total: int, progress: Optional[Progress]) -> None:
        self._source, self._before, self._total, self._progress = source, before, total, progress
        self._hash = hashlib.sha256()
        self.nbytes, self.sent, self._stopped = source.nbytes, 0, False

    def blocks(self) -> Iterator[bytes]:
        """The bytes, as many as there were when the source was made."""
        with self._source.open() as opened:
            while self.sent < self.nbytes:
                if self._stopped:
                    raise Lost("nobody waits for the answer any more")
                block = opened.read(min(BLOCK, self.nbytes - self.sent))
                if not block:
                    raise self._source.changed()
                self._hash.update(block)
                self.sent += len(block)
                yield block

    def stop(self) -> None:
        """Ends the upload before its next block."""
        self._stopped = True

    def tell_through(self, call: Callable[[Callable[[], object]], object]) -> None:
        """Has progress told by a function that calls another one, in the thread in which progress is awaited."""
        progress = self._progress
        if progress is not None:
            self._progress = lambda sent, total: call(lambda: progress(sent, total))

    def tell(self) -> None:
        """Tells how far the upload is."""
        if self._progress is not None:
            self._progress(self._before + self.sent, self._total)

    @property
    def sha256(self) -> str:
        """The hash of what was sent."""
        return self._hash.hexdigest()


def program_bytes(program: Union[str, PathLike, Program, Plan]) -> bytes:
    """What is sent of a program: a text as it is, the text of a file, or all of a program on tables as JSON."""
    if isinstance(program, (ArrayProgram, ArrayPlan)):
        raise TypeError("a server runs programs of sunzi.tables, and no function of encrypted arrays: give a text or a sunzi.tables.Program")
    if isinstance(program, Plan):
        return program._inner.program.to_json().encode()
    if isinstance(program, Program):
        return program.to_json().encode()
    return program.encode() if isinstance(program, str) else Path(program).read_bytes()


def table_content(table: Union[PathLike, bytes, EncryptedTable]) -> Union[Path, bytes]:
    """What is sent of a table: a file, or bytes."""
    if isinstance(table, EncryptedTable):
        return table.to_bytes()
    if isinstance(table, (bytes, bytearray, memoryview)):
        return bytes(table)
    if isinstance(table, (str, os.PathLike)):
        return Path(table)
    raise TypeError(f"a server computes on encrypted tables, not on {type(table).__name__}: give a file of sunzi encrypt, or a sunzi.tables.EncryptedTable")


class EvaluationFolder:
    """The files of evaluation keys: of a folder ``eval``, or of keys, which are written to a folder that is removed again."""

    def __init__(self, keys: Union[PathLike, Keys]) -> None:
        self._keys = keys
        self._temporary: Optional[tempfile.TemporaryDirectory[str]] = None

    def sources(self) -> list[Source]:
        """The files by their names."""
        if isinstance(self._keys, Keys):
            self._temporary = tempfile.TemporaryDirectory(prefix="sunzi-")
            made = Path(self._temporary.name) / "keys"
            # Without the secret key, which is written nowhere for this.
            self._keys.public.save(made)
            folder = made / "eval"
            if not folder.is_dir():
                raise errors.MissingKey("these keys are not those of whoever computes: load the folder eval, or all folders")
        else:
            folder = Path(self._keys)
        paths = sorted(folder.iterdir())
        if not paths:
            raise errors.MissingKey(f"{folder} is empty: give the folder eval that sunzi keygen made")
        for path in paths:
            if not path.is_file():
                raise errors.NotRegular(f"{folder} has a folder in it: give the folder eval that sunzi keygen made, and no other")
        return [Source(path.name, path) for path in paths]

    def close(self) -> None:
        """Removes what was written."""
        if self._temporary is not None:
            self._temporary.cleanup()


# What comes.


class Target(Protocol):
    """What takes the bytes of a result."""

    def open(self) -> object: ...
    def write(self, block: bytes) -> object: ...
    def finish(self) -> Any: ...
    def discard(self) -> None: ...


class Memory:
    """A result in memory."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def open(self) -> None:
        """Nothing is to be opened."""

    def write(self, block: bytes) -> None:
        self._parts.append(block)

    def finish(self) -> bytes:
        return b"".join(self._parts)

    def discard(self) -> None:
        """Nothing is left behind."""


class PartFile:
    """A file beside the target, which gets its name once it is whole."""

    def __init__(self, target: PathLike, force: bool) -> None:
        self._target, self._force = Path(target), force
        self._part = self._target.with_name(f".{self._target.name[:200]}.{secrets.token_hex(8)}.part")
        self._file: Optional[IO[bytes]] = None

    def check(self) -> None:
        """Fails where the target is there and may not be replaced."""
        if os.path.lexists(self._target) and not self._force:
            raise self._there()

    def _there(self) -> errors.Io:
        return errors.Io(f"{self._target} is there already: choose another file, or give force=True")

    def open(self) -> None:
        self.check()
        self._file = self._part.open("xb")

    def write(self, block: bytes) -> None:
        if self._file is not None:
            self._file.write(block)

    def finish(self) -> Path:
        """Gives the file its name, and returns its path."""
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        if self._force:
            os.replace(self._part, self._target)
            return self._target
        try:
            # A rename would replace a file that came meanwhile.
            os.link(self._part, self._target)
        except FileExistsError:
            raise self._there() from None
        except OSError:
            # There are no hard links here.
            self.check()
            os.replace(self._part, self._target)
        return self._target

    def discard(self) -> None:
        """Removes what is not whole."""
        if self._file is not None:
            self._file.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._part)


class Download:
    """A result that is coming: over one connection, or over several where they break."""

    def __init__(self, target: Target, nbytes: int, sha256: str, progress: Optional[Progress]) -> None:
        self._target, self.nbytes, self.sha256, self._progress = target, nbytes, sha256, progress
        self._hash, self.come = hashlib.sha256(), 0

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Fails for an answer that does not go on where the download is."""
        part = _RANGE.fullmatch(headers.get("content-range", ""))
        begins = int(part[1]) if status == 206 and part is not None else 0 if status == 200 else -1
        if begins != self.come:
            raise errors.DamagedTransfer("the result is another one than it was: fetch it again")

    def take(self, block: bytes) -> None:
        """Takes what came."""
        if self.come + len(block) > self.nbytes:
            raise errors.DamagedTransfer("the result is longer than the server says: fetch it again")
        self._target.write(block)
        self._hash.update(block)
        self.come += len(block)

    def tell(self) -> None:
        """Tells how far the download is."""
        if self._progress is not None:
            self._progress(self.come, self.nbytes)

    def check(self) -> None:
        """Fails for other bytes than those that the server says it has."""
        if self._hash.hexdigest() != self.sha256:
            raise errors.DamagedTransfer("the bytes of the result are not those that the server says: fetch it again")
