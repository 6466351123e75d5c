//! Use cases of `callosum audit`.

pub mod checkpoint;
pub mod git_ref;
pub mod record;

pub use self::checkpoint::CheckpointOutput;
pub use self::record::{RecordsOutput, tell_unreadable, unreadable};
