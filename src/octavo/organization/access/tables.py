"""Declare the tables for people, teams, and permissions."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, member, person, row

from .roles import ORDER

declare(
    Table(
        name="users",
        stays="exported to a separate file, without passwords",
        secrets=("password_hash",),
        values={"kind": ("person", "service", "integration", "deleted")},
    ),
    Table(name="avatars", stays="belong to a person, not to an organization", columns=(person("user_id"),)),
    Table(name="first_administrators", stays="gives access to this server"),
    Table(name="tokens", stays="secret", secrets=("hash",)),
    Table(
        name="members",
        of_organization="organization_id = :org",
        columns=(person("user_id"),),
        membership="user_id",
        values={"role": ORDER},
    ),
    Table(name="teams", of_organization="organization_id = :org"),
    Table(name="team_avatars", stays="stay on this server, like photos of people"),
    Table(
        name="team_members",
        of_organization="team_id IN (SELECT id FROM teams WHERE organization_id = :org)",
        columns=(member("user_id"),),
        membership="user_id",
        values={"role": ("owner", "member")},
    ),
    Table(
        name="grants",
        of_organization="""object_type = 'space' AND object_id IN (SELECT id FROM spaces WHERE organization_id = :org)
          OR object_type = 'collection' AND object_id IN (SELECT id FROM collections WHERE organization_id = :org)
          OR object_type = 'site' AND object_id IN (SELECT id FROM sites WHERE organization_id = :org)""",
        columns=(
            row("object_id", "spaces", object_type=("space",)),
            row("object_id", "collections", object_type=("collection",)),
            row("object_id", "sites", object_type=("site",)),
            member("subject_id", subject_type=("user",)),
            row("subject_id", "teams", subject_type=("team",)),
        ),
        membership="subject_id",
        values={
            "object_type": ("space", "collection", "site"),
            "subject_type": ("user", "team"),
            "role": ORDER,
        },
    ),
    Table(
        name="audit_events",
        of_organization="organization_id = :org",
        columns=(row("organization_id", "organizations"), person("actor_id")),
        json={"before_state": object, "after_state": object},
    ),
    Table(name="organization_limits", stays="set for this server", json={"warned": list[str]}),
    Table(name="organization_usage", stays="measured on this server"),
    # Maintained by a trigger.
    Table(name="audit_totals", derived=True, columns=(person("actor_id"),)),
)
