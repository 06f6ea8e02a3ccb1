"""Listen on a port, print and open the one-time link, and stop cleanly when asked to."""

from __future__ import annotations

import logging
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import uvicorn

from markscheme.keep import Grant, Role, StorePool
from markscheme.vocabulary import UsageError
from markscheme.web.app import create_app
from markscheme.web.services import Services
from markscheme.workflows.portal import Portal

if TYPE_CHECKING:
    from types import FrameType

_LOOPBACK_ADDRESSES = ("127.0.0.1", "::1", "localhost")
_ANY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
_KEEP_ALIVE_SECONDS = 75
_SHUTDOWN_SECONDS = 3
_BACKLOG = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """How the app is served. `port` 0 takes any free port; without a `portal`, the default one."""

    store: str | Path | None = None
    host: str = "127.0.0.1"
    port: int = 8020
    host_names: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    insecure_lan: bool = False
    landing: str = "/"
    language: str = "en"
    portal: Portal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the app answers, and the link that lets its owner enter once."""

    url: str
    link: str


def run_server(
    options: ServeOptions, announce: Callable[[Address], None], *, open_browser: bool
) -> None:
    """Serve until the process is asked to stop; `announce` is told the address."""
    check_exposure(options)
    is_secure = options.certificate is not None
    listening = _listen(options)
    with listening, StorePool(options.store) as pool:
        services = Services(
            pool=pool,
            language=options.language,
            is_secure=is_secure,
            given_portal=options.portal,
        )
        app = create_app(services, host_names=_list_host_names(options))
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            ssl_certfile=options.certificate,
            ssl_keyfile=options.key,
        )
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        token = pool.submit_write(
            lambda store: store.web_access.create_link(
                Grant(role=Role.OWNER), landing=options.landing
            )
        ).result()
        url = _build_url(options, listening.getsockname()[1])
        address = Address(url=url, link=f"{url}/enter/{token}")
        announce(address)
        if open_browser:
            # Some browsers keep `open` waiting until they are closed.
            Thread(target=webbrowser.open, args=(address.link,), daemon=True).start()
        _QuietServer(config, services).run(sockets=[listening])


def check_exposure(options: ServeOptions) -> None:
    """Refuse to answer to other machines in plain text, unless that was asked for by name."""
    if (options.certificate is None) != (options.key is None):
        raise UsageError("a certificate needs its key: give both --tls-cert and --tls-key")
    for path in (options.certificate, options.key):
        if path is not None and not path.is_file():
            raise UsageError(f"there is no file `{path}`")
    is_loopback = options.host in _LOOPBACK_ADDRESSES
    if not is_loopback and options.certificate is None and not options.insecure_lan:
        raise UsageError(
            f"on {options.host} other machines could read what is sent: give --tls-cert and"
            " --tls-key, or --insecure-lan if everybody in the network may read it"
        )


def _listen(options: ServeOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # Only with the protocol named does asyncio switch Nagle's algorithm off, which would hold the
    # second part of each answer back for 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((options.host, options.port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"cannot listen on {options.host} port {options.port}: {error.strerror or error};"
            " --port names another port, and 0 takes any that is free"
        ) from error
    return listening


def _list_host_names(options: ServeOptions) -> list[str]:
    """Return the names that are served besides those of loopback: the address, and those given."""
    own = [] if options.host in _ANY_ADDRESS else [_format_host(options.host)]
    return [*options.host_names, *own]


def _build_url(options: ServeOptions, port: int) -> str:
    host = [*_list_host_names(options), "127.0.0.1"][0]
    return f"{'https' if options.certificate else 'http'}://{host}:{port}"


def _format_host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


class _QuietServer(uvicorn.Server):
    """Ends without an error when it is asked to stop, and ends streams before connections."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while serving; do not raise them again afterwards, as uvicorn does."""
        former = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; a second Ctrl-C does not wait for open requests."""
        super().handle_exit(sig, frame)
        self._services.closing.set()
