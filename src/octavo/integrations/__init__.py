"""Integrations: third-party code, installed in organizations, on spaces, and on sites."""

from ..sites import provide_scripts
from ..spaces import on_transfer
from . import computing as computing
from . import tables as tables
from . import visitors as visitors
from .asking import Failed
from .blocks import find_block_owner, list_code_blocks, render_block, version_of
from .builtin import separate_copies
from .framing import Frames, find_frames, frames_of
from .invoking import Subject, fetch_for
from .manifest import PublishIntegration
from .on_sites import list_scripts, sign_in_address, sign_out_address
from .public import public_routes
from .publishing import offer
from .rendering import Rendered
from .store import forget_space, get_integration_by_id

on_transfer(lambda tx, space_id, organization_id: forget_space(tx, space_id))
provide_scripts(list_scripts)

__all__ = [
    "Failed", "Frames", "PublishIntegration", "Rendered", "Subject", "fetch_for", "find_block_owner",
    "find_frames", "frames_of", "get_integration_by_id", "list_code_blocks", "offer", "public_routes",
    "render_block", "separate_copies", "sign_in_address", "sign_out_address", "version_of",
]  # fmt: skip
