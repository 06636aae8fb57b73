"""Words of live editing."""

from typing import Literal

Why = Literal["place-gone", "step-refused", "other"]
"""Why words found no place on the page."""
