"""Commands for developers of integrations."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.cli.commands import DONE, FAILED, SERVER, CommandGroup, Failure, option
from octavo.cli.opening import load_settings, opened
from octavo.cli.output import say, show
from octavo.cli.values import parse_port

if TYPE_CHECKING:
    from octavo.operations.developing.api import ApiClient

INTEGRATIONS = CommandGroup("integrations", "Create, test, and publish integrations.")
_CALLING = (
    option("--url", help="URL of the API (default: this server)"),
    option(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="file with an access token (default: the first administrator's)",
    ),
)
_FOLDER = (
    option("folder", type=Path, metavar="DIR", help="folder with gitbook-manifest.yaml"),
    option(
        "--env", dest="environment", metavar="NAME", help="environment to use, one of the manifest's `envs`"
    ),
)


@contextmanager
def _api(options: argparse.Namespace) -> Iterator[ApiClient]:
    """Connect to this server's API, or to the API at ``--url``, using the token in ``--token-file`` or, by
    default, a token of the first administrator."""
    from octavo.operations.developing.api import ApiClient
    from octavo.operations.installation import TOKEN_FILE

    settings = load_settings(options)
    token = "" if options.token_file else settings.admin_token
    path = options.token_file or settings.data_folder / TOKEN_FILE
    if not token:
        try:
            token = path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(
                f"no token found: {error}. Use --token-file to specify a file that contains one."
            ) from None
    with ApiClient(options.url or settings.url, token) as api:
        yield api


@INTEGRATIONS.command(
    "new",
    option(
        "folder",
        type=Path,
        metavar="DIR",
        help="folder to create; its name becomes the name of the integration",
    ),
    common=(),
)
def start_integration(options: argparse.Namespace) -> int:
    """Create an integration in a new folder."""
    from octavo.operations.developing import examples

    examples.start_integration(options.folder)
    print(f"Created {options.folder}. Publish it with `octavo integrations publish {options.folder}`.")
    return DONE


@INTEGRATIONS.command(
    "publish",
    *_CALLING,
    *_FOLDER,
    option("--org", metavar="ORG", help="organization that publishes it (default: the one in the manifest)"),
)
def publish_integration(options: argparse.Namespace) -> int:
    """Publish an integration or a new version of it."""
    from octavo.operations.developing.publishing import publish_folder

    with _api(options) as api:
        done = publish_folder(
            api, options.folder, say, organization=options.org, environment=options.environment
        )
    show(options, done, f"Published version {done['version']} of {done['name']} ({done['visibility']})")
    return DONE


@INTEGRATIONS.command(
    "pack",
    *_FOLDER,
    option("--out", type=Path, metavar="FILE", help="file to write (default: NAME.integration.json)"),
    common=(),
)
def pack_integration(options: argparse.Namespace) -> int:
    """Pack an integration into one file that can be published in the app."""
    from octavo.operations.developing.publishing import pack_folder

    print(pack_folder(options.folder, options.out, say, environment=options.environment))
    return DONE


@INTEGRATIONS.command(
    "add",
    *_CALLING,
    option("source", metavar="SOURCE", help="packed file, folder with packed files, or URL"),
    option("--org", metavar="ORG", help="organization that publishes them (default: your only one)"),
    option(
        "--secrets",
        type=Path,
        metavar="FILE",
        help='JSON file with the values of secrets: {"INTEGRATION": {"SECRET": "VALUE"}}',
    ),
    option("--offer", action="store_true", help="offer them to every organization on this server"),
)
def add_integrations(options: argparse.Namespace) -> int:
    """Publish packaged integrations from a file, a folder, or a URL."""
    from octavo.operations.admin import verification
    from octavo.operations.developing.packed import add_packed

    if options.offer and options.url:
        raise Failure(
            "--offer: can't be used with --url. Run the command on the server where you want to offer the"
            " integrations."
        )
    secrets = _read_secrets(options.secrets) if options.secrets else {}
    with _api(options) as api:
        organization = options.org or api.only_organization()
        added = list(add_packed(api, options.source, organization, secrets, public=options.offer))
    published = [one.name for one in added if one.name and one.version]
    if options.offer:
        with opened(options) as context:
            for name in published:
                verification.offer_integration(context, name, offered=True)
    lines = [
        f"{one.name}: published version {one.version}"
        if one.version
        else f"{one.name or one.source}: {one.problem}"
        for one in added
    ]
    show(options, [one._asdict() for one in added], "\n".join(lines))
    return DONE if len(published) == len(added) else FAILED


def _read_secrets(path: Path) -> dict[str, dict[str, str]]:
    import msgspec

    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, str]])
    except OSError as error:
        raise Failure(f"--secrets: {path}: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise Failure(f"--secrets: {path}: {error}") from None


@INTEGRATIONS.command(
    "dev",
    *_CALLING,
    *_FOLDER,
    option("--port", type=parse_port, default=8787, help="port to listen on (default: %(default)s)"),
    option("--tunnel", metavar="URL", help="public URL that forwards to that port"),
    option("--all", action="store_true", help="also handle events from other organizations"),
    common=SERVER,
)
def develop_integration(options: argparse.Namespace) -> int:
    """Run a published integration on this machine, and reload it whenever it changes. Press Ctrl-C to stop."""
    from octavo.operations.developing.serving import develop

    with _api(options) as api:
        develop(
            api,
            options.folder,
            lambda line: print(line, flush=True),
            environment=options.environment,
            port=options.port,
            tunnel=options.tunnel,
            all_installations=options.all,
            allowed=load_settings(options).allow_private_fetch,
        )
    return DONE


@INTEGRATIONS.command(
    "install-builtin",
    *_CALLING,
    option("name", nargs="?", metavar="NAME", help="name of the integration (default: list them)"),
    option("--org", metavar="ORG", help="organization to publish and install it in"),
)
def install_builtin(options: argparse.Namespace) -> int:
    """Publish and install a built-in integration."""
    from octavo.operations.developing import examples

    if options.name is None:
        names = examples.list_builtin()
        show(options, names, "\n".join(names))
        return DONE
    with _api(options) as api:
        done = examples.install_builtin(api, options.name, organization=options.org)
    show(options, done, f"Installed {options.name} ({done['status']}): {done['urls']['location']}")
    return DONE


@INTEGRATIONS.command(
    "offer",
    option("name", metavar="NAME", help="name of the integration"),
    option("--stop", action="store_true", help="stop offering it; existing installations are kept"),
)
def offer_integration(options: argparse.Namespace) -> int:
    """Offer a public integration to every organization on this server."""
    from octavo.operations.admin import verification

    with opened(options) as context:
        verification.offer_integration(context, options.name, offered=not options.stop)
    text = f"{options.name} is {'no longer' if options.stop else 'now'} offered to every organization"
    show(options, {"integration": options.name, "offered": not options.stop}, text)
    return DONE
