"""Tests of `octavo integrations` as a person runs it, with a running server."""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import subprocess
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from serving import OCTAVO, octavo
from settled import PATIENCE


@contextmanager
def developing(installed, folder, *options):
    """Run `octavo integrations dev` until the end of the block; yield a function that waits for a line."""
    command = [OCTAVO, "integrations", "dev", str(folder), "--port", str(installed.port), *options]
    environ = {**os.environ, "OCTAVO_DATA": str(installed.data)}
    process = subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines, more = [], threading.Condition()

    def read():
        for line in process.stdout:
            with more:
                lines.append(line.rstrip())
                more.notify_all()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()

    def wait_for(text, after=0):
        """Return the index of the first line with ``text``, starting at ``after``."""

        def found():
            return next((n for n in range(after, len(lines)) if text in lines[n]), None)

        with more:
            assert more.wait_for(lambda: found() is not None, timeout=60), lines
            return found()

    wait_for.lines = lines
    try:
        yield wait_for
    finally:
        # Not SIGINT, which a process started in the background may have inherited as ignored.
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, lines
        reader.join(PATIENCE)
        process.stdout.close()


def start(installed, tmp_path, name):
    folder = tmp_path / name
    done = installed.octavo("integrations", "new", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def write(tmp_path, name):
    """Create the folder of an integration that needs no packages."""
    folder = tmp_path / name
    folder.mkdir()
    (folder / "script.js").write_text("export default { async fetch() { return new Response('OK'); } };")
    (folder / "gitbook-manifest.yaml").write_text(
        f"{{name: {name}, title: Written, script: script.js, scopes: []}}"
    )
    return folder


def set_up(installed, name):
    """Install an integration, and return the id of a space that it is on."""
    body = {"organization": installed.organization}
    made = installed.call("POST", f"/integrations/{name}/installations", body)
    space = installed.create_space(name)
    installed.call("PATCH", f"/integrations/{name}/installations/{made['id']}", {"space_selection": "all"})
    return space


def test_each_publication_is_the_next_version(installed, tmp_path):
    folder = write(tmp_path, "versions")
    for version in (1, 2):
        done = installed.octavo("integrations", "publish", str(folder))
        assert done.stdout == f"Published version {version} of versions (private)\n", done.stderr
    with_file = installed.octavo("integrations", "publish", str(folder / "gitbook-manifest.yaml"), "--json")
    assert '"version": 3' in with_file.stdout


def test_a_packed_integration_can_be_published(installed, tmp_path):
    folder = write(tmp_path, "packed")
    manifest = folder / "gitbook-manifest.yaml"
    manifest.write_text(manifest.read_text()[:-1] + ', secrets: {KEY: "${{ env.NOT_SET }}"}}')
    file = tmp_path / "packed.json"
    done = installed.octavo("integrations", "pack", str(folder), "--out", str(file))
    assert done.stdout == f"{file}\n", done.stderr
    body = json.loads(file.read_text())
    assert body["secrets"] == {"KEY": ""} and "organization" not in body
    name = body.pop("name")
    made = installed.call("POST", f"/integrations/{name}", {**body, "organization": installed.organization})
    assert (made["name"], made["version"], made["title"]) == ("packed", 1, "Written")


def test_packed_integrations_are_added_from_a_folder_and_a_url(installed, tmp_path):
    source = tmp_path / "packed"
    source.mkdir()
    for name in ("first", "second"):
        folder = write(tmp_path, name)
        if name == "second":
            manifest = folder / "gitbook-manifest.yaml"
            manifest.write_text(manifest.read_text()[:-1] + ', secrets: {KEY: "${{ env.NOT_SET }}"}}')
        out = source / f"{name}.integration.json"
        assert installed.octavo("integrations", "pack", str(folder), "--out", str(out)).returncode == 0
    (source / "third.integration.json").write_text("{}")
    done = installed.octavo("integrations", "add", str(source), "--offer")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "first: published version 1",
        "second: must have values for these secrets: KEY. Add them with --secrets.",
        f"{source / 'third.integration.json'}: must be a packaged integration. "
        "Create one with `octavo integrations pack`.",
    ]
    assert installed.call("GET", "/integrations/first")["visibility"] == "public"
    secrets = tmp_path / "secrets.json"
    secrets.write_text('{"second": {"KEY": "value"}}')
    (source / "list.json").write_text('["first.integration.json", "second.integration.json"]')
    with serving_files(source) as url:
        arguments = ("integrations", "add", f"{url}/list.json", "--secrets", str(secrets))
        done = installed.octavo(*arguments, "--json")
        assert done.returncode == 0, done.stdout
        assert [(one["name"], one["version"]) for one in json.loads(done.stdout)] == [
            ("first", 2),
            ("second", 1),
        ]
        missing = installed.octavo("integrations", "add", f"{url}/no.json")
        assert missing.returncode == 1 and "404" in missing.stderr


@contextmanager
def serving_files(folder):
    """Serve a folder over HTTP, and yield its URL."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_script_runs_locally_and_restarts_after_each_change(installed, tmp_path):
    folder = start(installed, tmp_path, "live")
    script = folder / "src" / "index.tsx"
    assert installed.octavo("integrations", "publish", str(folder)).returncode == 0
    space = set_up(installed, "live")
    with developing(installed, folder) as wait_for:
        wait_for("live is running")
        installed.write(space, "First")
        seen = wait_for(f"info: [starter] the space {space} has a new revision")
        wait_for("returned 200 after")
        good = script.read_text()
        script.write_text(good.replace("the space", "now the space"))
        seen = wait_for("reloaded", seen)
        installed.write(space, "Second")
        seen = wait_for(f"now the space {space} has a new revision", seen)
        script.write_text("export default {")
        seen = wait_for("not reloaded: The script couldn't be bundled", seen)
        wait_for("index.tsx:1: ", seen)
        installed.write(space, "Third")  # the last script that could be bundled stays in use
        seen = wait_for(f"now the space {space} has a new revision", seen)
        script.write_text("export default { async fetch() { throw new Error('on purpose'); } };")
        seen = wait_for("reloaded", seen)
        asked = {"componentId": "greeting", "props": {}}
        context = {"type": "document", "theme": "light", "spaceId": space, "editable": False}
        answer = installed.client.post("/integrations/live/render", json={**asked, "context": context})
        assert answer.status_code == 502
        wait_for("failed: Error: on purpose", seen)
        script.write_text(good)
        wait_for("reloaded", seen)
    assert "Development mode ended" in wait_for.lines[-1]
    shown = installed.call("POST", "/integrations/live/render", {**asked, "context": context})
    assert shown["element"]["children"][0]["title"] == "Hello there", (
        "the published script receives events again"
    )


def test_an_unpublished_integration_is_reported(installed, tmp_path):
    folder = write(tmp_path, "unknown")
    done = installed.octavo("integrations", "dev", str(folder), "--port", str(installed.port))
    assert done.returncode == 1 and "octavo integrations publish" in done.stderr


def test_an_unreachable_port_is_reported(installed, tmp_path):
    folder = write(tmp_path, "private")
    assert installed.octavo("integrations", "publish", str(folder)).returncode == 0
    done = installed.octavo("integrations", "dev", str(folder), "--port", "1025")
    assert done.returncode == 1
    assert (
        "OCTAVO_ALLOW_PRIVATE_FETCH=127.0.0.1:1025, or pass a public URL that forwards here with --tunnel"
        in done.stderr
    )


def test_a_used_port_is_reported(installed, tmp_path):
    folder = write(tmp_path, "taken")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = installed.octavo("integrations", "dev", str(folder), "--port", port)
    assert done.returncode == 1 and f"port {port}: Address already in use" in done.stderr


def test_only_the_server_delivers_events(installed, tmp_path):
    folder = write(tmp_path, "closed")
    assert installed.octavo("integrations", "publish", str(folder)).returncode == 0
    with developing(installed, folder) as wait_for:
        wait_for("closed is running")
        base = f"http://127.0.0.1:{installed.port}"
        form = {"event": (None, '{"type": "task"}'), "environment": (None, "{}")}
        assert httpx.post(f"{base}/v1", files=form).status_code == 404
        with socket.create_connection(("127.0.0.1", installed.port)) as raw:
            raw.sendall(b"POST / HTTP/1.1\r\ncontent-length: 999999999999\r\n\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 413 ")
    assert not any("task" in line for line in wait_for.lines)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("publish", "{folder}", "--org", "nobody"), "nobody"),
        (("publish", "{folder}", "--url", "http://127.0.0.1:9"), "can't be reached"),
        (("publish", "{folder}", "--url", "ftp://example.com"), "--url: must be a URL"),
        (
            ("publish", "{folder}", "--token-file", "{folder}/script.js"),
            "must be a file that contains only a token",
        ),
        (("publish", "{folder}", "--token-file", "/nowhere"), "Use --token-file to specify a file"),
        (("publish", "{folder}", "--env", "live"), "no environment named 'live'. Available: none"),
        (("publish", "/nowhere"), "there is no manifest"),
        (("new", "{folder}"), "already exists"),
        (("install-builtin", "nothing"), "Available: oidc-sign-in, plausible, slack"),
    ],
)
def test_mistakes_are_reported_in_a_sentence(installed, tmp_path, arguments, says):
    folder = write(tmp_path, "mistakes")
    done = installed.octavo("integrations", *(part.format(folder=folder) for part in arguments))
    assert done.returncode == 1 and says in done.stderr, done.stderr
    assert done.stderr.startswith("octavo: ") or "\noctavo: " in done.stderr
    assert "Traceback" not in done.stderr


def test_members_of_several_organizations_must_select_one(installed, tmp_path):
    folder = write(tmp_path, "several")
    other = installed.call("POST", "/orgs", {"title": "Other"})
    done = installed.octavo("integrations", "publish", str(folder))
    assert done.returncode == 1 and f"{other['id']} (Other)" in done.stderr
    assert octavo("integrations", "new", str(folder)).returncode == 1
