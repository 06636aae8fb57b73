"""Convert untrusted images to small PNGs in a separate process: ``python -m octavo.kit.processes.image_conversion
FOLDER``.

An image may be crafted to use up all memory, and an SVG may be crafted to take forever to draw. Therefore, images
are read only once, in a separate process with limits on memory and time, and the result consists of plain pixels,
which all of Octavo's code can read safely.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from octavo.kit.temporary import TemporaryFolder

from .subprocesses import ProcessLimits, run_apart

_BOUNDS = ProcessLimits(memory=1024**3, file=8 * 1024**2, seconds=20)
_GIVEN, _MADE = "given", "made.png"
_PAGE = """#set page(width: auto, height: auto, margin: 0pt, fill: none)
#let given = read("{name}", encoding: none)
#context {{
  let high = image(given, height: {height}pt)
  if measure(high).width > {width}pt {{ image(given, width: {width}pt) }} else {{ high }}
}}
"""


def redraw(picture: bytes, width: int, height: int) -> bytes | None:
    """Convert a PNG, SVG, JPEG, GIF, or WebP to a PNG that fits into a box of this size in points, with two pixels
    per point. Return None if the image is invalid or takes too long to draw."""
    with TemporaryFolder("picture") as name:
        folder = Path(name)
        (folder / _GIVEN).write_bytes(picture)
        made = folder / _MADE
        if not run_apart(
            "octavo.kit.processes.image_conversion", folder, [str(width), str(height)], bounds=_BOUNDS
        ):
            return None
        return made.read_bytes() if made.exists() else None


def main(arguments: Sequence[str]) -> None:
    import typst

    folder, width, height = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    page = _PAGE.format(name=_GIVEN, width=width, height=height).encode()
    empty = str(folder / "packages")
    fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False)
    compiler = typst.Compiler(
        input=page, root=str(folder), font_paths=fonts, package_path=empty, package_cache_path=empty
    )
    try:
        made = compiler.compile(format="png", ppi=144)
    except typst.TypstError:
        return  # not an image
    assert isinstance(made, bytes), "there is one page"
    (folder / _MADE).write_bytes(made)


if __name__ == "__main__":
    main(sys.argv[1:])
