//! The built-in corpus: its vectors are this program's, it has the seed's examples, and broken files are refused.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]
#![expect(
    clippy::disallowed_methods,
    reason = "the corpus is read as a test's own file"
)]

use std::{fs, path::Path};

use callosum_intervention::{
    operator::{Message, Templates},
    voice::{Corpus, CorpusMessage},
};
use serde_json::Value;

fn stored() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/voice/corpus.json")).unwrap()
}

/// CAKE-VOICE-1: the vectors and the hash of the file are those of its texts. After a change of the texts, copy the file that
/// this test writes.
#[test]
fn the_file_is_what_its_texts_make() {
    let stored = stored();
    let form: Value = serde_json::from_str(&stored).unwrap();
    let messages: Vec<CorpusMessage> = serde_json::from_value(form["messages"].clone()).unwrap();
    let made = Corpus::from_messages(form["version"].as_str().unwrap(), messages).unwrap();
    let written = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus.json");
    fs::write(&written, made.to_json()).unwrap();
    assert!(
        made.to_json() == stored,
        "src/voice/corpus.json is out of date; copy {} over it",
        written.display()
    );
}

/// CAKE-VOICE-1: the corpus has the seed's examples, passes its own similarity, and covers every template.
#[test]
fn the_corpus_has_the_seeds_examples_and_every_template() {
    let corpus = Corpus::built_in().unwrap();
    for example in [
        "Operator (CAKE): Stop. Run pip install requests. See requirements.txt.",
        "Operator (CAKE): Stop. Fix syntax error line 42. Check parentheses.",
        "Operator (CAKE): Stop. Try git stash. See uncommitted changes.",
        "Operator (CAKE): Stop. Run pytest. See test results.",
        "Operator (CAKE): Stop. Run tests. See output.",
    ] {
        assert!(
            corpus.messages().iter().any(|found| found.text == example),
            "{example}"
        );
    }
    for found in corpus.messages() {
        let message = Message::parse(&found.text).unwrap();
        assert!(corpus.masked_similarity(&message) >= 1.0, "{}", found.text);
        assert!(corpus.raw_similarity(&found.text) > 0.999, "{}", found.text);
    }
    let templates = Templates::built_in().unwrap();
    assert!(templates.sentences().count() > 100 && !templates.version().is_empty());
}

/// CAKE-VOICE-1: a file that is not a corpus, was changed, or is of another embedder is a typed error.
#[test]
fn broken_files_are_corrupted() {
    let stored = stored();
    for (broken, reason) in [
        (String::new(), "EOF"),
        ("[]".to_owned(), "invalid"),
        ("{}".to_owned(), "missing field"),
        (
            stored.replace("hashed-ngrams-64-1", "minilm"),
            "its embedder is \"minilm\"",
        ),
        (
            stored.replace("Run tests. See output.", "Run rm. See output."),
            "sha256",
        ),
        (stored.replacen("0.2572", "0.2571", 1), "sha256"),
    ] {
        let error = Corpus::load(&broken).unwrap_err().to_string();
        assert!(
            error.starts_with("corrupted corpus: ") && error.contains(reason),
            "{error}"
        );
    }
    let message = |text: &str| CorpusMessage {
        text: text.to_owned(),
        context: "any".to_owned(),
        success_rate: None,
        embedding: Vec::new(),
    };
    for texts in [vec![], vec![message("Please run the tests.")]] {
        assert!(Corpus::from_messages("1", texts).is_err());
    }
}
