//! Environment of an executor: a short list, never everything.

use std::{ffi::OsString, path::Path};

/// Variables that every executor gets, besides `PWD` and `TMPDIR` (seed CAL §8.3). `CAL_BUDGET`
/// names the budget that its own delegations count against; it is no secret.
const COMMON: [&str; 3] = ["PATH", "HOME", "CAL_BUDGET"];

/// A name that contains one of these passes only if it is listed itself (seed CAL §8.3).
const SENSITIVE: [&str; 4] = ["API_KEY", "SECRET", "TOKEN", "PASSWORD"];

/// Chooses the variables in `available` that are passed on.
///
/// `PATH` and `HOME` always; of the rest those that `listed` names, either whole (`OLLAMA_HOST`) or
/// by a prefix (`OLLAMA_*`). Such a prefix never covers a name that sounds like a secret. `PWD` and
/// `TMPDIR` are the folders that the child starts in and may write to.
pub fn environment(
    listed: &[String],
    available: &[(OsString, OsString)],
    folder: &Path,
    temporary: &Path,
) -> Vec<(OsString, OsString)> {
    let mut passed: Vec<(OsString, OsString)> = available
        .iter()
        .filter(|(name, _)| name.to_str().is_some_and(|name| passes(name, listed)))
        .cloned()
        .collect();
    passed.push(("PWD".into(), folder.into()));
    passed.push(("TMPDIR".into(), temporary.into()));
    passed
}

/// Whether a variable is passed on to an executor whose entry lists these names and beginnings.
pub fn passes(name: &str, listed: &[String]) -> bool {
    if matches!(name, "PWD" | "TMPDIR") {
        return false;
    }
    if COMMON.contains(&name) || listed.iter().any(|listed| listed == name) {
        return true;
    }
    if is_secret(name) {
        return false;
    }
    listed
        .iter()
        .filter_map(|listed| listed.strip_suffix('*'))
        .any(|beginning| !beginning.is_empty() && name.starts_with(beginning))
}

/// Whether a variable sounds as if it held a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SENSITIVE.iter().any(|part| upper.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(listed: &[&str]) -> Vec<String> {
        let available = [
            "PATH",
            "HOME",
            "PWD",
            "TMPDIR",
            "LANG",
            "OLLAMA_HOST",
            "OLLAMA_API_KEY",
            "my_token_file",
            "OPENAI_API_KEY",
            "LD_PRELOAD",
        ]
        .map(|name| (OsString::from(name), OsString::from("outer")));
        let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
        environment(&listed, &available, Path::new("/root"), Path::new("/tmp/1"))
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    /// REQ-SEC-004: a child gets a short list, for any environment of the parent.
    #[test]
    fn only_the_common_names_pass_by_themselves() {
        assert_eq!(
            passed(&[]),
            ["PATH=outer", "HOME=outer", "PWD=/root", "TMPDIR=/tmp/1"]
        );
    }

    /// CAL-SEC-1, §8.3: what sounds like a secret passes only where it is listed by its own name.
    #[test]
    fn a_pattern_never_lets_a_secret_through() {
        assert_eq!(
            passed(&["OLLAMA_*", "*", "my_*", "PWD"]),
            [
                "PATH=outer",
                "HOME=outer",
                "OLLAMA_HOST=outer",
                "PWD=/root",
                "TMPDIR=/tmp/1"
            ]
        );
        assert!(passed(&["OLLAMA_API_KEY"]).contains(&"OLLAMA_API_KEY=outer".to_owned()));
        assert!(passed(&["my_token_file"]).contains(&"my_token_file=outer".to_owned()));
    }
}
