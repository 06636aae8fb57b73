"""Running a module without the rest of its package: ``python -m octavo.kit.bare MODULE ARGUMENTS``.

As ``python -m MODULE`` does, but ``__init__`` of the package is not run. A small process of its own so starts five
times as fast, and holds nothing of the service that it does not use.
"""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec, module_from_spec


def main() -> None:
    del sys.argv[0]
    package = sys.argv[0].rpartition(".")[0]
    if package not in sys.modules:
        spec = find_spec(package)
        assert spec is not None
        sys.modules[package] = module_from_spec(spec)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
