//! Snapshots of real trees, by real git.

mod ground;
mod keeping;
mod restoring;
