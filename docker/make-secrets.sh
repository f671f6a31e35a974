#!/bin/sh
# Makes a random password for each part that needs one, in docker/secrets; keeps those that are there.
# The folder is closed to others; the files are readable so that each container's own user can read its own.
set -eu
folder="$(dirname "$0")/secrets"
mkdir -p "$folder"
chmod 700 "$folder"
for name in postgres_password temporal_password apprentice_password; do
  [ -s "$folder/$name" ] || head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n' >"$folder/$name"
  chmod 644 "$folder/$name"
done
