from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from octavo.kit.logs import bound_request, configure


@pytest.fixture(autouse=True)
def restored():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def _lines(stream: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_json_lines_of_own_and_library_loggers_carry_the_request():
    stream = io.StringIO()
    configure("json", stream)
    with bound_request("r1", operation="getSpace"):
        structlog.get_logger().info("own", space="s")
        logging.getLogger("some.library").warning("theirs %s", 1, extra={"more": 2})
    structlog.get_logger().info("outside")
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


def test_traces_are_part_of_the_line():
    stream = io.StringIO()
    configure("json", stream)
    for log in (structlog.get_logger(), logging.getLogger("library")):
        try:
            raise ValueError("broken")
        except ValueError:
            log.exception("failed")
    for line in _lines(stream):
        assert line["exception"][0]["exc_type"] == "ValueError"
        assert line["exception"][0]["exc_value"] == "broken"


def test_text_is_one_readable_line():
    stream = io.StringIO()
    configure("text", stream)
    configure("text", stream)
    structlog.get_logger().info("started", port=8000)
    structlog.get_logger().debug("not shown")
    (line,) = stream.getvalue().splitlines()
    assert "started" in line
    assert "port=8000" in line
    assert "\x1b" not in line


def test_outgoing_urls_are_not_logged():
    stream = io.StringIO()
    configure("json", stream)
    logging.getLogger("httpx").info("GET https://example.com/?token=x")
    assert stream.getvalue() == ""
