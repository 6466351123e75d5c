//! Which files a patch touches: in Codex's own form ([`paths`]), or as `diff` writes it.
//!
//! Codex's is lines: `*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH`, and
//! `*** Move to: PATH` behind an update. It comes as a tool's input and as a command with the patch
//! in a here-document. What a patch does to a file nobody here asks.

/// What stands before a path, at the beginning of a line.
const MARKS: [&str; 4] = [
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
];

/// Returns the paths that a patch in Codex's form names, in their order; none where it is no patch.
pub fn paths(patch: &str) -> Vec<String> {
    let named = |line: &str| {
        // Codex trims lines as well before it looks for a mark.
        let line = line.trim();
        let path = MARKS.iter().find_map(|mark| line.strip_prefix(mark))?;
        Some(path.trim().to_owned()).filter(|path| !path.is_empty())
    };
    patch.lines().filter_map(named).collect()
}

/// The paths that a diff names, without the `a/` and `b/` before them.
pub(crate) fn paths_of_diff(diff: &str) -> Vec<String> {
    let named = paths_in(diff).map(|path| {
        path.strip_prefix("a/")
            .or_else(|| path.strip_prefix("b/"))
            .unwrap_or(path)
    });
    named.map(str::to_owned).collect()
}

/// The paths that a diff names, without so many folders in front, also of files that are only renamed; each once.
pub(crate) fn stripped_paths(diff: &str, folders: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let renamed = diff.lines().filter_map(|line| {
        let path = line
            .strip_prefix("rename from ")
            .or_else(|| line.strip_prefix("rename to "))?;
        Some(path.trim())
    });
    let stripped = paths_in(diff).filter_map(|path| path.splitn(folders + 1, '/').nth(folders));
    for path in stripped.chain(renamed) {
        if !path.is_empty() && !all.iter().any(|known| known == path) {
            all.push(path.to_owned());
        }
    }
    all
}

fn paths_in(diff: &str) -> impl Iterator<Item = &str> {
    diff.lines().filter_map(|line| {
        let path = line
            .strip_prefix("--- ")
            .or_else(|| line.strip_prefix("+++ "))?;
        // A date follows behind a tab.
        let path = path.split('\t').next().unwrap_or(path).trim();
        (!path.is_empty() && path != "/dev/null").then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: a diff names its files twice.
    #[test]
    fn a_diff_names_its_files() {
        let diff = "--- a/.calrc\t2026-01-01\n+++ b/.calrc\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n";
        assert_eq!(paths_of_diff(diff), [".calrc", ".calrc"]);
        assert_eq!(paths_of_diff("-- a\n--a/x"), Vec::<String>::new());
        let renamed = "diff --git a/x b/y\nrename from x\nrename to y\n--- a/s/t\n+++ b/s/t\n";
        assert_eq!(stripped_paths(renamed, 1), ["s/t", "x", "y"]);
        assert_eq!(stripped_paths("--- t\n+++ t\n", 0), ["t"]);
    }

    /// CAKE-SHIM-1: each mark of a patch names a file.
    #[test]
    fn every_file_that_a_patch_touches_is_named() {
        let patch = "*** Begin Patch\r\n*** Add File: new file.txt\r\n+*** Add File: content\n\
                     *** Update File: a/b.rs\n*** Move to: ../c.rs\n@@\n-x\n+y\n\
                     *** Delete File: /etc/passwd\n*** End Patch";
        assert_eq!(
            paths(patch),
            ["new file.txt", "a/b.rs", "../c.rs", "/etc/passwd"]
        );
        assert_eq!(paths("*** Add File:\nls"), Vec::<String>::new());
    }
}
