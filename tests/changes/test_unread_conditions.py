"""Tests that edits report invalid conditions on a page."""


def edit(world, markdown, **params):
    change = world.post("admin", world.home.path("/spaces/{spaceId}/change-requests"), {"subject": "Guard"})[
        "id"
    ]
    path = world.home.path(f"/spaces/{{spaceId}}/change-requests/{change}/content")
    page = {"operation": "insert_page", "title": "Prices", "document": {"markdown": markdown}}
    return world.call("admin", "POST", path, params=params, json={"changes": [page]})


def test_an_edit_with_an_unparsable_condition_warns(world):
    text = "# Prices\n\na\n\nb {% if visitor.claims.paid %}SECRET{% endif %}\n"
    answer = edit(world, text, compat="false")
    (said,) = answer.json()["unreadConditions"]
    assert said["line"] == 5 and "{% if visitor.claims.paid %}" in said["message"]
    assert answer.headers["octavo-unread-conditions"] == said["page"]
    answer = edit(world, "---\nIf: visitor.claims.paid\n---\n# Prices\n")
    assert answer.is_success and answer.headers["octavo-unread-conditions"]
    answer = edit(
        world, "# Prices\n\n{% if visitor.claims.paid %}\n\nfor them\n\n{% endif %}\n", compat="false"
    )
    assert "octavo-unread-conditions" not in answer.headers and "unreadConditions" not in answer.json()
