from . import Sample

SAMPLES = {
    "getCurrentRevision": Sample(),
    "listPages": Sample(),
    "getPageById": Sample(query={"format": "document"}),
    "getPageByPath": Sample(query={"format": "markdown"}),
    "listFiles": Sample(),
    "getFileById": Sample(),
    "getReusableContentById": Sample(),
    "getRevisionById": Sample(),
    "listPagesInRevisionById": Sample(),
    "getPageInRevisionById": Sample(query={"format": "document"}),
    "getPageDocumentInRevisionById": Sample(),
    "getPageInRevisionByPath": Sample(query={"format": "markdown"}),
    "listFilesInRevisionById": Sample(),
    "getFileInRevisionById": Sample(),
    "getReusableContentInRevisionById": Sample(),
    "getReusableContentDocumentInRevisionById": Sample(),
}
