"""A server that answers like the APIs of GitHub and GitLab: repositories, their branches, and one file."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

SHA = "95b966ae1c166bd92f8ae7d1c313e738c731dfc3"
TOKEN = "glpat-of-a-test"  # noqa: S105
_GITHUB = "/api/v3"
_GITLAB = "/api/v4"
_PROJECT = {"id": 7, "path_with_namespace": "acme/docs", "default_branch": "main"}
ANSWERS: dict[str, Any] = {
    f"{_GITHUB}/user/repos": [{"id": 5, "full_name": "acme/docs", "default_branch": "main"}],
    f"{_GITHUB}/repositories/5": {"id": 5, "full_name": "acme/docs"},
    f"{_GITHUB}/repos/acme/docs/branches": [{"name": "main"}, {"name": "next/one"}],
    f"{_GITHUB}/repos/acme/docs/contents/docs/README.md": {
        "name": "README.md",
        "path": "docs/README.md",
        "sha": SHA,
        "size": 12,
    },
    f"{_GITLAB}/projects": [_PROJECT, {"id": 8, "path_with_namespace": "acme/empty"}],
    **dict.fromkeys((f"{_GITLAB}/projects/7", f"{_GITLAB}/projects/acme%2Fdocs"), _PROJECT),
    f"{_GITLAB}/projects/7/repository/branches": [{"name": "main"}],
    f"{_GITLAB}/projects/7/repository/files/docs%2FREADME.md": {
        "file_name": "README.md",
        "file_path": "docs/README.md",
        "blob_id": SHA,
        "size": 12,
    },
}


class ProviderServer:
    """Server of a Git provider. ``asked``: the paths and tokens of all requests; ``answers``: its responses,
    by path."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.answers = dict(ANSWERS)
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = urlsplit(self.path).path
                token = self.headers.get("private-token") or self.headers.get("authorization", "")
                owner.asked.append((self.path, token))
                found = owner.answers.get(path)
                status = 401 if TOKEN not in token else 404 if found is None else 200
                data = found if isinstance(found, bytes) else json.dumps(found).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
