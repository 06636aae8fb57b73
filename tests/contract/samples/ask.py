from . import Sample

SAMPLES = {
    "askInOrganization": Sample(
        query={"format": "markdown"},
        body={"query": "How do I install it on a server?", "previousQueries": []},
    ),
    "streamAskInOrganization": Sample(query={"query": "How do I install it on a server?"}),
    "getRecommendedQuestionsInOrganization": Sample(),
    "streamRecommendedQuestionsInOrganization": Sample(),
    "streamAskInSite": Sample(
        query={"format": "markdown"},
        body={
            "question": "How do I install it on a server?",
            "scope": {"mode": "all"},
            "context": {"siteSpaceId": "any"},
        },
    ),
    "streamRecommendedQuestionsInSite": Sample(),
    "streamAIResponseInSite": Sample(
        body={
            "input": [{"role": "user", "content": "How do I install it on a server?"}],
            "model": "fast",
            "tools": [],
        }
    ),
    "streamExistingAIResponseInSite": Sample(
        path={"responseId": "siteResponseId"},
        # Each is for whoever asked for it.
        outcomes=dict.fromkeys(["create", "review", "edit", "comment", "read"], 404),
    ),
}
