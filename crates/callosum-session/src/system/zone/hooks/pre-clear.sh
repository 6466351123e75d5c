#!/usr/bin/env bash
# What is asked before a context is cleared: 0 permits it, anything else does not.
exec "$(dirname "$0")/../scripts/synthesis-checkpoint.sh" "$@"
