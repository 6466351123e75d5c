//! [`Corpus`]: the messages that the gate compares with, in the seed's format (Seed CAKE §1).
//!
//! `embedding` is the vector of the whole text by the embedder that the file names; `sha256` covers the texts and the
//! vectors. The masked sentences, which decide, are computed from the texts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    operator::message::Message,
    voice::embedding::{DIMENSIONS, EMBEDDER, Vector, embed, similarity},
};

/// Corpus of this program.
const BUILT_IN: &str = include_str!("corpus.json");

/// Most messages of a corpus.
const MOST_MESSAGES: usize = 10_000;

/// Messages that the gate compares with.
#[derive(Clone, Debug)]
pub struct Corpus {
    form: CorpusFile,
    actions: Sentences,
    references: Sentences,
    whole: Vec<Vector>,
}

/// Form of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CorpusFile {
    version: String,
    embedder: String,
    sha256: String,
    messages: Vec<CorpusMessage>,
}

/// One message of a corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorpusMessage {
    /// The message.
    pub text: String,
    /// Class of errors that it is for, as in `test_failure`.
    pub context: String,
    /// Share of the errors that it resolved; `None` if it is not measured.
    #[serde(default)]
    pub success_rate: Option<f64>,
    /// Vector of the text, by the corpus's embedder.
    pub embedding: Vec<f32>,
}

/// The reason that a corpus cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("corrupted corpus: {0}")]
pub struct CorruptedCorpus(String);

/// Distinct masked sentences of one position, with their vectors.
#[derive(Clone, Debug, Default)]
struct Sentences {
    texts: BTreeSet<String>,
    vectors: Vec<Vector>,
}

impl Sentences {
    fn insert(&mut self, masked: String) {
        if !self.texts.contains(&masked) {
            self.vectors.push(embed(&masked));
            self.texts.insert(masked);
        }
    }

    fn nearest(&self, masked: &str) -> f64 {
        if self.texts.contains(masked) {
            return 1.0;
        }
        nearest(&self.vectors, &embed(masked))
    }
}

/// Returns the highest similarity, from 0 to 1.
fn nearest(vectors: &[Vector], vector: &Vector) -> f64 {
    vectors
        .iter()
        .map(|other| similarity(other, vector))
        .fold(0.0, f64::max)
        .min(1.0)
}

impl Corpus {
    /// Returns the corpus of this program. Costs about as much as reading 60 KB of JSON.
    ///
    /// # Errors
    /// The program was built with a broken corpus, which a test rules out.
    pub fn built_in() -> Result<Self, CorruptedCorpus> {
        Self::load(BUILT_IN)
    }

    /// Reads a corpus file's text and verifies it.
    ///
    /// # Errors
    /// The text is not a corpus, is of another embedder, does not match its hash, has a vector that is not its text's, or has
    /// a message that is not in the operator's form.
    pub fn load(json: &str) -> Result<Self, CorruptedCorpus> {
        let corrupted = |reason: String| CorruptedCorpus(reason);
        let form: CorpusFile =
            serde_json::from_str(json).map_err(|error| corrupted(error.to_string()))?;
        if form.embedder != EMBEDDER {
            return Err(corrupted(format!(
                "its embedder is {:?}, but this program uses {EMBEDDER:?}",
                form.embedder
            )));
        }
        if form.sha256 != checksum(&form.messages) {
            return Err(corrupted("its sha256 does not match".to_owned()));
        }
        Self::build(form)
    }

    /// Makes a corpus from messages; their embeddings are computed again.
    ///
    /// # Errors
    /// There is no message, there are more than 10,000, or one is not in the operator's form.
    pub fn from_messages(
        version: &str,
        mut messages: Vec<CorpusMessage>,
    ) -> Result<Self, CorruptedCorpus> {
        for message in &mut messages {
            message.embedding = rounded(&embed(&message.text));
        }
        Self::build(CorpusFile {
            version: version.to_owned(),
            embedder: EMBEDDER.to_owned(),
            sha256: checksum(&messages),
            messages,
        })
    }

    /// Returns the text of the file, with one message per line.
    pub fn to_json(&self) -> String {
        let text = |value: &str| serde_json::Value::from(value).to_string();
        let rows: Vec<String> = self
            .form
            .messages
            .iter()
            .filter_map(|message| serde_json::to_string(message).ok())
            .collect();
        format!(
            "{{\"version\":{},\"embedder\":{},\"sha256\":{},\"messages\":[\n{}\n]}}\n",
            text(&self.form.version),
            text(&self.form.embedder),
            text(&self.form.sha256),
            rows.join(",\n")
        )
    }

    /// Returns its messages.
    pub fn messages(&self) -> &[CorpusMessage] {
        &self.form.messages
    }

    /// Returns its version.
    pub fn version(&self) -> &str {
        &self.form.version
    }

    /// Returns the similarity of a parsed message: each sentence is masked and compared with the sentences at its
    /// position, and the lower of the two counts.
    pub fn masked_similarity(&self, message: &Message) -> f64 {
        let action = self.actions.nearest(&message.action.masked());
        let reference = self.references.nearest(&message.reference.masked());
        action.min(reference)
    }

    /// Returns the similarity of a text as it is to the nearest message.
    pub fn raw_similarity(&self, text: &str) -> f64 {
        // The stored vectors are rounded.
        if self
            .form
            .messages
            .iter()
            .any(|message| message.text == text)
        {
            return 1.0;
        }
        nearest(&self.whole, &embed(text))
    }

    fn build(form: CorpusFile) -> Result<Self, CorruptedCorpus> {
        if form.messages.is_empty() || form.messages.len() > MOST_MESSAGES {
            return Err(CorruptedCorpus(format!(
                "it has {} messages (allowed: 1 to {MOST_MESSAGES})",
                form.messages.len()
            )));
        }
        let mut actions = Sentences::default();
        let mut references = Sentences::default();
        let mut whole = Vec::with_capacity(form.messages.len());
        for (index, message) in form.messages.iter().enumerate() {
            let corrupted = |reason: String| CorruptedCorpus(format!("message {index}: {reason}"));
            let parsed =
                Message::parse(&message.text).map_err(|error| corrupted(error.to_string()))?;
            let vector = Vector::try_from(message.embedding.as_slice()).map_err(|_| {
                corrupted(format!(
                    "its embedding has {} numbers instead of {DIMENSIONS}",
                    message.embedding.len()
                ))
            })?;
            // The stored numbers are rounded.
            let own = similarity(&vector, &embed(&message.text));
            if !(0.999..1.001).contains(&own) {
                return Err(corrupted(
                    "its embedding does not match the text".to_owned(),
                ));
            }
            actions.insert(parsed.action.masked());
            references.insert(parsed.reference.masked());
            whole.push(vector);
        }
        Ok(Self {
            form,
            actions,
            references,
            whole,
        })
    }
}

/// Returns a vector as it is stored: with four decimals.
fn rounded(vector: &Vector) -> Vec<f32> {
    vector
        .iter()
        .map(|value| (value * 10_000.0).round() / 10_000.0 + 0.0)
        .collect()
}

/// Returns the SHA-256 over embedder, texts and vectors, in hexadecimal.
fn checksum(messages: &[CorpusMessage]) -> String {
    use std::fmt::Write as _;
    let mut hasher = Sha256::new();
    hasher.update(EMBEDDER);
    for message in messages {
        hasher.update([0]);
        hasher.update(&message.text);
        hasher.update([0]);
        for value in &message.embedding {
            hasher.update(value.to_le_bytes());
        }
    }
    hasher
        .finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _written = write!(text, "{byte:02x}");
            text
        })
}
