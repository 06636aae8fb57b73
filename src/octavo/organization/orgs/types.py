"""Types for hostnames, merge rules, and the default content of organizations."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.texts import pattern

Hostname = Annotated[
    str,
    Meta(
        pattern=pattern(
            r"^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]\Z",
            "be 3 to 32 lowercase letters, digits, and hyphens, with no hyphen at either end",
        )
    ),
]
RuleName = Literal[
    "require_specific_reviewers",
    "require_one_of_specific_reviewers",
    "allow_bypass",
    "require_at_least_one_review",
    "require_at_least_one_approved_review",
    "require_all_reviews_approved",
    "require_agent_review",
    "require_up_to_date_change_request",
    "require_change_request_subject",
    "require_change_request_description",
    "require_author_to_merge",
    "require_style_guide",
    "custom",
]
StyleLevel = Literal["suggestion", "warning", "error"]
_NAMING_USERS = ("require_specific_reviewers", "require_one_of_specific_reviewers", "allow_bypass")


class MergeRule(Struct, omit_defaults=True):
    """Merge rule. ``users``: the people, for rules that name reviewers and for `allow_bypass`.
    ``expression``: the expression, for `custom`. ``message``: a message to show to people if the expression
    is false. ``level``: the minimum level of style rules to enforce, for `require_style_guide`; by default,
    `error`."""

    rule: RuleName
    users: Annotated[list[str], Meta(max_length=100)] | UnsetType = UNSET
    expression: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET
    message: Annotated[str, Meta(max_length=512)] | UnsetType = UNSET
    level: StyleLevel | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.rule in _NAMING_USERS) != (self.users is not UNSET):
            raise ValueError(
                f"users: is required for the rules {', '.join(_NAMING_USERS)}, and must be omitted for other"
                " rules"
            )
        if (self.rule == "custom") != (self.expression is not UNSET):
            raise ValueError(
                "expression: is required for the `custom` rule, and must be omitted for other rules"
            )
        if self.rule != "custom" and self.message is not UNSET:
            raise ValueError("message: can only be used with the `custom` rule")
        if self.rule != "require_style_guide" and self.level is not UNSET:
            raise ValueError("level: can only be used with the `require_style_guide` rule")


class MergeRules(Struct, omit_defaults=True):
    """Merge rules of an organization. ``rules``: the rules, present only for the type `rules`."""

    type: Literal["none", "rules"]
    rules: Annotated[list[MergeRule], Meta(max_length=50)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.type == "rules") != (self.rules is not UNSET):
            raise ValueError("rules: is required when `type` is `rules`, and must be omitted otherwise")


class SitePointer(Struct, tag="site"):
    site: str
