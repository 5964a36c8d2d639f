"""The tokens that identify this user to remote ladders, in one file that only this user can read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from ladder.operation.errors import LadderError, Unauthenticated
from referee.files import private_folder, read_file, write_private

_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Login:
    """The credentials of this user for a server.

    Attributes:
        author: the author to whom the token belongs; empty without a token.
        token: the token; empty for none.
        authority: the file with the certificate of the server's certificate authority; None for those of this system.
        insecure: True if the token may be sent to another machine over an unencrypted connection.
    """

    author: str = ""
    token: str = ""
    authority: str | None = None
    insecure: bool = False

    def check_logged_in(self, server: str) -> None:
        """Check that this user is logged in to a server.

        Raises:
            Unauthenticated: if there is no token.
        """
        if not self.token:
            raise Unauthenticated(f"you are not logged in at {server}; log in first: dogana login {server}")

    def check_private(self, server: str) -> None:
        """Check that the token is safe, because the connection is encrypted or stays on this machine.

        Raises:
            LadderError: if neither is the case, and the user has not allowed an insecure connection.
        """
        if self.token and not server.startswith("https:") and not self.insecure and not is_here(server):
            raise LadderError(
                f"the connection to {server} is not encrypted, so others could read your token on its way;"
                " https:// encrypts, --insecure sends it all the same"
            )

    def certificate(self) -> bytes:
        """Return the certificate of the certificate authority.

        Raises:
            LadderError: if it cannot be read.
        """
        try:
            return Path(self.authority or "").read_bytes()
        except OSError as error:
            raise LadderError(f"cannot read the certificate {self.authority}: {error.strerror}") from error


def is_url(server: str) -> bool:
    """Return True if a server is named by an HTTP or HTTPS URL."""
    return server.startswith(("http://", "https://"))


def is_here(server: str) -> bool:
    """Return True if a URL or `HOST:PORT` refers to this machine."""
    try:
        if is_url(server):
            host = (urlsplit(server).hostname or "").lower()
        else:
            host = server.rpartition(":")[0].strip("[]").lower()
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def logins_file() -> Path:
    """Return the path of the file with the tokens."""
    return Path(platformdirs.user_config_dir("dogana")) / "logins.json"


def login_of(server: str) -> Login:
    """Return this user's login for a server; without a token if none is stored.

    Raises:
        LadderError: if the file cannot be read.
    """
    return _read().get(_plain(server), Login())


def remember(server: str, login: Login | None) -> None:
    """Store the login for a server, or delete it if `login` is None.

    Raises:
        LadderError: if the file cannot be read.
        OSError: if it cannot be written.
    """
    known = _read()
    known.pop(_plain(server), None)
    if login is not None:
        known[_plain(server)] = login
    file = logins_file()
    # The parent folder, for the settings of all programs, need not be private.
    file.parent.parent.mkdir(parents=True, exist_ok=True)
    private_folder(file.parent)
    write_private(file, json.dumps({name: asdict(one) for name, one in known.items()}, indent=1).encode())


def _plain(server: str) -> str:
    """Return the canonical form of an address, under which its login is stored."""
    return server.rstrip("/") if is_url(server) else server


def _read() -> dict[str, Login]:
    file = logins_file()
    try:
        entries = json.loads(read_file(file, _MAX_BYTES))
        return {str(name): Login(**entry) for name, entry in entries.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise LadderError(f"{file}: {error.strerror}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise LadderError(f"{file} is damaged; remove it, and log in again: dogana login URL") from error
