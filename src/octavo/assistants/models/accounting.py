"""Organizations' budgets for language models, and the log of model calls."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from octavo.errors import TooManyRequests
from octavo.kit.clock import DAY
from octavo.kit.context import Context
from octavo.kit.db.allowances import count_more, key_of

from . import store
from .provider import TokenUsage

CHARACTERS = 4
"""Approximate number of characters in a token. It is used to reserve tokens for a call, and to estimate usage if a
provider doesn't report it."""


class Account(Struct, frozen=True):
    """Organization whose budget is charged for calls. ``user_id``: the person who makes the calls; None for a job."""

    context: Context
    organization_id: str
    user_id: str | None

    def spend(self, tokens: int) -> None:
        """Reserve the maximum number of tokens for a call. Raises TooManyRequests if today's budget is spent."""
        allowed = self.context.settings.llm_daily_tokens
        with self.context.db.write() as tx:
            if count_more(tx, self._budget, DAY, tokens) > allowed > 0:
                raise TooManyRequests(
                    "The organization has used all of its language model tokens for today. Try again"
                    " tomorrow."
                )

    def record(
        self,
        *,
        purpose: str,
        model: str,
        request: object,
        answer: str | None,
        usage: TokenUsage,
        cost: float,
        status: str,
        error: str | None,
        duration: int,
        reserved: int,
    ) -> None:
        """Log a call, and replace its reserved tokens with the number of tokens used. ``reserved``: the number of
        reserved tokens. ``cost``: the cost in millionths of the pricing currency. ``duration``: the duration in
        milliseconds. ``request`` (any JSON value) and ``answer``: the content, which is stored only if content is
        logged."""
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
