"""Wire types of customization previews and queries."""

from __future__ import annotations

from msgspec import Struct

from .model import Mode, Override, PutCustomization

# --- overrides of a site space --------------------------------------------------------------------------


class TryCustomization(Struct, rename="camel"):
    """Customization to preview. ``siteSpace``: the site space at which the preview starts. ``override``: the
    overrides that replace those of that site space. ``theme``: light or dark, regardless of the
    customization."""

    customization: PutCustomization
    site_space: str | None = None
    override: Override | None = None
    theme: Mode | None = None


class CustomizationQuery(Struct):
    """Query of a customization. ``unmasked``: whether to include settings that the plan does not include;
    every plan of Octavo includes everything."""

    unmasked: bool = False
