//! Use cases of `callosum capability`.

pub mod list;
pub mod market;
pub mod revoke;
pub mod show;

pub use self::list::CapabilitiesOutput;
pub use self::market::{CapabilityOutput, catalogue};
pub use self::revoke::RevocationOutput;
