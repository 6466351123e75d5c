//! Files that a patch touches: in Codex's own form ([`paths`]), or as `diff` writes it.
//!
//! Codex's is lines: `*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH`, and
//! `*** Move to: PATH` behind an update. It comes as a tool's input and as a command with the patch
//! in a here-document. The change of a file does not matter here.

/// Marks before a path, at the beginning of a line.
const MARKS: [&str; 4] = [
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
];

/// Returns the paths that a patch in Codex's form names, in their order; none if it is no patch.
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
        let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
        bare.map(str::to_owned).unwrap_or(path)
    });
    named.collect()
}

/// Returns the paths that a diff names, without so many folders in front; each once. Includes files
/// that are only renamed, or shown without lines.
pub(crate) fn stripped_paths(diff: &str, folders: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let renamed = diff.lines().filter_map(|line| {
        let path = line
            .strip_prefix("rename from ")
            .or_else(|| line.strip_prefix("rename to "))?;
        Some(unquoted(path.trim()))
    });
    let headed = diff.lines().filter_map(path_in_head);
    let stripped = paths_in(diff).chain(headed).filter_map(|path| {
        let path = path.splitn(folders + 1, '/').nth(folders)?;
        Some(path.to_owned())
    });
    for path in stripped.chain(renamed) {
        if !path.is_empty() && !all.contains(&path) {
            all.push(path);
        }
    }
    all
}

fn paths_in(diff: &str) -> impl Iterator<Item = String> {
    diff.lines().filter_map(|line| {
        let path = line
            .strip_prefix("--- ")
            .or_else(|| line.strip_prefix("+++ "))?;
        // A date follows behind a tab.
        let path = path.split('\t').next().unwrap_or(path).trim();
        (!path.is_empty() && path != "/dev/null").then(|| unquoted(path))
    })
}

/// Returns the path in git's own line above a file, if both paths are the same: the only line that
/// names a file with binary contents, or with a change of its mode alone.
fn path_in_head(line: &str) -> Option<String> {
    let paths = line.strip_prefix("diff --git ")?.trim();
    let at = if paths.starts_with('"') {
        paths.find("\" ")? + 1
    } else {
        paths.len() / 2
    };
    let (old, new) = (paths.get(..at)?, paths.get(at..)?.strip_prefix(' ')?);
    let (old, new) = (unquoted(old), unquoted(new));
    let folderless = |path: &str| path.split_once('/').map(|(_, rest)| rest.to_owned());
    (folderless(&old)? == folderless(&new)?).then_some(new)
}

/// Returns a path without the quotes that git puts around special characters: a byte may be written
/// as three octal digits.
fn unquoted(path: &str) -> String {
    let quoted = path
        .strip_prefix('"')
        .and_then(|path| path.strip_suffix('"'));
    let Some(quoted) = quoted else {
        return path.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes().peekable();
    while let Some(byte) = rest.next() {
        let escaped = if byte == b'\\' { rest.next() } else { None };
        bytes.push(match escaped {
            None => byte,
            Some(b'a') => 0x07,
            Some(b'b') => 0x08,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 0x0b,
            Some(b'f') => 0x0c,
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'7') => {
                let mut value = digit - b'0';
                for _ in 0..2 {
                    let next = rest.next_if(|digit| (b'0'..=b'7').contains(digit));
                    value = next.map_or(value, |digit| value.wrapping_mul(8) + (digit - b'0'));
                }
                value
            }
            Some(other) => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
        let bytes = "diff --git a/p q.png b/p q.png\nGIT binary patch\ndiff --git a/r.sh b/r.sh\nold mode 100644\n";
        assert_eq!(stripped_paths(bytes, 1), ["p q.png", "r.sh"]);
        assert_eq!(stripped_paths("diff --git a/x b/y\n", 1), [""; 0]);
    }

    /// CAKE-SHIM-1: a path that git has put in quotes is the file's own.
    #[test]
    fn a_path_in_quotes_is_read_as_git_writes_it() {
        let diff = "diff --git \"a/src/gr\\303\\266\\303\\237e.rs\" \"b/src/gr\\303\\266\\303\\237e.rs\"\n\
                    --- \"a/src/gr\\303\\266\\303\\237e.rs\"\n+++ \"b/src/gr\\303\\266\\303\\237e.rs\"\n";
        assert_eq!(stripped_paths(diff, 1), ["src/gr\u{f6}\u{df}e.rs"]);
        assert_eq!(paths_of_diff(diff), ["src/gr\u{f6}\u{df}e.rs"; 2]);
        let diff = "--- \"a/t\\tb\\\"q\\\\\"\trename\n+++ two words.rs\t2026-01-01\n";
        assert_eq!(paths_of_diff(diff), ["t\tb\"q\\", "two words.rs"]);
        let renamed = "rename from \"\\303\\266\"\nrename to \"\\1012\\0\"\n";
        assert_eq!(stripped_paths(renamed, 1), ["\u{f6}", "A2\0"]);
    }

    #[test]
    fn quotes_that_do_not_end_are_part_of_the_path() {
        assert_eq!(paths_of_diff("--- \"a/x\n+++ \"\n"), ["\"a/x", "\""]);
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
