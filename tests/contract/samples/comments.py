from . import Sample


def _reply(place):
    mention = f"/users/{place['userId']}"
    return {"body": {"markdown": f'Ask [them]({mention} "mention").'}}


def _comment(place):
    return {**_reply(place), "page": place["pageId"]}


_CHANGE = {"commentId": "changeRequestCommentId", "commentReplyId": "changeRequestCommentReplyId"}
_UPDATE = {"resolved": True, "addedReactions": ["\U0001f44d"]}
# A colleague wrote the comment: people who can't edit the content can't delete it.
_THEIRS = {"comment": 403}


def _samples(place, path):
    return {
        f"listCommentersIn{place}": Sample(),
        f"listCommentsIn{place}": Sample(query={"format": "document", "status": "open", "order": "asc"}),
        f"postCommentIn{place}": Sample(body=_comment),
        f"getCommentIn{place}": Sample(path=path, query={"format": "markdown"}),
        f"updateCommentIn{place}": Sample(path=path, body=_UPDATE),
        f"deleteCommentIn{place}": Sample(path=path, outcomes=_THEIRS),
        f"listCommentRepliesIn{place}": Sample(path=path),
        f"postCommentReplyIn{place}": Sample(path=path, body=_reply),
        f"getCommentReplyIn{place}": Sample(path=path),
        f"updateCommentReplyIn{place}": Sample(path=path, body=_UPDATE),
        f"deleteCommentReplyIn{place}": Sample(path=path, outcomes=_THEIRS),
    }


SAMPLES = {
    **_samples("Space", {}),
    **_samples("ChangeRequest", _CHANGE),
    "settleSuggestionInChangeRequest": Sample(
        path={"commentId": "suggestionCommentId"}, body={"status": "accepted"}
    ),
}
