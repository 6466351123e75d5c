#!/usr/bin/env bash
# Runs the seven steps before a clear: [AGENT] [default: claims by all agents]. Exits with 0 if the clear
# is permitted, and with 1 if not.
root="${PROJECT_ROOT:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}"
if ! command -v callosum >/dev/null; then
    echo "callosum is not in PATH" >&2
    exit 2
fi
exec callosum -C "$root" session check ${1:+"--agent=$1"}
