//! [`kind_of`]: the kind of analysis that a prompt asks for, by its words.
//!
//! Scout does not interpret prompts. A person who asks it "which modules depend on each other?" gets a scan, so the
//! command line says so and names the command that answers.

use callosum_arbiter::Kind;

/// Beginnings of words that speak for a kind. Of two kinds with as many words, the first in this list wins.
const WORDS: [(Kind, &[&str]); 4] = [
    (
        Kind::Deps,
        &[
            "depend", "import", "cycl", "circular", "layer", "coupl", "packag", "librar",
        ],
    ),
    (
        Kind::Tests,
        &[
            "test",
            "untested",
            "cover",
            "uncovered",
            "pytest",
            "fixture",
        ],
    ),
    (
        Kind::Api,
        &[
            "api",
            "public",
            "endpoint",
            "route",
            "export",
            "offer",
            "interface",
            "signature",
        ],
    ),
    (
        Kind::Scan,
        &[
            "map",
            "scan",
            "overview",
            "structur",
            "layout",
            "entry",
            "describ",
            "summar",
            "architect",
            "organiz",
            "tour",
            "languag",
            "where",
        ],
    ),
];

/// Returns the kind with the most words in the prompt, or none if no word is known.
pub fn kind_of(prompt: &str) -> Option<Kind> {
    let prompt = prompt.to_lowercase();
    let words = prompt.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let count = |starts: &[&str]| {
        let speaks = |word: &&&str| starts.iter().any(|start| word.starts_with(start));
        words.iter().filter(speaks).count()
    };
    let mut best = None;
    for (kind, starts) in WORDS {
        let count = count(starts);
        if count > best.map_or(0, |(most, _)| most) {
            best = Some((count, kind));
        }
    }
    best.map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_prompt_name_its_kind() {
        for (prompt, name) in [
            ("Which modules depend on each other?", "deps"),
            ("Who imports whom?", "deps"),
            ("Are there import CYCLES in src/test?", "deps"),
            ("What tests what?", "tests"),
            ("which functions are uncovered", "tests"),
            ("List the public API", "api"),
            ("What does it offer?", "api"),
            ("Map this repository", "scan"),
            ("where is the entry point", "scan"),
        ] {
            let kind = kind_of(prompt).map(|kind| kind.to_string());
            assert_eq!(kind.as_deref(), Some(name), "{prompt}");
        }
    }

    #[test]
    fn a_prompt_without_a_known_word_has_no_kind() {
        for prompt in ["Why does login fail?", "fail here", "x", "—"] {
            assert!(kind_of(prompt).is_none(), "{prompt}");
        }
    }
}
