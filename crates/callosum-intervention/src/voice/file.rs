//! [`check_file`]: which files a message may name.

use super::GateFacts;
use crate::operator::message::{is_path_text, written_path};

/// Files that declare what a project needs. A message may name them though the error is elsewhere.
pub(crate) const MANIFESTS: [&str; 16] = [
    "CMakeLists.txt",
    "Cargo.toml",
    "Gemfile",
    "Makefile",
    "Pipfile",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "environment.yml",
    "go.mod",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "tsconfig.json",
];

/// Folders of the system. No message points into them, even if an error does.
const SYSTEM: [&str; 12] = [
    "/bin/", "/boot/", "/dev/", "/etc/", "/lib/", "/lib64/", "/proc/", "/root/", "/run/", "/sys/",
    "/usr/", "/var/",
];

/// Extensions of files that hold keys.
const KEYS: [&str; 7] = ["asc", "gpg", "jks", "key", "p12", "pem", "pfx"];

/// Returns whether a message may name the file: it is the event's, or the file to edit of a known fix, or a manifest that exists.
/// Without an event, any existing file passes.
///
/// # Errors
/// The reason, for the verdict.
pub(super) fn check_file(file: &str, surroundings: &GateFacts<'_>) -> Result<(), String> {
    if !is_path_text(&written_path(file)) {
        return Err("file name contains special characters".to_owned());
    }
    if file
        .split('/')
        .any(|part| part == ".." || part == "..." || part == ".")
        || file.contains("//")
    {
        return Err(format!("{file} is not a path inside the project"));
    }
    if is_secret(file) {
        return Err(format!("{file} may contain secrets"));
    }
    let file = plain(file);
    let of_event = surroundings.event.is_some_and(|event| {
        [event.file, event.fix_file]
            .into_iter()
            .flatten()
            .any(|other| plain(other) == file)
    });
    if !of_event && file.split('/').any(|part| part == ".git") {
        return Err(format!("{file} belongs to git"));
    }
    if file.starts_with('/') {
        let is_system = SYSTEM.iter().any(|folder| file.starts_with(folder));
        return if of_event && !is_system && file.len() > 1 {
            Ok(())
        } else {
            Err(format!("{file} is outside of the project"))
        };
    }
    if of_event {
        return Ok(());
    }
    if surroundings.event.is_some() {
        let name = file.rsplit('/').next().unwrap_or(file);
        if !MANIFESTS.contains(&name) {
            return Err(format!("{file} is not the file of the error"));
        }
    }
    if (surroundings.exists)(file) {
        Ok(())
    } else {
        Err(format!("{file} does not exist"))
    }
}

/// Returns whether the name is one of a file with keys, passwords or tokens.
fn is_secret(file: &str) -> bool {
    let lower = file.to_lowercase();
    lower.split('/').any(|part| {
        let stem = part.split('.').next().unwrap_or(part);
        part == ".env"
            || part.starts_with(".env.")
            || part.starts_with("id_")
            || matches!(
                part,
                ".ssh"
                    | ".aws"
                    | ".gnupg"
                    | ".netrc"
                    | ".npmrc"
                    | ".pypirc"
                    | ".git-credentials"
                    | ".docker"
                    | ".kube"
            )
            || matches!(
                stem,
                "shadow" | "passwd" | "credentials" | "secret" | "secrets"
            )
            || part
                .rsplit_once('.')
                .is_some_and(|(_, extension)| KEYS.contains(&extension))
    })
}

/// Returns the path without a leading `./`.
pub(super) fn plain(file: &str) -> &str {
    file.strip_prefix("./").unwrap_or(file)
}
