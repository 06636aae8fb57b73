"""Run one of Octavo's modules with resource limits: ``python -m octavo.kit.processes.bounded_run MEMORY FILE
SECONDS MODULE ARGUMENTS``.

This works like ``python -m MODULE``, but without running the package's ``__init__``, which makes a small process
start five times as fast, and avoids loading unused code. Files that the process writes are private.

``MEMORY`` and ``FILE`` (the maximum size of a file that the process writes) are in bytes. ``SECONDS`` is the CPU
time.
"""

from __future__ import annotations

import os
import resource
import runpy
import sys
from importlib.util import find_spec, module_from_spec


def main() -> None:
    memory, file, seconds = map(int, sys.argv[1:4])
    del sys.argv[:4]
    os.umask(0o077)
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    package = sys.argv[0].rpartition(".")[0]
    if package not in sys.modules:
        spec = find_spec(package)
        assert spec is not None
        sys.modules[package] = module_from_spec(spec)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
