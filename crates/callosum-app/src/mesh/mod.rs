//! Use cases of `callosum mesh`.

pub mod author_args;
pub mod bridge;
pub mod conflicts;
pub mod digest;
pub mod discovery;
pub mod fleet;
pub mod inject;
pub mod lease;
pub mod message;
pub mod open;
pub mod panes;
pub mod publish;
pub mod route;
pub mod status;
pub mod subscribe;
pub mod subscription;
pub mod tail;
pub mod task;
pub mod task_output;

pub use self::author_args::{agent_in, agent_of, asking};
pub use self::bridge::BridgeOutput;
pub use self::conflicts::{ConflictOutput, ConflictsOutput, ShownConflictOutput};
pub use self::digest::DigestOutput;
pub use self::discovery::DiscoveriesOutput;
pub use self::fleet::{FleetDoctorOutput, FleetLeaveOutput, FleetStatusOutput, FleetSyncOutput};
pub use self::inject::InjectOutput;
pub use self::lease::LeasesOutput;
pub use self::message::MessagesOutput;
pub use self::open::unusable;
pub use self::panes::PanesOutput;
pub use self::publish::{PublishOutput, publish_once};
pub use self::route::{ClassifyOutput, RoutesOutput};
pub use self::status::MeshStatus;
pub use self::tail::EventsOutput;
pub use self::task_output::{MeshTaskOutput, MeshTasksOutput};
