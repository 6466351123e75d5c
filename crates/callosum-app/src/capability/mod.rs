//! Use cases of `callosum capability`.

pub mod accept;
pub mod accepted;
pub mod catalog;
mod configured_models;
pub mod list;
pub mod outcomes;
pub mod revoke;
pub mod show;

pub use self::accept::AcceptanceOutput;
pub use self::catalog::{CapabilityOutput, catalogue, noted_catalogue};
pub use self::list::CapabilitiesOutput;
pub use self::revoke::RevocationOutput;
