//! Words for numbers: [`many`], a number and what is counted; [`thousands`], a number with commas; [`lasting`], a time.

use std::fmt::Display;

/// A number before the word for what there are so many of, which is plural unless it is 1.
///
/// Words that end with a consonant and `y` get `ies`, others `s`. The number has thousands separators.
pub fn many(number: impl Into<u64>, word: &str) -> impl Display {
    let number = number.into();
    let before = word.strip_suffix('y');
    let before = before.filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match (number, before) {
        (1, _) => format!("1 {word}"),
        (_, Some(stem)) => format!("{} {stem}ies", thousands(number)),
        (_, None) => format!("{} {word}s", thousands(number)),
    }
}

/// Returns a number with a comma between each three digits, as digests have it.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a time in the largest unit that makes it a whole number.
pub fn lasting(milliseconds: u64) -> String {
    let units = [(3_600_000, "h"), (60_000, "min"), (1000, "s")];
    let whole = units
        .into_iter()
        .find(|(length, _)| milliseconds >= *length && milliseconds.is_multiple_of(*length));
    match whole {
        Some((length, unit)) => format!("{} {unit}", milliseconds / length),
        None => format!("{milliseconds} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_the_largest_unit_that_fits() {
        let texts = [3_600_000, 600_000, 90_000, 10_000, 1500, 0].map(lasting);
        assert_eq!(texts, ["1 h", "10 min", "90 s", "10 s", "1500 ms", "0 ms"]);
    }

    #[test]
    fn a_large_number_has_commas() {
        let shown = [0, 999, 1000, 342_006, 1_234_567].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "342,006", "1,234,567"]);
        assert_eq!(many(10_240_u64, "byte").to_string(), "10,240 bytes");
    }

    #[test]
    fn one_is_singular_and_every_other_number_plural() {
        let text = |number: u64, word| many(number, word).to_string();
        assert_eq!(text(1, "entry"), "1 entry");
        assert_eq!(text(0, "entry"), "0 entries");
        assert_eq!(text(2, "day file"), "2 day files");
        assert_eq!(text(3, "day"), "3 days");
        assert_eq!(text(12_345, "byte"), "12,345 bytes");
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        let texts = [0, 999, 1000, 12_345, 1_234_567, u64::MAX].map(thousands);
        let expected = [
            "0",
            "999",
            "1,000",
            "12,345",
            "1,234,567",
            "18,446,744,073,709,551,615",
        ];
        assert_eq!(texts, expected);
    }
}
