"""Tests of manifests as authors write them: every mistake is reported with a message that names it."""

from __future__ import annotations

import pytest

from octavo.errors import BadRequest
from octavo.extensions.integrations.manifest import PublishIntegration
from octavo.operations.developing.examples import builtin_folder, list_builtin
from octavo.operations.developing.manifest import read_manifest

GOOD = """
name: chat
title: Chat
script: ./script.ts
scopes: [space:content:read]
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "script.ts").write_text("export default {};")

    def write(text):
        (tmp_path / "gitbook-manifest.yaml").write_text(text)
        return tmp_path

    return write


def test_manifests_of_the_public_tool_are_read(write):
    folder = write(
        GOOD
        + """
description: Talks
organization: acme
visibility: unlisted
target: site
categories: [analytics]
blocks:
  - id: chat
    title: Chat box
    urlUnfurl: ["https://chat.example.com"]
    markdown: {codeblock: chat, body: text}
configurations:
  account:
    properties: {key: {type: string, title: Key}}
    required: [key]
  site: {componentId: form}
externalLinks: [{label: Help, url: "https://example.com"}]
contentSecurityPolicy: {default-src: "'self'"}
secrets: {KEY: "a-${{ env.CHAT_KEY }}-${{env.OTHER}}"}
envs:
  staging: {organization: staging, visibility: private}
"""
    )
    read = read_manifest(folder, None, {"CHAT_KEY": "one", "OTHER": "two"})
    assert read.entry == folder / "script.ts" and read.unknown == []
    assert (read.manifest.name, read.manifest.organization, read.manifest.target) == ("chat", "acme", "site")
    assert read.manifest.secrets == {"KEY": "a-one-two"}
    staging = read_manifest(folder / "gitbook-manifest.yaml", "staging", {"CHAT_KEY": "one", "OTHER": "two"})
    assert (staging.manifest.organization, staging.manifest.visibility) == ("staging", "private")


def test_the_default_environment_is_used_without_a_name(write):
    folder = write(GOOD + "envs: {default: {secrets: {KEY: other}}}\nsecrets: {KEY: one}\n")
    assert read_manifest(folder).manifest.secrets == {"KEY": "other"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must contain keys such as name"),
        ("- a", "must contain keys such as name"),
        ("name: [", "gitbook-manifest.yaml:1: expected the node content"),
        (GOOD.replace("name: chat", ""), "name: this field is required"),
        (GOOD.replace("chat", "a b"), "name: must consist of letters, digits, hyphens"),
        (GOOD.replace("title: Chat", "title: 7"), "title: must be a string, not an integer"),
        (
            GOOD.replace("space:content:read", "space:all"),
            "scopes[0]: 'space:all' isn't an allowed value. Use one of ",
        ),
        (
            GOOD + "visibility: secret",
            "'secret' isn't an allowed value. Use one of private, public, unlisted",
        ),
        (
            GOOD + "configurations: {site: {required: [a]}}",
            "configurations.site: provide exactly one of `properties` and",
        ),
        (GOOD.replace("script.ts", "absent.ts"), "script: there is no file "),
        (
            GOOD + "secrets: {A: '${{ env.NOT_SET }}'}",
            "secrets.A: the environment variable NOT_SET isn't set",
        ),
        (GOOD + "secrets: {A: '${{ op://vault/item }}'}", "secrets.A: must be ${{ env.NAME }}"),
    ],
)
def test_mistakes_in_a_manifest_are_reported(write, text, says):
    with pytest.raises(BadRequest) as caught:
        read_manifest(write(text), None, {})
    assert says in caught.value.message


def test_an_unknown_environment_lists_the_existing_ones(write):
    with pytest.raises(BadRequest, match="no environment named 'live'. Available: one, two"):
        read_manifest(write(GOOD + "envs: {two: {}, one: {}}"), "live")


def test_a_missing_manifest_is_reported(tmp_path):
    with pytest.raises(BadRequest, match="there is no manifest"):
        read_manifest(tmp_path)


def test_unknown_keys_are_reported(write):
    (sentence,) = read_manifest(write(GOOD + "scope: []")).unknown
    assert sentence.endswith("unknown key 'scope'; did you mean 'scopes'?")


def test_manifests_of_built_in_integrations_are_read():
    assert list_builtin() == ["oidc-sign-in", "plausible", "slack"]
    for name in (*list_builtin(), "starter"):
        read = read_manifest(builtin_folder() / name)
        assert (read.manifest.name, read.unknown) == (name, [])
        assert isinstance(read.manifest, PublishIntegration)
