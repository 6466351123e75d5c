//! Links the program for a fixed address on Linux.
//!
//! A hook is a process per tool call. A position-independent program has its tables relocated at each start: that
//! writes to some 190 pages, each a page fault. Linked for a fixed address, the hook has 319 faults instead of 509 and
//! takes 0.9 ms less of 2.6 ms (`docs/performance.md`). The stack, the heap and the libraries stay at random addresses.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo gives a build script its target by the environment"
)]

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |name: &str| env::var(name).unwrap_or_default();
    // Musl links statically with start files of its own, and other systems require position-independent programs.
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        // To the linker itself: rustc gives the compiler driver `-pie` after these arguments.
        println!("cargo:rustc-link-arg-bins=-Wl,-no-pie");
    }
}
