"""What the authors of integrations do on their machines: begin one, publish it, run it while they write it."""

from .api import Api, RefusedCall
from .bundling import BundleFailed, bundle, install_packages
from .examples import build_builtin, builtin_folder, install_builtin, list_builtin, start_integration
from .manifest import read_manifest
from .publishing import pack_folder, publish_folder
from .serving import develop

__all__ = [
    "Api", "BundleFailed", "RefusedCall", "build_builtin", "builtin_folder", "bundle", "develop", "install_builtin",
    "install_packages", "list_builtin", "pack_folder", "publish_folder", "read_manifest", "start_integration",
]  # fmt: skip
