//! Snapshots: a tree as it was, kept where nobody who works in it can see or lose it.
//!
//! Start with [`Store`]. A snapshot is a commit in a bare repository of ours (`repository`), made
//! by git itself (`git`) with an index of ours; objects that the user's repository has are leaned
//! on and not copied. [`Snapshot`] is what is known of one, `changes` what going back to it would
//! do, `retention` which of them go, and `cleaning` lets them. `taking` reads the tree, and `since` compares it with a snapshot.
//!
//! What is deliberately not here: the user's index, refs, stash and objects, none of which is ever
//! written; ignored files; and asking anybody, which is the program's.

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
