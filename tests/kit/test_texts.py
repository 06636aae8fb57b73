"""Conversion of identifiers to words."""

from __future__ import annotations

import pytest

from octavo.kit.texts import say_name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("listSpaces", "List spaces"),
        ("getOpenAPISpecById", "Get OpenAPI spec by id"),
        ("createSAMLProvider", "Create SAML provider"),
        ("startOpenIdSignIn", "Start OpenID sign in"),
        ("GetAccountsAccount", "Get accounts account"),
        ("issues/add-labels", "Issues add labels"),
        ("repos.list_for_user", "Repos list for user"),
        ("readCoreV1NamespacedPod", "Read core v1 namespaced pod"),
        ("patchBatchV2alpha1CronJob", "Patch batch v2alpha1 cron job"),
        ("listVPCsAndDNSRecords", "List VPCs and DNS records"),
        ("getOAuth2Token", "Get OAuth 2 token"),
        ("getUserIDs", "Get user IDs"),
        ("listOfUserByID", "List of user by id"),
        ("LIST_USERS", "List users"),
        ("größen_ändern", "Größen ändern"),
        ("创建用户", "创建用户"),
        ("عرض_المستخدمين", "عرض المستخدمين"),
        ("a--b", "A b"),
        ("-/_", ""),
        ("", ""),
    ],
)
def test_identifiers_are_converted_to_words(name: str, said: str) -> None:
    assert say_name(name) == said
