//! A file of a command's argument, or standard input for `-`.

use std::io;
use std::io::Read as _;
use std::path::Path;

use callosum_app::{CommandError, Exit, disk_errors};

use super::context::Context;

/// Returns the input's name for people, and its bytes.
pub(super) fn read(context: &Context, file: &Path) -> Result<(String, Vec<u8>), CommandError> {
    if file == Path::new("-") {
        let name = "standard input";
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| {
                CommandError::because(Exit::Environment, format!("cannot read {name}"), &error)
            })?;
        return Ok((name.to_owned(), bytes));
    }
    let path = context.folder.join(file);
    let bytes = context.disk.read(&path);
    let bytes = bytes.map_err(|error| disk_errors::disk_failed(&error))?;
    Ok((path.display().to_string(), bytes))
}
