//! `callosum executor enable` and `disable`: what `.calrc` says of an executor.

use callosum_config::{Address, Value};

use crate::context::Context;
use crate::{CommandError, config_errors};

/// Changes a setting of an executor.
pub fn set(context: &mut Context, address: &Address, value: &Value) -> Result<(), CommandError> {
    let changed = context.project.set(&context.disk, address, value);
    changed
        .map(drop)
        .map_err(|error| config_errors::set(&error))
}
