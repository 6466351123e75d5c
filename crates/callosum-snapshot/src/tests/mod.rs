//! Snapshots of real trees, by real git.

mod bytes;
mod ground;
mod keeping;
mod named;
mod restoring;
