"""How the pages of policy, dashboards and audit say and draw what they read."""
