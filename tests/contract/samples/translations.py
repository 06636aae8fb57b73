from octavo.organization.access.roles import SPACE, Can
from world import Place, World

from . import Sample


def _run(world: World, place: Place) -> None:
    path = place.path("/orgs/{organizationId}/translations/{translationId}/run")
    assert world.call(place.admin, "POST", path).is_success


# Permissions for a translation are those for its space.
_VIEW = {"like": (SPACE, Can.VIEW)}
_EDIT = {"like": (SPACE, Can.EDIT)}

SAMPLES = {
    "listTranslations": Sample(),
    "createTranslation": Sample(
        body=lambda place: {"source": {"space": place["spaceId"], "language": "en"}, "language": "fr"},
        like=(SPACE, Can.ADMIN),
    ),
    "getTranslation": Sample(**_VIEW),
    "updateTranslation": Sample(body={"instructions": {"nodes": []}}, **_EDIT),
    # Guests get 404.
    "deleteTranslation": Sample(**_EDIT, outcomes={"guest": 204}),
    "runTranslation": Sample(**_EDIT),
    "cancelTranslation": Sample(before=_run, **_EDIT),
    "findTranslationMatches": Sample(query={"text": "Some words"}, **_EDIT),
    "listGlossaryEntries": Sample(),
    "updateGlossaryEntries": Sample(
        body=lambda place: {
            "operations": [
                {"type": "insert", "translations": {"en": "page", "de": "Seite"}},
                {
                    "type": "update",
                    "id": place["glossaryEntryId"],
                    "translations": {"en": "space", "de": "Raum"},
                },
                {"type": "delete", "id": place["glossaryEntryId"]},
            ]
        }
    ),
    "getGlossaryEntry": Sample(),
}
