"""What the authors of integrations do on their machines: begin one, publish it, run it while they write it."""

from .api import Api
from .examples import build_builtin, install_builtin, list_builtin, start_integration
from .publishing import pack_folder, publish_folder
from .serving import develop

__all__ = [
    "Api", "build_builtin", "develop", "install_builtin", "list_builtin", "pack_folder", "publish_folder",
    "start_integration",
]  # fmt: skip
