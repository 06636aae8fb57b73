"""Judge how a server handles raw bytes: h11 defines the request boundaries, and no server may find other
requests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import h11

_HEAD_LIMIT = 1 << 24
_REFUSALS = frozenset({400, 405, 408, 411, 413, 414, 415, 417, 421, 426, 429, 431, 501, 503, 505})
"""Statuses with which a server may reject requests that it can't read or doesn't allow."""
_HOST = re.compile(rb"(?i)host:")
_CODING = re.compile(rb"(?i)transfer-encoding:[ \t]*([^\r\n]*)\r?\n")


@dataclass(frozen=True)
class Head:
    """Head of a request: its method, its target, and whether it expects 100 Continue."""

    method: str
    target: str
    expects: bool


@dataclass
class Seen:
    """The requests h11 finds in bytes: their heads, and whether an incomplete request follows them."""

    heads: list[Head] = field(default_factory=list)
    is_left: bool = False


@dataclass(frozen=True)
class Reply:
    """An answer as it arrived. ``is_whole``: whether its end did, too."""

    status: int
    body: bytes
    is_whole: bool


def see(sent: bytes) -> Seen:
    """Find the requests in bytes as h11 does, up to one that ends the connection.

    Things that RFC 9112 allows a server, and h11 does not do: it skips empty lines before a request (2.2), and takes a
    body for chunked where other codings were applied before (6.3). And a server may go on behind a request that it
    refuses for its host or target, as it knows where that one ends.
    """
    seen, left = Seen(), sent
    while left := left.lstrip(b"\r\n"):
        # The last line of the head has its end, the empty one behind it is apart.
        found = re.search(rb"(?<=\n)\r?\n", left)
        head, rest = (left[: found.start()], left[found.start() :]) if found else (left, b"")
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD_LIMIT)
        connection.receive_data(_make_plain(head) + rest)
        try:
            event = connection.next_event()
            if not isinstance(event, h11.Request):
                seen.is_left = True
                return seen
            headers = [(name, value.lower()) for name, value in event.headers]
            expects = (b"expect", b"100-continue") in headers
            seen.heads.append(Head(event.method.decode(), event.target.decode(), expects))
            while isinstance(event := connection.next_event(), (h11.Data, h11.Request)):
                pass
        except h11.RemoteProtocolError:
            seen.is_left = True
            return seen
        if not isinstance(event, h11.EndOfMessage):
            seen.is_left = True
            return seen
        wishes = b",".join(value for name, value in headers if name == b"connection")
        words = {word.strip() for word in wishes.split(b",")}
        goes_on = b"keep-alive" in words if connection.their_http_version == b"1.0" else b"close" not in words
        if not goes_on:
            return seen
        left = connection.trailing_data[0]
    return seen


def _make_plain(head: bytes) -> bytes:
    """Return the same head without parts that don't affect where the request ends: with one host, and an
    ASCII target. If ``chunked`` is the last of several codings, it becomes the only one."""
    first, *lines = re.split(rb"(?<=\n)", head)
    if any(line[:1] in (b" ", b"\t") for line in lines):
        return head  # Folded lines are left to h11.
    codings = [found for line in lines if (found := _CODING.fullmatch(line))]
    lines = [line for line in lines if not _HOST.match(line)]
    if codings and codings[-1][1].lower().split(b",")[-1].strip(b" \t") == b"chunked":
        lines = [line for line in lines if not _CODING.fullmatch(line)]
        lines.insert(0, b"Transfer-Encoding: chunked\r\n")
    lines.insert(0, b"Host: a\r\n")
    return re.sub(rb"[\x80-\xff]", b"x", first) + b"".join(lines)


def read_replies(received: bytes, methods: list[str], ended: bool) -> tuple[list[Reply], int]:
    """Return the final responses in bytes, and the number of ``100 Continue``. ``methods``: those of the
    requests, if known. Raises AssertionError for invalid responses."""
    replies: list[Reply] = []
    interim, left = 0, received
    while left:
        method = methods[len(replies)] if len(replies) < len(methods) else "GET"
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_LIMIT)
        connection.send(h11.Request(method=method, target="/", headers=[("host", "a")]))
        connection.send(h11.EndOfMessage())
        connection.receive_data(left)
        if ended:
            connection.receive_data(b"")
        status, body, event = 0, b"", None
        try:
            while True:
                event = connection.next_event()
                if isinstance(event, h11.InformationalResponse):
                    assert event.status_code == 100, f"the protocol is switched: {event.status_code}"
                    interim += 1
                elif isinstance(event, h11.Response):
                    status = event.status_code
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                else:
                    break
        except h11.RemoteProtocolError as error:
            # No one takes a response for complete if its connection broke off.
            assert ended and "peer" in str(error), f"no answer: {error}: {left[:200]!r}"
            event = None
        if status:
            replies.append(Reply(status, body, isinstance(event, h11.EndOfMessage)))
        if not isinstance(event, h11.EndOfMessage):
            break
        left = connection.trailing_data[0]
    return replies, interim


def judge(
    sent: bytes, endless: bytes, received: bytes, ended: bool, *, marker: re.Pattern[bytes]
) -> list[str]:
    """Return the problem of the responses to bytes, whose end ``endless`` was repeated as often as possible;
    empty without a problem. ``marker``: the name of requests, in their targets and in the responses."""
    seen, all_seen = see(sent), see(sent + endless * 2)
    repeats = all_seen.heads[len(seen.heads) :]
    methods = [head.method for head in seen.heads] + [head.method for head in repeats[:1]] * 1000
    try:
        replies, interim = read_replies(received, methods, ended)
    except AssertionError as error:
        return [str(error)]
    wrong = []
    for place, reply in enumerate(replies):
        if reply.status >= 500 and reply.status not in _REFUSALS:
            wrong.append(f"answer {place} is {reply.status}")
        named = marker.search(reply.body)
        if place < len(seen.heads):
            head = seen.heads[place]
            if named and named[0].decode() not in head.target:
                wrong.append(f"answer {place} is to {named[0]!r}, and request {place} is {head.target}")
        elif repeats:
            if named and named[0].decode() not in repeats[0].target:
                wrong.append(f"answer {place} is to {named[0]!r}, which nobody asked for")
        elif named or place > len(seen.heads) or not all_seen.is_left:
            wrong.append(f"answer {place} of {reply.status} is one too many: {reply.body[:80]!r}")
        elif reply.status not in _REFUSALS:
            wrong.append(f"what is no request is answered with {reply.status}")
    if interim > sum(head.expects for head in (*seen.heads, *repeats)):
        wrong.append("100 Continue to who did not ask")
    return wrong[:3]


def judge_order(received: bytes, prefix: str, *, marker: re.Pattern[bytes]) -> list[str]:
    """Return the problem of responses that came through a proxy, which parses requests in its own way: they
    must belong to requests of this connection, whose markers start with ``prefix``, in order."""
    named = [found.decode() for found in marker.findall(received)]
    if any(not each.startswith(prefix) for each in named):
        return [f"the answer to somebody else: {named}"]
    return [] if named == sorted(named) else [f"answers out of order: {named}"]
