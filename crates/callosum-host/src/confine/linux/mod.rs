//! Linux: the door and the keeper, and a file for each thing that they give away.

mod capabilities;
mod init;
mod landlock;
mod limits;
mod loopback;
mod mounts;
mod namespaces;
mod seccomp;

pub(super) use self::{init::restrict, namespaces::enter};
