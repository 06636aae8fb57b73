"""What redirects lead to."""

from __future__ import annotations

from typing import Literal

Kind = Literal["site-section", "site-space", "site-page", "url"]
