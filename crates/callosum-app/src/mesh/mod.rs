//! Use cases of `callosum mesh`.

pub mod bridge;
pub mod conflicts;
pub mod digest;
pub mod discovery;
pub mod inject;
pub mod lease;
pub mod message;
pub mod open;
pub mod panes;
pub mod publish;
pub mod route;
pub mod shown_task;
pub mod speaker;
pub mod standing;
pub mod subscribe;
pub mod subscription;
pub mod tail;
pub mod task;

pub use self::bridge::BridgeOutput;
pub use self::conflicts::{ConflictOutput, ConflictsOutput, ShownConflictOutput};
pub use self::digest::DigestOutput;
pub use self::discovery::DiscoveriesOutput;
pub use self::inject::InjectOutput;
pub use self::lease::LeasesOutput;
pub use self::message::MessagesOutput;
pub use self::open::unusable;
pub use self::panes::PanesOutput;
pub use self::publish::{PublishOutput, publish_once};
pub use self::route::{ClassifyOutput, RoutesOutput};
pub use self::shown_task::{MeshTaskOutput, MeshTasksOutput};
pub use self::speaker::{agent_in, agent_of, asking};
pub use self::standing::MeshStatus;
pub use self::tail::EventsOutput;
