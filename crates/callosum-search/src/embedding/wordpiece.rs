//! [`Tokenizer`]: splits a word into pieces of a model's vocabulary.

use serde::{Deserialize, Serialize};

use super::pieces::Pieces;

/// Marks the beginning of a word in the vocabularies of SentencePiece.
const WORD_BEGINS: char = '\u{2581}';

/// Longest word that is cut up; what is longer is data.
const LONGEST: usize = 64;

/// `tokenizer.json`, as far as it is read.
#[derive(Deserialize)]
struct File {
    model: Vocabulary,
}

/// The vocabulary. One struct for all kinds: an enum by `type` would be read into memory as a whole first, with the list of
/// merges, which takes three times as long.
#[derive(Deserialize)]
struct Vocabulary {
    #[serde(rename = "type")]
    kind: Kind,
    vocab: Pieces,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    #[serde(default)]
    byte_fallback: bool,
}

#[derive(Deserialize)]
enum Kind {
    WordPiece,
    WordLevel,
    #[serde(rename = "BPE")]
    Merged,
}

/// The prefix of pieces that are not the first of a word, if the file names none.
const USUAL_PREFIX: &str = "##";

/// The first line of a tokenizer that is kept.
#[derive(Deserialize)]
struct KeptHead {
    stamp: String,
    way: Way,
}

/// Rules for splitting words into pieces.
#[derive(Debug)]
pub(super) struct Tokenizer {
    known: Pieces,
    way: Way,
}

#[derive(Debug, Serialize, Deserialize)]
enum Way {
    /// The longest piece that fits, again and again, with this before each but the first.
    Longest { prefix: String },
    /// Not at all.
    Whole,
    /// Neighbors are merged, those first that come first in the vocabulary.
    Merged,
}

impl Tokenizer {
    /// Reads a `tokenizer.json`; the error is the part that is not understood.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let model = file.model;
        let way = match model.kind {
            Kind::WordPiece => {
                let prefix = model.continuing_subword_prefix;
                let prefix = prefix.unwrap_or_else(|| USUAL_PREFIX.to_owned());
                Way::Longest { prefix }
            }
            Kind::WordLevel => Way::Whole,
            // Only vocabularies of SentencePiece have the order that merging goes by.
            Kind::Merged if model.byte_fallback => Way::Merged,
            Kind::Merged => return Err("its pieces are bytes, which are not read".to_owned()),
        };
        let known = model.vocab;
        Ok(Self { known, way })
    }

    /// Reads what [`kept`](Self::kept) returned for a model with this stamp; `None` if it is of another, or damaged.
    pub(super) fn read_kept(bytes: &[u8], stamp: &str) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head: KeptHead = serde_json::from_slice(&bytes[..end]).ok()?;
        if head.stamp != stamp {
            return None;
        }
        let known = Pieces::read(bytes[end + 1..].to_vec())?;
        Some(Self {
            known,
            way: head.way,
        })
    }

    /// Returns this tokenizer in a form that is read in a tenth of the time.
    pub(super) fn kept(&self, stamp: &str) -> Vec<u8> {
        let head = serde_json::json!({"stamp": stamp, "way": self.way});
        let mut bytes = head.to_string().into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(self.known.block());
        bytes
    }

    /// The highest number that a piece has.
    pub(super) fn highest(&self) -> u32 {
        self.known.highest()
    }

    /// Returns the pieces of a word in lower case; none if the vocabulary does not have it.
    pub(super) fn of(&self, word: &str) -> Vec<u32> {
        if word.len() > LONGEST {
            return Vec::new();
        }
        match &self.way {
            Way::Whole => self.known.get(word).into_iter().collect(),
            Way::Longest { prefix } => self.longest(word, prefix).unwrap_or_default(),
            Way::Merged => self.merged(word),
        }
    }

    fn longest(&self, word: &str, prefix: &str) -> Option<Vec<u32>> {
        let mut pieces = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let before = if pieces.is_empty() { "" } else { prefix };
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
            let (end, piece) = ends.rev().find_map(|end| {
                let piece = format!("{before}{}", &rest[..end]);
                Some((end, self.known.get(&piece)?))
            })?;
            pieces.push(piece);
            rest = &rest[end..];
        }
        Some(pieces)
    }

    fn merged(&self, word: &str) -> Vec<u32> {
        let whole = format!("{WORD_BEGINS}{word}");
        let mut parts: Vec<&str> = whole.split_inclusive(|_: char| true).collect();
        loop {
            let joined = |at: usize| {
                let from = parts[..at].iter().map(|part| part.len()).sum::<usize>();
                &whole[from..from + parts[at].len() + parts[at + 1].len()]
            };
            let best = (0..parts.len().saturating_sub(1))
                .filter_map(|at| Some((self.known.get(joined(at))?, at)))
                .min();
            let Some((_, at)) = best else { break };
            parts[at] = joined(at);
            parts.remove(at + 1);
        }
        parts
            .iter()
            .filter_map(|part| self.known.get(part))
            .collect()
    }
}
