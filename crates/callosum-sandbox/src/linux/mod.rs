//! Linux: the processes named door and keeper, and a file for each restriction.

mod capabilities;
mod init;
mod landlock;
mod limits;
mod loopback;
mod mounts;
mod namespaces;
mod seccomp;

pub(super) use self::{init::restrict, namespaces::enter};
