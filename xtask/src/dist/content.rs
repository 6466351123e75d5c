//! [`Content`]: the files of an installation, by their paths below the prefix.
//!
//! The layout is that of `/usr/local`: the archive unpacks into any prefix, and `callosum self check` finds its files beside
//! itself. A kind of package that has other places for some files moves them.

use std::{collections::BTreeMap, path::Path, rc::Rc};

use super::{
    floor::Needs, licenses, manifest, manifest::Manifest, read, target::Target,
    workspace::Workspace,
};
use crate::command_of_the_developer;

/// The shells whose completions are installed: how `callosum generate` and the shell name them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/callosum"),
    ("fish", "share/fish/vendor_completions.d/callosum.fish"),
    ("zsh", ZSH),
];

/// The path of the completions of zsh.
pub(super) const ZSH: &str = "share/zsh/site-functions/_callosum";

/// The path of the program.
pub(super) const PROGRAM: &str = "bin/callosum";

/// The folder of manual pages.
pub(super) const MANUALS: &str = "share/man/man1/";

/// The folder of README, changelog and licenses.
pub(super) const DOCUMENTS: &str = "share/doc/callosum/";

/// The licenses of the libraries, in [`DOCUMENTS`].
const THIRD_PARTY: &str = "THIRD-PARTY-LICENSES.txt";

/// Files of the repository that are in [`DOCUMENTS`].
const FROM_REPOSITORY: [&str; 5] = [
    "CHANGELOG.md",
    "LICENSE-AGPL",
    "LICENSE-MIT",
    "NOTICE",
    "README.md",
];

/// A file of a package.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) bytes: Rc<[u8]>,
    /// Whether it can be run.
    pub(super) is_program: bool,
}

impl File {
    /// Makes a file that cannot be run.
    pub(super) fn plain(bytes: impl Into<Rc<[u8]>>) -> Self {
        Self {
            bytes: bytes.into(),
            is_program: false,
        }
    }
}

/// Files by their paths, in the order of the paths.
pub(super) type Files = BTreeMap<String, File>;

/// The files of an installation, and facts that packages state about it.
pub(super) struct Content {
    /// The files by their paths below the prefix.
    pub(super) files: Files,
    /// The version of the program.
    pub(super) version: String,
    /// The program's purpose in a line.
    pub(super) description: String,
    /// Its licenses as an SPDX expression.
    pub(super) license: String,
    /// The time of every file, in seconds since 1970.
    pub(super) time: u64,
    /// The libraries of the system that the program needs.
    pub(super) needs: Needs,
    /// The target triple.
    triple: String,
}

impl Content {
    /// Has the program print completions and manual pages, and reads the rest from the repository.
    pub(super) fn collect(
        workspace: &Workspace,
        target: &Target,
        program: &Path,
        needs: Needs,
    ) -> Result<Self, String> {
        let version = run(program, &["--version"])?;
        let expected = format!("callosum {}", workspace.version);
        if version.trim() != expected {
            return Err(format!(
                "{} is `{}`, not `{expected}`",
                program.display(),
                version.trim()
            ));
        }
        let mut files = Files::new();
        let bytes = read(program)?.into();
        let is_program = true;
        files.insert(PROGRAM.to_owned(), File { bytes, is_program });
        for (shell, path) in COMPLETIONS {
            let script = run(program, &["generate", "completions", shell])?;
            files.insert(path.to_owned(), File::plain(script.into_bytes()));
        }
        let reference = run(program, &["generate", "reference"])?;
        for command in commands(&reference) {
            let page = run(program, &[&["generate", "man"], &command[..]].concat())?;
            let name = [&["callosum"], &command[..]].concat().join("-");
            let path = format!("{MANUALS}{name}.1");
            files.insert(path, File::plain(page.into_bytes()));
        }
        for name in FROM_REPOSITORY {
            let file = File::plain(workspace.file(name)?);
            files.insert(format!("{DOCUMENTS}{name}"), file);
        }
        let licenses = licenses::page(workspace)?;
        let path = format!("{DOCUMENTS}{THIRD_PARTY}");
        files.insert(path, File::plain(licenses.into_bytes()));
        let package = workspace.program_package()?;
        Ok(Self {
            files,
            version: workspace.version.clone(),
            description: package.description.clone().unwrap_or_default(),
            license: package.license.clone().unwrap_or_default(),
            time: workspace.time,
            needs,
            triple: target.triple.clone(),
        })
    }

    /// Adds the manifest to the files of a package of this kind.
    pub(super) fn with_manifest(&self, mut files: Files, kind: &str) -> Result<Files, String> {
        let manifest = Manifest::of(&files, kind, &self.version, &self.triple, &self.needs);
        files.insert(manifest::PATH.to_owned(), File::plain(manifest.to_json()?));
        Ok(files)
    }
}

/// Returns the words of each command, from the headings of the reference page. The program itself has none.
fn commands(reference: &str) -> Vec<Vec<&str>> {
    let headings = reference.lines();
    let headings = headings.filter_map(|line| line.strip_prefix("## callosum"));
    headings
        .map(|words| words.split_whitespace().collect())
        .collect()
}

/// Returns what the program prints.
fn run(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let shown = || format!("{} {}", program.display(), arguments.join(" "));
    let output = command_of_the_developer(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{}: {error}", shown()))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", shown(), error.trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{}: {error}", shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_reference_page_has_a_manual() {
        let page = "# Command line\n\n## callosum\n\n```text\n```\n\n## callosum ledger\n\n## callosum ledger show\n";
        let expected: [&[&str]; 3] = [&[], &["ledger"], &["ledger", "show"]];
        assert_eq!(commands(page), expected);
    }
}
