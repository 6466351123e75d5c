//! Files in which keys and passwords are kept.

use crate::path;

/// Whether a file is one in which keys or passwords are kept.
pub(crate) fn keeps_secrets(file: &str) -> bool {
    let name = path::name(file);
    let within = |folder: &str| file.split('/').any(|part| part == folder);
    match name {
        ".ssh" | ".gnupg" | ".aws" | ".netrc" | ".pypirc" | ".git-credentials" | ".pgpass"
        | ".env" | "shadow" | "master.key" | "credentials.json" => true,
        "credentials" => within(".aws"),
        "config" => within(".kube"),
        "config.json" => within(".docker"),
        "hosts.yml" => within("gh"),
        _ => {
            let sample = ["example", "sample", "template", "test", "dist"];
            let end = name.rsplit('.').next().unwrap_or("");
            name.starts_with(".env.") && !sample.contains(&end)
                || within(".ssh") && name.starts_with("id_") && end != "pub"
                || within(".gnupg")
                || matches!(end, "pem" | "p12" | "pfx" | "keystore" | "kdbx")
        }
    }
}
