#!/bin/sh
# Makes the namespace that the application works in, once the server answers.
set -eu
namespace="${TEMPORAL_NAMESPACE:-default}"
until temporal operator cluster health; do
  sleep 2
done
temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$namespace" --retention 72h
