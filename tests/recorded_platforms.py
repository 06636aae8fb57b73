"""Responses of Confluence and ReadMe, based on their public API descriptions, and a server that returns them."""

import base64
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import msgspec

from local_server import QuietHandler, local_server


class Serving:
    """Server with recorded responses. ``answers``: the response for a path with or without its query, an
    object or bytes. ``instead``: statuses and headers of the first responses for a path, each used once."""

    def __init__(self, answers):
        self.answers, self.instead, self.asked, self.told = answers, {}, [], set()
        self.address = ""

    def answer(self, path, headers):
        parts = urlsplit(path)
        self.asked.append(path)
        self.told.add(headers.get("authorization"))
        if waiting := self.instead.get(parts.path):
            status, said = waiting.pop(0)
            return status, said, b"{}"
        query = parse_qs(parts.query)
        place = query.get("cursor", query.get("start", query.get("page", ["0"])))[0]
        if query.get("type") == ["blogpost"]:
            place = "posts"
        found = self.answers.get(f"{parts.path}#{place}")
        if found is None and place in ("0", "1"):
            found = self.answers.get(parts.path)
        if found is None:
            return 404, {}, b"{}"
        if not isinstance(found, bytes):
            found = msgspec.json.encode(found)
        return 200, {}, found.replace(b"https://site.example", self.address.encode())


@contextmanager
def serve(answers):
    found = Serving(answers)

    class Handler(QuietHandler):
        def do_GET(self):
            status, headers, body = found.answer(self.path, self.headers)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with local_server(Handler) as server:
        found.address = server.url
        yield found


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


HOME = """<p>Welcome, <ac:link><ri:user ri:account-id="a1"/></ac:link>.</p>
<p><ac:link><ri:page ri:content-title="Setup &amp; more"/><ac:plain-text-link-body><![CDATA[set up]]>\
</ac:plain-text-link-body></ac:link>
<ac:link><ri:page ri:space-key="OPS" ri:content-title="On call"/></ac:link></p>
<p><a href="https://site.example/wiki/spaces/DOC/pages/2/Setup" \
data-card-appearance="inline">https://site.example/wiki/spaces/DOC/pages/2/Setup</a></p>
<ac:image ac:alt="Plan"><ri:attachment ri:filename="plan.png"/></ac:image>"""
SETUP = """<ac:structured-macro ac:name="info"><ac:rich-text-body><p>First.</p></ac:rich-text-body>\
</ac:structured-macro>
<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">py</ac:parameter><ac:plain-text-body>\
<![CDATA[if a < b and c]]]]><![CDATA[>d: pass]]></ac:plain-text-body></ac:structured-macro>"""


def page_of(id, title, parent, body, position, parent_type="page", labels=()):
    return {
        "id": id,
        "status": "current",
        "title": title,
        "spaceId": "77",
        "parentId": parent,
        "parentType": parent_type,
        "position": position,
        "body": {"storage": {"representation": "storage", "value": body}},
        "labels": {"results": [{"id": name, "name": name, "prefix": "global"} for name in labels]},
    }


CLOUD_PAGES = [
    page_of("1", "Handbook", None, HOME, 0, labels=("start", "all")),
    page_of("3", "In a folder", "9", "<p>Below.</p>", 1, "folder"),
    page_of("2", "Setup & more", "1", SETUP, 0),
]
CLOUD = {
    "/wiki/api/v2/spaces": {
        "results": [
            {"id": "77", "key": "DOC", "name": "Handbook", "type": "global", "homepageId": "1"},
        ],
        "_links": {"next": "/wiki/api/v2/spaces?cursor=two&limit=250", "base": "https://site.example/wiki"},
    },
    "/wiki/api/v2/spaces#two": {
        "results": [
            {"id": "78", "key": "~me", "name": "Mine", "type": "personal"},
            {"id": "79", "key": "OPS", "name": "Operations", "type": "global"},
        ],
        "_links": {},
    },
    "/wiki/api/v2/spaces/77/pages": {
        "results": CLOUD_PAGES[:2],
        "_links": {"next": "/wiki/api/v2/spaces/77/pages?cursor=more"},
    },
    "/wiki/api/v2/spaces/77/pages#more": {"results": CLOUD_PAGES[2:], "_links": {}},
    **{f"/wiki/api/v2/pages/{page['id']}": page for page in CLOUD_PAGES},
    "/wiki/api/v2/pages/1/attachments": {
        "results": [
            {"id": "att5", "title": "plan.png", "mediaType": "image/png"},
            {"id": "att6", "title": "gone.pdf", "mediaType": "application/pdf"},
        ],
        "_links": {},
    },
    "/wiki/api/v2/pages/2/attachments": {"results": [], "_links": {}},
    "/wiki/api/v2/pages/3/attachments": {"results": [], "_links": {}},
    "/wiki/rest/api/content/1/child/attachment/att5/download": PNG,
    "/wiki/api/v2/folders/9": {
        "id": "9",
        "type": "folder",
        "title": "Shelf",
        "parentId": "1",
        "parentType": "page",
        "position": 5,
    },
    "/wiki/api/v2/spaces/77/blogposts": {"results": [{"id": "b"}, {"id": "c"}], "_links": {}},
    "/wiki/rest/api/user": {"displayName": "Mara Lind"},
}


GUIDE = """> 📘 Good to know
>
> Words.

[To the limits](doc:limits) and [away](https://acme.readme.io/docs/limits).

![Plan](https://files.readme.io/abc123-plan.png)
"""


def second(path):
    return f"/v2/branches/1.0{path}"


SECOND = {
    "/v2/projects/me": {"data": {"name": "Acme", "subdomain": "acme"}},
    "/v2/branches": {
        "total": 3,
        "data": [{"name": "2.0"}, {"name": "1.0"}, {"name": "1.0_draft"}],
        "paging": {"next": None},
    },
    "/v2/branches/stable": {"data": {"name": "1.0"}},
    second("/categories/guides"): {"total": 1, "data": [{"title": "Getting/Started"}]},
    second("/categories/guides/Getting%2FStarted/pages"): {
        "total": 4,
        "data": [
            {"slug": "welcome", "title": "Welcome", "parent": {"uri": None}},
            {"slug": "limits", "title": "Limits", "parent": {"uri": "/branches/1.0/guides/welcome"}},
            {"slug": "forum", "title": "Forum", "parent": {"uri": None}},
            {"slug": "lost", "title": "Lost", "parent": {"uri": None}},
        ],
    },
    second("/categories/reference"): {"total": 1, "data": [{"title": "API"}]},
    second("/categories/reference/API/pages"): {
        "total": 1,
        "data": [{"slug": "get-pets", "title": "Pets", "parent": {"uri": None}}],
    },
    second("/guides/welcome"): {
        "data": {
            "title": "Welcome",
            "slug": "welcome",
            "type": "basic",
            "privacy": {"view": "public"},
            "content": {"body": GUIDE, "excerpt": "Begin here"},
        }
    },
    second("/guides/limits"): {
        "data": {
            "title": "Limits",
            "slug": "limits",
            "type": "basic",
            "privacy": {"view": "anyone_with_link"},
            "content": {"body": "Ten.\n"},
        }
    },
    second("/guides/forum"): {
        "data": {
            "title": "Forum",
            "slug": "forum",
            "type": "link",
            "content": {"body": "", "link": {"url": "https://forum.example.com"}},
        }
    },
    second("/reference/get-pets"): {
        "data": {"title": "Pets", "slug": "get-pets", "type": "endpoint", "content": {"body": ""}}
    },
    second("/custom_pages"): {
        "total": 1,
        "data": [{"slug": "about", "title": "About", "content": {"type": "markdown", "body": "Us.\n"}}],
        "paging": {"next": None},
    },
    second("/recipes"): {"total": 1, "data": [{"slug": "first", "title": "First"}]},
    second("/recipes/first"): {
        "data": {
            "title": "First",
            "description": "A call",
            "content": {
                "steps": [{"title": "Ask", "body": "Do it."}],
                "snippet": {"code_options": [{"language": "python", "code": "ask()"}]},
            },
        }
    },
    "/v2/changelogs": {"total": 1, "data": [{"slug": "x"}]},
}
