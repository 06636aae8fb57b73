from . import Sample

SAMPLES = {
    "listSites": Sample(),
    "createSite": Sample(body=lambda place: {"title": "Second", "spaces": [place["spaceId"]]}),
    "getSiteById": Sample(),
    "publishSite": Sample(),
    "unpublishSite": Sample(),
}
