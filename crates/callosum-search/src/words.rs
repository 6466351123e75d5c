//! [`words`]: the words of a text, those inside of identifiers too.

/// Longest word that is taken; what is longer is data, and its beginning is enough to find it.
const LONGEST: usize = 64;

/// Returns the words of a text in lower case, in their order.
///
/// A word is a run of letters, digits and underscores. One that is made of several gives itself and
/// each of them: `parseHTTPHeader` gives `parsehttpheader`, `parse`, `http` and `header`, and
/// `MAX_TEXT_BYTES` gives `max_text_bytes`, `max`, `text` and `bytes`. Costs one pass over the text.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|run| run.chars().any(char::is_alphanumeric))
        .flat_map(|run| {
            let run = shortened(run);
            let parts = parts(run);
            let whole = (parts.len() != 1).then(|| run.to_lowercase());
            whole
                .into_iter()
                .chain(parts.into_iter().map(str::to_lowercase))
        })
}

/// Adds the words of a text to `all`, each with a space behind it.
///
/// Most words are small letters alone and their own only part, which is seen without taking them apart.
pub fn push_words(text: &str, all: &mut String) {
    for run in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if run.is_empty() {
            continue;
        }
        if run.len() <= LONGEST && run.bytes().all(|byte| byte.is_ascii_lowercase()) {
            all.push_str(run);
            all.push(' ');
            continue;
        }
        for word in words(run) {
            all.push_str(&word);
            all.push(' ');
        }
    }
}

/// Returns the words of a text in lower case, of an identifier only its parts.
pub fn simple_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .flat_map(|run| parts(shortened(run)))
        .map(str::to_lowercase)
}

fn shortened(run: &str) -> &str {
    match run.char_indices().nth(LONGEST) {
        Some((end, _)) => &run[..end],
        None => run,
    }
}

/// The parts of an identifier: between underscores, before a capital behind a small letter, before
/// the last of several capitals that a small letter follows, and where digits begin or end behind
/// more than one letter (`utf8` stays whole, `sha256sum` does not).
fn parts(identifier: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in identifier.split('_').filter(|piece| !piece.is_empty()) {
        let chars: Vec<(usize, char)> = piece.char_indices().collect();
        let mut start = 0;
        for (index, pair) in chars.windows(2).enumerate() {
            let [(_, before), (at, after)] = [pair[0], pair[1]];
            let next = chars.get(index + 2).map(|(_, c)| *c);
            let is_break = (before.is_lowercase() && after.is_uppercase())
                || (before.is_uppercase()
                    && after.is_uppercase()
                    && next.is_some_and(char::is_lowercase))
                || (before.is_ascii_digit() && after.is_alphabetic() && at - start > 2);
            if is_break {
                parts.push(&piece[start..at]);
                start = at;
            }
        }
        parts.push(&piece[start..]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(words(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_identifier_gives_itself_and_its_parts() {
        check(
            "parseHTTPHeader",
            &["parsehttpheader", "parse", "http", "header"],
        );
        check(
            "MAX_TEXT_BYTES",
            &["max_text_bytes", "max", "text", "bytes"],
        );
        check("__init__", &["init"]);
        check("utf8", &["utf8"]);
        check("sha256sum", &["sha256sum", "sha256", "sum"]);
    }

    #[test]
    fn prose_gives_its_words() {
        check("Don't stop, now!", &["don", "t", "stop", "now"]);
        check("größe ÄNDERN", &["größe", "ändern"]);
        check("--- *** ___ ", &[]);
    }

    proptest! {
        /// Words are the same whichever way they are had.
        #[test]
        fn words_are_pushed_as_they_are(text in "[a-zA-Z0-9_é ,.]{0,120}") {
            let mut all = String::new();
            push_words(&text, &mut all);
            let each: String = words(&text).flat_map(|word| [word, " ".to_owned()]).collect();
            prop_assert_eq!(all, each);
        }

        /// Words of any text are lower case, not empty and bounded.
        #[test]
        fn words_are_plain(text in ".{0,200}") {
            for word in words(&text) {
                prop_assert!(!word.is_empty());
                prop_assert_eq!(word.to_lowercase(), word.clone());
                prop_assert!(word.chars().all(|c| c.is_alphanumeric() || c == '_' || !c.is_ascii()));
            }
        }
    }
}
