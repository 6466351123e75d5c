//! Snapshots: a tree as it was, kept in a folder in which those who work in the tree can neither
//! see nor lose it.
//!
//! Start with [`Store`]. A snapshot is a commit in a bare repository of this program's
//! (`repository`), made by git itself (`git`) with its own index; objects that the user's
//! repository has are borrowed and not copied. [`Snapshot`] is the metadata of one, `changes` the
//! effect of a restore, `retention` selects those to remove, and `prune` removes them. `capture`
//! reads the tree, and `since` compares it with a snapshot.
//!
//! Deliberately not here: the user's index, refs, stash and objects, all of them never written;
//! ignored files; and asking a person, which the program does.

#![forbid(unsafe_code)]

mod capture;
mod changes;
mod git;
mod metadata;
mod prune;
mod repository;
mod retention;
mod since;
mod store;

#[cfg(test)]
mod tests;

pub use self::{
    changes::{Change, ChangeKind, Changes},
    git::{GitEnvironment, GitError},
    metadata::{Made, NotCovered, Snapshot, TooLarge},
    prune::Cleaned,
    repository::is_ours,
    retention::Retention,
    since::{Difference, SnapshotFile},
    store::{Restored, SnapshotError, Store, Wanted},
};
