"""The folder of one party: its files, and where the share in it came from or went to."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Optional

from . import _native
from .errors import PartyRecords

#: Files: public keys, own secret, share of a threshold, ledger.
PUBLIC, SECRET, SHARE, LEDGER = "public.sz", "secret.sz", "share.sz", "sharing.sz"
#: Folders: records of sessions, of dealings, of handing on, and what was answered.
SESSION, DEALING, HANDING_ON, SHARES = "session", "dealing", "handing-on", "shares"
#: Files of text: the session that handed the share on to this party, and what is said of a share that went to others.
_ORIGIN, _GONE = "handed-on-by", "handed-on-to"


def origin_of(folder: Path) -> Optional[bytes]:
    """The session that handed the share in a folder on to its party; None for a share that was dealt."""
    path = folder / _ORIGIN
    if not path.exists():
        return None
    try:
        session = bytes.fromhex(path.read_text(encoding="utf-8").strip())
    except ValueError as error:
        raise PartyRecords(f"{path}: expected the 64 hexadecimal digits of a session, got something else: put the file back") from error
    if len(session) != 32:
        raise PartyRecords(f"{path}: expected the 64 hexadecimal digits of a session, got {2 * len(session)}: put the file back")
    return session


def write_origin(folder: Path, session: bytes) -> None:
    _native.write_file(folder / _ORIGIN, session.hex().encode())


def gone_from(folder: Path) -> Optional[str]:
    """Where the share of a folder went, in words; None for one that is still to be used."""
    path = folder / _GONE
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else None


def mark_gone(folder: Path, words: str) -> None:
    _native.write_file(folder / _GONE, words.encode())


def is_used(folder: Path) -> bool:
    """Whether keys or a ledger are in a folder."""
    return any((folder / name).exists() for name in (SECRET, SHARE, LEDGER))


def erase_secrets(folder: Path) -> None:
    """Removes share and secret, and the records that they follow from. Public keys, the ledger, and the words on where the share went stay."""
    for name in (SHARE, SECRET):
        (folder / name).unlink(missing_ok=True)
    for name in (SESSION, DEALING, HANDING_ON, SHARES):
        if (folder / name).exists():
            shutil.rmtree(folder / name)
