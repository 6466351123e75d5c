//! Use cases of `callosum executor`.

pub mod check;
pub mod default_executor;
pub mod discover;
pub mod enable;
pub mod hints;
pub mod list;
pub mod register;
pub mod register_command;
pub mod remove;
pub mod reregister;
pub mod runs;
pub mod scout;

pub use self::discover::DiscoverOutput;
pub use self::list::{ExecutorOutput, ListOutput};
pub use self::register_command::registration_line;
pub use self::remove::RemovedOutput;
pub use self::runs::{RunOutput, RunsOutput};
