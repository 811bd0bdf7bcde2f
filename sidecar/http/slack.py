"""`/v1/webhooks/slack`: a button was pressed; signed by Slack, decided as the person behind it."""

from typing import Final

from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import NoBody, NoQuery
from sidecar.http.problems import Problem
from sidecar.notify.slack_actions import BODY_MOST_BYTES, BadInteraction


async def _pressed(call: Call[NoQuery, NoBody]) -> Reply:
    if call.doors.slack is None:
        raise Problem(
            "webhooks_not_set_up", "set OUTLIVE_SLACK_SIGNING_SECRET to the app's signing secret"
        )
    if len(call.raw) > BODY_MOST_BYTES:
        raise BadInteraction("this is too long for a button of ours")
    await call.doors.slack.handle(call.raw, call.headers)
    return Reply(None, text="", media_type="text/plain; charset=utf-8")


TABLE: Final[Table] = (
    Endpoint(
        method="POST",
        path="/v1/webhooks/slack",
        right=None,
        name="hear_slack",
        summary="Slack's interactions. Answers 200 to what Slack signed, whatever became of it.",
        query=NoQuery,
        body=NoBody,
        raw=True,
        text=("text/plain",),
        answers={200: None},
        handler=_pressed,
        refuses=("bad_signature", "invalid_input", "webhooks_not_set_up"),
        headers={
            "X-Slack-Request-Timestamp": "When Slack sent it.",
            "X-Slack-Signature": "Slack's signature over time and body.",
        },
    ),
)
