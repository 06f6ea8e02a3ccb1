"""Addresses of endpoints, and the proxy through which the environment wants them to be reached."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from markscheme.ask.secrets import environment_secrets
from markscheme.vocabulary import UsageError, format_value

_DEFAULT_PORTS = {"http": 80, "https": 443}
_SYSTEM_PROXY_PLATFORMS = {"darwin", "win32"}  # they can name a proxy outside the environment


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAddress:
    """The base URL of an endpoint or a proxy, without user and password."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> HttpAddress:
        """Parse a base URL; raise `UsageError` for anything that cannot be one."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        has_extras = "@" in parts.netloc or parts.query or parts.fragment
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or has_extras:
            # The user part and the query may hold a secret, so they are not shown.
            shown = url.rpartition("@")[2].partition("?")[0]
            shown = format_value(environment_secrets().certain.redact(shown))
            advice = "write http://HOST:PORT/v1 or https://…, without user, password, `?` and `#`"
            raise UsageError(f"{shown} is no address that can be asked; {advice}")
        port = _DEFAULT_PORTS[parts.scheme] if port is None else port
        return cls(scheme=parts.scheme, host=parts.hostname, port=port, path=parts.path.rstrip("/"))

    @property
    def host_and_port(self) -> str:
        """The host, with the port where it is not the default one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_and_port}{self.path}"


def find_proxy(address: HttpAddress) -> tuple[HttpAddress | None, str | None]:
    """Return the proxy that the environment names for an address, and its URL with any password."""
    is_named = any(name.lower().endswith("_proxy") for name in os.environ)
    if not is_named and sys.platform not in _SYSTEM_PROXY_PLATFORMS:
        return None, None
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - few have a proxy

    url = getproxies().get(address.scheme)
    if not url or _is_loopback(address.host) or proxy_bypass(address.host):
        return None, None
    scheme, _, rest = (url if "://" in url else f"http://{url}").partition("://")
    try:
        proxy = HttpAddress.parse(f"{scheme}://{rest.rpartition('@')[2]}")
    except UsageError as error:
        raise UsageError(f"the proxy of the environment: {error}") from error
    if proxy.scheme != "http":
        shown = format_value(str(proxy))
        why = f"the proxy of the environment: {shown} is to be spoken to over TLS"
        raise UsageError(f"{why}, which is not done; name one with http://")
    return proxy, f"{scheme}://{rest}"


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine, which a proxy cannot reach for us."""
    from ipaddress import IPv6Address, ip_address  # noqa: PLC0415 - few have a proxy

    host = host.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(OSError):
        host = socket.inet_ntoa(socket.inet_aton(host))  # 127.1 is a spelling of 127.0.0.1
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any(known.is_loopback or known.is_unspecified for known in (address, mapped) if known)
