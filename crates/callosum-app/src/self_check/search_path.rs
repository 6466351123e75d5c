//! The copies of the program that `PATH` finds.

use std::path::{Path, PathBuf};

use callosum_host::disk::EntryKind;

use super::{VERSION, version_of};
use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::shell_word;

/// Adds whether `PATH` finds this program, and a line for each other copy.
pub(super) fn check(context: &Context, program: &Path, checks: &mut Checks) {
    const NAME: &str = "path";
    let copies = copies(context);
    let folder = program.parent().unwrap_or(program).display().to_string();
    let hint = format!("export PATH={}:\"$PATH\"", shell_word(&folder));
    match copies.first() {
        Some(first) if first == program => {
            checks.add(NAME, Outcome::Ok, "finds this program", None);
        }
        Some(first) => {
            let found = format!("finds {}, not this program", described(context, first));
            checks.add(NAME, Outcome::Failed, found, Some(&hint));
        }
        None => {
            let found = "does not find `callosum`";
            checks.add(NAME, Outcome::Warning, found, Some(&hint));
        }
    }
    // The first is reported above.
    for copy in copies.iter().skip(1).filter(|copy| *copy != program) {
        let found = format!("{} is on PATH too", described(context, copy));
        let hint = format!("{} self check", shell_word(&copy.display().to_string()));
        checks.add("other copy", Outcome::Warning, found, Some(&hint));
    }
}

/// Returns the programs of our name in the absolute folders of `PATH`, links resolved, each once.
fn copies(context: &Context) -> Vec<PathBuf> {
    let path = context.environment.get("PATH").unwrap_or_default();
    let mut found = Vec::new();
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let Ok(copy) = context.disk.canonicalize(&folder.join("callosum")) else {
            continue;
        };
        let stat = context.disk.stat(&copy).ok().flatten();
        let is_file = stat.is_some_and(|stat| stat.kind == EntryKind::File);
        if is_file && !found.contains(&copy) {
            found.push(copy);
        }
    }
    found
}

/// Returns the path of a copy with its version.
pub(super) fn described(context: &Context, copy: &Path) -> String {
    let shown = copy.display();
    match version_of(context, copy) {
        Some(version) if version == VERSION => format!("{shown} (the same version)"),
        Some(version) => format!("{shown} (version {version})"),
        None => format!("{shown} (which prints no version)"),
    }
}
