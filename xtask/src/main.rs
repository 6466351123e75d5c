//! Chores for those who work on Callosum, run as `cargo xtask CHORE`.
//!
//! Start with [`Chore`]. The rules of the house are not chores but tests: they stand in
//! `tests/house` and run with `cargo test --workspace`. What is deliberately not here: anything
//! that a plain cargo command already does.

#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

/// The crates whose deciding parts are to be covered to 95 % (seed CAL §12.1, REQ-TEST-001).
const COVERED: [&str; 2] = ["callosum-ledger", "callosum-arbiter"];

/// What can be asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
enum Chore {
    /// Runs the tests with coverage and prints a table for each crate of [`COVERED`].
    Coverage,
}

impl Chore {
    fn named(name: &str) -> Option<Chore> {
        match name {
            "coverage" => Some(Chore::Coverage),
            _ => None,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chore = match arguments.as_slice() {
        [name] => Chore::named(name),
        _ => None,
    };
    match chore {
        Some(Chore::Coverage) => coverage(),
        None => {
            say("usage: cargo xtask coverage");
            ExitCode::from(2)
        }
    }
}

/// Prints the share of lines that the tests reach, crate by crate.
///
/// Needs the `cargo-llvm-cov` program, which is not installed here on anyone's behalf; without
/// it, says how to get it and fails.
fn coverage() -> ExitCode {
    let present = cargo()
        .args(["llvm-cov", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !present {
        say(
            "cargo-llvm-cov is not installed. Install it, then run this again:\n\n    \
             rustup component add llvm-tools\n    cargo install --locked cargo-llvm-cov",
        );
        return ExitCode::FAILURE;
    }
    for package in COVERED {
        say(&format!("coverage of {package}"));
        let status = cargo()
            .args([
                "llvm-cov",
                "--locked",
                "--summary-only",
                "--package",
                package,
            ])
            .status();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => {
                say(&format!("cargo llvm-cov ended with {status}"));
                return ExitCode::FAILURE;
            }
            Err(error) => {
                say(&format!("cannot start cargo llvm-cov: {error}"));
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore starts the developer's own cargo, in the developer's own environment"
)]
fn cargo() -> Command {
    Command::new("cargo")
}

#[expect(
    clippy::print_stderr,
    reason = "a chore talks to the developer who called it"
)]
fn say(text: &str) {
    eprintln!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chore_is_found_by_its_exact_name_only() {
        assert_eq!(Chore::named("coverage"), Some(Chore::Coverage));
        assert_eq!(Chore::named("Coverage"), None);
        assert_eq!(Chore::named(""), None);
    }
}
