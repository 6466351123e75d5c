//! Settings of git, given or written down: their owners, and the programs that they run.

use super::super::Subject;
use crate::analyze::setting::{self, Setting};

/// Returns the setting that `git config` sets.
pub(super) fn set(subject: &Subject<'_>) -> Option<Setting> {
    let mut words = subject.call.words.iter();
    words.find(|word| word.text == "config")?;
    setting::set_by(words.as_slice())
}

/// Whether a setting is the command's own, rather than one that an earlier command has set.
pub(super) fn is_own(subject: &Subject<'_>, key: &str) -> bool {
    let words = subject.call.words.iter();
    subject.operand(0) != "config"
        || words
            .filter_map(|word| word.text.split_once('='))
            .any(|(given, _)| given.eq_ignore_ascii_case(key))
}

/// Whether git has to take its own programs from a folder that no system has them in.
pub(super) fn own_programs(subject: &Subject<'_>) -> bool {
    let folder = subject
        .options
        .iter()
        .find(|given| given.name == "--exec-path");
    folder
        .filter(|given| {
            subject.call.words.iter().any(|word| {
                given
                    .value
                    .is_some_and(|value| word.text.strip_prefix("--exec-path=") == Some(value))
            })
        })
        .and_then(|given| given.value)
        .is_some_and(|folder| !folder.starts_with("/usr/") && !folder.starts_with("/opt/"))
}

/// Whether `git config` sets something that git runs from then on, but what everybody has there.
pub(super) fn unsafe_key(subject: &Subject<'_>) -> bool {
    const USUAL: [&str; 15] = [
        "vim",
        "nano",
        "vi",
        "nvim",
        "emacs",
        "code --wait",
        "cat",
        "less",
        "delta",
        "store",
        "cache",
        "osxkeychain",
        "manager",
        "true",
        "yes",
    ];
    let Some((key, value)) = set(subject) else {
        return false;
    };
    if key.starts_with("alias.") {
        return value.starts_with('!');
    }
    let runs = setting::runs(&key) && !setting::is_false(&value);
    runs && !USUAL.contains(&value.as_str())
        || key == "core.hookspath"
        || setting::loads(&key, &value)
}
