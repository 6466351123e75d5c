#!/usr/bin/env bash
# Runs before a context is cleared: 0 permits it, any other exit code does not.
exec "$(dirname "$0")/../scripts/synthesis-checkpoint.sh" "$@"
