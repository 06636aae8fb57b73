from octavo.core.editor.schema import VERSION

from . import Sample


def _page(place):
    return {
        "changes": [
            {
                "operation": "update_page",
                "page": place["pageId"],
                "document": {"markdown": "# Short\n\nBrief.\n"},
            }
        ]
    }


_CONFLICT = {"changeRequestId": "conflictingChangeRequestId"}


def _settle(world, place):
    path = "/spaces/{spaceId}/change-requests/{conflictingChangeRequestId}/conflicts/{conflictId}/resolve"
    world.call(place.admin, "POST", place.path(path), json={"choice": "theirs"})


_OBJECT = {"objectId": "pageId"}
_REQUEST = "/spaces/{spaceId}/change-requests/{changeRequestId}"


def _see(world, place):
    for who in place.roles:
        body = {"revision": place["changeRevisionId"]}
        world.call(who, "PUT", place.path(f"{_REQUEST}/seen/{{pageId}}"), json=body)


def _begin_empty(world, place):
    made = world.call(place.admin, "POST", place.path("/spaces/{spaceId}/change-requests"), json={})
    place.ids["emptyChangeRequestId"] = made.json()["id"]


_epochs: dict[str, str] = {}


def _open_live(world, place):
    path = place.path(f"{_REQUEST}/pages/{{pageId}}/live")
    _epochs[place.name] = world.get(place.admin, path)["epoch"]


def _open_live_main(world, place):
    path = place.path("/spaces/{spaceId}/pages/{pageId}/live")
    _epochs[place.name] = world.get(place.admin, path)["epoch"]


def _steps(place):
    word = {"content": [{"type": "text", "text": "Now "}]}
    return {
        "epoch": _epochs.get(place.name, "another"),
        "schema": VERSION,
        "client": "contract-client",
        "batch": 1,
        "attempt": 1,
        "version": 0,
        "steps": [{"stepType": "replace", "from": 1, "to": 1, "slice": word}],
    }


_CARET = {"client": "contract-client", "version": 0, "anchor": 1, "head": 1}
_SET_ASIDE = {"markdown": "These words.", "why": "place-gone"}

SAMPLES = {
    "getLivePageInMain": Sample(),
    "listLiveStepsInMain": Sample(query={"epoch": "any", "after": "0"}),
    "addLiveStepsInMain": Sample(body=_steps, before=_open_live_main),
    "setLiveCaretInMain": Sample(body=_CARET),
    "saveLivePageInMain": Sample(),
    "listSetAsideTextsInMain": Sample(),
    "createSetAsideTextInMain": Sample(body=_SET_ASIDE),
    "deleteSetAsideTextInMain": Sample(path={"textId": "pageId"}),
    "getLivePage": Sample(),
    "listLiveSteps": Sample(query={"epoch": "any", "after": "0"}),
    "addLiveSteps": Sample(body=_steps, before=_open_live),
    "setLiveCaret": Sample(body=_CARET),
    "saveLivePage": Sample(),
    "listSetAsideTexts": Sample(),
    "createSetAsideText": Sample(body=_SET_ASIDE),
    "deleteSetAsideText": Sample(path={"textId": "pageId"}),
    "listChangeRequestsForSpace": Sample(),
    "listChangeRequestsOfPage": Sample(),
    "discardChangeRequest": Sample(path={"changeRequestId": "emptyChangeRequestId"}, before=_begin_empty),
    "suggestReviewersForChangeRequest": Sample(),
    "getAccessChangesInChangeRequest": Sample(),
    "listChangeRequestsForOrganization": Sample(),
    "createChangeRequest": Sample(body={"subject": "Something new"}),
    "listTemplates": Sample(),
    "applyTemplateToSpace": Sample(body={"id": "blank"}),
    "getChangeRequestById": Sample(),
    "updateChangeRequestById": Sample(body={"subject": "Another subject", "status": "draft"}),
    "mergeChangeRequest": Sample(),
    "checkMergeOfChangeRequest": Sample(),
    "tryMergeRulesInSpace": Sample(
        body=lambda place: {
            "rules": [{"rule": "require_specific_reviewers", "users": [place["userId"]]}],
            "changeRequest": place["changeRequestId"],
        }
    ),
    "tryMergeRulesInOrganization": Sample(
        body=lambda place: {
            "rules": [
                {"rule": "require_at_least_one_review"},
                {"rule": "require_style_guide", "level": "warning"},
            ],
            "described": {
                "createdBy": place["userId"],
                "subject": "Describe the new ports",
                "reviews": [{"status": "approved"}],
            },
        }
    ),
    "updateChangeRequest": Sample(),
    "getContributorsByChangeRequestId": Sample(),
    "getChangeRequestChanges": Sample(),
    "getPageChangesInChangeRequest": Sample(),
    "listConflictsInChangeRequest": Sample(path=_CONFLICT),
    "resolveConflictInChangeRequest": Sample(path=_CONFLICT, body={"choice": "theirs"}),
    "reopenConflictInChangeRequest": Sample(path=_CONFLICT, before=_settle),
    "listSeenInChangeRequest": Sample(before=_see),
    "markSeenInChangeRequest": Sample(
        path=_OBJECT, body=lambda place: {"revision": place["changeRevisionId"]}
    ),
    "unmarkSeenInChangeRequest": Sample(path=_OBJECT, before=_see),
    "getRequestedReviewersByChangeRequestId": Sample(),
    "requestReviewersForChangeRequest": Sample(body=lambda place: {"users": [place["userId"]]}),
    "removeRequestedReviewerFromChangeRequest": Sample(),
    "getReviewsByChangeRequestId": Sample(),
    "submitChangeRequestReview": Sample(body={"status": "approved", "comment": {"markdown": "Good."}}),
    "getChangeRequestReviewById": Sample(),
    "getRevisionOfChangeRequestById": Sample(),
    "listPagesInChangeRequest": Sample(),
    "listChildPagesInChangeRequest": Sample(),
    "getWayToPageInChangeRequest": Sample(query=lambda place: {"to": place["pageId"]}),
    "listWaysToPagesInChangeRequest": Sample(query=lambda place: {"pages": [place["pageId"]]}),
    "getPageInChangeRequestById": Sample(query={"format": "document"}),
    "getPageInChangeRequestByPath": Sample(query={"format": "markdown"}),
    "listChangeRequestPageMetaLinks": Sample(),
    "listFilesInChangeRequestById": Sample(),
    "getFileInChangeRequestById": Sample(),
    "getReusableContentInChangeRequestById": Sample(),
    "listChangeRequestLinks": Sample(query={"status": "ok"}),
    "listPageLinksInChangeRequest": Sample(),
    "listChangeRequestPageBacklinks": Sample(),
    "listChangeRequestFileBacklinks": Sample(),
    "listChangeRequestReusableContentBacklinks": Sample(),
    "updateChangeRequestContent": Sample(body=_page),
    "updateSpaceContent": Sample(body=_page),
    "verifyPage": Sample(),
    "movePageInChangeRequest": Sample(body={"into": None, "at": 0}),
    "updateFileInChangeRequest": Sample(body={"name": "renamed.svg"}),
    "deleteFileInChangeRequest": Sample(),
    "createReusableContentInChangeRequest": Sample(
        body={"title": "Warning", "document": {"markdown": "Careful.\n"}}
    ),
    "updateReusableContentInChangeRequest": Sample(body={"title": "Another title"}),
    "deleteReusableContentInChangeRequest": Sample(),
    "updateVariablesInChangeRequest": Sample(body={"variables": {"color": "blue"}}),
    "listRevisionsOfSpace": Sample(),
    "listRevisionsOfPage": Sample(),
    "getRevisionSemanticChanges": Sample(),
    "getPageChangesInRevision": Sample(),
    "revertRevision": Sample(path={"revisionId": "latestRevisionId"}),
    "rollBackRevision": Sample(),
}
