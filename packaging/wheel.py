"""Build hook for Hatch that refuses to build a wheel without the app."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RequireApp(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        octavo = Path(self.root, "src", "octavo")
        built = (
            octavo / "delivery" / "studio" / "dist" / "index.html",
            octavo / "interchange" / "readers" / "dist" / "asciidoc.js",
            octavo / "extensions" / "integrations" / "dist" / "slack.json",
        )
        if version != "editable" and not all(path.exists() for path in built):
            raise SystemExit("The app hasn't been built. Run `make setup` first and check its output.")
