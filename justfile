# The commands that people run. `just` lists them.

set positional-arguments
set shell := ["bash", "-euo", "pipefail", "-c"]

[private]
default:
    @"{{ just_executable() }}" --list --unsorted

# Check format, lints, spelling and dependencies
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    typos
    cargo deny --locked check --deny unmatched-skip bans licenses sources

# Run all tests with nextest: just test [FILTER…]
test *args:
    cargo nextest run --workspace --locked "$@"
    cargo test --workspace --doc --locked

# Run the tests that start the program: just it [FILTER…]
it *args:
    cargo build --package callosum-testkit --package xtask --bins --locked
    cargo test --package callosum --test it --locked -- "$@"

# Run the tests with the real coding agents: just real-clients [CLIENT…] [CASE…]
real-clients *args:
    cargo build --package callosum-testkit --bins --locked
    cargo test --package callosum --features hosted,real-clients --test real-clients --locked -- "$@"

# Run the benchmarks of a crate: just bench guard [ARG…]
bench crate *args:
    cargo bench --package callosum-{{ crate }} --locked "${@:2}"

# Build the API docs, with warnings as errors
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Run what every change must pass
ci:
    .ci/run
