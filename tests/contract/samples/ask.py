from . import Sample

SAMPLES = {
    "askInOrganization": Sample(
        query={"format": "markdown"},
        body={"query": "How do I install it on a server?", "previousQueries": []},
    ),
    "streamAskInOrganization": Sample(query={"query": "How do I install it on a server?"}),
    "getRecommendedQuestionsInOrganization": Sample(),
    "streamRecommendedQuestionsInOrganization": Sample(),
}
