#!/usr/bin/env bash
# Repairs missing, empty or corrupt notes and beads, and prints the source of each repair.
# With --check-only, writes nothing and exits with 1 if there is something to repair.
case "${1:-}" in
'' | --check-only) ;;
*)
    echo "usage: self-heal-state.sh [--check-only]" >&2
    exit 2
    ;;
esac
root="${PROJECT_ROOT:-$(git rev-parse --show-toplevel 2>/dev/null || pwd)}"
if ! command -v callosum >/dev/null; then
    echo "callosum is not in PATH" >&2
    exit 2
fi
exec callosum -C "$root" session heal "$@"
