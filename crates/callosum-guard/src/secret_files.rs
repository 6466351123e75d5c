//! Files in which keys and passwords are kept.

use crate::{glob, path};

/// Endings of files next to `.env` that are samples of it, or are encrypted.
const SAMPLES: [&str; 16] = [
    "example", "sample", "template", "test", "dist", "tpl", "tmpl", "schema", "default",
    "defaults", "enc", "gpg", "age", "asc", "vault", "sops",
];

/// Whether a file is one in which keys or passwords are kept, a folder of such, or a pattern for them.
pub(crate) fn keeps_secrets(file: &str) -> bool {
    let file = file.trim_end_matches('/');
    let name = path::name(file);
    let within = |folder: &str| file.split('/').any(|part| part == folder);
    match name {
        ".ssh"
        | ".gnupg"
        | ".aws"
        | ".netrc"
        | ".pypirc"
        | ".git-credentials"
        | ".pgpass"
        | ".env"
        | ".env*"
        | "shadow"
        | "master.key"
        | "credentials.json"
        | "application_default_credentials.json" => true,
        "credentials" => within(".aws"),
        "environ" => file.starts_with("/proc/"),
        "config" => within(".kube"),
        "config.json" => within(".docker"),
        "hosts.yml" => within("gh"),
        _ => {
            let end = name.rsplit('.').next().unwrap_or("");
            let takes_in = |key: &str| name.contains('*') && glob::matches(name, key);
            name.starts_with(".env.") && !SAMPLES.contains(&end)
                || within(".ssh") && (name.starts_with("id_") && end != "pub" || takes_in("id_rsa"))
                || within(".aws") && takes_in("credentials")
                || within(".gnupg")
                || end == "pem" && !is_public(name)
                || matches!(end, "p12" | "pfx" | "keystore" | "kdbx")
        }
    }
}

/// Whether a file of keys is by its name one of certificates, which are shown to everybody.
fn is_public(name: &str) -> bool {
    let mut parts = name.split(['-', '_', '.', ' ']);
    let is_shown = |part: &str| {
        let part = part.strip_suffix('s').unwrap_or(part);
        let part = part.strip_prefix("full").unwrap_or(part);
        let part = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
        matches!(
            part,
            "ca" | "cacert"
                | "crt"
                | "cert"
                | "certificate"
                | "chain"
                | "certchain"
                | "cabundle"
                | "bundle"
                | "pub"
                | "public"
                | "pubkey"
        )
    };
    let is_kept = |part: &str| part.contains("priv") || part.contains("key") && part != "pubkey";
    !parts.clone().any(is_kept) && parts.any(is_shown)
}

/// Returns the file that a word names as the data to send: `FILE`, `@FILE`, `x=@FILE;type=y`,
/// `x=<FILE`, `--body=FILE`, `-T/FILE`.
pub(crate) fn sent_file(word: &str) -> &str {
    let file = if let Some((_, file)) = word.rsplit_once('@') {
        file
    } else if let Some((_, file)) = word.split_once("=<") {
        file
    } else if let Some(option) = word.strip_prefix("--") {
        option.split_once('=').map_or("", |(_, file)| file)
    } else if word.starts_with('-') {
        word.get(2..).unwrap_or("")
    } else {
        word
    };
    let file = file.split(';').next().unwrap_or(file);
    let file = file.strip_prefix("fileb://").unwrap_or(file);
    file.strip_prefix("file://").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::{keeps_secrets, sent_file};

    /// CAKE-SHIM-1: where keys are kept is known by its name, a sample and a public key by theirs.
    #[test]
    fn secret_files_differ_from_similar_names() {
        for file in [
            ".env",
            ".env.production",
            "/home/u/.ssh/",
            "/home/u/.ssh/*",
            "/home/u/.ssh/id_*",
            "/home/u/.aws/*",
            "certs/server.pem",
            "cert-key.pem",
            "ca-private.pem",
            "private-chain.pem",
            "public_and_private.pem",
            "certsrv.pem",
            "republic.pem",
        ] {
            assert!(keeps_secrets(file), "{file}");
        }
        for file in [
            ".env.example",
            ".env.sample",
            ".env.gpg",
            "fullchain.pem",
            "chain1.pem",
            "ca-bundle.pem",
            "certs.pem",
            "public.pem",
            "certs/root-ca.pem",
            "/home/u/.ssh/id_rsa.pub",
            "/home/u/.ssh/*.pub",
            "/home/u/.ssh/known_hosts",
            "/home/u/.ssh/config",
            ".envrc",
            "src/env.rs",
            "",
            "/",
        ] {
            assert!(!keeps_secrets(file), "{file}");
        }
    }

    /// CAKE-SHIM-1: the file that is sent is found in every form that programs accept.
    #[test]
    fn the_file_that_is_sent_is_read_out_of_its_word() {
        for word in [
            "a.txt",
            "@a.txt",
            "f=@a.txt",
            "f=@a.txt;type=text/plain",
            "f=<a.txt",
            "--body=a.txt",
            "-Ta.txt",
            "-d@a.txt",
            "fileb://a.txt",
        ] {
            assert_eq!(sent_file(word), "a.txt", "{word}");
        }
        assert_eq!(sent_file("--silent"), "");
    }
}
