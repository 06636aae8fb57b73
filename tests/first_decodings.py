"""Each body of a request read by many threads at once, in a process that has read none: run as a program.

Argument: a file with bodies by operation (JSON). Prints the operations that killed their process.
"""

from __future__ import annotations

import json
import os
import sys
import threading

import msgspec

from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages

THREADS = 16


def decode_at_once(wanted: object, body: bytes) -> None:
    together = threading.Barrier(THREADS)

    def decode() -> None:
        together.wait()
        try:
            msgspec.json.Decoder(wanted).decode(body)
        except msgspec.ValidationError:
            pass  # ids of nothing: what matters is that the process lives

    threads = [threading.Thread(target=decode) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(file: str) -> None:
    load_packages()
    sys.setswitchinterval(1e-6)
    with open(file) as bodies:
        for operation, body in json.load(bodies).items():
            child = os.fork()
            if not child:
                decode_at_once(TABLE[operation].body, json.dumps(body).encode())
                os._exit(0)
            if os.waitpid(child, 0)[1] != 0:
                print(operation)


if __name__ == "__main__":
    main(sys.argv[1])
