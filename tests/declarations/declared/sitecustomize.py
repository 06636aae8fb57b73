"""Declare one more page field and two more settings of sites in each Python process that starts with this
folder on its path."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType

_FIELD = """
    review_date: Annotated[
        str | None,
        Field(label="reviewDate", keys=("reviewDate",), max_length=20, edited=True, navigation=True),
    ] = None
"""
_CHOICE = """
    shadow: Annotated[
        Literal["soft", "hard"],
        Setting(label="shadows", section="moreStyles", control="segments", css="shadow",
                options={"soft": "small", "hard": "wide"}),
    ] = "soft"
"""
_SWITCH = """
    breadcrumbs: Annotated[Off, Setting(label="navigation", section="pages")] = field(default_factory=Off)
"""
_DECLARED = {
    "octavo.core.page_fields": [("\n\n\ndef fields_of(", _FIELD)],
    "octavo.sites.site.customization.model": [
        ("\n\n\nclass Internationalization(", _CHOICE),
        ("\n\n\nclass Customization(", _SWITCH),
    ],
}
"""For each table: what stands behind its last line, and the lines in front of it."""


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        text = Path(self.path).read_text()
        for behind, lines in _DECLARED[fullname]:
            assert text.count(behind) == 1, f"where the last line ends is not found: {behind}"
            text = text.replace(behind, lines + behind)
        return compile(text, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: object = None
    ) -> ModuleSpec | None:
        if fullname not in _DECLARED or path is None:
            return None
        place = str(Path(path[0]) / f"{fullname.rpartition('.')[2]}.py")
        return spec_from_file_location(fullname, place, loader=_Loader(fullname, place))


sys.meta_path.insert(0, _Finder())
