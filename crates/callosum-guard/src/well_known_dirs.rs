//! Folders that a machine, its data or a person's home has by these names, and whose loss hurts: a
//! table.
//!
//! The class of a path, which follows from these, is in `path_class`.

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

/// Entries of a home folder that are not made again.
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
