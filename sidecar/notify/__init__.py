"""Messages to people and to agents: Slack, signed webhooks, calls to resume."""
