//! [`Tree`]: the files that are cited, each read once.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    ops::{Range, RangeInclusive},
    path::Path,
    rc::Rc,
};

use callosum_citation::{CitedFile, MOST_LINES, Why};
use callosum_host::Disk;
use callosum_redact::secrets;
use callosum_source::{
    language::Language,
    syntax::{inert_ranges, parses_as_code},
};

use super::{
    place::Evidence,
    record::is_record,
    standing::{EvidenceStatus, place_in, stand_in},
};

/// A cited file, as it is and without its secrets.
pub(super) struct CitedFileState {
    pub(super) file: CitedFile,
    masked: OnceCell<CitedFile>,
    /// The language that the file is written in, if a grammar reads it.
    language: Option<Language>,
    inert: OnceCell<Vec<Range<usize>>>,
}

impl CitedFileState {
    pub(super) fn new(file: CitedFile, path: &str) -> Self {
        Self {
            file,
            masked: OnceCell::new(),
            language: Language::of(Path::new(path)),
            inert: OnceCell::new(),
        }
    }

    /// Whether a quote is code by itself, but is in a comment or a string at its place.
    ///
    /// A comment that is cited as a comment is not: prose does not parse, and a quote with the
    /// marks of a comment was one when it was cited. Parses the file at most once, and only if the
    /// lines may be part of a comment or string.
    pub(super) fn is_inert(&self, quote: &str, lines: &RangeInclusive<u32>) -> bool {
        let Some(language) = self.language else {
            return false;
        };
        let Some(found) = self.file.lines(*lines.start(), *lines.end()) else {
            return false;
        };
        let text = self.file.text();
        let start = found.as_ptr() as usize - text.as_ptr() as usize;
        if !may_be_inert(&text[..start], found) {
            return false;
        }
        let Some(place) = locate(found, quote) else {
            return false;
        };
        let place = start + place.start..start + place.end;
        let parsed = || inert_ranges(language, text).unwrap_or_default();
        let inert = self.inert.get_or_init(parsed);
        let after = inert.partition_point(|range| range.end <= place.start);
        let is_within = inert
            .get(after)
            .is_some_and(|range| range.start <= place.start && place.end <= range.end);
        let is_of_lines = || covers(&inert[after..], place.clone(), text);
        (is_within || is_of_lines()) && parses_as_code(language, quote)
    }

    /// Returns the file without its secrets, which are searched for in the whole text: a line
    /// within a key does not look like a secret by itself. Other text keeps its line.
    pub(super) fn masked(&self) -> &CitedFile {
        let masked = || CitedFile::of(secrets::mask_in_place(self.file.text()).text);
        self.masked.get_or_init(masked)
    }
}

/// Whether lines may be in a comment or a string: one that spans lines begins before them, or one begins in them. Saves
/// the parse of most files. A plain string of Rust that spans lines is missed.
fn may_be_inert(before: &str, lines: &str) -> bool {
    let spanning = ["/*", "\"\"\"", "'''", "`", "r#\""];
    let within = ["//", "#", "/*", "\"", "'", "`"];
    let has = |text: &str, marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    has(lines, &within) || has(before, &spanning)
}

/// Returns the byte range of a quote in a text, blanks taken for blanks.
fn locate(text: &str, quote: &str) -> Option<Range<usize>> {
    let words: Vec<&str> = quote.split_whitespace().collect();
    let first = words.first()?;
    text.match_indices(first).find_map(|(start, _)| {
        let mut end = start;
        for (at, word) in words.iter().enumerate() {
            let rest = &text[end..];
            let blanks = rest.len() - rest.trim_start().len();
            if at > 0 && blanks == 0 || !rest[blanks..].starts_with(word) {
                return None;
            }
            end += blanks + word.len();
        }
        Some(start..end)
    })
}

/// Whether inert ranges cover all of a place but blanks, as several line comments do.
fn covers(inert: &[Range<usize>], place: Range<usize>, text: &str) -> bool {
    let mut at = place.start;
    for range in inert {
        if range.start >= place.end {
            break;
        }
        if range.start > at && !text[at..range.start].trim().is_empty() {
            return false;
        }
        at = at.max(range.end);
    }
    at >= place.end || (at > place.start && text[at..place.end].trim().is_empty())
}

/// The tree as evidence is looked up in it; each file is read once.
pub struct Tree<'t> {
    disk: &'t Disk,
    root: &'t Path,
    files: RefCell<BTreeMap<String, Rc<Result<CitedFileState, Why>>>>,
    /// Cached results of whether a cited path is a record.
    records: RefCell<BTreeMap<String, bool>>,
}

impl<'t> Tree<'t> {
    /// Returns the tree below `root`.
    pub fn new(disk: &'t Disk, root: &'t Path) -> Self {
        Self {
            disk,
            root,
            files: RefCell::default(),
            records: RefCell::default(),
        }
    }

    fn file(&self, path: &str) -> Rc<Result<CitedFileState, Why>> {
        if let Some(file) = self.files.borrow().get(path) {
            return Rc::clone(file);
        }
        let file = Rc::new(
            CitedFile::open(self.disk, self.root, path).map(|file| CitedFileState::new(file, path)),
        );
        let mut files = self.files.borrow_mut();
        files.insert(path.to_owned(), Rc::clone(&file));
        file
    }

    fn is_record(&self, path: &str) -> bool {
        if let Some(known) = self.records.borrow().get(path) {
            return *known;
        }
        let is_one = is_record(self.disk, self.root, path);
        let mut records = self.records.borrow_mut();
        records.insert(path.to_owned(), is_one);
        is_one
    }

    /// Returns the status of one piece of evidence. Files that sessions and git write themselves
    /// are not evidence.
    pub fn stand(&self, evidence: &Evidence) -> EvidenceStatus {
        if self.is_record(&evidence.path) {
            return EvidenceStatus::Record;
        }
        self.found(evidence)
    }

    /// Returns the status of a cited place, for any file that it cites.
    pub(crate) fn found(&self, evidence: &Evidence) -> EvidenceStatus {
        match &*self.file(&evidence.path) {
            Ok(file) => stand_in(file, evidence),
            Err(Why::OutsideRoot) => EvidenceStatus::OutsideRoot,
            Err(Why::NotReadable) => EvidenceStatus::Binary,
            Err(_) => EvidenceStatus::MissingFile,
        }
    }

    /// Whether there is a file of this path that can be cited.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.file(path).is_ok()
    }

    /// Whether no file of this path is there. One that is read already is not looked for again.
    pub(crate) fn lacks(&self, path: &str) -> bool {
        matches!(&*self.file(path), Err(Why::NoSuchFile))
    }

    /// Whether a claim may rely on a piece of evidence: the result of [`EvidenceStatus::holds`] for
    /// its status, without the search for the line most similar to a missing quote.
    pub(crate) fn holds(&self, evidence: &Evidence) -> bool {
        let file = self.file(&evidence.path);
        let place = file.as_ref().as_ref().ok();
        let place = place.and_then(|file| place_in(file, evidence));
        place.is_some_and(|standing| standing.holds()) && !self.is_record(&evidence.path)
    }

    /// Returns the lines of an identifier, exactly as they are in the file.
    pub fn lines(&self, evidence: &Evidence) -> Result<String, EvidenceStatus> {
        match &*self.file(&evidence.path) {
            Ok(looked) if looked.file.is_binary() => Err(EvidenceStatus::Binary),
            Ok(looked) => match looked.file.lines(evidence.first, evidence.last) {
                Some(lines) => Ok(lines.to_owned()),
                None => Err(EvidenceStatus::Changed { nearest: None }),
            },
            Err(Why::OutsideRoot) => Err(EvidenceStatus::OutsideRoot),
            Err(Why::NotReadable) => Err(EvidenceStatus::Binary),
            Err(_) => Err(EvidenceStatus::MissingFile),
        }
    }

    /// Returns the evidence of a place: its words, taken from the file so that no one can invent
    /// them, extended by as many lines as it takes to make the quote unique.
    ///
    /// Secrets in the quote are masked, and later comparisons mask the file too.
    pub fn quote(&self, place: &Evidence) -> Result<Evidence, QuoteError> {
        let refused = |standing| QuoteError::Standing {
            place: place.identifier(),
            standing,
        };
        if self.is_record(&place.path) {
            return Err(QuoteError::Record {
                place: place.identifier(),
            });
        }
        let file = self.file(&place.path);
        let looked = match &*file {
            Ok(looked) if looked.file.is_binary() => return Err(refused(EvidenceStatus::Binary)),
            Ok(looked) => looked,
            Err(Why::OutsideRoot) => return Err(refused(EvidenceStatus::OutsideRoot)),
            Err(Why::NotReadable) => return Err(refused(EvidenceStatus::Binary)),
            Err(_) => return Err(refused(EvidenceStatus::MissingFile)),
        };
        let Some(lines) = looked.file.lines(place.first, place.last) else {
            return Err(QuoteError::NoSuchLines {
                place: place.identifier(),
            });
        };
        if lines.trim().is_empty() {
            return Err(QuoteError::Blank {
                place: place.identifier(),
            });
        }
        let too_long = || QuoteError::NotUnique {
            place: place.identifier(),
        };
        // A secret of several lines is cited at its first line.
        let is_gone = |line: u32| {
            let there =
                |file: &CitedFile| file.lines(line, line).map(|text| text.trim().is_empty());
            there(looked.masked()) == Some(true)
        };
        let mut first = place.first;
        if !looked
            .file
            .lines(first, first)
            .is_some_and(|line| line.trim().is_empty())
        {
            while first > 1 && is_gone(first) {
                first -= 1;
            }
        }
        let mut last = place.last;
        loop {
            if last - first >= MOST_LINES {
                return Err(too_long());
            }
            let wider = Evidence {
                first,
                last,
                ..place.clone()
            };
            let Some(masked) = looked.masked().lines(first, last) else {
                return Err(too_long());
            };
            let words: Vec<&str> = masked.split_whitespace().collect();
            let quoted = Evidence {
                quote: Some(words.join(" ")),
                ..wider
            };
            if self.stand(&quoted) == EvidenceStatus::Verified && quoted.written().is_some() {
                return Ok(quoted);
            }
            last += 1;
        }
    }
}

/// Error while quoting a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuoteError {
    /// The file cannot be cited.
    #[error("`{place}` cannot be cited: {}", standing.meaning())]
    Standing {
        /// The place.
        place: String,
        /// The problem with it.
        standing: EvidenceStatus,
    },
    /// It is a record of sessions or of git.
    #[error("`{place}` cannot be cited: files written by sessions or git are not evidence")]
    Record {
        /// The place.
        place: String,
    },
    /// The file ends before.
    #[error("`{place}` cannot be cited: the file does not have these lines")]
    NoSuchLines {
        /// The place.
        place: String,
    },
    /// The lines are empty.
    #[error("`{place}` cannot be cited: these lines are empty")]
    Blank {
        /// The place.
        place: String,
    },
    /// The text there occurs elsewhere too, or cannot be quoted.
    #[error(
        "`{place}` cannot be cited: no quote that starts there is long enough and unique in the \
         file"
    )]
    NotUnique {
        /// The place.
        place: String,
    },
}
