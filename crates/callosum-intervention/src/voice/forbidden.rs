//! Words that no message may contain: apologies, politeness, uncertainty, explanations and talk about oneself
//! (Seed CAKE §1, "Validation Criteria").

/// Kinds of forbidden words, each with its words in alphabetical order.
const KINDS: [(&str, &[&str]); 5] = [
    (
        "apology detected",
        &[
            "afraid",
            "apologies",
            "apologise",
            "apologize",
            "apology",
            "excuse",
            "forgive",
            "oops",
            "pardon",
            "regret",
            "sadly",
            "sorry",
            "unfortunately",
            "whoops",
        ],
    ),
    (
        "politeness detected",
        &[
            "dear", "hello", "hey", "hi", "kindly", "please", "thank", "thanks", "welcome",
        ],
    ),
    (
        "uncertainty detected",
        &[
            "apparently",
            "appears",
            "believe",
            "could",
            "guess",
            "hopefully",
            "likely",
            "may",
            "maybe",
            "might",
            "perhaps",
            "possibly",
            "potentially",
            "presumably",
            "probably",
            "seems",
            "should",
            "somehow",
            "suppose",
            "think",
            "unsure",
            "would",
        ],
    ),
    (
        "explanation detected",
        &[
            "as",
            "because",
            "cause",
            "caused",
            "causes",
            "hence",
            "means",
            "reason",
            "since",
            "so",
            "therefore",
            "thus",
            "why",
        ],
    ),
    (
        "chatter detected",
        &[
            "actually",
            "basically",
            "honestly",
            "i",
            "i'd",
            "i'll",
            "i'm",
            "i've",
            "just",
            "let's",
            "me",
            "my",
            "really",
            "simply",
            "us",
            "very",
            "we",
            "we're",
            "you",
            "you're",
            "your",
        ],
    ),
];

/// Returns the kinds of forbidden words in a text, in the order of the list. Words are separated by spaces, and the marks
/// around them do not count: `sorry.py` is a file, `Sorry,` is an apology.
pub(super) fn kinds(text: &str) -> Vec<&'static str> {
    let mut found = [false; KINDS.len()];
    for word in text.split_whitespace() {
        let word = word
            .trim_matches(|letter: char| !letter.is_alphanumeric())
            .to_lowercase();
        for (kind, (_, words)) in KINDS.iter().enumerate() {
            found[kind] |= words.contains(&word.as_str());
        }
    }
    // Talk about oneself is worth a word only if it is the only fault.
    if found[..KINDS.len() - 1].contains(&true) {
        found[KINDS.len() - 1] = false;
    }
    KINDS
        .iter()
        .zip(found)
        .filter_map(|((name, _), found)| found.then_some(*name))
        .collect()
}
