//! Use cases of `callosum capability`.

pub mod accept;
pub mod accepted;
pub mod list;
pub mod market;
pub mod outcomes;
pub mod revoke;
pub mod show;

pub use self::accept::AcceptanceOutput;
pub use self::list::CapabilitiesOutput;
pub use self::market::{CapabilityOutput, catalogue, noted_catalogue};
pub use self::revoke::RevocationOutput;
