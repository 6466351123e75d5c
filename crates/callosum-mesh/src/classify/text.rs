//! A prompt as words: stems, sentences, and where the request is.
//!
//! Every pass is linear in the length of the prompt. Nothing here knows a category.

/// Longest word that is stemmed and looked up, in characters. A longer one is a key, a hash or an attack.
const LONGEST_WORD: usize = 32;

/// Words whose ending is part of their meaning: staging is not a stage, and logging is not a log.
const OWN_STEMS: [&str; 6] = [
    "staging", "logging", "during", "string", "testing", "pricing",
];

/// A word of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The word in lower case, without apostrophes.
    pub(super) plain: String,
    /// Its stem: the same for `deploy`, `deploys`, `deployed` and `deploying`.
    pub(super) stem: String,
    /// The number of its sentence.
    pub(super) sentence: usize,
    /// A comma, colon, dash or bracket precedes it.
    pub(super) opens_clause: bool,
    /// It is inside a fenced block.
    pub(super) is_pasted: bool,
    /// It is part of a path, where words name folders and not the task.
    pub(super) is_path: bool,
}

/// A piece of a prompt between two spaces, without the punctuation around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// The index of its first word, or of the next word if it has none.
    pub(super) word: usize,
    /// The number of its words.
    pub(super) words: usize,
}

/// A prompt after tokenization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'a> {
    /// Its words.
    pub(super) words: Vec<Word>,
    /// Its pieces: file names, numbers with units, versions.
    pub(super) pieces: Vec<Piece<'a>>,
    /// For every sentence, if it ends with a question mark.
    pub(super) questions: Vec<bool>,
}

impl<'a> Text<'a> {
    /// Splits a prompt into sentences, pieces and words.
    pub(super) fn read(prompt: &'a str) -> Self {
        let mut text = Self {
            questions: vec![false],
            ..Self::default()
        };
        let mut is_pasted = false;
        for line in prompt.split('\n') {
            if line.trim_start().starts_with("```") {
                is_pasted = !is_pasted;
                text.end_sentence(false);
                continue;
            }
            // A line that goes on in lower case continues the sentence: prompts are wrapped by hand.
            if !line.trim_start().starts_with(char::is_lowercase) {
                text.end_sentence(false);
            }
            let mut opens_clause = false;
            for piece in line.split_whitespace() {
                text.take(piece, is_pasted, &mut opens_clause);
            }
        }
        text
    }

    /// Begins another sentence unless the current one is empty.
    fn end_sentence(&mut self, is_question: bool) {
        let current = self.questions.len() - 1;
        if self.words.last().map(|word| word.sentence) == Some(current) {
            self.questions[current] = is_question;
            self.questions.push(false);
        }
    }

    /// Adds a piece and its words.
    fn take(&mut self, piece: &'a str, is_pasted: bool, opens_clause: &mut bool) {
        let is_mark = |letter: char| !letter.is_alphanumeric();
        *opens_clause |= piece.starts_with(['(', '[', '-', '–', '—']);
        let inner = piece.trim_end_matches(is_mark);
        let end = &piece[inner.len()..];
        let inner =
            inner.trim_start_matches(|letter| is_mark(letter) && !"./$€£+".contains(letter));
        if !inner.is_empty() {
            self.pieces.push(Piece {
                text: inner,
                word: self.words.len(),
                words: 0,
            });
        }
        let sentence = self.questions.len() - 1;
        let is_path = is_path(piece);
        let parts = inner.split(|letter: char| !letter.is_alphanumeric() && !is_apostrophe(letter));
        for part in parts.flat_map(humps) {
            let plain: String = part
                .chars()
                .filter(|letter| !is_apostrophe(*letter))
                .take(LONGEST_WORD + 1)
                .flat_map(char::to_lowercase)
                .collect();
            if plain.is_empty() {
                continue;
            }
            let possessive = part.ends_with("'s") || part.ends_with("’s");
            let bare = if possessive {
                plain.strip_suffix('s').unwrap_or(&plain)
            } else {
                &plain
            };
            self.words.push(Word {
                stem: stem(bare),
                plain,
                sentence,
                opens_clause: *opens_clause,
                is_pasted,
                is_path,
            });
            *opens_clause = false;
        }
        if let Some(last) = self.pieces.last_mut().filter(|last| last.text == inner) {
            last.words = self.words.len() - last.word;
        }
        *opens_clause |= end.contains([',', ':', ')', ']', '-', '–', '—']);
        if end.contains(['.', '!', '?', ';', '…', '。', '？', '！']) {
            self.end_sentence(end.contains(['?', '？']));
        }
    }
}

/// Returns true for `src/a.rs`, `~/src` and `packages/**`, but not for `and/or`.
fn is_path(piece: &str) -> bool {
    let slashes = piece.bytes().filter(|byte| *byte == b'/').count();
    let piece = piece.trim_end_matches([',', ':', ')', '`', '"', '\'']);
    slashes > 0 && (slashes > 1 || piece.ends_with('/') || piece.contains(['.', '*', '~', '_']))
}

/// Splits `exportArchive` into its words. `TestFlight` and `iOS` are names and stay whole.
fn humps(part: &str) -> impl Iterator<Item = &str> {
    let hump = part.find(char::is_uppercase).filter(|at| *at > 2);
    let (first, rest) = part.split_at(hump.unwrap_or(part.len()));
    let is_camel = first.bytes().all(|byte| byte.is_ascii_lowercase());
    let (first, rest) = if is_camel { (first, rest) } else { (part, "") };
    [first, rest].into_iter().filter(|it| !it.is_empty())
}

fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '’')
}

/// Returns the stem of a word in lower case: without plural, `-ed`, `-ing`, `-ation` and a final `e`.
///
/// A word that is not ASCII, or is long, is its own stem.
pub(super) fn stem(word: &str) -> String {
    if word.len() > LONGEST_WORD || !word.is_ascii() || OWN_STEMS.contains(&word) {
        return word.to_owned();
    }
    let singular = singular(word);
    let is_verb = |rest: &str| rest.len() >= 3 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let base = singular.strip_suffix("ation").filter(|rest| rest.len() > 2);
    if let Some(base) = base {
        return format!("{base}at");
    }
    let ending = ["ing", "ed"].iter();
    let ended = ending
        .filter_map(|end| singular.strip_suffix(end))
        .find(|rest| is_verb(rest));
    let base = ended.map_or(singular.as_str(), without_doubling);
    let base = base
        .strip_suffix('e')
        .filter(|rest| rest.len() > 2)
        .unwrap_or(base);
    match base.strip_suffix('y').filter(|rest| rest.len() > 2) {
        Some(rest) => format!("{rest}i"),
        None => base.to_owned(),
    }
}

/// Returns a word without the `s` of a plural or a verb.
fn singular(word: &str) -> String {
    let keeps = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    if word.len() < 4 || keeps || !word.ends_with('s') {
        return word.to_owned();
    }
    if let Some(rest) = word.strip_suffix("ies") {
        return format!("{rest}y");
    }
    let hisses = ["sses", "xes", "ches", "shes", "zzes"];
    if hisses.iter().any(|end| word.ends_with(end)) {
        return word[..word.len() - 2].to_owned();
    }
    word[..word.len() - 1].to_owned()
}

/// Returns `plan` for `plann`, and `install` for `install`.
fn without_doubling(base: &str) -> &str {
    let bytes = base.as_bytes();
    let [.., before, last] = bytes else {
        return base;
    };
    if before == last && b"bdgmnprt".contains(last) && bytes.len() > 3 {
        return &base[..base.len() - 1];
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(prompt: &str) -> Vec<String> {
        Text::read(prompt)
            .words
            .into_iter()
            .map(|word| word.stem)
            .collect()
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["deploy", "deploys", "deployed", "deploying"][..],
            &["analyze", "analyzing", "analyzed"],
            &["plan", "planned", "planning", "plans"],
            &["migrate", "migration", "migrations"],
            &["summary", "summaries"],
            &["dependency", "dependencies"],
            &["branch", "branches"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|it| *it == stems[0]), "{stems:?}");
        }
        for word in ["analysis", "status", "class", "ios", "thing", "need"] {
            assert!(word.starts_with(stem(word).trim_end_matches('i')), "{word}");
        }
    }

    #[test]
    fn file_names_stay_whole_and_sentences_end_at_their_marks() {
        let text = Text::read("Look at src/a.rs, please. Why does it\nfail? Don't guess.");
        let sentences: Vec<usize> = text.words.iter().map(|word| word.sentence).collect();
        assert_eq!(text.pieces[2].text, "src/a.rs");
        assert_eq!(sentences, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
        assert_eq!(text.questions, [false, true, false, false]);
        assert_eq!(text.words[10].plain, "dont");
    }

    #[test]
    fn fenced_blocks_are_pasted() {
        let text = Text::read("explain\n```\nlet a = 1;\n```\nthis");
        let pasted: Vec<bool> = text.words.iter().map(|word| word.is_pasted).collect();
        assert_eq!(pasted, [false, true, true, true, false]);
    }

    #[test]
    fn any_script_is_read() {
        assert_eq!(stems("Überprüfe die Größe"), ["überprüfe", "die", "größe"]);
        assert!(stems("\u{0}\u{202e} 🙂 \u{301}").is_empty());
        assert_eq!(stems(&"x".repeat(1000))[0].len(), LONGEST_WORD + 1);
    }
}
