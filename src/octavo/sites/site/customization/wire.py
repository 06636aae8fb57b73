"""Wire format of customization previews and queries."""

from __future__ import annotations

from msgspec import Struct

from .model import Mode, Override, PutCustomization

# --- overrides of a site space --------------------------------------------------------------------------


class TryCustomization(Struct, rename="camel"):
    """Customization to preview. ``siteSpace``: the site space where the preview starts. ``override``: overrides that
    replace the overrides of the site space. ``theme``: light or dark, regardless of the customization."""

    customization: PutCustomization
    site_space: str | None = None
    override: Override | None = None
    theme: Mode | None = None


class CustomizationQuery(Struct):
    """Query parameters of a customization. ``unmasked``: whether to include settings that aren't part of the
    plan. Octavo always includes all settings."""

    unmasked: bool = False
