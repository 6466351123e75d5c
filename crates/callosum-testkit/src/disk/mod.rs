//! File systems for tests: one in memory that remembers every change, what a crash may leave of
//! those changes, and one that fails.
//!
//! Start with [`MemoryDisk`], on which a workload runs, and [`Crashes`], which generates the
//! [`Image`]s that a crash may leave of it. [`FaultyDisk`] stands in front of any file system and
//! makes its calls fail; [`ObservedDisk`] has something happen between two of them.
//!
//! What is deliberately not here: permissions, symbolic links and clocks. A test that needs those
//! uses the real disk.

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
