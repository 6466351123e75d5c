//! Folders that a machine, its data or a person's home has by these names, and where they are missed: a table.
//!
//! What follows from where a path leads is in `place`.

/// Folders of the system that a machine does not live without.
pub(crate) const SYSTEM: [&str; 20] = [
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "proc",
    "sbin",
    "sys",
    "usr",
    "var",
    "opt",
    "System",
    "Library",
    "Applications",
    "private",
    "root",
    "run",
    "nix",
];

/// Folders right under the root whose loss is a loss of data.
pub(crate) const DATA: [&str; 9] = [
    "home",
    "Users",
    "srv",
    "mnt",
    "media",
    "data",
    "Volumes",
    "snap",
    "lost+found",
];

/// What stands in a home folder and is not made again.
pub(crate) const OWN: [&str; 14] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".config",
    ".local",
    "Documents",
    "Desktop",
    "Pictures",
    "Library",
    ".password-store",
    ".docker",
    ".mozilla",
    "Downloads",
];
