//! [`at_least_one`]: a number that a person gives.

use std::num::NonZeroUsize;

/// Parses a count, which must be at least one.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "allowed: a whole number from 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_no_number_of_rows() {
        assert_eq!(at_least_one("3").unwrap().get(), 3);
        for refused in ["0", "-1", "many", ""] {
            let message = at_least_one(refused).unwrap_err();
            assert_eq!(message, "allowed: a whole number from 1", "{refused}");
        }
    }
}
