"""The budget of an organization for models, and the log of what they were asked."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from octavo.errors import TooManyRequests
from octavo.kit.context import Context
from octavo.kit.db.allowances import DAY, count_more, key_of

from . import store
from .provider import Usage

CHARACTERS = 4
"""Of a token, about; to put aside what a call may take, and for providers that do not count."""


class Account(Struct, frozen=True):
    """Who pays. ``user_id`` None: nobody asked, a job does."""

    context: Context
    organization_id: str
    user_id: str | None

    def spend(self, tokens: int) -> None:
        """Puts aside what a call may take. Raises TooManyRequests when the budget of the day is spent."""
        allowed = self.context.settings.llm_daily_tokens
        with self.context.db.write() as tx:
            if count_more(tx, self._budget, DAY, tokens) > allowed > 0:
                raise TooManyRequests("The language model: this organization's tokens for today are used up.")

    def record(
        self,
        *,
        purpose: str,
        model: str,
        request: Any,
        answer: str | None,
        usage: Usage,
        cost: float,
        status: str,
        error: str | None,
        duration: int,
        reserved: int,
    ) -> None:
        """Notes a call in the log, and counts what it took instead of what was put aside (``reserved``). ``cost`` in
        millionths of the currency of the prices, ``duration`` in milliseconds. ``request`` (anything that is JSON) and
        ``answer`` are kept only where content is."""
        is_kept = self.context.settings.llm_log_content
        with self.context.db.write() as tx:
            count_more(tx, self._budget, DAY, usage.input_tokens + usage.output_tokens - reserved)
            store.insert_call(
                tx,
                organization_id=self.organization_id,
                user_id=self.user_id,
                purpose=purpose,
                model=model,
                status=status,
                error=error,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cost_micros=round(cost),
                duration=duration,
                request=msgspec.json.encode(request).decode() if is_kept else None,
                answer=answer if is_kept else None,
            )

    @property
    def _budget(self) -> str:
        return key_of("model tokens", self.organization_id)
