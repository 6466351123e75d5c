//! Callosum's access to the machine: files, locks, child processes, time and ids.
//!
//! Start with [`Disk`], through which every file operation of every other crate goes, and
//! [`process::run`], which starts every program but those that `callosum-sandbox` confines.
//!
//! Deliberately not here: file formats, SQL, async, policy, and anything that does not call the
//! operating system. Nothing here prints, and nothing reads the environment or the home folder: the
//! caller passes what a child may see.

#[cfg(windows)]
compile_error!("Callosum runs on Linux and macOS; Windows is not supported");

pub mod clock;
pub mod disk;
pub mod ids;
pub mod lock;
pub mod machine;
pub mod named_pipe;
pub mod peer;
pub mod process;
pub mod random;
pub mod socket;
#[cfg(target_os = "linux")]
mod socket_table;
pub mod terminal;
pub mod watch;

pub use crate::{
    clock::Clock,
    disk::{Disk, DiskError, DiskFile, OpenHow},
    ids::Ids,
    lock::{FileLock, Holder, LockError, LockFile},
};
