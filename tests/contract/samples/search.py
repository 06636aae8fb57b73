from . import Sample

SAMPLES = {
    "searchChangeRequestContent": Sample(query={"query": "install"}),
    "searchSpaceContent": Sample(query={"query": "install"}),
    "searchSpaceAsUser": Sample(path={"userId": "scimUserId"}, query={"query": "install"}),
    "searchOrganizationContent": Sample(query={"query": "install"}),
}
