from octavo.access import SPACE, Can

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


SAMPLES = {
    "generateStorageUploadURL": Sample(
        body={"file": {"name": "guide.md", "type": "text/markdown", "size": 7}, "kind": "import_file"}
    ),
    # An address that needs no name server; nobody asks it, for no worker runs.
    "startImportRun": Sample(body=_import, like=_IN_SPACE),
    "cancelImportRun": Sample(),
    "listImportRuns": Sample(),
    "getImportRun": Sample(),
    "getSpaceArchive": Sample(),
}
