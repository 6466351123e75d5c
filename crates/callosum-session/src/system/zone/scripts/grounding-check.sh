#!/usr/bin/env bash
# The grounding ratio: [AGENT] [THRESHOLD]. Ends with 0 (pass), 1 (fail), 2 (it could not be known).
root="${PROJECT_ROOT:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}"
if ! command -v callosum >/dev/null; then
    echo "callosum is not in PATH" >&2
    exit 2
fi
exec callosum -C "$root" session grounding -- "${1:-implementing-tasks}" "${2:-0.95}"
