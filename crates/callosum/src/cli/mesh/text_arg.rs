//! [`words`]: a text from the command line, or from standard input if it is `-`.

use std::io::Read as _;

use callosum_app::{CommandError, Exit};
use callosum_mesh::event::LONGEST;

/// Reads the text itself; from standard input without the end of its last line.
pub(super) fn words(text: &str) -> Result<String, CommandError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    let stdin = std::io::stdin().lock();
    stdin
        .take(LONGEST as u64 + 1)
        .read_to_string(&mut read)
        .map_err(|error| {
            CommandError::because(Exit::Usage, "cannot read standard input", &error)
        })?;
    if read.len() > LONGEST {
        let what = format!("standard input has more than {LONGEST} bytes");
        return Err(CommandError::new(Exit::Usage, what));
    }
    let end = read.trim_end_matches(['\r', '\n']).len();
    read.truncate(end);
    Ok(read)
}
