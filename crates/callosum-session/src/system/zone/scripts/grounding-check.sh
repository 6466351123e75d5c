#!/usr/bin/env bash
# Prints the grounding ratio: [AGENT] [THRESHOLD]. Exits with 0 (pass), 1 (fail) or 2 (unknown).
root="${PROJECT_ROOT:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}"
if ! command -v callosum >/dev/null; then
    echo "callosum is not in PATH" >&2
    exit 2
fi
exec callosum -C "$root" session grounding -- "${1:-implementing-tasks}" "${2:-0.95}"
