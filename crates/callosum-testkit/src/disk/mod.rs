//! File systems for tests: one in memory that remembers every change, the possible states of those
//! changes after a crash, and one that fails.
//!
//! Start with [`MemoryDisk`], on which a workload runs, and [`Crashes`], which generates the
//! [`Image`]s that a crash may leave of it. [`FaultyDisk`] wraps any file system and makes its
//! calls fail; [`ObservedDisk`] runs a function between two of them.
//!
//! Deliberately not here: permissions, symbolic links and clocks. A test that needs those uses the
//! real disk.

mod crashes;
mod faulty;
mod file_versions;
mod image;
mod memory;
mod observed;
#[cfg(test)]
mod tests;
mod trace;

pub use self::{
    crashes::{Crash, Crashes},
    faulty::{Fault, FaultyDisk},
    image::Image,
    memory::MemoryDisk,
    observed::ObservedDisk,
    trace::{Inode, NameChange, Step, Trace},
};
