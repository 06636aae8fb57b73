"""Reading of small sources that are written in tests."""

import io
from functools import partial

from octavo.core import sources
from octavo.core.import_plan import plan_import
from octavo.core.sources import SourceFiles
from octavo.interchange.readers.choosing import read_source


def adding(source, path, data):
    """Add bytes kept in memory to a source."""
    source.add(path, len(data), partial(io.BytesIO, data))


def source_of(files):
    made = SourceFiles("source")
    for path, data in files.items():
        adding(made, path, data.encode() if isinstance(data, str) else data)
    return sources.source_of(made)


def brought(files, kind=None):
    return read_source(source_of(files), lambda source: source, adding, lambda: None, kind)


def text(made, path):
    return made.read(path).decode()


def tree(made):
    """Return the resulting tree: titles with their subpages."""
    plan = plan_import(made)
    places = [{} for _ in plan.pages]
    top = {}
    for place, page in enumerate(plan.pages):
        (top if page.parent is None else places[page.parent])[page.link_title or page.title] = places[place]
    return top


def problems(made):
    return [(one.path, one.line, one.code) for one in made.problems]
