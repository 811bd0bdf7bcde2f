"""The panels of the console's Dashboards page: from ClickHouse, else from PostgreSQL."""
