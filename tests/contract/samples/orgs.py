from . import Sample

SAMPLES = {
    "getApiInformation": Sample(),
    "listOrganizationsForAuthenticatedUser": Sample(),
    "createOrganization": Sample(body={"title": "Acme", "emailDomains": ["example.org"]}),
    "getOrganizationById": Sample(),
}
