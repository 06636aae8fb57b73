"""The effects of a commit depend neither on its entry point nor on what a process has imported."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from octavo.content.revisions.deriving import check_derived
from octavo.content.revisions.item_versions import list_items
from octavo.content.revisions.states import main_state
from octavo.core.links import app_hosts
from octavo.kit.work.worker import Worker
from octavo.operations.admin.backup import back_up, restore, verify_installation
from octavo.operations.installation import close_context, open_context
from octavo.settings import load
from test_house import REGISTRIES, SRC
from transfer.bringing_in import Imports

PETS = (Path(__file__).parents[1] / "pets.yaml").read_text()
PAGE = (
    '# Pets\n\n## Adding\n\n{% openapi src="pets.yaml" path="/pets" method="post" %}\n'
    "[pets](pets.yaml)\n{% endopenapi %}\n"
)
FILES = {"README.md": "# Home\n\nSee [pets](pets.md#adding).\n", "pets.md": PAGE, "pets.yaml": PETS}


OF_READERS = {name for name in REGISTRIES if name.startswith("delivery/reader/")}
"""What is at a site, which nothing but the reader asks: others do not load it."""
COUNT = f"""
import sys
for name in {sorted(REGISTRIES - OF_READERS)!r}:
    path, _, variable = name.partition(":")
    module = sys.modules.get("octavo." + path.removesuffix(".py").replace("/", "."))
    found = getattr(module, variable, None)
    print(name, len(found) if hasattr(found, "__len__") else found is not None)
"""
"""Prints how much is registered where modules register what they do."""


def _filled(*first: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*first, COUNT])], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_opening_an_installation_loads_all_registrations(tmp_path: Path) -> None:
    opened = _filled(
        "from octavo.operations.installation import open_context, close_context",
        "from octavo.settings import load",
        f"close_context(open_context(load({{'data': {str(tmp_path / 'data')!r}}})))",
    )
    served = _filled(
        "from octavo.operations.installation import load_packages", "import octavo.app", "load_packages()"
    )
    assert opened == served
    assert "content/revisions/revising.py:_on_commit 0" not in opened


def test_no_database_is_opened_without_the_packages() -> None:
    opening = [
        path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py") if "open_database(" in path.read_text()
    ]
    # Restoring loads all packages itself, because there is no server yet.
    assert sorted(opening) == [
        "kit/db/databases.py",
        "operations/admin/backup.py",
        "operations/installation.py",
    ]
    assert "load_packages()" in (SRC / "operations" / "admin" / "backup.py").read_text()


def _zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    return out.getvalue()


def _derived(context: Any, space_id: str) -> tuple[Any, ...]:
    """Return all derived data of a space, without IDs."""
    with context.db.read() as tx:
        hosts = app_hosts(context.settings.url)
        assert check_derived(tx, space_id, hosts) == []
        state = main_state(tx, space_id)
        content = [item.content for item in list_items(tx, state, "file") if item.name == "pets.yaml"]
        sources = tx.all(
            "SELECT content, state, complaint FROM openapi_sources WHERE space_id = :s", s=space_id
        )
        meant = tx.all("SELECT node FROM content_references WHERE space_id = :s", s=space_id)
    return content, [tuple(row) for row in sources], len(meant)


def test_every_entry_point_causes_the_same_effects(world: Any, tmp_path: Path) -> None:
    organization = world.home["organizationId"]
    context = world.context
    spaces: dict[str, str] = {}

    # Import of an uploaded archive.
    imports = Imports(world)
    assert imports.files(("all.zip", _zip()))["status"] == "completed"
    spaces["run"] = imports.space
    # Import of the folder by the command, in a separate process.
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    if context.db.engine == "sqlite":
        data = world.install(tmp_path / "data")
        environ = {**os.environ, "OCTAVO_DATA": str(data)}
        octavo = Path(sys.executable).with_name("octavo")
        command = [str(octavo), "import", str(folder), "--org", organization, "--title", "By command"]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        own = open_context(load({"data": str(data)}))
        try:
            with own.db.read() as tx:
                made = tx.value("SELECT id FROM spaces WHERE title = 'By command'")
            Worker(own.db, own).run_pending()
            by_command = _derived(own, made)
            assert verify_installation(own) == []
        finally:
            close_context(own)
    # Merge of a change request.
    whole = world.post("admin", f"/orgs/{organization}/spaces", {"title": "Merged"})["id"]
    change = world.post("admin", f"/spaces/{whole}/change-requests", {"subject": "x"})["id"]
    assert imports.space
    key = imports.upload("all.zip", _zip())
    run = world.post(
        "editor",
        imports.runs,
        {"source": {"type": "file", "files": [key]}, "target": {"space": whole, "changeRequest": change}},
    )["id"]
    Worker(context.db, context).run_pending()
    assert imports.run(run)["status"] == "completed"
    world.post("admin", f"/spaces/{whole}/change-requests/{change}/merge")
    spaces["merge"] = whole
    # A copy.
    spaces["copy"] = world.post("admin", f"/spaces/{imports.space}/duplicate", {})["id"]
    Worker(context.db, context).run_pending()

    derived = {name: _derived(context, space_id) for name, space_id in spaces.items()}
    if context.db.engine == "sqlite":
        derived["command"] = by_command
    # Restore of the entire server elsewhere.
    back_up(context, tmp_path / "backup.zip")
    (tmp_path / "restored").mkdir()
    shutil.copy(world._folder / "secret-key", tmp_path / "restored")
    target = load({"data": str(tmp_path / "restored")}, environ={})
    restore(target, tmp_path / "backup.zip")
    again = open_context(target)
    try:
        Worker(again.db, again).run_pending()
        derived["restored"] = _derived(again, imports.space)
    finally:
        close_context(again)
    first = derived["run"]
    assert first[1] and first[1][0][1] == "good"
    assert derived == dict.fromkeys(derived, first)
    assert verify_installation(context) == []
