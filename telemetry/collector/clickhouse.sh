#!/bin/sh
# Run once by the ClickHouse image on an empty volume: Langfuse's database beside ours, in one server.
set -eu
clickhouse-client --user "$CLICKHOUSE_USER" --password "$CLICKHOUSE_PASSWORD" \
    --query "CREATE DATABASE IF NOT EXISTS langfuse"
