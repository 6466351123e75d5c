//! Names of programs by kind, for the analysis of a command and for the rules: [`SHELLS`] and [`DELETERS`].

/// Shells that read commands as bash does, or nearly.
pub(crate) const SHELLS: [&str; 18] = [
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "rbash",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "yash",
    "xonsh",
    "elvish",
    "nu",
    "cmd",
];

/// Programs that delete what they are given.
pub(crate) const DELETERS: &[&str] = &[
    "rm",
    "grm",
    "rimraf",
    "del-cli",
    "trash-empty",
    "srm",
    "del",
    "rd",
    "erase",
    "ri",
    "Remove-Item",
    "remove-item",
    "rmrf",
    "unlink",
    "rmdir",
];
