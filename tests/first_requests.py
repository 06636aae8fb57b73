"""The first requests of a fresh process, all at once: run as a program by ``test_first_requests``.

Arguments: a data folder, a file of requests (JSON: lists of the same request), a seed for the order of the lists.
Prints the requests that were answered with 500 or more.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys

from asgi_client import CutOff
from light_client import LightClient
from octavo.app import api_app
from octavo.delivery.reader.app import reader_edge
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.settings import load

THREADS = 32


async def ask_all(context, requests: list[dict]) -> list[str]:
    applications = {"api": api_app(context), "reader": reader_edge(context)}
    clients = {
        name: LightClient(application, "http://sites.test") for name, application in applications.items()
    }

    async def ask(request: dict) -> str | None:
        headers = {"authorization": f"Bearer {request['token']}"} if request["token"] else {}
        try:
            answer = await clients[request["to"]].request(
                request["method"], request["path"], headers=headers, json=request["body"]
            )
        except CutOff:
            return None
        # 502: a script of others failed, which is being changed here while it runs; 503: too much at once.
        failed = answer.status_code >= 500 and answer.status_code not in (502, 503)
        return (
            f"{request['method']} {request['path']}: {answer.status_code} {answer.text}" if failed else None
        )

    failed = await asyncio.gather(*map(ask, requests))
    for application in applications.values():
        application.close()
    return [found for found in failed if found]


def main(data: str, requests: str, seed: str) -> None:
    context = open_context(load({"data": data, "threads": THREADS}, environ={}))
    load_packages()
    with open(requests) as file:
        wanted = json.load(file)
    random.Random(seed).shuffle(wanted)
    # Threads switch after nearly every instruction, so that unsafe code fails at once.
    sys.setswitchinterval(1e-6)
    for line in asyncio.run(ask_all(context, [request for requests in wanted for request in requests])):
        print(line)
    close_context(context)


if __name__ == "__main__":
    main(*sys.argv[1:])
