"""What Hatch runs when it builds a wheel: one without the app would be installed by people who then have none."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AppIsThere(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        octavo = Path(self.root, "src", "octavo")
        built = (
            octavo / "delivery" / "studio" / "dist" / "index.html",
            octavo / "interchange" / "readers" / "dist" / "asciidoc.js",
            octavo / "extensions" / "integrations" / "dist" / "slack.json",
        )
        if version != "editable" and not all(path.exists() for path in built):
            raise SystemExit("The app has not been built. Run `make setup` first, and see what it says.")
