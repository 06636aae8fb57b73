from . import Sample

_DOCUMENT = {
    "object": "document",
    "data": {},
    "nodes": [
        {
            "object": "block",
            "type": "paragraph",
            "data": {},
            "nodes": [{"object": "text", "leaves": [{"object": "leaf", "text": "Be brief.", "marks": []}]}],
        }
    ],
}

SAMPLES = {
    "getOrganizationAgentInstructions": Sample(),
    "updateOrganizationAgentInstructions": Sample(body={"instructions": _DOCUMENT}),
    "listModelCalls": Sample(),
}
