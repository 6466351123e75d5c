//! [`manager_of`]: whether a program is a shim, by which a version manager looks the real one up each time.
//!
//! Pure. A held executor is not shown what such a manager keeps in a home folder, unless its entry names it.

use std::path::Path;

/// Programs that all shims of a manager are links to.
const BEHIND: [(&str, &str); 5] = [
    ("mise", "mise"),
    ("proto-shim", "proto"),
    ("rtx", "mise"),
    ("volta", "Volta"),
    ("volta-shim", "Volta"),
];

/// Folders of shims by the folder that they are in, with and without a dot.
const FOLDERS: [(&str, &str); 7] = [
    ("asdf", "asdf"),
    ("mise", "mise"),
    ("nodenv", "nodenv"),
    ("proto", "proto"),
    ("pyenv", "pyenv"),
    ("rbenv", "rbenv"),
    ("scoop", "Scoop"),
];

/// Returns the version manager whose shim a program is, by its folder and the target of its link.
pub(crate) fn manager_of(program: &Path, real: &Path) -> Option<&'static str> {
    let name = real.file_name()?.to_str()?;
    let called = program.file_name()?.to_str()?;
    let behind = BEHIND
        .iter()
        .find(|(file, _)| *file == name && called != *file);
    let by_folder = || {
        let folder = program.parent()?;
        if folder.file_name()? != "shims" {
            return None;
        }
        let owner = folder
            .parent()?
            .file_name()?
            .to_str()?
            .trim_start_matches('.');
        let known = FOLDERS.iter().find(|(folder, _)| *folder == owner);
        Some(known.map_or("a version manager", |(_, manager)| *manager))
    };
    behind.map(|(_, manager)| *manager).or_else(by_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-EXE-1: a program that only leads to a client is distinguished from the client.
    #[test]
    fn a_shim_is_known_by_its_folder_and_target() {
        for (program, real, manager) in [
            (
                "/home/u/.asdf/shims/codex",
                "/home/u/.asdf/shims/codex",
                Some("asdf"),
            ),
            (
                "/home/u/.local/share/mise/shims/gemini",
                "/usr/bin/mise",
                Some("mise"),
            ),
            (
                "/home/u/.volta/bin/qwen",
                "/home/u/.volta/bin/volta-shim",
                Some("Volta"),
            ),
            (
                "/opt/tools/shims/claude",
                "/opt/tools/shims/claude",
                Some("a version manager"),
            ),
            (
                "/usr/bin/codex",
                "/usr/lib/node_modules/@openai/codex/bin/codex.js",
                None,
            ),
            ("/usr/bin/mise", "/usr/bin/mise", None),
        ] {
            assert_eq!(
                manager_of(Path::new(program), Path::new(real)),
                manager,
                "{program}"
            );
        }
    }
}
