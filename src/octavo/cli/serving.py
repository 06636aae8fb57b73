"""Commands that run the server."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from octavo.cli.commands import DONE, SERVER, Option, command, option
from octavo.cli.values import parse_port

if TYPE_CHECKING:
    from octavo.app import Role
    from octavo.settings import Settings


def _settings_help() -> str:
    import msgspec

    from octavo.settings import PREFIX, Settings

    lines = ["settings (environment variables, or in the file given with --config):"]
    for name, schema in msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"].items():
        lines.append(f"  {PREFIX}{name.upper():24} {schema['description']} [{schema.get('default', '')}]")
    return "\n".join(lines)


_HOST = option("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
_PORT = option(
    "--port", type=parse_port, default=8000, help="port of the API and the app (default: %(default)s)"
)
_WORKERS = option("--workers", type=int, help="number of processes that answer requests")


def _sites_port(*names: str) -> Option:
    return option(
        *names,
        dest="reader_port",
        type=parse_port,
        default=8001,
        help="port of published sites (default: %(default)s)",
    )


_OPTIONS = (_HOST, _PORT, _sites_port("--reader-port"), _WORKERS)
_READER_OPTIONS = (_HOST, _sites_port("--port", "--reader-port"), _WORKERS)
_SERVING: dict[str, Any] = {"common": SERVER, "epilog": _settings_help}


@command("serve", *_OPTIONS, **_SERVING)
def serve(options: argparse.Namespace) -> int:
    """Run the API, the published sites, and the job worker."""
    return _serve(options, "api", "reader", "worker")


@command("api", *_OPTIONS, **_SERVING)
def serve_api(options: argparse.Namespace) -> int:
    """Run only the API and the app."""
    return _serve(options, "api")


@command("reader", *_READER_OPTIONS, **_SERVING, defaults={"port": 8000})
def serve_sites(options: argparse.Namespace) -> int:
    """Run only the published sites."""
    # The command listens only on the port of sites; links to the app point to the usual port of the API.
    return _serve(options, "reader")


@command(
    "worker", **_SERVING, defaults={"host": "127.0.0.1", "port": 8000, "reader_port": 8001, "workers": None}
)
def run_jobs(options: argparse.Namespace) -> int:
    """Run only the job worker."""
    return _serve(options, "worker")


def _serve(options: argparse.Namespace, *roles: Role) -> int:
    from octavo.kit.processes.supervision import take_assignment

    assigned = take_assignment()
    if assigned is None:
        return _supervise(options)
    from octavo.app import ListenAddress, serve
    from octavo.kit.observability.logs import start_lines

    settings = _load_settings(options)
    serve(
        settings,
        roles=roles,
        address=ListenAddress(options.host, options.port, options.reader_port),
        say=start_lines(settings.log_format),
        assigned=assigned,
    )
    return DONE


def _supervise(options: argparse.Namespace) -> int:
    """Run a parent process that starts this command in worker processes. The parent loads as few modules as
    possible."""
    from octavo.kit.observability.logs import configure_for
    from octavo.kit.processes.supervision import Supervisor, command_of
    from octavo.kit.temporary import TemporaryFolder

    configure_for(_load_settings(options))
    with TemporaryFolder("metrics") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        return Supervisor(lambda: command_of(sys.executable, sys.orig_argv)).run()


def _load_settings(options: argparse.Namespace) -> Settings:
    from octavo.settings import load

    given = {name: getattr(options, name) for name in ("data", "workers")}
    ports = {"url": options.port, "sites_url": options.reader_port}
    # If the server uses other ports, its URLs contain these ports by default.
    defaults = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    return load(given, options.config, defaults=defaults)
