//! [`connect`]: a connection to the server, or the error of a program without the client of NATS.

use callosum_config::FleetSetting;
use callosum_fleet::{Membership, Server, ServerError};

/// Connects. `is_join` creates the workspace if the server has none.
#[cfg(feature = "nats")]
pub(super) fn connect(
    setting: &FleetSetting,
    membership: &Membership,
    is_join: bool,
) -> Result<Box<dyn Server>, ServerError> {
    let server = callosum_fleet::nats::Nats::connect(setting, membership, is_join)?;
    Ok(Box::new(server))
}

/// Fails: the program was built without the client.
#[cfg(not(feature = "nats"))]
pub(super) fn connect(
    _: &FleetSetting,
    _: &Membership,
    _: bool,
) -> Result<Box<dyn Server>, ServerError> {
    Err(ServerError::Failed {
        reason: "this program was built without the fleet (feature `nats`)".to_owned(),
    })
}
