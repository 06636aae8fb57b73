"""Events on their way to their recipients, and the outcome of each."""

from . import tables as tables
from .delivering import Result, deliver_again, drop_after, queue, recipient
from .store import (
    PREVIOUS,
    Delivery,
    LogLine,
    Recipient,
    Status,
    find_delivery,
    forget_waiting,
    insert_done,
    list_deliveries,
    new_delivery_id,
)

__all__ = [
    "Delivery", "LogLine", "PREVIOUS", "Recipient", "Result", "Status", "deliver_again", "drop_after",
    "find_delivery", "forget_waiting", "insert_done", "list_deliveries", "new_delivery_id", "queue",
    "recipient",
]  # fmt: skip
