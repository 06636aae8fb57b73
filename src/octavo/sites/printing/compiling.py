"""Typeset and compile a PDF in a separate process: ``python -m octavo.sites.printing.compiling FOLDER [plain]``.

Because the content is untrusted, and Typst is a full programming language, the process runs in a sandbox
(``kit.processes.subprocesses``) with access only to one folder and this code. The process reads ``order.json``
and writes ``print.pdf`` and ``result.json``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from octavo.core.document.containing import on_failure

from .order import ContainedFailure, PrintOrder, PrintResult
from .typesetting import FONTS, Typesetter

_PROBES = 200


class PrintCompiler:
    """Compiler that creates one PDF in its folder."""

    def __init__(self, folder: Path, order: PrintOrder) -> None:
        self._folder = folder
        self._order = order
        self._setting = Typesetter(order, folder)
        self._plain: list[int] = []
        self._probes = 0
        self._fonts = self._find_fonts()

    def run(self, *, plain: bool) -> PrintResult:
        """Typeset the PDF. Raises typst's error if not even the plain text can be typeset."""
        import typst

        self._setting.write(plain=plain)
        try:
            made = self._compile_or_loosen()
        except typst.TypstError:
            self._leave_out_broken_images()
            for number in self._failing(range(len(self._order.chapters))):
                self._setting.write_plain(number)
                self._plain.append(number)
            self._setting.write_known()
            made = self._compile_or_loosen()
        (self._folder / "print.pdf").write_bytes(made)
        chapters = self._order.chapters
        return PrintResult([chapters[n].id for n in self._plain], self._setting.broken)

    def _find_fonts(self) -> Any:
        import typst

        own = self._folder / FONTS
        folders = [str(own)] if own.exists() else []
        folders += [self._order.fonts] if self._order.fonts else []
        return typst.Fonts(include_system_fonts=False, font_paths=folders)

    def _compile_or_loosen(self) -> bytes:
        """Compile the PDF. If Typst fails, allow page breaks after titles."""
        import typst

        try:
            return self._compile("main.typ")
        except typst.TypstError:
            return self._compile("main.typ", "loose")

    def _compile(self, name: str, *inputs: str) -> bytes:
        import typst

        empty = self._folder / "packages"
        compiler = typst.Compiler(
            input=str(self._folder / name),
            root=str(self._folder),
            font_paths=self._fonts,
            sys_inputs=dict.fromkeys(inputs, "yes"),
            package_path=str(empty),
            package_cache_path=str(empty),
        )
        return bytes(compiler.compile(format="pdf"))  # type: ignore[arg-type]

    def _compiles(self, source: str) -> bool:
        import typst

        (self._folder / "probe.typ").write_text(source)
        try:
            self._compile("probe.typ", "probe", "loose")
        except typst.TypstError:
            return False
        return True

    def _leave_out_broken_images(self) -> None:
        images = sorted(p for p in self._folder.iterdir() if p.name.startswith(("file", "icon")))
        for path in images:
            if not self._compiles(f'#image("{path.name}")'):
                self._setting.broken.append(path.name)
        self._setting.write_known()

    def _failing(self, numbers: Sequence[int]) -> list[int]:
        """Use bisection to find the chapters that don't compile, and return them."""
        self._probes += 1
        if self._probes > _PROBES:
            # With this many failing chapters, continuing the search costs more than it saves.
            return list(numbers)
        if self._compiles(self._setting.main(numbers)):
            return []
        if len(numbers) == 1:
            return list(numbers)
        half = len(numbers) // 2
        return [*self._failing(numbers[:half]), *self._failing(numbers[half:])]


def main(arguments: Sequence[str]) -> None:
    folder = Path(arguments[0])
    order = msgspec.json.decode((folder / "order.json").read_bytes(), type=PrintOrder)
    contained: list[ContainedFailure] = []
    # This process has no log, so failures are part of the result.
    on_failure(
        lambda stage, error, count: contained.append(ContainedFailure(stage, repr(error)[:1000], count))
    )
    result = PrintCompiler(folder, order).run(plain="plain" in arguments[1:])
    result = replace(result, contained=contained)
    (folder / "result.json").write_bytes(msgspec.json.encode(result))


if __name__ == "__main__":
    main(sys.argv[1:])
