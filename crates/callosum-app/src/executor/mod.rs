//! Use cases of `callosum executor`.

pub mod advice;
pub mod check;
pub mod default_executor;
pub mod discover;
pub mod enable;
pub mod list;
pub mod register;
pub mod registration_line;
pub mod remove;
pub mod renewal;
pub mod runs;
pub mod scout;

pub use self::discover::DiscoverOutput;
pub use self::list::{ExecutorOutput, ListOutput};
pub use self::registration_line::registration_line;
pub use self::remove::RemovedOutput;
pub use self::runs::{RunOutput, RunsOutput};
