//! [`many`]: a number and what is counted, in words that fit together; [`at_least_one`]: a number that a person gives.

use std::{fmt::Display, num::NonZeroUsize};

/// Reads how many are wanted, of which none makes no sense.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "say a whole number from 1 on".to_owned())
}

/// A number before the word for what there are so many of, which is plural unless it is 1.
///
/// Words that end with a consonant and `y` get `ies`, others `s`.
pub(crate) fn many(number: impl Into<u64>, word: &str) -> impl Display {
    let number = number.into();
    let before = word.strip_suffix('y');
    let before = before.filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match (number, before) {
        (1, _) => format!("1 {word}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_no_number_of_rows() {
        assert_eq!(at_least_one("3").unwrap().get(), 3);
        for refused in ["0", "-1", "many", ""] {
            let told = at_least_one(refused).unwrap_err();
            assert_eq!(told, "say a whole number from 1 on", "{refused}");
        }
    }

    #[test]
    fn one_is_singular_and_every_other_number_plural() {
        let said = |number: u64, word| many(number, word).to_string();
        assert_eq!(said(1, "entry"), "1 entry");
        assert_eq!(said(0, "entry"), "0 entries");
        assert_eq!(said(2, "day file"), "2 day files");
        assert_eq!(said(3, "day"), "3 days");
    }
}
