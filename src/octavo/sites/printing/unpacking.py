"""Convert web fonts for typst: decompress them, write one weight per file, and rename them.

Because organizations upload fonts, this code runs in the sandboxed process that typesets a PDF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .order import PrintFace

_FAMILY_NAMES = (1, 2, 3, 4, 6, 16, 17, 21, 22, 25)
"""Entries of a font's name table that contain its family and style."""
_COMPLEX = 0x590
"""First character of each script in which the shape of letters depends on adjacent letters."""
_ITALIC, _BOLD, _REGULAR = 1 << 0, 1 << 5, 1 << 6


def unpack_faces(folder: Path, faces: Sequence[PrintFace], characters: set[int], into: Path) -> list[str]:
    """Write the parts of the faces that the characters require, and return the families for typesetting the text, in
    order of preference. Files that aren't fonts are skipped, and later faces don't repeat characters that a family
    already has."""
    into.mkdir(exist_ok=True)
    families: dict[str, None] = {}
    left = set(characters)
    for family in dict.fromkeys(face.family for face in faces):
        shown: set[int] = set()
        for face in faces:
            if face.family == family:
                shown |= _unpack((folder / face.file).read_bytes(), face, left, into)
        if shown:
            families[family] = None
            left -= shown
    return list(families)


def _unpack(data: bytes, face: PrintFace, characters: set[int], into: Path) -> set[int]:
    """Return the given characters that the font contains, and write the font if it contains at least one of these
    characters."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    try:
        with TTFont(io.BytesIO(data), recalcTimestamp=False) as font:
            shown = characters & set(font.getBestCmap())
            if not shown:
                return shown
            # Making a variable font static with all its glyphs and features takes seconds. Ligatures and
            # alternate forms are optional in the scripts that come first in Unicode, but essential in others.
            if "GSUB" in font and max(shown) < _COMPLEX:
                del font["GSUB"]
            font["name"].names = []
            options = Options(notdef_outline=True, name_IDs=[], hinting=False)
            if max(shown) < _COMPLEX:
                options.layout_features = ["kern", "mark"]
            subsetter = Subsetter(options)
            subsetter.populate(unicodes=shown)
            subsetter.subset(font)
            font.flavor = None
            font.save(few := io.BytesIO(), reorderTables=False)
        for weight in face.weights:
            with TTFont(io.BytesIO(few.getvalue()), recalcTimestamp=False) as font:
                _make_static(font, weight)
                _rename(font, face.family, weight, face.italic)
                style = "italic" if face.italic else "normal"
                font.save(into / f"{Path(face.file).stem}-{weight}-{style}.ttf", reorderTables=False)
    except Exception:  # noqa: BLE001 - a font may be broken in any of its tables, and each is read by other code
        return set()
    return shown


def _make_static(font: Any, weight: int) -> None:
    """Reduce a variable font to one weight, because typst supports only one weight per variable font."""
    if "fvar" not in font:
        return
    from fontTools.varLib import instancer

    at = {
        axis.axisTag: min(max(weight, axis.minValue), axis.maxValue)
        if axis.axisTag == "wght"
        else axis.defaultValue
        for axis in font["fvar"].axes
    }
    instancer.instantiateVariableFont(font, at, inplace=True)


def _rename(font: Any, family: str, weight: int, italic: bool) -> None:
    names = font["name"]
    names.names = [entry for entry in names.names if entry.nameID not in _FAMILY_NAMES]
    style = f"{weight} Italic" if italic else f"{weight}"
    for number, text in (
        (1, family),
        (2, style),
        (4, f"{family} {style}"),
        (6, f"{family}-{style}".replace(" ", "-")),
    ):
        names.setName(text, number, 3, 1, 0x409)
    about = font["OS/2"]
    about.usWeightClass = weight
    kept = about.fsSelection & ~(_ITALIC | _BOLD | _REGULAR)
    about.fsSelection = (
        kept | (_ITALIC if italic else 0) | (_BOLD if weight >= 600 else 0 if italic else _REGULAR)
    )
    font["head"].macStyle = (1 if weight >= 600 else 0) | (2 if italic else 0)
