#!/bin/sh
# Runs once, on an empty data directory: a role and its databases for Temporal, and for the application.
set -eu
make_role() {
  psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set role="$1" --set password="$(cat "/run/secrets/$1_password")" <<'SQL'
CREATE ROLE :"role" LOGIN PASSWORD :'password';
SQL
}
make_database() {
  createdb --username "$POSTGRES_USER" --owner "$1" "$2"
}
make_role temporal
make_database temporal temporal
make_database temporal temporal_visibility
make_role apprentice
make_database apprentice apprentice
