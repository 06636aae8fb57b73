from octavo.organization.access.roles import ORGANIZATION, Can

from . import Sample

_FOREIGN = {"agentId": "changeRequestId"}


def _registered(world, place):
    with world.context.db.write() as tx:
        tx.run(
            """INSERT INTO agent_clients (id, name, redirects, created_at)
               VALUES ('pen', 'Pen', '["https://pen.example/back"]', 0) ON CONFLICT DO NOTHING"""
        )


SAMPLES = {
    "connectAgent": Sample(
        before=_registered,
        body=lambda place: {
            # Its only id has no other ids next to it; foreign ones are tested in test_agents.py.
            "organization": place.ids.get("organizationId", ""),
            "clientId": "pen",
            "redirectUri": "https://pen.example/back",
            "codeChallenge": "c" * 43,
            "scopes": ["docs:read"],
        },
        like=(ORGANIZATION, Can.VIEW),
    ),
    "listConnectedAgents": Sample(),
    "disconnectAgent": Sample(path=_FOREIGN),
    "listAgentActs": Sample(path=_FOREIGN),
    "listAgentsInOrganization": Sample(),
    "disconnectAgentInOrganization": Sample(path=_FOREIGN),
    "undoAgentActs": Sample(path=_FOREIGN, body={}),
}
