#!/usr/bin/env bash
# The seven steps before a clear: [AGENT]; every agent's claims where none is named. Ends with 0 where it
# is permitted, 1 where it is not.
root="${PROJECT_ROOT:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}"
if ! command -v callosum >/dev/null; then
    echo "callosum is not in PATH" >&2
    exit 2
fi
exec callosum -C "$root" session check ${1:+"--agent=$1"}
