//! [`nearest`]: the name that a person probably meant.

/// The longest word that is compared; a longer one is no slip of the finger.
const LONGEST: usize = 64;

/// Finds the known name that is closest to `word`, if any is close enough to be a misspelling.
///
/// Close enough is one edit for each three letters, at least one; swapped neighbours are one
/// edit. Among equals the first known name wins.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    if letters > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&word, &name.to_lowercase()),
                name,
            )
        })
        .filter(|(edits, name)| *edits <= (letters.max(name.chars().count()) / 3).max(1))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_does_not() {
        let known = ["prompt", "paths", "priority", "id"];
        assert_eq!(nearest("promt", known), Some("prompt"));
        assert_eq!(nearest("Path", known), Some("paths"));
        assert_eq!(nearest("prioirty", known), Some("priority"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }
}
