from . import Sample

TEXT = '{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}'


def _publish(world, place):
    world.call(
        place.admin,
        "PATCH",
        place.path("/orgs/{organizationId}/openapi/{specSlug}"),
        json={"visibility": "public"},
    )


SAMPLES = {
    "listOpenAPISpecs": Sample(),
    "createOpenAPISpec": Sample(body={"slug": "shop", "source": {"text": TEXT}}),
    "getOpenAPISpecBySlug": Sample(),
    "createOrUpdateOpenAPISpecBySlug": Sample(
        body={"source": {"url": "https://api.example.org/openapi.json"}}
    ),
    "updateOpenAPISpecBySlug": Sample(body={"visibility": "public"}),
    "deleteOpenAPISpecBySlug": Sample(),
    "checkOpenAPISpecBySlug": Sample(),
    "listOpenAPISpecVersions": Sample(),
    "getLatestOpenAPISpecVersion": Sample(),
    "getLatestOpenAPISpecVersionContent": Sample(),
    "getLatestOpenAPISpecVersionContentRaw": Sample(),
    "getOpenAPISpecVersionById": Sample(),
    "getOpenAPISpecVersionContentById": Sample(),
    "compareOpenAPISpecVersions": Sample(),
    "getPublishedOpenAPISpec": Sample(before=_publish),
}
