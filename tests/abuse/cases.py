"""Bad requests, made by chance from a seed: framing, body, manner of sending, and place on the connection."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass

Lines = list[bytes]


@dataclass(frozen=True)
class Words:
    """The requests of a server that cases are made of. ``{}`` is where a marker goes.

    ``read``: targets that are answered with the marker they name; ``write_target`` and ``write_body`` leave the marker
    behind when they are run; ``stream``: the target of an answer that stays open.
    """

    host: str
    read: str
    read_body: str
    write_target: str
    write_body: str
    stream: str
    headers: tuple[str, ...] = ()

    def request(self, method: str, target: str, body: bytes = b"", *more: str) -> bytes:
        """Return a plain request."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.host}", *self.headers, *more]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join([*lines, "", ""]).encode() + body

    def write(self, marker: str) -> bytes:
        """Return a request that leaves the marker behind."""
        body = self.write_body.format(marker).encode()
        return self.request("POST", self.write_target, body, "Content-Type: application/json")


@dataclass
class Draft:
    """A request under construction. ``framing`` says how long its body is, ``length`` what would be right;
    ``lines`` are its other headers."""

    method: bytes
    target: bytes
    host: Lines
    lines: Lines
    framing: Lines
    length: int
    version: bytes = b"HTTP/1.1"
    before: bytes = b""
    line_end: bytes = b"\r\n"

    def head(self) -> bytes:
        lines = [b" ".join((self.method, self.target, self.version)), *self.host, *self.lines, *self.framing]
        return self.before + b"".join(line + self.line_end for line in lines)


@dataclass(frozen=True)
class Case:
    """Bytes to send, in pieces; ``endless`` is sent again and again behind them, ``repeats`` times at most.

    ``reads``: whether the client takes answers while it sends. ``answers``: how many must come, where nothing about the
    case is in doubt; else None. ``hidden``: the marker of the write inside the body.
    """

    name: str
    pieces: tuple[bytes, ...]
    endless: bytes = b""
    repeats: int = 0
    reads: bool = True
    answers: int | None = None
    hidden: str = ""

    @property
    def sent(self) -> bytes:
        return b"".join(self.pieces)


Change = Callable[[Draft, random.Random], None]


def _add(*lines: bytes) -> Change:
    return lambda draft, chance: draft.lines.extend(lines)


def _frame(*lines: bytes) -> Change:
    """Return the lines with another length of the body; ``%d`` is the right one, if it is known."""

    def change(draft: Draft, chance: random.Random) -> None:
        right = {b"%d": b"%d" % draft.length, b"%x": b"%x" % draft.length}
        draft.framing = [line.replace(b"%d", right[b"%d"]).replace(b"%x", right[b"%x"]) for line in lines]

    return change


def _set(**values: bytes) -> Change:
    def change(draft: Draft, chance: random.Random) -> None:
        for name, value in values.items():
            setattr(draft, name, value)

    return change


def _both(first: Change, second: Change) -> Change:
    def change(draft: Draft, chance: random.Random) -> None:
        first(draft, chance)
        second(draft, chance)

    return change


def _host(*lines: bytes) -> Change:
    return lambda draft, chance: draft.host.__setitem__(slice(None), lines)


def _absolute(start: bytes) -> Change:
    return lambda draft, chance: setattr(draft, "target", start + draft.target)


_LENGTHS = (
    b"+%d",
    b"-%d",
    b"0x%x",
    b"%d_0",
    b"",
    b" %d ",
    b"0%d",
    b"%d, %d",
    b"%d,1",
    b"%d;",
    b"%d 1",
    b"99999999999999999999999",
    b"%d\x0b",
    b"\xb5",
    b"1e1",
    b"%d.0",
)
_CODINGS = (
    b"Chunked",
    b" chunked ",
    b"\tchunked",
    b"chunked, chunked",
    b"gzip, chunked",
    b"chunked, gzip",
    b"identity",
    b"xchunked",
    b"chunkedx",
    b"chunked;q=1",
    b'"chunked"',
    b"",
    b",chunked",
    b"chunked,",
    b"\x0bchunked",
    b"chunked\x00",
    b"chu nked",
    b"identity, chunked",
    b"chunked, identity",
)
_HOSTS = (
    b"a b",
    b"a/b",
    b"a@b",
    b"a,b",
    b"",
    b"a\x00b",
    b"\xe4",
    b"a:99999",
    b"[::1",
    b"a\\b",
    b"a?b",
    b"a#b",
    b"..",
)
_TARGETS = (
    b"*",
    b"x",
    b"x:1",
    b"//x/y",
    b"/%00",
    b"/a#b",
    b"/\x7f",
    b"/\xc3\xa4",
    b"/a\x00",
    b"/..//../x",
    b"/?a=%zz",
    b"/a\\b",
    b"",
)

FRAMINGS: dict[str, Change] = {
    "plain": lambda draft, chance: None,
    **{
        f"upgrade {p.decode()}": _add(b"Connection: Upgrade", b"Upgrade: " + p)
        for p in (b"h2c", b"foo/1", b"TLS/1.0", b"")
    },
    "upgrade to websocket": _add(
        b"Connection: keep-alive, Upgrade",
        b"Upgrade: websocket",
        b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ),
    "upgrade to HTTP/2": _add(
        b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__"
    ),
    "upgrade without connection": _add(b"Upgrade: foo"),
    "connection upgrade alone": _add(b"Connection: upgrade"),
    "connect to a path": _set(method=b"CONNECT"),
    "connect to a host": _set(method=b"CONNECT", target=b"a:80"),
    "expect": _add(b"Expect: 100-continue"),
    "expect something": _add(b"Expect: 200-ok"),
    "expect in HTTP/1.0": _both(_add(b"Expect: 100-continue"), _set(version=b"HTTP/1.0")),
    **{
        f"version {v.decode()}": _set(version=v)
        for v in (b"HTTP/1.0", b"HTTP/0.9", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/1.", b"http/1.1", b"")
    },
    "HTTP/1.0 kept open": _both(_add(b"Connection: keep-alive"), _set(version=b"HTTP/1.0")),
    **{f"length {v!r}": _frame(b"Content-Length: " + v) for v in _LENGTHS},
    "length twice": _frame(b"Content-Length: %d", b"Content-Length: %d"),
    "two lengths": _frame(b"Content-Length: %d", b"Content-Length: 0"),
    "two lengths, the right one last": _frame(b"Content-Length: 0", b"Content-Length: %d"),
    "space before colon of length": _frame(b"Content-Length : %d"),
    "folded length": _frame(b"Content-Length:\r\n %d"),
    "length in another header's fold": _frame(b"X-A: a\r\n Content-Length: %d"),
    "length after bare CR": _frame(b"X-A: a\rContent-Length: %d"),
    "length after bare LF": _frame(b"X-A: a\nContent-Length: %d"),
    "length after NUL": _frame(b"X-A: a\x00", b"Content-Length: %d"),
    "length with underscore": _frame(b"Content_Length: %d"),
    "length and coding": _frame(b"Content-Length: %d", b"Transfer-Encoding: chunked"),
    "coding and length": _frame(b"Transfer-Encoding: chunked", b"Content-Length: %d"),
    "coding and wrong length": _frame(b"Transfer-Encoding: chunked", b"Content-Length: 3"),
    **{f"coding {v!r}": _frame(b"Transfer-Encoding: " + v) for v in _CODINGS},
    "coding twice": _frame(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
    "two codings": _frame(b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked"),
    "two codings, chunked first": _frame(b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"),
    "space before colon of coding": _frame(b"Transfer-Encoding : chunked"),
    "folded coding": _frame(b"Transfer-Encoding:\r\n chunked"),
    "coding in HTTP/1.0": _both(_frame(b"Transfer-Encoding: chunked"), _set(version=b"HTTP/1.0")),
    "coding after bare CR": _frame(b"X-A: a\rTransfer-Encoding: chunked"),
    "coding after bare LF": _frame(b"X-A: a\nTransfer-Encoding: chunked"),
    "coding with underscore": _frame(b"Transfer_Encoding: chunked"),
    "neither": _frame(),
    "announced trailer": _add(b"Trailer: Content-Length, Host, X-A", b"TE: trailers"),
    "no host": _host(),
    "host twice": lambda draft, chance: draft.host.extend(draft.host[:1]),
    "two hosts": lambda draft, chance: draft.host.append(b"Host: other.example"),
    "space before colon of host": _host(b"Host : a"),
    **{f"host {v!r}": _host(b"Host: " + v) for v in _HOSTS},
    "absolute form": _absolute(b"http://other.example"),
    "absolute form with user": _absolute(b"http://u:p@other.example:1"),
    "absolute form of https": _absolute(b"https://other.example"),
    **{f"target {v!r}": _set(target=v) for v in _TARGETS},
    "space in target": lambda draft, chance: setattr(draft, "target", draft.target + b" x"),
    **{
        f"method {v!r}": _set(method=v)
        for v in (b"get", b"BREW", b"G@T", b"G\x00T", b"", b"PRI", b"TRACE", b"OPTIONS")
    },
    "bare LF": _set(line_end=b"\n"),
    "bare CR": _set(line_end=b"\r"),
    "NUL in value": _add(b"X-A: a\x00b"),
    "NUL in name": _add(b"X\x00A: b"),
    "control in value": _add(b"X-A: \x01\x02"),
    "bare CR in value": _add(b"X-A: a\rX-B: b"),
    "fold": _add(b"X-A: a\r\n b"),
    "fold before all headers": lambda draft, chance: draft.host.insert(0, b" X-A: a"),
    "no colon": _add(b"X-A"),
    "no name": _add(b": a"),
    "space in name": _add(b"X A: b"),
    "empty lines before": _set(before=b"\r\n\r\n"),
    "bare LF before": _set(before=b"\n"),
    "space before": _set(before=b" "),
    "garbage before": _set(before=b"\x16\x03\x01\x02\x00\x01\x00"),
    "HTTP/2 before": _set(before=b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
    "connection close": _add(b"Connection: close"),
    "connection names framing": _add(b"Connection: Content-Length, Transfer-Encoding, Host"),
    "connection close and keep-alive": _add(b"Connection: keep-alive, close"),
}
"""Irregular request heads. Each function changes a plain one."""

BODIES = (
    "exact",
    "chunked",
    "none",
    "short",
    "long",
    "one-byte chunks",
    "cut chunks",
    "bad chunks",
    "endless head",
    "endless trailer",
    "endless chunk extension",
    "endless chunk size",
)
MANNERS = ("stops", "drips", "floods")
PLACES = ("alone", "alone", "pipelined", "pipelined", "behind an open answer")
_BAD_CHUNKS = (
    b"0x5\r\nhello\r\n",
    b" 5\r\nhello\r\n",
    b"+5\r\nhello\r\n",
    b"0_5\r\nhello\r\n",
    b"\r\nhello\r\n",
    b"5\r\nhelloXX",
    b"5\nhello\n",
    b"5;a\nhello\r\n",
    b"5 \r\nhello\r\n",
    b'5;a="\r\n"\r\nhello\r\n',
    b"10000000000000005\r\nhello\r\n",
    b"-5\r\nhello\r\n",
    b"5\r\nhell\r\n",
    b"5\rhello\r",
    b"g\r\nhello\r\n",
    b"5\x00\r\nhello\r\n",
)
_TRAILERS = (
    b"X-A: b\r\n",
    b"Content-Length: 5\r\n",
    b"Host: other.example\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"foo bar\r\n",
    b": a\r\n",
    b"X-A: a\r\n b\r\n",
    b"X-A: a\x00\r\n",
    b"Authorization: Bearer x\r\n",
    b"Connection: close\r\n",
)


@dataclass
class _Body:
    """Bytes behind a head. ``framing``: what the head says about them; ``finish`` is whether the head ends before."""

    framing: Lines = dataclasses.field(default_factory=list)
    sent: bytes = b""
    endless: bytes = b""
    head_ends: bool = True


def make_case(seed: int, number: int, words: Words) -> Case:
    """Return the case with a number. The first cases cover all framings with all bodies; manner and place are
    random."""
    chance = random.Random(f"{seed}-{number}")  # noqa: S311
    combinations = len(FRAMINGS) * len(BODIES)
    framing = list(FRAMINGS)[number % len(FRAMINGS)]
    kind = BODIES[number // len(FRAMINGS) % len(BODIES)] if number < combinations else chance.choice(BODIES)
    manner, place = chance.choice(MANNERS), chance.choice(PLACES)
    prefix = f"m{seed:x}x{number:x}"
    hidden = f"w{prefix[1:]}"
    body = _make_body(kind, words.write(hidden), chance)
    draft = _make_draft(words, f"{prefix}x1", body, chance)
    FRAMINGS[framing](draft, chance)
    if number >= combinations and chance.random() < 0.3:
        other = chance.choice(list(FRAMINGS))
        FRAMINGS[other](draft, chance)
        framing += f", {other}"
    request = draft.head() + (draft.line_end if body.head_ends else b"") + body.sent

    def ordinary(place: int) -> bytes:
        return words.request("GET", words.read.format(f"{prefix}x{place}"))

    pieces = [request]
    if place == "pipelined":
        pieces = [ordinary(0), request, *(ordinary(2 + n) for n in range(chance.randrange(1, 4)))]
    elif place == "behind an open answer":
        pieces = [words.request("GET", words.stream), request, ordinary(2)]
    endless, repeats = b"", 0
    if body.endless:
        # Nothing can come behind what does not end.
        pieces = pieces[: pieces.index(request) + 1]
        endless = body.endless
        repeats = chance.randrange(16, 64)
    elif manner == "floods":
        endless = chance.choice((ordinary(9), ordinary(9), b"z" * 4096))
        repeats = chance.randrange(16, 256)
    if manner == "floods" and body.endless:
        repeats = max(1, chance.randrange(1 << 18, 1 << 21) // len(endless))
    if manner == "drips":
        pieces = _cut(b"".join(pieces), chance)
    sure = (
        framing == "plain" and kind in ("none", "exact", "chunked", "one-byte chunks") and manner != "floods"
    )
    answers = {"alone": 1, "pipelined": len(pieces)}.get(place) if sure and manner == "stops" else None
    reads = manner != "floods" or chance.random() < 0.5
    name = f"{framing} / {kind} / {manner} / {place}"
    return Case(name, tuple(pieces), endless, repeats, reads, answers, hidden)


def _make_draft(words: Words, marker: str, body: _Body, chance: random.Random) -> Draft:
    reads = bool(body.framing) and chance.random() < 0.5
    return Draft(
        chance.choice((b"POST",) * 7 + (b"PUT",) if reads else (b"GET",) * 7 + (b"DELETE",)),
        (words.read_body if reads else words.read).format(marker).encode(),
        [f"Host: {words.host}".encode()],
        [line.encode() for line in words.headers],
        body.framing,
        len(body.sent),
    )


def _make_body(kind: str, inside: bytes, chance: random.Random) -> _Body:
    """Return a body of this kind, which contains a whole request if possible."""
    if kind == "none":
        return _Body()
    if kind == "exact":
        return _Body([b"Content-Length: %d" % len(inside)], inside)
    if kind == "short":
        return _Body([b"Content-Length: %d" % (len(inside) + chance.randrange(1, 1 << 30))], inside)
    if kind == "long":
        # Bytes after the body are a request, and every server has to agree on that.
        start = chance.randrange(1, 64)
        return _Body([b"Content-Length: %d" % start], b"z" * start + inside)
    if kind == "endless head":
        line = chance.choice((b"X-A: b\r\n", b"X-A: " + b"b" * 1000 + b"\r\n", b"b" * 4096, b"a:b\n"))
        return _Body(endless=line * max(1, 4096 // len(line)), head_ends=False)
    framing = [b"Transfer-Encoding: chunked"]
    if kind == "chunked":
        cut = chance.randrange(1, len(inside))
        parts = [inside[:cut], inside[cut:]]
        extension = chance.choice((b"", b"", b";a", b";a=b", b';a="b c"'))
        sent = b"".join(b"%x%b\r\n%b\r\n" % (len(part), extension, part) for part in parts)
        return _Body(framing, sent + b"0\r\n" + chance.choice((b"", b"", b"X-A: b\r\n")) + b"\r\n")
    if kind == "one-byte chunks":
        return _Body(framing, b"".join(b"1\r\n%c\r\n" % byte for byte in inside) + b"0\r\n\r\n")
    if kind == "cut chunks":
        return _Body(framing, b"%x\r\n%b" % (len(inside) + chance.randrange(1, 1 << 20), inside))
    if kind == "bad chunks":
        bad = chance.choice(
            (*_BAD_CHUNKS, *(b"5\r\nhello\r\n0\r\n" + trailer + b"\r\n" for trailer in _TRAILERS))
        )
        return _Body(framing, bad + b"0\r\n\r\n" + inside)
    chunk = b"%x\r\n%b\r\n" % (len(inside), inside)
    if kind == "endless trailer":
        field = chance.choice((b"X-A: b\r\n", b"X-A: " + b"b" * 1000 + b"\r\n", b"b" * 4096))
        return _Body(framing, chunk + b"0\r\n", field * max(1, 4096 // len(field)))
    if kind == "endless chunk extension":
        again = chance.choice((b";a=b", b"1;" + b"a" * 1000 + b"\r\nz\r\n", b"1;a\r\nz\r\n"))
        opening = b"5;" if again[:1] == b";" else b""
        return _Body(framing, chunk + opening, again * max(1, 4096 // len(again)))
    return _Body(framing, chunk, b"0" * 4096)


def _cut(sent: bytes, chance: random.Random) -> list[bytes]:
    places = sorted(chance.sample(range(1, len(sent)), min(len(sent) - 1, chance.randrange(8, 48))))
    return [sent[start:end] for start, end in zip([0, *places], [*places, len(sent)], strict=True)]
