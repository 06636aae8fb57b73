from . import Sample


def _fail(world, place):
    with world.context.db.write() as tx:
        tx.run("UPDATE deliveries SET status = 'failed' WHERE id = :id", id=place["deliveryId"])


SAMPLES = {
    "listWebhooks": Sample(),
    "createWebhook": Sample(
        body={"url": "https://93.184.216.34/hook", "events": ["space_content_updated"], "description": "CI"}
    ),
    "getWebhook": Sample(),
    "updateWebhook": Sample(body={"active": False, "url": "https://93.184.216.34/other"}),
    "deleteWebhook": Sample(),
    "rotateWebhookSecret": Sample(body={"overlap": 60}),
    "testWebhook": Sample(),
    "listWebhookDeliveries": Sample(),
    "getWebhookDelivery": Sample(),
    "replayWebhookDelivery": Sample(before=_fail),
}
