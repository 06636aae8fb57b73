"""Tools for authors of integrations on their own machine: start an integration, publish it, and run it
during development."""

from .api import ApiClient
from .examples import build_builtin, install_builtin, list_builtin, start_integration
from .publishing import pack_folder, publish_folder
from .serving import develop

__all__ = [
    "ApiClient", "build_builtin", "develop", "install_builtin", "list_builtin", "pack_folder", "publish_folder",
    "start_integration",
]  # fmt: skip
