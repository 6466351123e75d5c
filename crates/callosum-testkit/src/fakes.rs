//! Paths of the built programs, and command templates for the fake executors.

use std::path::PathBuf;

/// Returns the file of a program that Cargo built next to the running test.
///
/// Panics if it was not built: `cargo test --workspace` builds them all, `cargo test -p` only those
/// of the package.
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test knows its own file");
    let folder = test
        .ancestors()
        .skip(1)
        .find(|folder| !folder.ends_with("deps"))
        .expect("a test's file is in a folder");
    let program = folder.join(name);
    assert!(
        program.is_file(),
        "`{}` is not built; run `cargo build --workspace --bins` first",
        program.display()
    );
    program
}

/// A command template that starts `fake-executor` with these options, on standard input.
///
/// The options are listed at the top of `src/bin/fake-executor/main.rs`.
pub fn fake(options: &str) -> String {
    template("fake-executor", options)
}

/// The same, with the prompt as the value of `-p`.
pub fn fake_with_prompt(options: &str) -> String {
    template("fake-executor", &format!("{options} -p {{prompt}}"))
}

/// Returns a command template of an executor that answers every request at once.
pub fn noop() -> String {
    template("noop", "")
}

fn template(name: &str, options: &str) -> String {
    format!("'{}' {options}", program(name).display())
        .trim_end()
        .to_owned()
}
