"""Declares one more page field in each Python process that begins with this folder on its path."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType

_TABLE = "octavo.core.page_fields"
_BEHIND_LAST = "\n\n\ndef fields_of("
_FIELD = """
    review_date: Annotated[
        str | None,
        Field(label="Review date", keys=("reviewDate",), max_length=20, edited=True, navigation=True),
    ] = None
"""


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        table, found, rest = Path(self.path).read_text().partition(_BEHIND_LAST)
        assert found, "where the last field ends is not found"
        return compile(table + _FIELD + found + rest, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: object = None
    ) -> ModuleSpec | None:
        if fullname != _TABLE or path is None:
            return None
        place = str(Path(path[0]) / "page_fields.py")
        return spec_from_file_location(fullname, place, loader=_Loader(fullname, place))


sys.meta_path.insert(0, _Finder())
