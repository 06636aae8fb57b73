"""Pages that people are redirected to: sign-in, invitations, single sign-on, and consent. They use the API
for everything."""

from .drawing import FILES, draw_consent, draw_home, draw_refusal, read_file
from .policy import CONTENT_SECURITY_POLICY

__all__ = ["CONTENT_SECURITY_POLICY", "FILES", "draw_consent", "draw_home", "draw_refusal", "read_file"]
