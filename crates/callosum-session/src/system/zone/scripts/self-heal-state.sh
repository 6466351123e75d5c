#!/usr/bin/env bash
# Mends missing, blank or broken notes and beads, and says what was taken from where.
root="${PROJECT_ROOT:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}"
if ! command -v callosum >/dev/null; then
    echo "callosum is not in PATH" >&2
    exit 2
fi
exec callosum -C "$root" session heal
