//! Completions of shells, and the manual.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::doctor::{Checks, Outcome};

/// Each shell with the paths below a prefix at which a package installs its completions.
const COMPLETIONS: [(&str, &[&str]); 3] = [
    ("bash", &["share/bash-completion/completions/callosum"]),
    (
        "zsh",
        &[
            "share/zsh/site-functions/_callosum",
            "share/zsh/vendor-completions/_callosum",
        ],
    ),
    ("fish", &["share/fish/vendor_completions.d/callosum.fish"]),
];

/// The manual's first page below a prefix, as it is and compressed.
const MANUALS: [&str; 2] = ["share/man/man1/callosum.1", "share/man/man1/callosum.1.gz"];

/// Adds which completions and manual pages are installed, in the prefix or for the user.
pub(super) fn check(context: &Context, prefix: &Path, checks: &mut Checks) {
    let mut prefixes = vec![prefix.to_owned()];
    let home = context.environment.get("HOME").map(PathBuf::from);
    prefixes.extend(home.map(|home| home.join(".local")));
    let exists = |path: &str| {
        let mut places = prefixes.iter().map(|prefix| prefix.join(path));
        places.any(|place| context.disk.exists(&place).unwrap_or(false))
    };
    let shells: Vec<&str> = COMPLETIONS
        .iter()
        .filter(|(_, paths)| paths.iter().any(|path| exists(path)))
        .map(|(shell, _)| *shell)
        .collect();
    let folder = "~/.local/share/bash-completion/completions";
    let hint =
        format!("mkdir -p {folder} && callosum generate completions bash > {folder}/callosum");
    if shells.is_empty() {
        let found = "not installed";
        checks.add("completions", Outcome::Warning, found, Some(&hint));
    } else {
        checks.add("completions", Outcome::Ok, shells.join(", "), None);
    }
    if MANUALS.iter().any(|path| exists(path)) {
        checks.add("manual", Outcome::Ok, "installed", None);
    } else {
        let folder = "~/.local/share/man/man1";
        let hint = format!("mkdir -p {folder} && callosum generate man > {folder}/callosum.1");
        checks.add("manual", Outcome::Warning, "not installed", Some(&hint));
    }
}
