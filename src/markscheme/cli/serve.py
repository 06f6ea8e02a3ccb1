"""`markscheme serve`: the web app on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from markscheme.cli.exit_codes import ExitCode, handle_errors
from markscheme.cli.options import format_option, store_option

if TYPE_CHECKING:
    from markscheme.web import Address, ServeOptions

_EPILOG = """\b
Example:
  markscheme serve
  markscheme serve --port 0 --no-open --format json

The link can be used once, within ten minutes. Stop the server with Ctrl-C. It answers to this
machine alone, unless --host names an address that others reach; that needs --tls-cert and
--tls-key, or --insecure-lan."""


@click.command(name="serve", epilog=_EPILOG)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8020,
    show_default=True,
    help="The port to listen on; 0 takes any free port.",
)
@click.option("--no-open", is_flag=True, help="Print the link and do not open a browser.")
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on.",
)
@click.option(
    "--host-name",
    "host_names",
    multiple=True,
    metavar="NAME",
    help="A further name under which browsers reach this machine.",
)
@click.option("--tls-cert", metavar="FILE", help="The TLS certificate (PEM).")
@click.option("--tls-key", metavar="FILE", help="The key of the certificate (PEM).")
@click.option(
    "--insecure-lan", is_flag=True, help="Answer to other machines in plain text, without TLS."
)
@click.option(
    "--class",
    "class_file",
    metavar="FILE",
    help="Serve this class: its learners enter with their codes.",
)
@store_option
@format_option
@handle_errors
def command(
    *,
    port: int,
    no_open: bool,
    host: str,
    host_names: tuple[str, ...],
    tls_cert: str | None,
    tls_key: str | None,
    insecure_lan: bool,
    class_file: str | None,
    store: str | None,
    format_: str,
) -> ExitCode:
    """Serve the web app: runs, comparisons, rating studies and the learner portal."""
    from markscheme.tell.language import get_language
    from markscheme.web import ServeOptions
    from markscheme.workflows.portal import load_class_portal

    options = ServeOptions(
        store=store,
        host=host,
        port=port,
        host_names=host_names,
        certificate=None if tls_cert is None else Path(tls_cert),
        key=None if tls_key is None else Path(tls_key),
        insecure_lan=insecure_lan,
        language=get_language(),
        portal=None if class_file is None else load_class_portal(class_file),
    )

    return serve_app(options, open_browser=not no_open, format_=format_)


def serve_app(options: ServeOptions, *, open_browser: bool, format_: str = "text") -> ExitCode:
    """Serve until the process is asked to stop; print the address and the link."""
    from markscheme.tell.language import translate
    from markscheme.web import run_server

    def announce(address: Address) -> None:
        if format_ == "json":
            document = {"url": address.url, "link": address.link}
            click.echo(json.dumps(document, indent=2))
        else:
            click.echo(translate("markscheme answers at {url}", url=address.url))
            click.echo(translate("enter once, within ten minutes: {link}", link=address.link))
        sys.stdout.flush()

    run_server(options, announce, open_browser=open_browser)
    return ExitCode.OK
