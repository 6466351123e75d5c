//! The folders that a person has trusted, as Claude Code and Gemini CLI note it. Pure.
//!
//! Both ignore a project's settings, and the hooks in them, until its folder is trusted. Codex's
//! note is read in `registration::codex`.

use std::path::Path;

use super::super::hook_entry::value;

/// Returns whether Claude Code's notes say that its trust dialog was accepted for the folder, or for one above it.
pub(crate) fn claude_trusts(notes: &str, folder: &Path) -> bool {
    let notes = value(notes).unwrap_or_default();
    folder.ancestors().filter_map(Path::to_str).any(|folder| {
        let project = notes.get("projects").and_then(|all| all.get(folder));
        let accepted = project.and_then(|project| project.get("hasTrustDialogAccepted"));
        accepted.is_some_and(|accepted| accepted == true)
    })
}

/// Returns whether Gemini CLI's list says that the folder is trusted. Of several that speak of it, the longest path counts.
pub(crate) fn gemini_trusts(list: &str, folder: &Path) -> bool {
    let list = value(list).unwrap_or_default();
    let rules = list.as_object().into_iter().flatten();
    let about = rules.filter_map(|(path, level)| {
        let path = Path::new(path.as_str());
        let (within, trusts) = match level.as_str()? {
            "TRUST_FOLDER" => (path, true),
            "TRUST_PARENT" => (path.parent()?, true),
            "DO_NOT_TRUST" => (path, false),
            _ => return None,
        };
        let length = path.as_os_str().len();
        folder.starts_with(within).then_some((length, trusts))
    });
    about.max().is_some_and(|(_, trusts)| trusts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-ADP-1: a folder is trusted by its own entry or by one above it, and by no other.
    #[test]
    fn a_folder_is_trusted_as_its_client_notes_it() {
        let folder = Path::new("/h/p/src");
        for (notes, trusts) in [
            ("", false),
            ("{}", false),
            (
                r#"{"projects": {"/h/p/src": {"hasTrustDialogAccepted": true}}}"#,
                true,
            ),
            (
                r#"{"projects": {"/h/p": {"hasTrustDialogAccepted": true}}}"#,
                true,
            ),
            (
                r#"{"projects": {"/h/p/src": {"hasTrustDialogAccepted": false}}}"#,
                false,
            ),
            (
                r#"{"projects": {"/h/p/src/x": {"hasTrustDialogAccepted": true}}}"#,
                false,
            ),
            ("{ broken", false),
        ] {
            assert_eq!(claude_trusts(notes, folder), trusts, "{notes}");
        }
        for (list, trusts) in [
            ("", false),
            (r#"{"/h/p": "TRUST_FOLDER"}"#, true),
            (r#"{"/h/p/other": "TRUST_PARENT"}"#, true),
            (
                r#"{"/h/p": "TRUST_FOLDER", "/h/p/src": "DO_NOT_TRUST"}"#,
                false,
            ),
            (
                r#"{"/h/p/src": "TRUST_FOLDER", "/h": "DO_NOT_TRUST"}"#,
                true,
            ),
            (r#"{"/h/q": "TRUST_FOLDER"}"#, false),
            (r#"["/h/p"]"#, false),
        ] {
            assert_eq!(gemini_trusts(list, folder), trusts, "{list}");
        }
    }
}
