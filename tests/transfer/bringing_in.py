"""Helpers for import tests: uploads, runs, a local website, and small files of each format."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from msgspec.structs import replace

from octavo.content.revisions.states import main_state
from octavo.interchange.transfer.exporting import export_files
from octavo.kit.work.worker import Worker
from world import URL, World

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\x00\x00\x00\x02\x00\x00\x00\x03" + bytes(40)


class Imports:
    """An empty space of the home organization, for imports by any member of the cast."""

    def __init__(self, world: World) -> None:
        self.world = world
        made = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Empty"})
        self.space = made["id"]
        self.runs = world.home.path("/org/{organizationId}/imports")

    def ask_for_url(self, name: str, size: int, who: str = "editor", **more: Any) -> httpx.Response:
        body = {"file": {"name": name, "type": "x/y", "size": size}, "kind": "import_file", **more}
        return self.world.call(
            who, "POST", self.world.home.path("/orgs/{organizationId}/storage/upload"), json=body
        )

    def put(self, url: str, data: bytes, method: str = "PUT") -> httpx.Response:
        assert url.startswith(f"{URL}/uploads/")
        return self.world.call("nobody", method, url, content=data)

    def upload(self, name: str, data: bytes | str, who: str = "editor") -> str:
        """Return the key of an uploaded file."""
        data = data.encode() if isinstance(data, str) else data
        given = self.ask_for_url(name, len(data), who)
        assert given.status_code == 201, given.text
        answer = self.put(given.json()["url"], data)
        assert answer.status_code == 200, answer.text
        return given.json()["key"]

    def try_start(self, source: dict[str, Any], who: str = "editor", **target: Any) -> httpx.Response:
        body = {"source": source, "target": {"space": self.space, **target}}
        return self.world.call(who, "POST", self.runs, json=body)

    def start(self, source: dict[str, Any], who: str = "editor", **target: Any) -> str:
        answer = self.try_start(source, who, **target)
        assert answer.status_code == 201, answer.text
        assert answer.json()["status"] == "pending"
        return answer.json()["id"]

    def work(self) -> None:
        Worker(self.world.context.db, self.world.context).run_pending()

    def run(self, run: str, who: str = "editor") -> Any:
        return self.world.get(who, f"{self.runs}/{run}")

    def files(self, *files: tuple[str, bytes | str], **target: Any) -> Any:
        """Run an import of uploaded files to its end. It must succeed."""
        keys = [self.upload(name, data) for name, data in files]
        run = self.start({"type": "file", "files": keys}, **target)
        self.work()
        return self.run(run)

    def pages(self, change: str | None = None) -> list[Any]:
        at = f"change-requests/{change}/" if change else ""
        return self.world.get("editor", f"/spaces/{self.space}/{at}content/pages")["pages"]

    def tree(self, change: str | None = None) -> Any:
        def told(pages: list[Any]) -> Any:
            return {page["title"]: told(page.get("pages", [])) for page in pages}

        return told(self.pages(change))

    def text(self, title: str) -> str:
        return self.page(title, "markdown")["markdown"]

    def page(self, title: str, format: str) -> Any:
        waiting = self.pages()
        while waiting:
            page = waiting.pop(0)
            waiting += page.get("pages", [])
            if page["title"] == title:
                path = f"/spaces/{self.space}/content/page/{page['id']}"
                return self.world.get("editor", path, params={"format": format})
        raise AssertionError(f"no page {title!r} in {self.tree()}")

    def stored_files(self) -> list[str]:
        items = self.world.get("editor", f"/spaces/{self.space}/content/files")["items"]
        return sorted(item["name"] for item in items)

    def exported(self) -> dict[str, bytes]:
        """Return the files of an export of main."""
        context = self.world.context
        with context.db.read() as tx:
            found = export_files(tx, context.files, main_state(tx, self.space))
            return {file.path: b"".join(file.pieces) for file in found}

    def allow(self, address: str) -> None:
        """Allow the server to fetch from a private address."""
        context = self.world.context
        context.settings = replace(context.settings, allow_private_fetch=address)


def archive(files: dict[str, bytes | str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in files.items():
            zipped.writestr(name, data)
    return made.getvalue()


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def word(
    *paragraphs: tuple[str, str], head: str = "", image: bytes | None = None, caption: str = ""
) -> bytes:
    """Return a Word document of (style, text), followed by an image and its caption."""
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    relations = ""
    if image is not None:
        body += _DRAWING
        if caption:
            body += f'<w:p><w:pPr><w:pStyle w:val="Caption"/></w:pPr><w:r><w:t>{caption}</w:t></w:r></w:p>'
        relations = (
            '<Relationship Id="rId9" Target="media/image1.png"'
            ' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"/>'
        )
    files: dict[str, bytes | str] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="png" ContentType="image/png"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
        '.wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Target="word/document.xml" Type="http://schemas.openxmlformats.org'
        '/officeDocument/2006/relationships/officeDocument"/></Relationships>',
        "word/_rels/document.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006'
        f'/relationships">{relations}</Relationships>',
        "word/styles.xml": f"<w:styles {_W}>"
        + "".join(
            f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/></w:style>'
            for n in (1, 2)
        )
        + "</w:styles>",
        "word/document.xml": f'{head}<w:document {_W} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006'
        f'/relationships"><w:body>{body}</w:body></w:document>',
    }
    if image is not None:
        files["word/media/image1.png"] = image
    return archive(files)


_DRAWING = (
    '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
    '<wp:docPr id="1" name="p" descr="A picture"/>'
    '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData>'
    '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill>'
    '<a:blip r:embed="rId9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
)


class Website:
    """Responses of a website by path: (content type, body), a status, or a path to redirect to."""

    def __init__(self, address: str, answers: dict[str, Any]) -> None:
        self.address = address
        self.url = f"http://{address}"
        self.answers = answers
        self.asked: list[str] = []


@contextmanager
def website(answers: dict[str, Any]) -> Iterator[Website]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            answer = site.answers.get(self.path.partition("?")[0], 404)
            if callable(answer):
                answer = answer()
            if isinstance(answer, int):
                self.send_response(answer)
                answer = ("text/plain", b"")
            elif isinstance(answer, str):
                self.send_response(302)
                self.send_header("Location", answer)
                answer = ("text/plain", b"")
            else:
                self.send_response(200)
            kind, body = answer
            body = body.encode() if isinstance(body, str) else body
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Ignore errors of disconnected clients, such as killed workers."""

    server = Server(("127.0.0.1", 0), Handler)
    site = Website(f"127.0.0.1:{server.server_port}", answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def html(title: str, body: str) -> tuple[str, str]:
    """Return a page with navigation around its content."""
    return (
        "text/html; charset=utf-8",
        f"<html><head><title>{title} | Acme</title></head><body><nav><a href='/docs/'>Home</a>Menu</nav>"
        f"<main><h1>{title}</h1>{body}</main><footer>Imprint</footer></body></html>",
    )
