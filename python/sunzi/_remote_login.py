"""Address of a server and token of an account: given, of the environment, or as ``sunzi remote login`` keeps them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional, Union
from urllib.parse import urlsplit

from .errors import LoginUnusable

SERVER, TOKEN, CA = "SUNZI_SERVER", "SUNZI_TOKEN", "SUNZI_CA"
#: Longest file of a login, in bytes.
_LONGEST = 1 << 16
_TOKEN = re.compile(r"sunzi-[0-9a-f]{16}-[0-9a-f]{64}")
#: Names of this machine, which nothing between machines can read.
_OWN = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Login:
    """Address of a server, token of an account, and a file of certificates to trust in place of those of the system."""

    server: str
    token: str = field(repr=False)
    ca: Optional[str] = None

    def checked(self) -> Login:
        """The same login; fails before a token is sent where it should not be."""
        _check_address(self.server)
        if not _TOKEN.fullmatch(self.token):
            raise LoginUnusable("this is no token: expected sunzi-, 16 digits, - and 64 digits, as sunzi account add printed it")
        return self


def login_of(server: Optional[str], token: Optional[str], ca: Optional[Union[str, os.PathLike[str]]]) -> Login:
    """The login that is given, else the one of the environment, else the one that was kept."""
    if server is not None and token is not None:
        return Login(server.rstrip("/"), token, None if ca is None else os.path.abspath(ca)).checked()
    if server is not None or token is not None or ca is not None:
        raise LoginUnusable("give the address of a server and a token, with ca where it is needed, or nothing to take the login that is kept")
    server, token = os.environ.get(SERVER), os.environ.get(TOKEN)
    if server is not None and token is not None:
        return Login(server.rstrip("/"), token, os.environ.get(CA)).checked()
    if server is not None or token is not None:
        raise LoginUnusable(f"one of {SERVER} and {TOKEN} is set: set both of them, or neither")
    return _kept(login_file()).checked()


def login_file() -> Path:
    """The file of the login, which ``sunzi remote login`` writes."""
    configuration = os.environ.get("XDG_CONFIG_HOME")
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
    if not configuration and not home:
        raise LoginUnusable(f"there is no home folder for the login: set {SERVER} and {TOKEN} instead")
    folder = Path(configuration) if configuration else Path(home or "") / ".config"
    return folder / "sunzi" / "remote.json"


def _kept(file: Path) -> Login:
    if not file.exists():
        raise LoginUnusable(f"there is no login: run sunzi remote login, set {SERVER} and {TOKEN}, or give server and token")
    wrong = LoginUnusable(f"{file} is no login: run sunzi remote login again")
    if not file.is_file():
        raise wrong
    with file.open("rb") as opened:
        text = opened.read(_LONGEST + 1)
    try:
        found = json.loads(text) if len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(found, dict) or not {"server", "token"} <= found.keys() <= {"server", "token", "ca"}:
        raise wrong
    server, token, ca = found["server"], found["token"], found.get("ca")
    if not isinstance(server, str) or not isinstance(token, str) or not isinstance(ca, (str, type(None))):
        raise wrong
    return Login(server, token, ca)


def keep(login: Login) -> Path:
    """Writes the login to its file, which its owner alone can read, in one step."""
    file = login_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"server": login.server, "token": login.token, "ca": login.ca}) + "\n"
    new = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as opened:
            opened.write(text.encode())
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(new, file)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
    return file


def _check_address(server: str) -> None:
    """Fails for an address to which a token would pass in the clear, or that is none."""
    # What urlsplit drops, or others read in another way.
    plain = server.isprintable() and not any(sign in server for sign in " \\?#")
    try:
        parts = urlsplit(server)
        host, _, user = parts.hostname, parts.port, parts.username
    except ValueError:
        plain, host, user = False, None, None
    if not plain or host is None or user is not None or "@" in server or parts.scheme not in ("https", "http"):
        raise LoginUnusable(f"{server!r} is no address of a server: expected one such as https://compute.example.org")
    if parts.scheme == "http" and host not in _OWN:
        message = "expected an address that begins with https://, since the token would pass in the clear; http:// is for 127.0.0.1 and localhost"
        raise LoginUnusable(f"{server!r}: {message}")
