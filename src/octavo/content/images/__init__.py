"""Image variants in the widths that screens need. They are created once per file, and are used on published sites and
in the app."""

from . import tables as tables
