"""Customization on the wire: the whole of a site's, and what one of its site spaces overrides."""

from __future__ import annotations

from msgspec import Struct

from .model import Mode, Override, PutCustomization

# --- what a site space overrides ------------------------------------------------------------------------
# Null takes an override back; what is left out stays as it is.


class TryCustomization(Struct, rename="camel"):
    """``siteSpace``: where the preview begins. ``override``: what that site space would override, in place of what it
    does. ``theme``: which side it shows, whatever the look says."""

    customization: PutCustomization
    site_space: str | None = None
    override: Override | None = None
    theme: Mode | None = None


class CustomizationQuery(Struct):
    """``unmasked``: also what the plan does not include. Every plan of Octavo includes everything."""

    unmasked: bool = False
