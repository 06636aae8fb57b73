"""Images of spaces in the widths that screens need, created once per file for readers and the app."""

from . import tables as tables
from .making import is_scaled, make_variants, on_variants_created
from .store import VARIANT_TYPE, ImageVariant, ScaledImage, find_pictures, variant_name

__all__ = [
    "ImageVariant", "ScaledImage", "VARIANT_TYPE", "find_pictures", "is_scaled", "make_variants",
    "on_variants_created", "variant_name",
]  # fmt: skip
