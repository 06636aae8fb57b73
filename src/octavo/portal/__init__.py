"""The few pages that people are sent to: signing in, taking an invitation, and what single sign-on asks. All they do,
the API does."""

from .drawing import FILES, draw_consent, draw_home, draw_refusal, read_file
from .policy import CONTENT_SECURITY_POLICY

__all__ = ["CONTENT_SECURITY_POLICY", "FILES", "draw_consent", "draw_home", "draw_refusal", "read_file"]
