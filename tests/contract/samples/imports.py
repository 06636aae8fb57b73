from msgspec.structs import replace

from octavo.organization.access.roles import SPACE, Can

from . import Sample

_IN_SPACE = (SPACE, Can.EDIT)


def _import(place):
    return {
        "source": {"type": "website", "url": "http://9.9.9.9/docs"},
        "target": {
            "space": place["spaceId"],
            "changeRequest": place["changeRequestId"],
            "page": place["pageId"],
        },
    }


def _allow(world, place):
    world.context.settings = replace(world.context.settings, allow_private_fetch="127.0.0.1:9")


SAMPLES = {
    # No server listens there, and the check reports that.
    "checkImportSource": Sample(before=_allow, body={"url": "http://127.0.0.1:9", "token": "oct_example"}),
    "generateStorageUploadURL": Sample(
        body={"file": {"name": "guide.md", "type": "text/markdown", "size": 7}, "kind": "import_file"}
    ),
    # A URL that needs no name server; it isn't requested, because no worker runs.
    "startImportRun": Sample(body=_import, like=_IN_SPACE),
    "cancelImportRun": Sample(),
    "listImportRuns": Sample(),
    "getImportRun": Sample(),
    "getSpaceArchive": Sample(),
}
