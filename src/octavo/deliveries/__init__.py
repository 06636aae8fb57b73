"""Events on their way to their recipients, and the outcome of each."""

from . import tables as tables
from .delivering import DeliveryResult, deliver_again, drop_after, queue, recipient
from .store import (
    PREVIOUS,
    Delivery,
    DeliveryRecipient,
    LogLine,
    Status,
    find_delivery,
    forget_waiting,
    insert_done,
    list_deliveries,
    new_delivery_id,
)

__all__ = [
    "Delivery", "LogLine", "PREVIOUS", "DeliveryRecipient", "DeliveryResult", "Status", "deliver_again", "drop_after",
    "find_delivery", "forget_waiting", "insert_done", "list_deliveries", "new_delivery_id", "queue",
    "recipient",
]  # fmt: skip
