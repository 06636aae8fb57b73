"""One sensible call of every operation, which the contract tests make in many hands and with wrong ids.

Each package has its file of samples here. An operation without one fails every contract test by its name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from octavo.kit.http.operation import Operation
from octavo.organization.access.roles import ACCOUNT, ORGANIZATION, Can
from world import MEMBERS, NOBODY, Place, World


class _Noting(Place):
    """Place that records which ids are requested."""

    def __getitem__(self, name: str) -> str:
        return self.ids.setdefault(name, name)


Body = Mapping[str, Any] | list[Any] | Callable[[Place], Any] | None


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What to send; everything has a default, so that most operations need ``Sample()`` alone.

    - ``path``: parameters that are not in the place under their own name, as name to name: the operation's
      ``commentId`` may be the place's ``changeRequestCommentId``.
    - ``query``: the query parameters, or a function of the place when they hold ids.
    - ``body``: what is sent as JSON, or a function of the place when it holds ids.
    - ``before``: run first, by the administrator of the place: what must be so for the call to make sense.
    - ``like``: (abilities, needed) that decide instead of the operation's own proof and ``needs``.
    - ``outcomes``: statuses of members of home (by role, or ``guest``) that the roles alone do not tell.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] | Callable[[Place], Mapping[str, Any]] = field(default_factory=dict)
    body: Body = None
    before: Callable[[World, Place], None] | None = None
    like: tuple[Any, Any] | None = None
    outcomes: Mapping[str, int] = field(default_factory=dict)

    def ids(self, place: Place, template: str) -> str:
        """Return the path with the ids of a place."""
        return place.path(template, **{name: place[there] for name, there in self.path.items()})

    def names_in_body(self) -> set[str]:
        """Return the names of the ids in the body."""
        noting = _Noting("noting", MEMBERS)
        self.body_for(noting)
        return set(noting.ids)

    def query_for(self, place: Place) -> dict[str, Any]:
        return dict(self.query(place) if callable(self.query) else self.query)

    def body_for(self, place: Place) -> Any:
        return self.body(place) if callable(self.body) else self.body


MEMBERS_ONLY = (ORGANIZATION, Can.VIEW)
"""``like`` of operations on people, whom only those see who share an organization with them."""


@dataclass(frozen=True)
class Elsewhere:
    """Reason why an operation refuses the shared sample, the refusal, and the test in which it succeeds."""

    status: int
    why: str
    test: str


TOLD_ELSEWHERE = {
    "signInWithCode": Elsewhere(
        401,
        "takes a challenge that was signed a moment before",
        "identity/test_sign_in.py::test_a_two_factor_code_is_required_and_valid_once",
    ),
    "setUpAccount": Elsewhere(
        409,
        "is for the account that the first start created",
        "test_first_start.py::test_the_first_administrator_chooses_name_email_and_password",
    ),
    "registerPasskey": Elsewhere(
        400,
        "takes what an authenticator made of a challenge",
        "identity/test_passkeys.py::test_a_passkey_signs_in_without_a_password",
    ),
    "updatePasskey": Elsewhere(
        404,
        "is about a passkey that an authenticator made",
        "identity/test_passkeys.py::test_a_passkey_is_named_and_removed",
    ),
    "signInWithPasskey": Elsewhere(
        401,
        "takes what an authenticator made of a challenge",
        "identity/test_passkeys.py::test_a_passkey_signs_in_without_a_password",
    ),
    "deleteOwnAccount": Elsewhere(
        409,
        "is about accounts that no organization manages",
        "admin/test_leaving.py::test_content_of_deleted_accounts_is_kept_without_a_name",
    ),
    "requestSignInLink": Elsewhere(
        503, "needs a mail server", "identity/test_sign_in.py::test_an_emailed_link_signs_in_once"
    ),
    **dict.fromkeys(
        ("getOwnNotification", "updateOwnNotification"),
        Elsewhere(
            404,
            "is about what one person alone was told",
            "notifications/test_notifications.py::test_notifications_can_be_marked_as_read_and_done",
        ),
    ),
    "moveFavorite": Elsewhere(
        404,
        "is about a favorite that one person alone has",
        "favorites/test_favorites.py::test_favorites_are_listed_in_the_order_that_their_person_chose",
    ),
    **dict.fromkeys(
        ("listAgentActs", "undoAgentActs"),
        Elsewhere(
            404,
            "is about an agent that one person alone connected",
            "agents/test_agents.py::test_an_agent_reads_edits_and_requests_a_review",
        ),
    ),
    **dict.fromkeys(
        ("getUnsubscribePage", "unsubscribe"),
        Elsewhere(
            400,
            "takes a link that was signed for a mail",
            "notifications/test_mail.py::test_emails_can_be_unsubscribed_with_a_link",
        ),
    ),
    "startOpenIdSignIn": Elsewhere(
        503, "needs an OpenID Connect provider", "identity/test_oidc.py::test_a_new_person_signs_in"
    ),
    "finishOpenIdSignIn": Elsewhere(
        401,
        "takes what an OpenID Connect provider and the same browser's cookie say",
        "identity/test_oidc.py::test_a_new_person_signs_in",
    ),
    "receiveGitHook": Elsewhere(
        400,
        "takes what a hoster signed with the secret of the space's sync",
        "gitsync/test_hooks.py::test_each_git_provider_signs_webhooks_in_its_own_way",
    ),
    **dict.fromkeys(
        ("receiveCollectionGitHook", "receiveSiteGitHook"),
        Elsewhere(
            400,
            "takes what a hoster signed with the secret of the sync",
            "gitsync/test_projects.py::test_a_project_is_synced_over_http_with_one_webhook",
        ),
    ),
    "receiveSamlResponse": Elsewhere(
        400,
        "takes a form with an identity provider's signature",
        "identity/test_saml.py::test_a_company_signs_in_through_its_provider",
    ),
    "finishSamlSignIn": Elsewhere(
        401,
        "takes what an identity provider and the same browser's cookie say",
        "identity/test_saml.py::test_a_company_signs_in_through_its_provider",
    ),
    "readSamlAnswer": Elsewhere(
        401,
        "takes what an identity provider and the same browser's cookie say",
        "identity/test_saml.py::test_a_sign_in_started_by_the_provider_asks_for_confirmation",
    ),
    "confirmSamlSignIn": Elsewhere(
        403,
        "takes what an identity provider and our own page say",
        "identity/test_saml.py::test_a_sign_in_started_by_the_provider_asks_for_confirmation",
    ),
    "connectSamlAccount": Elsewhere(
        403,
        "takes what an identity provider and our own page say",
        "identity/test_saml.py::test_the_owner_of_an_account_connects_it_once",
    ),
}
"""Operations of nobody in particular whose success needs somebody outside. Whoever calls them without is
refused alike."""


def _collect() -> dict[str, Sample]:
    found: dict[str, Sample] = {}
    for module in pkgutil.iter_modules(__path__):
        for operation_id, sample in importlib.import_module(f"{__name__}.{module.name}").SAMPLES.items():
            assert operation_id not in found, f"{operation_id}: two samples"
            found[operation_id] = sample
    return found


SAMPLES = _collect()


def sample_of(operation: Operation) -> Sample:
    """Return the sample of an operation; fail the requesting test if there is none."""
    assert operation.id in SAMPLES, f"{operation.id}: add a sample to contract/samples/{operation.area}.py"
    return SAMPLES[operation.id]


def succeeded(operation: Operation, answer: httpx.Response) -> bool:
    """Return whether a response is a success; a few operations succeed by redirecting a browser."""
    return answer.is_success or answer.status_code == operation.status


def asks_for_session(operation: Operation) -> bool:
    return operation.needs in ACCOUNT and ACCOUNT[operation.needs].session


def credentials(world: World, who: str, operation: Operation) -> dict[str, str]:
    """Return the header of a session of this person if the operation requires one; otherwise nothing, and a
    token is used."""
    return world.session(who) if who != NOBODY and asks_for_session(operation) else {}


def send(
    world: World, who: str, operation: Operation, place: Place, sample: Sample | None = None, **options: Any
) -> httpx.Response:
    """Send the sample call of an operation in a place. ``options`` (``path``, and those of httpx) override
    the sample. Uses a token, or a session if the operation requires one."""
    sample = sample or sample_of(operation)
    path = options.pop("path", None) or sample.ids(place, operation.path)
    if "json" not in options and "content" not in options and sample.body is not None:
        options["json"] = sample.body_for(place)
    options.setdefault("params", sample.query_for(place))
    if "authorization" not in options.get("headers", {}):
        options["headers"] = {**credentials(world, who, operation), **options.get("headers", {})}
    return world.call(who, operation.method, path, **options)
