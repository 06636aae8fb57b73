"""What sites can be."""

from __future__ import annotations

from typing import Literal

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
Visibility = Literal["public", "unlisted", "share-link", "visitor-auth"]
