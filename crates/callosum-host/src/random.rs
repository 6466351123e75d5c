//! Random bytes from the system, for secrets.

use std::io;

/// Returns 32 bytes that no one can guess: the seed of a key.
///
/// Unlike [`Ids`](crate::Ids) they are never in sequence, also not in a test.
pub fn secret_bytes() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_secrets_differ() {
        assert_ne!(secret_bytes().unwrap(), secret_bytes().unwrap());
    }
}
