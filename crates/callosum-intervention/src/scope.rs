//! [`Scope`]: the paths that a task names, and whether an edit is outside of them (Seed CAKE §3, pattern violations).

/// The type of violation that is recorded for an edit outside of a task's scope.
pub const SCOPE_DRIFT: &str = "scope_drift";

/// Longest extension of a file name, in letters.
const LONGEST_EXTENSION: usize = 6;

/// The files and folders that a task names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Paths as written, without `./` in front and `/` behind.
    paths: Vec<String>,
}

impl Scope {
    /// Reads the scope from the text of a task; `None` if it names no path, so that every edit is within.
    ///
    /// A path is a word with a slash, or a file name with an extension. Addresses, versions and flags are none.
    pub fn of_task(text: &str) -> Option<Self> {
        let mut paths: Vec<String> = text
            .split(|letter: char| {
                letter.is_whitespace()
                    || matches!(letter, '`' | '\'' | '"' | ',' | ';' | '(' | ')' | '<' | '>')
            })
            .filter_map(path_of)
            .collect();
        paths.dedup();
        (!paths.is_empty()).then_some(Self { paths })
    }

    /// Adds a path that belongs to the task, such as its output file.
    pub fn add(&mut self, path: &str) {
        self.paths.extend(path_of(path));
    }

    /// Whether a file is within: named, below a named folder, or the test of a named file. `path` is relative to the
    /// project's root.
    pub fn contains(&self, path: &str) -> bool {
        self.paths.iter().any(|named| {
            let is_below = path
                .strip_prefix(&**named)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            // A task may name a file without its folder, or from another folder on.
            let is_end = path
                .strip_suffix(&**named)
                .is_some_and(|rest| rest.ends_with('/'));
            is_below || is_end || is_test_of(path, named)
        })
    }
}

/// Returns a word as a path, if it is one.
fn path_of(word: &str) -> Option<String> {
    let word = word.trim_end_matches(['.', ':', '!', '?']);
    // `src/a.rs:12` names a place in the file.
    let word = match word.split_once(':') {
        Some((path, line)) if line.starts_with(|letter: char| letter.is_ascii_digit()) => path,
        _ => word,
    };
    if word.contains("://") || word.starts_with('-') || word.contains('@') {
        return None;
    }
    let trimmed = word.strip_prefix("./").unwrap_or(word);
    let trimmed = trimmed.trim_end_matches('/');
    let has_name = trimmed.chars().any(char::is_alphabetic);
    let is_path = word.contains('/') && !word.starts_with("//");
    (has_name && (is_path || is_file_name(trimmed))).then(|| trimmed.to_owned())
}

/// Whether a word is a name with an extension, such as `auth.py`, and no version, domain or abbreviation.
fn is_file_name(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else {
        return false;
    };
    // `e.g` and `i.e` have one letter before the point.
    let has_stem = stem.chars().filter(|it| it.is_alphanumeric()).count() > 1;
    has_stem
        && (1..=LONGEST_EXTENSION).contains(&extension.len())
        && extension.chars().all(|it| it.is_ascii_lowercase())
        && !matches!(extension, "com" | "org" | "net" | "io" | "dev")
}

/// Whether a path is a test of a named file: its name has the file's stem and the word test or spec.
fn is_test_of(path: &str, named: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let (test, file) = (name(path), name(named));
    let Some((stem, _)) = file.split_once('.') else {
        return false;
    };
    let is_test = test.contains("test") || test.contains("spec");
    !stem.is_empty() && is_test && test.contains(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-PAT-1: the paths of a task are those that it names, and no other words.
    #[test]
    fn a_scope_is_read_from_the_text_of_a_task() {
        for (text, within, outside) in [
            (
                "Fix `src/auth.rs`, then run the tests.",
                &["src/auth.rs", "tests/auth_test.rs"][..],
                &["src/main.rs", "src/auth.rs.bak"][..],
            ),
            (
                "Rewrite docs/ (not README.md:3)",
                &["docs/a/b.md", "README.md", "sub/README.md"],
                &["src/docs.rs", "documents/a.md"],
            ),
            ("Look at ./lib/x.py:40.", &["lib/x.py"], &["x.py"]),
        ] {
            let scope = Scope::of_task(text).unwrap();
            for path in within {
                assert!(scope.contains(path), "{text}: {path} in {scope:?}");
            }
            for path in outside {
                assert!(!scope.contains(path), "{text}: {path} in {scope:?}");
            }
        }
        for text in [
            "Speed up the parser, e.g. by caching",
            "See https://example.com/a.html for version 1.2.3",
            "Mail me@x.org about --dry-run",
            "",
        ] {
            assert_eq!(Scope::of_task(text), None, "{text}");
        }
    }
}
