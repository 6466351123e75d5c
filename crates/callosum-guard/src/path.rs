//! Paths as text: made absolute, without `.` and `..`, and shown from a folder on.
//!
//! Lexical on purpose: a decision looks nothing up. Where links lead is among the facts.

/// Returns a path from a folder on, without `.`, `..` and doubled slashes.
///
/// Stays relative if it is relative and no folder is given; `..` that lead out of it stay.
pub(crate) fn absolute(text: &str, folder: Option<&str>) -> String {
    let joined;
    let whole = match folder {
        Some(folder) if !text.starts_with('/') => {
            joined = format!("{folder}/{text}");
            joined.as_str()
        }
        _ => text,
    };
    let rooted = whole.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            other => parts.push(other),
        }
    }
    let mut path = String::with_capacity(whole.len());
    if rooted {
        path.push('/');
    }
    path.push_str(&parts.join("/"));
    if path.is_empty() {
        path.push('.');
    }
    path
}

/// Whether a path is this folder or is in it.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The last part of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::{absolute, is_within};

    /// CAKE-SHIM-1: a path is the same path however it is spelled.
    #[test]
    fn paths_are_made_one_way() {
        for (text, folder, expected) in [
            ("/", None, "/"),
            ("//", None, "/"),
            ("/..", None, "/"),
            ("a/../..", Some("/x/y"), "/x"),
            ("./a/./b/", Some("/x"), "/x/a/b"),
            ("../a", None, "../a"),
            (".", None, "."),
        ] {
            assert_eq!(absolute(text, folder), expected, "{text}");
        }
        assert!(is_within("/a/b", "/a") && is_within("/a", "/a") && is_within("/a", "/"));
        assert!(!is_within("/ab", "/a"));
    }
}
