from . import Sample

SAMPLES = {
    "searchSpaceContent": Sample(query={"query": "install"}),
    "searchOrganizationContent": Sample(query={"query": "install"}),
}
