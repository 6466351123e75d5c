//! [`kept_back`]: project files that no plan may read, by their names.
//!
//! Their content does not matter: secrets in other files are masked elsewhere, as far as they are
//! recognized.

use std::path::Path;

/// Names of files that hold secrets.
const NAMES: [&str; 27] = [
    ".boto",
    ".dockercfg",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".terraformrc",
    ".vault-token",
    ".yarnrc.yml",
    "_netrc",
    "auth.json",
    "credentials",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "kubeconfig",
    "master.key",
    "shadow",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "wp-config.php",
];

/// Endings of such names.
const ENDINGS: [&str; 12] = [
    "env", "jks", "kdbx", "key", "keystore", "ovpn", "p12", "pem", "pfx", "ppk", "tfstate",
    "tfvars",
];

/// Names that hold them where they end as data does, as `config/secrets.yml`.
const STEMS: [&str; 6] = [
    "credential",
    "credentials",
    "secret",
    "secrets",
    "service-account",
    "service_account",
];

/// Endings of data.
const DATA: [&str; 10] = [
    "cfg",
    "conf",
    "ini",
    "json",
    "properties",
    "toml",
    "txt",
    "xml",
    "yaml",
    "yml",
];

/// Files that are recognized by their folder.
const WITHIN: [(&str, &str); 3] = [
    (".docker", "config.json"),
    (".kube", "config"),
    ("gh", "hosts.yml"),
];

/// Folders whose files hold them, and `.git`, whose configuration may.
const FOLDERS: [&str; 4] = [".aws", ".gnupg", ".ssh", ".git"];

/// Endings of what is there to be filled in.
const SAMPLES: [&str; 4] = ["dist", "example", "sample", "template"];

/// Returns the reason why a plan may not read a path of the project.
pub(super) fn kept_back(path: &Path) -> Option<&'static str> {
    let names: Vec<String> = path
        .iter()
        .map(|name| name.to_string_lossy().to_ascii_lowercase())
        .collect();
    let (file, folders) = names.split_last()?;
    // Also that of a project within this one.
    let is_state = |name: &String| name.starts_with(".cal_") || name == "cal_audit";
    if names.iter().any(is_state) {
        return Some("is Callosum's own state: read it with `:ledger.query` and `:chain.query`");
    }
    let is_secret = holds_secrets(file)
        || folders
            .iter()
            .any(|folder| FOLDERS.contains(&folder.as_str()))
        || WITHIN.iter().any(|(folder, name)| {
            file == name && folders.last().is_some_and(|last| last == folder)
        });
    is_secret.then_some("is a file that holds secrets")
}

/// Whether a file of this name, in small letters, holds secrets.
fn holds_secrets(file: &str) -> bool {
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    if SAMPLES.contains(&ending) {
        return false;
    }
    let is_environment = file == ".env" || file.starts_with(".env.");
    is_environment
        || NAMES.contains(&file)
        || ENDINGS.contains(&ending)
        || DATA.contains(&ending) && STEMS.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-RTFS-2: files with names for secrets are denied in any folder; code that is named after
    /// them is not.
    #[test]
    fn files_are_kept_back_by_their_names() {
        for path in [
            ".env",
            "app/.ENV.local",
            "prod.env",
            ".envrc",
            "config/secrets.yml",
            "config/Secrets.JSON",
            "infra/terraform.tfvars",
            "deploy/service-account.json",
            "certs/server.pem",
            "home/.ssh/config",
            ".kube/config",
            ".git/config",
            "cal_audit/2026-01-02.jsonl",
            "sub/cal_audit/2026-01-02.jsonl",
            "sub/.cal_memory.json",
        ] {
            assert!(kept_back(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            ".env.example",
            "config/secrets.example.yml",
            "src/secrets.rs",
            "src/secrets/mod.rs",
            "docs/credentials.md",
            "src/config",
            "config.json",
            "environment.yml",
            "id_rsa.pub",
        ] {
            assert_eq!(kept_back(Path::new(path)), None, "{path}");
        }
    }
}
