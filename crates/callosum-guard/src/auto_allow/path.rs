//! Files that a line may read and write without a prompt.
//!
//! Reading stays inside the project, in temporary folders and in a few folders of the system, and
//! never reaches a file that keeps secrets. Writing stays inside the project, and is for documents
//! and data: nothing that a build, a test, an editor or an agent reads later as code, settings or
//! instructions.

use super::{AllowRefusal, Kind, Line, Tree};
use crate::{
    decide_write,
    path::{is_within, name},
    secret_files::keeps_secrets,
    verdict::Decision,
};

/// Places of the system that hold nothing of a person's.
const SYSTEM: [&str; 12] = [
    "/dev/null",
    "/etc/debian_version",
    "/etc/lsb-release",
    "/etc/os-release",
    "/proc/cpuinfo",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/uptime",
    "/proc/version",
    "/usr/include",
    "/usr/lib/os-release",
    "/usr/share",
];

/// Endings of documents and data, which nothing runs.
const DATA: [&str; 13] = [
    "adoc", "bak", "csv", "diff", "err", "log", "md", "ndjson", "orig", "out", "patch", "tsv",
    "txt",
];

/// Those of them that may be written over. A document that is there already may be part of a build: rustdoc tests the
/// examples in a README.
const LOGS: [&str; 5] = ["bak", "err", "log", "orig", "out"];

/// Documents that agents take for instructions, or tools for a list of what to install or build.
const STEERING: [&str; 12] = [
    "agents",
    "claude",
    "cmakelists",
    "conventions",
    "copilot-instructions",
    "gemini",
    "llms",
    "memory",
    "qwen",
    "runtime",
    "skill",
    "soul",
];

/// Folders whose documents steer agents or run.
const STEERING_FOLDERS: [&str; 10] = [
    "agents",
    "bin",
    "commands",
    "hooks",
    "instructions",
    "memory",
    "plugins",
    "prompts",
    "rules",
    "skills",
];

/// Folders that a recursive search passes over here: they hold what was fetched or built.
const FETCHED: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// Most folders and names that a recursive search is checked for.
const MOST_FOLDERS: usize = 512;
const MOST_NAMES: usize = 8_192;

/// Joins a path and the folder that it is seen from. What `..` means behind a link only the disk knows.
pub(super) fn joined(path: &str, folder: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{}/{path}", folder.trim_end_matches('/'))
    }
}

fn refused(path: &str, reason: &'static str) -> AllowRefusal {
    AllowRefusal::Path {
        path: path.to_owned(),
        reason,
    }
}

fn real(tree: &dyn Tree, path: &str, folder: &str) -> Result<String, AllowRefusal> {
    let real = (!path.is_empty())
        .then(|| tree.real(&joined(path, folder)))
        .flatten();
    real.ok_or_else(|| refused(path, "leads to an unknown place"))
}

/// Returns the target of a path, if that is the project or inside it.
pub(super) fn inside(line: &Line<'_>, path: &str, folder: &str) -> Result<String, AllowRefusal> {
    let real = real(line.tree, path, folder)?;
    if is_within(&real, line.root) {
        Ok(real)
    } else {
        Err(refused(path, "is outside the project"))
    }
}

/// Returns the target of a path, if its name and kind may be read.
pub(super) fn names(line: &Line<'_>, path: &str, folder: &str) -> Result<String, AllowRefusal> {
    let real = real(line.tree, path, folder)?;
    let facts = line.facts;
    let given = facts.given.iter().map(String::as_str);
    let mut own = given.chain(SYSTEM).chain([line.root]);
    // A home folder may be in a temporary one, and hold one.
    let home = facts.home.as_deref();
    let is_home = || home.is_some_and(|home| is_within(&real, home));
    let mut free = facts.free.iter();
    if own.any(|place| is_within(&real, place))
        || free.any(|place| is_within(&real, place)) && !is_home()
    {
        Ok(real)
    } else {
        Err(refused(path, "is outside the project"))
    }
}

/// Checks that what is in a file may be shown.
pub(super) fn read(line: &Line<'_>, path: &str, folder: &str) -> Result<String, AllowRefusal> {
    let real = names(line, path, folder)?;
    if is_secret(path) || is_secret(&real) {
        return Err(refused(path, "may contain secrets"));
    }
    if real.split('/').any(|part| part == ".git") {
        return Err(refused(path, "belongs to git"));
    }
    Ok(real)
}

/// Checks that all that is in a folder may be shown, as far as names tell. `sees_hidden` is whether hidden files are
/// among it.
pub(super) fn read_all(
    line: &Line<'_>,
    path: &str,
    folder: &str,
    sees_hidden: bool,
) -> Result<(), AllowRefusal> {
    let top = read(line, path, folder)?;
    if line.tree.kind(&top) != Some(Kind::Folder) {
        return Ok(());
    }
    let mut waiting = vec![top];
    let (mut folders, mut names) = (0, 0);
    while let Some(folder) = waiting.pop() {
        let entries = line.tree.names(&folder);
        let entries = entries.ok_or_else(|| refused(&folder, "cannot be read"))?;
        folders += 1;
        names += entries.len();
        if folders > MOST_FOLDERS || names > MOST_NAMES {
            return Err(refused(path, "holds more files than are checked"));
        }
        for (name, is_folder) in entries {
            if name.starts_with('.') && !sees_hidden {
                continue;
            }
            let inner = format!("{folder}/{name}");
            // A folder of code may be named `secrets`; what is in it is looked at by itself.
            let is_secret = if is_folder {
                keeps_secrets(&inner) || SECRET_FOLDERS.contains(&name.as_str())
            } else {
                is_secret(&inner)
            };
            if is_secret {
                return Err(refused(path, "holds a file that may contain secrets"));
            }
            if is_folder && !FETCHED.contains(&name.as_str()) {
                waiting.push(inner);
            }
        }
    }
    Ok(())
}

/// Checks that a file may be written: one that is not there yet, or a log.
pub(super) fn write(line: &Line<'_>, path: &str, folder: &str) -> Result<String, AllowRefusal> {
    let real = data(line, path, folder)?;
    match line.tree.kind(&real) {
        None => Ok(real),
        Some(Kind::File) if has_ending(&real, &LOGS) => Ok(real),
        Some(_) => Err(refused(path, "exists and may be used by a build")),
    }
}

/// Checks that a path is one of a document or of data inside the project.
pub(super) fn data(line: &Line<'_>, path: &str, folder: &str) -> Result<String, AllowRefusal> {
    let real = own(line, path, folder)?;
    let name = name(&real).to_ascii_lowercase();
    let is_list = name.contains("requirement") || name.contains("constraint");
    // pytest runs the examples in `test*.txt`.
    let is_test = name.starts_with("test") && has_ending(&name, &["txt"]);
    let steers = STEERING.iter().any(|steering| name.starts_with(steering));
    let inner = real[line.root.len()..].to_ascii_lowercase();
    let is_in_steering = inner
        .split('/')
        .any(|part| STEERING_FOLDERS.contains(&part));
    if !has_ending(&name, &DATA) || is_list || is_test || steers || is_in_steering {
        return Err(refused(path, "may be run or obeyed later"));
    }
    Ok(real)
}

/// Returns whether a word ends like a file that can be written without a prompt. Such a file is not given to a listed
/// program, which may run it.
pub(super) fn is_data(word: &str) -> bool {
    has_ending(&word.to_ascii_lowercase(), &DATA)
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    endings.contains(&end)
}

/// Checks that a path may be created or changed, with any content: it is inside the project, and
/// neither hidden nor one of the files that the guard protects.
pub(super) fn own(line: &Line<'_>, path: &str, folder: &str) -> Result<String, AllowRefusal> {
    let real = inside(line, path, folder)?;
    let inner = real[line.root.len()..].trim_start_matches('/');
    if inner.is_empty() {
        return Err(refused(path, "is the project itself"));
    }
    if inner.split('/').any(|part| part.starts_with('.')) {
        return Err(refused(path, "is hidden, like settings"));
    }
    if is_secret(&real) {
        return Err(refused(path, "may contain secrets"));
    }
    let verdict = decide_write(&real, line.facts, line.policy);
    if verdict.decision != Decision::Allow {
        return Err(refused(path, "is protected by the guard"));
    }
    Ok(real)
}

/// Folders that hold keys and logins.
const SECRET_FOLDERS: [&str; 9] = [
    ".aws",
    ".azure",
    ".docker",
    ".gcloud",
    ".gnupg",
    ".kube",
    ".password-store",
    ".ssh",
    "gcloud",
];

/// Returns whether a path is one that may keep secrets: the guard's own table, and names that are only suspicious.
pub(super) fn is_secret(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    if keeps_secrets(path) || keeps_secrets(&lower) {
        return true;
    }
    if lower.split('/').any(|part| SECRET_FOLDERS.contains(&part)) {
        return true;
    }
    let name = name(lower.trim_end_matches('/'));
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_sample = matches!(end, "example" | "sample" | "template" | "dist");
    match name {
        ".npmrc" | ".yarnrc.yml" | ".htpasswd" | ".my.cnf" | ".envrc" | ".dockercfg"
        | ".vault-token" | "kubeconfig" | "wallet.dat" | "environ" => return true,
        _ if is_sample => return false,
        _ => {}
    }
    matches!(
        end,
        "key"
            | "jks"
            | "ppk"
            | "ovpn"
            | "tfvars"
            | "tfstate"
            | "env"
            | "gpg"
            | "keychain"
            | "p8"
            | "der"
    ) || stem.starts_with("id_rsa")
        || stem.starts_with("id_ed25519")
        || stem.starts_with("id_ecdsa")
        || stem.starts_with("id_dsa")
        || name.starts_with(".env")
        || !is_code(end)
            && [
                "secret",
                "credential",
                "password",
                "passwd",
                "token",
                "apikey",
                "api_key",
                "service-account",
            ]
            .iter()
            .any(|word| name.contains(word))
}

/// Returns whether a file with this ending is code or a document: a word like `token` in its name
/// is its topic.
pub(super) fn is_code(end: &str) -> bool {
    matches!(
        end,
        "rs" | "py"
            | "js"
            | "mjs"
            | "cjs"
            | "ts"
            | "tsx"
            | "jsx"
            | "go"
            | "java"
            | "kt"
            | "rb"
            | "c"
            | "h"
            | "cc"
            | "cpp"
            | "hpp"
            | "cs"
            | "swift"
            | "php"
            | "md"
            | "css"
            | "scss"
            | "html"
            | "vue"
            | "sh"
    )
}
