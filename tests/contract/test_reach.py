"""The reach of a token or session, tested with every operation.

An administrator of two organizations uses a credential that is only valid in one of them. Whatever they name
of the other one, in the path, the query, or the body, is treated as missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import httpx
import msgspec
import pytest
from msgspec import inspect

from octavo.kit.http.operation import PUBLIC, TABLE, Deletion, Operation
from octavo.operations.admin.authorization import OperatorAccess
from octavo.operations.installation import load_packages
from octavo.organization.access.members import upsert_member
from octavo.organization.access.roles import ACCOUNT, Can
from octavo.organization.access.scopes import SCOPES
from octavo.organization.access.tokens import create_token
from world import Place, World

from .bodies import Where, kinds, with_value
from .samples import SAMPLES, TOLD_ELSEWHERE, Sample, asks_for_session, sample_of, send, succeeded
from .test_foreign_ids import SAME_EVERYWHERE, Mixed, foreign_bodies, foreign_paths

load_packages()

WHO = "admin"
OPERATIONS = [operation for operation in TABLE.values() if operation.needs is not PUBLIC]


def _in_both(world: World, role: str) -> None:
    with world.context.db.write() as tx:
        for place in (world.home, world.away):
            upsert_member(tx, place["organizationId"], world.users[WHO], role)


def bound_token(world: World) -> dict[str, str]:
    """Return a token of home, of an administrator of both."""
    _in_both(world, "admin")
    with world.context.db.write() as tx:
        secret = create_token(
            tx, world.users[WHO], name="bound", organization_id=world.home["organizationId"]
        )
    return {"authorization": f"Bearer {secret}"}


def vouched_session(world: World) -> dict[str, str]:
    """Return a session through the identity provider of home, of an administrator of both."""
    _in_both(world, "admin")
    return world.session(WHO, organization_id=world.home["organizationId"])


def session_without_sign_on(world: World) -> dict[str, str]:
    """Return a session by password, of a creator in both, while away requires single sign-on."""
    _in_both(world, "create")
    with world.context.db.write() as tx:
        tx.run(
            """UPDATE organizations SET settings = '{"sso":true}' WHERE id = :id""",
            id=world.away["organizationId"],
        )
    return world.session(WHO)


JOINING = {"joinOrganization", "joinOrganizationWithInvite"}
"""For people who are not in the organization yet: there is nothing to reach, and the whole account asks."""

COMING = [bound_token, vouched_session, session_without_sign_on]
Coming = Callable[[World], dict[str, str]]


def _has_ids(operation: Operation, sample: Sample, place: Place) -> bool:
    names = {sample.path.get(name, name) for name in re.findall(r"\{(\w+)\}", operation.path)}
    return bool((names | sample.names_in_body()) - SAME_EVERYWHERE)


def _prepared(world: World, sample: Sample) -> None:
    if sample.before is not None:
        sample.before(world, world.home)
        sample.before(world, world.away)


def _tells_of(answer: httpx.Response, away: Place, sent: set[str]) -> list[str]:
    """Return the ids of away in a response, except those that were sent."""
    text = answer.text
    return [name for name, id in away.ids.items() if len(id) == 20 and id not in sent and id in text]


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "operation",
    [
        op
        for op in OPERATIONS
        # Server administrators can access objects that belong to no organization.
        if op.id in SAMPLES
        and op.proof_type is not OperatorAccess
        and _has_ids(op, SAMPLES[op.id], Place("", {}))
    ],
    ids=lambda operation: operation.id,
)
def test_other_organizations_are_out_of_reach(world: World, operation: Operation) -> None:
    sample = sample_of(operation)
    _prepared(world, sample)
    home, away = world.home, world.away
    calls = [("all of it", away, away)]
    calls += [
        (f"{name} in the path", Mixed(home, away, name), home)
        for name in foreign_paths(operation, sample, home, away)
    ]
    calls += [
        (f"{name} in the body", home, Mixed(home, away, name)) for name in foreign_bodies(sample, home, away)
    ]
    refused = {403, 404, 204} if operation.returns is Deletion else {403, 404}
    wrong = []
    for coming in COMING:
        if operation.id in JOINING and coming is session_without_sign_on:
            continue
        headers = coming(world)
        before = world.written()
        for named, in_path, in_body in calls:
            what = f"{coming.__name__}, {named}"
            path, body = sample.ids(in_path, operation.path), sample.body_for(in_body)
            options = {"json": body} if body is not None else {}
            answer = send(world, WHO, operation, away, path=path, headers=headers, **options)
            if answer.status_code not in refused:
                wrong.append(f"{what}: {answer.status_code} {answer.text[:200]}")
            sent = set(re.findall(r"\w+", f"{path} {body}"))
            if told := _tells_of(answer, away, sent):
                wrong.append(f"{what}: the answer holds {told}")
            if world.written() != before:
                wrong.append(f"{what}: something was written")
                before = world.written()
    assert not wrong, "\n".join([operation.source, *wrong])


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_only_the_own_organization_is_reached_and_shown(sqlite_world: World, operation: Operation) -> None:
    """``ACCOUNT`` alone lists the remaining operations on the account itself."""
    world, sample = sqlite_world, sample_of(operation)
    need = ACCOUNT.get(operation.needs)
    for coming in (bound_token, vouched_session):
        # A call that only reads leaves everything as it was for the next one.
        if coming is bound_token or operation.method != "GET":
            world.renew()
            if sample.before is not None:
                sample.before(world, world.home)
        headers = coming(world)
        answer = send(world, WHO, operation, world.home, headers=headers)
        if need is not None and (need.whole or (need.session and coming is bound_token)):
            assert answer.status_code == 403, coming.__name__
        # Content goes to organizations that the token or session reaches as well.
        elif (
            operation.id in ("transferSpace", "transferCollection")
            or operation.id in TOLD_ELSEWHERE
            and TOLD_ELSEWHERE[operation.id].status in (400, 404)
        ):
            assert answer.status_code in (400, 404), coming.__name__
        else:
            assert succeeded(operation, answer), f"{coming.__name__}: {answer.text}"
        assert not _tells_of(answer, world.away, set()), coming.__name__


# --- what is named in bodies and queries, field by field ----------------------------------------------------


def _named(type: inspect.Type, given: Any, at: Where = ()) -> Iterator[tuple[Where, bool]]:
    """Yield the positions of strings in a body, those in the sample and those that it omits, and whether each
    is a list."""
    for kind in kinds(type):
        if isinstance(kind, inspect.StrType):
            yield at, False
        elif isinstance(kind, (inspect.ListType, inspect.VarTupleType)):
            if any(isinstance(item, inspect.StrType) for item in kinds(kind.item_type)):
                yield at, True
            for n, item in enumerate(given if isinstance(given, list) else []):
                yield from _named(kind.item_type, item, (*at, n))
        elif isinstance(kind, inspect.StructType) and (isinstance(given, dict) or not at):
            there = given if isinstance(given, dict) else {}
            if kind.tag is not None and there.get(kind.tag_field) != kind.tag:
                continue
            for field in kind.fields:
                if field.encode_name in there or not field.required:
                    yield from _named(field.type, there.get(field.encode_name), (*at, field.encode_name))
        elif isinstance(kind, inspect.DictType) and isinstance(given, dict):
            for name, value in given.items():
                yield from _named(kind.value_type, value, (*at, name))
        elif isinstance(kind, inspect.AnyType) and isinstance(given, str):
            yield at, False


def _fields(operation: Operation, sample: Sample, home: Place) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Return for each string of a call outside of its path how to send an id in its place."""
    body = sample.body_for(home)
    if isinstance(operation.body, type) and issubclass(operation.body, msgspec.Struct):
        for at, many in dict.fromkeys(_named(inspect.type_info(operation.body), body)):
            yield lambda id, at=at, many=many: {
                "json": with_value(sample.body_for(home), at, [id] if many else id)
            }
    if operation.query is not None:
        for at, _ in dict.fromkeys(_named(inspect.type_info(operation.query), sample.query_for(home))):
            yield lambda id, at=at: {"params": {**sample.query_for(home), str(at[0]): id}}


# Starts with a letter, like ids, so that conditions parse it in the same way.
_ABSENT = "Absent0Absent0Absent"
NAMED = ("organizationId", "spaceId", "userId", "siteId")
NAMED_TOO = (
    "collectionId",
    "teamId",
    "changeRequestId",
    "pageId",
    "fileId",
    "reusableContentId",
    "revisionId",
    "commentId",
    "importRunId",
    "fontKey",
)


@pytest.mark.parametrize(
    "names", [NAMED, pytest.param(NAMED_TOO, marks=pytest.mark.slow)], ids=lambda names: names[0]
)
@pytest.mark.parametrize(
    "operation",
    [op for op in OPERATIONS if op.body is not None or op.query is not None],
    ids=lambda operation: operation.id,
)
def test_ids_out_of_reach_return_404(
    sqlite_world: World, operation: Operation, names: tuple[str, ...]
) -> None:
    """In every string of every body and query, whether or not it is meant for an id."""
    world, sample = sqlite_world, sample_of(operation)
    home, away = world.home, world.away
    wrong, headers = [], dict[str, str]()

    def begin() -> None:
        # Created objects are new each time, and so is the world.
        world.renew()
        if sample.before is not None:
            sample.before(world, home)
        headers.update(vouched_session(world) if asks_for_session(operation) else bound_token(world))

    def ask(options_with: Callable[[str], dict[str, Any]], id: str) -> tuple[int, str]:
        if not headers:
            begin()
        options = options_with(id)
        answer = send(world, WHO, operation, home, headers=headers, **options)
        if answer.is_success and operation.method != "GET":
            headers.clear()
        if told := _tells_of(answer, away, set(re.findall(r"\w+", str(options)))):
            wrong.append(f"{options}: the answer holds {told}")
        return answer.status_code, answer.text if answer.status_code >= 400 else ""

    begin()
    for options_with in _fields(operation, sample, home):
        absent = ask(options_with, _ABSENT)
        for name in names:
            status, text = ask(options_with, away[name])
            if (status, text.replace(away[name], _ABSENT)) != absent:
                wrong.append(f"{options_with(name)}: {status} {text[:150]}; absent: {absent}")
    assert not wrong, "\n".join([operation.source, *wrong])


# --- scopes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_a_token_without_the_scope_is_refused_and_changes_nothing(
    sqlite_world: World, operation: Operation
) -> None:
    if operation.needs is Can.OWN_TOKEN:
        return
    world, sample = sqlite_world, sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    other = "search" if operation.area != "search" else "spaces"
    lacking = [["read"] if operation.method != "GET" else [f"{other}:read"], [f"{other}:write"]]
    secrets = []
    with world.context.db.write() as tx:
        for scopes in lacking:
            secrets.append(create_token(tx, world.users[WHO], name="narrow", scopes=scopes))
    before = world.written()
    for secret, scopes in zip(secrets, lacking, strict=True):
        answer = send(world, WHO, operation, world.home, headers={"authorization": f"Bearer {secret}"})
        assert (answer.status_code, world.written()) == (403, before), (scopes, answer.text)


def _keys(world: World) -> dict[str, str]:
    """Return everything that gives access to home, or acts on behalf of a person, by kind."""
    place, found = world.home, {}
    site = place.path("/orgs/{organizationId}/sites/{siteId}")
    published = world.post("admin", f"{site}/publish")["urls"]["published"]
    links = world.get("admin", f"{site}/share-links")["items"]
    found["share link"] = links[0]["urls"]["published"].removeprefix(published).strip("/")
    found["key of visitors"] = world.get("admin", f"{site}/publishing/auth")["privateKey"]
    found["header of an MCP server"] = "Bearer secret"
    link = world.post("admin", place.path("/orgs/{organizationId}/link-invites"), {"role": "edit"})
    found["invite link"] = link["id"]
    installation = place.path("/integrations/{integrationName}/installations/{installationId}")
    for at in ("", place.path("/spaces/{spaceId}"), place.path("/sites/{siteId}")):
        body = {"configuration": {"client_secret": f"the-secret-{at[1:6] or 'everywhere'}"}}
        assert world.call("admin", "PATCH", installation + at, json=body).is_success
        found[f"secret in a configuration {at}"] = body["configuration"]["client_secret"]
    return found


def test_readers_never_receive_keys(sqlite_world: World) -> None:
    """By a token with any one scope that reads, and by one that reads everything, of an administrator. Content is read
    with the scope for it, also through links and previews."""
    world = sqlite_world
    keys = _keys(world)
    words = world.get(
        "admin", world.home.path("/spaces/{spaceId}/content/page/{pageId}"), params={"format": "markdown"}
    )
    text = words["markdown"].strip().rpartition("\n")[2]
    with world.context.db.write() as tx:
        owner = world.users[WHO]
        secrets = {
            scope: create_token(tx, owner, name="reads", scopes=[scope])
            for scope in sorted(SCOPES)
            if scope.endswith("read")
        }
    told, others = [], cycle(secrets)
    for operation in OPERATIONS:
        if operation.method != "GET" or operation.id in TOLD_ELSEWHERE:
            continue
        before = sample_of(operation).before
        # Most objects of other areas exist in every world.
        missing = set(re.findall(r"\{(\w+)\}", operation.path)) - world.home.ids.keys()
        if before is not None and (missing or operation.area in ("access", "ask", "invitations")):
            before(world, world.home)
        # Those that let it through, and in turn one of the others, which are all refused in the same place.
        let = {"read", "content:read", f"{operation.area}:read"} & secrets.keys()
        for scope in sorted(let | {next(others)}):
            headers = {"authorization": f"Bearer {secrets[scope]}"}
            answer = send(world, WHO, operation, world.home, headers=headers)
            told += [(operation.id, scope, name) for name, key in keys.items() if key in answer.text]
            if scope != "read" and scope != "content:read" and scope != f"{operation.area}:read":
                assert answer.status_code >= 400 or operation.needs is Can.OWN_TOKEN, (operation.id, scope)
            if scope != "read" and operation.yields:
                assert answer.status_code == 403, (operation.id, scope)
            if operation.area in ("sites", "printing", "spaces", "orgs"):
                assert text not in answer.text and "preview_token" not in answer.text or scope == "read"
    assert told == []


def test_a_scope_of_content_in_the_response_is_also_required(sqlite_world: World) -> None:
    world = sqlite_world
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}/publishing")
    cases = [
        ("preview", ["sites:read"], 403, "content:read"),
        ("preview", ["sites:read", "content:read"], 200, ""),
        ("preview", ["read"], 200, ""),
        ("auth", ["sites:read"], 403, "sites:write"),
        ("auth", ["read"], 403, "sites:write"),
        ("auth", ["sites:write"], 200, ""),
        ("auth", ["write"], 200, ""),
    ]
    for path, scopes, status, lacking in cases:
        with world.context.db.write() as tx:
            secret = create_token(tx, world.users[WHO], name="narrow", scopes=scopes)
        headers = {"authorization": f"Bearer {secret}"}
        answer = world.call("nobody", "GET", f"{site}/{path}", headers=headers)
        assert (answer.status_code, lacking in answer.text) == (status, True), (path, scopes, answer.text)
