"""Images of spaces in the widths that screens need: made once of each file, beside it, for readers and for the app."""

from . import tables as tables
from .making import is_scaled, make_variants, on_made
from .store import VARIANT_TYPE, ScaledImage, Variant, find_pictures, variant_name

__all__ = [
    "ScaledImage", "VARIANT_TYPE", "Variant", "find_pictures", "is_scaled", "make_variants", "on_made",
    "variant_name",
]  # fmt: skip
