import computers

from . import Sample


def _to(place):
    return {"to": place["pageId"]}


def _pages(place):
    return {"pages": [place["pageId"]]}


SAMPLES = {
    "getComputedDocument": Sample(body={"source": computers.source(text="Seen."), "seed": "one"}),
    "convertText": Sample(body={"markdown": "Some **bold** words.\n"}),
    "getComputedRevision": Sample(body={"source": computers.source(), "seed": "one"}),
    "getCurrentRevision": Sample(),
    "listPages": Sample(),
    "listChildPages": Sample(),
    "listChildPagesInRevisionById": Sample(),
    "getWayToPage": Sample(query=_to),
    "getWayToPageInRevisionById": Sample(query=_to),
    "listWaysToPages": Sample(query=_pages),
    "listWaysToPagesInRevisionById": Sample(query=_pages),
    "getPageById": Sample(query={"format": "document"}),
    "getPageAccess": Sample(),
    "listPagesSeenByUser": Sample(path={"userId": "scimUserId"}),
    "getPageSeenByUser": Sample(query={"format": "document"}),
    "listPeopleWithPageAccess": Sample(),
    "getPageByPath": Sample(query={"format": "markdown"}),
    "listFiles": Sample(),
    "getFileById": Sample(),
    "getReusableContentById": Sample(),
    "getRevisionById": Sample(),
    "listPagesInRevisionById": Sample(),
    "getPageInRevisionById": Sample(query={"format": "document"}),
    "getPageDocumentInRevisionById": Sample(),
    "listSpacePageMetaLinks": Sample(),
    "listRevisionPageMetaLinks": Sample(),
    "getPageInRevisionByPath": Sample(query={"format": "markdown"}),
    "listFilesInRevisionById": Sample(),
    "getFileInRevisionById": Sample(),
    "getReusableContentInRevisionById": Sample(),
    "getReusableContentDocumentInRevisionById": Sample(),
    "listSpaceLinks": Sample(),
    "listPageLinksInSpace": Sample(query={"status": "ok"}),
    "listSpacePageBacklinks": Sample(),
    "listSpaceFileBacklinks": Sample(),
    "listSpaceReusableContentBacklinks": Sample(),
    "getDocumentById": Sample(),
    "getEmbedByUrlInSpace": Sample(query={"url": "https://youtu.be/dQw4w9WgXcQ"}),
}
