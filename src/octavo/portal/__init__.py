"""Pages outside the app: sign-in, invitations, and single sign-on. They do everything through the API."""

from .drawing import FILES, draw_consent, draw_home, draw_refusal, read_file
from .policy import CONTENT_SECURITY_POLICY

__all__ = ["CONTENT_SECURITY_POLICY", "FILES", "draw_consent", "draw_home", "draw_refusal", "read_file"]
