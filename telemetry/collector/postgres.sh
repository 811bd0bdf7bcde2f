#!/bin/sh
# Run once by the PostgreSQL image on an empty volume: Langfuse's database beside ours, each with an
# account of its own.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set password="$LANGFUSE_DB_PASSWORD" <<'SQL'
CREATE ROLE langfuse LOGIN PASSWORD :'password';
CREATE DATABASE langfuse OWNER langfuse;
REVOKE CONNECT ON DATABASE outlive FROM PUBLIC;
SQL
