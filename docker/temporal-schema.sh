#!/bin/sh
# Brings Temporal's two databases to the schema of this release; does nothing when they are there already.
set -eu
SQL_PASSWORD="$(cat /run/secrets/temporal_password)"
export SQL_PASSWORD
schemas=/etc/temporal/schema/postgresql/v12
for pair in temporal:temporal temporal_visibility:visibility; do
  database="${pair%%:*}"
  folder="$schemas/${pair#*:}/versioned"
  tool="temporal-sql-tool --plugin postgres12 --endpoint postgresql --port 5432 --user temporal --database $database"
  $tool setup-schema --version 0.0
  $tool update-schema --schema-dir "$folder"
done
