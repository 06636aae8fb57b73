from . import Sample

SAMPLES = {
    "getSpaceById": Sample(),
    "listSpacesInOrganizationById": Sample(),
    "createSpace": Sample(body=lambda place: {"title": "Notes", "parent": place["collectionId"]}),
    "getCollectionById": Sample(),
    "listSpacesInCollectionById": Sample(),
    "listCollectionsInOrganizationById": Sample(),
    "createCollection": Sample(body=lambda place: {"title": "More", "parent": place["collectionId"]}),
}
