//! Linux: the door and the keeper, and a file for each thing that they give away.

mod calls;
mod door;
mod keeper;
mod landed;
mod limits;
mod loopback;
mod mounts;
mod rights;

pub(super) use self::{door::enter, keeper::restrict};
