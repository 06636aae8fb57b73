from __future__ import annotations

import io
import json
import logging

import pytest

from octavo.kit.observability.logs import HIDDEN, bound, configure


@pytest.fixture(autouse=True)
def restored():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def _lines(stream: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_json_lines_of_all_loggers_contain_the_request():
    stream = io.StringIO()
    configure("json", stream)
    with bound(request_id="r1", operation="getSpace"):
        logging.getLogger("own").info("own", extra={"space": "s"})
        logging.getLogger("some.library").warning("theirs %s", 1, extra={"more": 2})
    logging.getLogger("own").info("outside")
    own, theirs, outside = _lines(stream)
    assert own["event"] == "own"
    assert (own["request_id"], own["operation"], own["space"], own["level"]) == (
        "r1",
        "getSpace",
        "s",
        "info",
    )
    assert (theirs["event"], theirs["request_id"], theirs["more"], theirs["level"]) == (
        "theirs 1",
        "r1",
        2,
        "warning",
    )
    assert "request_id" not in outside
    assert own["timestamp"].endswith("Z")


@pytest.mark.parametrize("form", ["text", "json"])
def test_standard_error_can_be_replaced_or_missing(form, monkeypatch, capsys):
    """A log line is never the reason that something else fails, or that traces about logging are written."""
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stderr", first)
    configure(form)
    log = logging.getLogger("octavo.somewhere")
    log.error("first")
    first_lines = first.getvalue()
    first.close()
    log.error("to a closed one")
    monkeypatch.setattr("sys.stderr", None)
    log.error("to none")
    configure(form)
    monkeypatch.setattr("sys.stderr", second)
    log.error("second")
    assert "first" in first_lines
    (line,) = second.getvalue().splitlines()
    assert "second" in line
    assert capsys.readouterr().err == ""


def test_tracebacks_are_part_of_the_line():
    stream = io.StringIO()
    configure("json", stream)
    for log in (logging.getLogger("own"), logging.getLogger("library")):
        try:
            raise ValueError("broken")
        except ValueError:
            log.exception("failed")
    for line in _lines(stream):
        assert line["exception"][0]["exc_type"] == "ValueError"
        assert line["exception"][0]["exc_value"] == "broken"


def test_text_logs_are_one_readable_line():
    stream = io.StringIO()
    configure("text", stream)
    configure("text", stream)
    logging.getLogger("own").info("started", extra={"port": 8000})
    logging.getLogger("own").debug("not shown")
    (line,) = stream.getvalue().splitlines()
    assert "started" in line
    assert "port=8000" in line
    assert "\x1b" not in line


def test_input_cannot_start_a_log_line():
    stream = io.StringIO()
    configure("text", stream)
    logging.getLogger("own").warning("sent: a\nb", extra={"detail": "c\nd"})
    assert len(stream.getvalue().splitlines()) == 1


def test_outgoing_urls_are_not_logged():
    stream = io.StringIO()
    configure("json", stream)
    logging.getLogger("httpx").info("GET https://example.com/?token=x")
    assert stream.getvalue() == ""


SECRETS = {
    "a header": "Authorization: Bearer oct_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4",
    "a database": "postgresql://octavo:hunter2222@db.internal/octavo is gone",
    "a mail server": "smtp://mailer:s3cr%40t-pass@mail.example:587",
    "a JSON body": '{"email": "a@b.c", "password": "correct horse battery"}',
    "keyword arguments": "sign_in(email='a@b.c', password='correct horse battery')",
    "a query": "GET /login?jwt_token=eyJhbGciOi.eyJzdWIi.c2ln&x=1",
    "a session": "cookie ocs_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4",
    "a setting": "could not use the key mykey-0123456789",
}
HINTS = ("Zm9v", "hunter2", "s3cr", "correct horse", "eyJ", "mykey")


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("place", SECRETS)
def test_secrets_are_hidden_anywhere_in_a_message(form, place):
    stream = io.StringIO()
    configure(form, stream, secrets=["mykey-0123456789", "short"])
    log = logging.getLogger("own")
    log.warning(SECRETS[place], extra={"detail": SECRETS[place]})
    logging.getLogger("library").error("failed: %s", SECRETS[place])
    try:
        raise ValueError(SECRETS[place])
    except ValueError:
        log.exception("failed")
    text = stream.getvalue()
    assert HIDDEN in text
    assert not [hint for hint in HINTS if hint in text]


def test_messages_without_secrets_are_logged_unchanged():
    stream = io.StringIO()
    configure("text", stream, secrets=["short"])
    message = "space https://octavo.test/s/abc?page=2 short of tokens: 5 passwords"
    logging.getLogger("own").info(message)
    assert message in stream.getvalue()


@pytest.mark.parametrize("form", ["text", "json"])
def test_tracebacks_are_short_and_show_no_variables(form):
    def deep(depth):
        entered = "the value of a variable"
        if depth:
            return deep(depth - 1)
        raise ValueError(len(entered))

    stream = io.StringIO()
    configure(form, stream)
    try:
        deep(100)
    except ValueError:
        logging.getLogger("own").exception("failed")
    text = stream.getvalue()
    assert "the value of a variable" not in text
    assert text.count("test_logs.py") <= 14
    assert "ValueError" in text


def test_causes_are_part_of_a_traceback():
    stream = io.StringIO()
    configure("text", stream)
    try:
        try:
            raise OSError("disk")
        except OSError as error:
            raise ValueError("file") from error
    except ValueError:
        logging.getLogger("own").exception("failed")
    text = stream.getvalue()
    assert text.index("\nbuiltins.ValueError: file") < text.index("\ncaused by builtins.OSError: disk")


def test_a_traceback_of_errors_that_cause_each_other_ends():
    stream = io.StringIO()
    configure("text", stream)
    first, second = OSError("disk"), ValueError("file")
    first.__context__, second.__context__ = second, first
    logging.getLogger("own").error("failed", exc_info=first)
    text = stream.getvalue()
    assert text.count("builtins.OSError: disk") == text.count("builtins.ValueError: file") == 1
