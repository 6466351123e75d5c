//! [`SourceTree`]: the files of a tree, in one order, and what of it was left out and why.

use std::{fmt, path::PathBuf};

use crate::language::Language;

/// The files of a tree.
///
/// The same tree gives the same value on every machine: neither the user's own git settings nor
/// ignore files above the root are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTree {
    /// The root folder of the tree.
    pub root: PathBuf,
    /// The files, sorted by the bytes of their paths.
    pub files: Vec<SourceFile>,
    /// Paths that were seen and not listed, sorted likewise. [`SourceTree::text`] reports those
    /// that turn out to be unreadable only when they are read.
    pub skipped: Vec<Skipped>,
}

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Path from the root, "/"-separated.
    pub path: String,
    /// Size in bytes when it was listed.
    pub bytes: u64,
    /// Its language, if a grammar reads it. A `.h` file is C++ in a tree with more C++ than C.
    pub language: Option<Language>,
}

/// Something that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Path from the root, "/"-separated; with replacement characters if it is not UTF-8.
    pub path: String,
    /// The reason.
    pub why: Why,
}

/// The reason why something is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The system refused, for this reason; or it is no longer there.
    Unreadable(String),
    /// A NUL byte among its first bytes ([`super::BINARY_PROBE`]).
    Binary,
    /// More than [`super::MAX_TEXT_BYTES`]; its size.
    TooLarge(u64),
    /// Text in another encoding than UTF-8.
    NotUtf8,
    /// A pipe, socket or device; never opened.
    Special,
    /// A symbolic link; never followed.
    Link,
    /// Its name is not UTF-8.
    NameNotUtf8,
    /// It was asked for by name, but ignore files of the tree leave it out.
    Ignored,
    /// It was asked for by name, but hidden names are not read.
    Hidden,
    /// It was asked for by name, but it is what Callosum or git keep at the root.
    OwnState,
    /// It is a folder that was asked for by name, and nothing in it is read.
    NothingInside,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(reason) => write!(f, "unreadable: {reason}"),
            Self::Binary => f.write_str("binary"),
            Self::TooLarge(bytes) => write!(f, "too large: {bytes} bytes"),
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::Special => f.write_str("pipe, socket or device"),
            Self::Link => f.write_str("symbolic link"),
            Self::NameNotUtf8 => f.write_str("name is not UTF-8"),
            Self::Ignored => f.write_str("excluded by an ignore file"),
            Self::Hidden => f.write_str("hidden"),
            Self::OwnState => f.write_str("belongs to Callosum or git, not source"),
            Self::NothingInside => f.write_str("nothing in it is read"),
        }
    }
}

/// A tree that cannot be listed at all.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The root is not a folder.
    #[error("`{}` is not a folder", root.display())]
    NotAFolder {
        /// The root.
        root: PathBuf,
    },
    /// A path of the scope is not there.
    #[error("`{path}` does not exist in the tree")]
    NotThere {
        /// The path, relative to the root.
        path: String,
    },
    /// A link on a path of the scope leads out of the tree.
    #[error("`{path}` points outside the tree through a link")]
    Leaves {
        /// The path, relative to the root.
        path: String,
    },
    /// The caller cancelled the listing.
    #[error("the file listing was canceled")]
    Cancelled,
    /// The root or a path of the scope cannot be looked at.
    #[error(transparent)]
    Disk(#[from] callosum_host::DiskError),
}
