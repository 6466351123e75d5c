//! [`Section`]: a document split into the elements that a merge compares: its sections, with an
//! entry of a Decision Log as one, and in each its lines, rows, questions and fields. A comment
//! around an entry is a section as well: it is a later state of that entry.

use std::{collections::HashMap, ops::Range};

use super::{
    decision::Decision,
    document::{LOG, Notes, QUESTIONS},
    field_label::Label,
};

/// Key that identifies a token within its section.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The heading, or the beginning of the document.
    Head,
    /// A field of Active Context, by its name in lowercase, and its index among those of the same
    /// name.
    Field(String, usize),
    /// A row of a place.
    Row(String, usize),
    /// A question, answered or not.
    Question(String, usize),
    /// A line of an entry that begins with words in bold.
    Label(String, usize),
    /// Any other line; a comment or block of code as a whole.
    Text(Vec<u8>),
}

impl Key {
    /// Whether there is only one of it in its section.
    pub(super) fn is_own(&self) -> bool {
        !matches!(self, Self::Text(_))
    }
}

/// A line, or some that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) key: Key,
    /// Its text with the line end.
    pub(super) text: Vec<u8>,
    /// The blank lines after it.
    pub(super) blanks: Vec<u8>,
    /// Value of a field; empty if it is `none`.
    pub(super) value: String,
    /// The cells of a row after the place.
    pub(super) cells: [String; 2],
}

impl Token {
    /// Returns it without invisible characters at its end.
    pub(super) fn words(&self) -> &[u8] {
        self.text.trim_ascii_end()
    }

    /// Whether it cites a place.
    pub(super) fn is_evidence(&self) -> bool {
        let words = self.words();
        words.starts_with(b"-") && memchr::memmem::find(words, b"${PROJECT_ROOT}/").is_some()
    }

    /// Whether a question is answered.
    pub(super) fn is_ticked(&self) -> bool {
        memchr::memmem::find(&self.text, b"[ ]").is_none()
    }
}

/// A heading with the text below it, down to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The decision, if it is the entry of one.
    pub(super) entry: Option<Decision>,
    /// The decisions that it hides, if it is a comment around entries.
    pub(super) withdrawn: Vec<Decision>,
    /// Its words in lowercase; empty for the text before the first heading.
    pub(super) title: String,
    /// Level of the heading; 0 for the text before the first heading.
    pub(super) level: u8,
    /// The heading first; of a comment around entries that comment alone.
    pub(super) tokens: Vec<Token>,
}

impl Section {
    /// Whether another one says the same, blank lines aside.
    pub(super) fn says(&self, other: &Self) -> bool {
        let words = |section: &Self| -> Vec<Vec<u8>> {
            let words = section.tokens.iter().map(Token::words);
            words.map(<[u8]>::to_vec).collect()
        };
        words(self) == words(other)
    }

    /// Whether it is a comment around entries.
    pub(super) fn is_withdrawn(&self) -> bool {
        !self.withdrawn.is_empty()
    }

    /// Returns the decision that identifies it, visible or not.
    pub(super) fn decision(&self) -> Option<&Decision> {
        self.entry.as_ref().or(self.withdrawn.first())
    }

    /// Returns its words with one blank between them, without the marks of a comment.
    pub(super) fn plain(&self) -> String {
        let text: Vec<u8> = self
            .tokens
            .iter()
            .flat_map(|token| [&*token.text, b"\n"].concat())
            .collect();
        let text = String::from_utf8_lossy(&text);
        let text = if self.is_withdrawn() {
            uncommented(&text).unwrap_or(&text)
        } else {
            &text
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the name that a person sees.
    pub(super) fn name(&self) -> String {
        match self.decision() {
            Some(entry) if entry.is_dated() => entry.heading(),
            Some(entry) => entry.ts.clone(),
            None => {
                let heading = String::from_utf8_lossy(self.tokens[0].words()).into_owned();
                heading.trim_start_matches(['#', ' ']).to_owned()
            }
        }
    }
}

impl Notes {
    /// Returns the decisions by their headings, dated or not.
    fn decided(&self) -> HashMap<usize, Decision> {
        let undated = self.undated().into_iter();
        let mut undated: HashMap<usize, Decision> =
            undated.map(|entry| (entry.line, entry)).collect();
        let entries = self.entries().into_iter();
        let decided = entries.filter_map(|(heading, lines)| {
            let lines = self.above_next(heading, &lines);
            let decision = self.decision(heading, lines);
            let line = self.outline.headings[heading].line + 1;
            Some((heading, decision.or_else(|| undated.remove(&line))?))
        });
        decided.collect()
    }

    /// Returns all of the document, in its order.
    pub(super) fn sections(&self) -> Vec<Section> {
        let mut decided = self.decided();
        let fields = self.active_lines();
        let fields: HashMap<usize, (String, String)> = fields
            .map(|field| {
                let value = String::from_utf8_lossy(&self.bytes[field.value]);
                let value = Some(value.trim()).filter(|value| !value.eq_ignore_ascii_case("none"));
                let name = field.name.to_ascii_lowercase();
                (field.line, (name, value.unwrap_or_default().to_owned()))
            })
            .collect();
        let rows = self.identifiers().into_iter();
        let rows: HashMap<usize, (String, [String; 2])> = rows
            .map(|row| (row.line - 1, (row.place, [row.purpose, row.verified])))
            .collect();
        let questions = self.lines_of(QUESTIONS).into_iter();
        let questions: HashMap<usize, String> = questions
            .filter(|line| self.outline.lines[*line].is_text)
            .filter_map(|line| {
                Some((
                    line,
                    question(&self.outline.text(&self.bytes, line))?.to_owned(),
                ))
            })
            .collect();
        let key_of = |line: usize, text: &[u8], is_entry: bool| {
            if let Some((name, value)) = fields.get(&line) {
                return (
                    Key::Field(name.clone(), 0),
                    value.clone(),
                    <[String; 2]>::default(),
                );
            }
            if let Some((place, cells)) = rows.get(&line) {
                return (Key::Row(place.clone(), 0), String::new(), cells.clone());
            }
            let words = String::from_utf8_lossy(text);
            let label = Label::of(words.trim_end()).filter(|_| is_entry);
            let key = match (questions.get(&line), label) {
                (Some(question), _) => Key::Question(question.clone(), 0),
                (None, Some(label)) => Key::Label(label.name.to_ascii_lowercase(), 0),
                (None, None) => Key::Text(text.trim_ascii_end().to_vec()),
            };
            (key, String::new(), Default::default())
        };
        let headings = &self.outline.headings;
        let mut sections = Vec::new();
        for index in 0..=headings.len() {
            let heading = index.checked_sub(1);
            let own = heading.map(|heading| &headings[heading]);
            let first = own.map_or(0, |own| own.line + 1);
            let next = headings.get(index);
            let last = next.map_or(self.outline.lines.len(), |next| next.line);
            let entry = heading.and_then(|heading| decided.remove(&heading));
            let head = own.map_or(0..0, |own| {
                self.line_start(own.line)..self.line_start(first)
            });
            let mut tokens = vec![Token {
                key: Key::Head,
                text: self.bytes[head].to_vec(),
                blanks: Vec::new(),
                value: String::new(),
                cells: Default::default(),
            }];
            let mut line = first;
            let mut many: HashMap<Key, usize> = HashMap::new();
            let comments = self.withdrawn_at_the_end(first, last);
            let last = comments.first().map_or(last, |comment| comment.lines.start);
            while line < last {
                let end = self.outline.end_of(&self.bytes, line, last);
                let text = &self.bytes[self.line_start(line)..self.line_start(end)];
                let is_text = self.outline.lines[line].is_text;
                if is_text
                    && text.trim_ascii().is_empty()
                    && let Some(before) = tokens.last_mut()
                {
                    before.blanks.extend_from_slice(text);
                } else {
                    let (key, value, cells) = if is_text {
                        key_of(line, text, entry.is_some())
                    } else {
                        let key = Key::Text(text.trim_ascii_end().to_vec());
                        (key, String::new(), Default::default())
                    };
                    let before = many.entry(key.clone()).or_default();
                    let key = numbered(key, *before);
                    *before += 1;
                    tokens.push(Token {
                        key,
                        text: text.to_vec(),
                        blanks: Vec::new(),
                        value,
                        cells,
                    });
                }
                line = end;
            }
            sections.push(Section {
                entry,
                withdrawn: Vec::new(),
                title: own.map_or_else(String::new, |own| own.title.to_lowercase()),
                level: own.map_or(0, |own| own.level),
                tokens,
            });
            for comment in comments {
                let text = self.line_start(comment.lines.start)..self.line_start(comment.end);
                let blanks = self.line_start(comment.end)..self.line_start(comment.lines.end);
                sections.push(Section {
                    entry: None,
                    withdrawn: comment.decisions,
                    title: String::new(),
                    level: comment.level,
                    tokens: vec![Token {
                        key: Key::Head,
                        text: self.bytes[text].to_vec(),
                        blanks: self.bytes[blanks].to_vec(),
                        value: String::new(),
                        cells: Default::default(),
                    }],
                });
            }
        }
        sections
    }

    /// Returns the comments around entries that the lines of a section end with, blank lines aside.
    fn withdrawn_at_the_end(&self, first: usize, last: usize) -> Vec<Comment> {
        let mut found: Vec<Comment> = Vec::new();
        let mut line = first;
        while line < last {
            let end = self.outline.end_of(&self.bytes, line, last);
            if self.outline.lines[line].is_text && self.is_blank_line(line) {
                if let Some(comment) = found.last_mut() {
                    comment.lines.end = end;
                }
            } else {
                let text = &self.bytes[self.line_start(line)..self.line_start(end)];
                let is_hidden = !self.outline.lines[line].is_text;
                match Comment::of(text).filter(|_| is_hidden) {
                    Some((level, decisions)) => found.push(Comment {
                        lines: line..end,
                        end,
                        level,
                        decisions,
                    }),
                    None => found.clear(),
                }
            }
            line = end;
        }
        found
    }

    /// Returns the decisions within comments.
    #[cfg(test)]
    pub(super) fn withdrawn(&self) -> Vec<Decision> {
        let sections = self.sections().into_iter();
        sections.flat_map(|section| section.withdrawn).collect()
    }
}

/// A comment around entries of a Decision Log.
struct Comment {
    /// Its lines, and the blank ones after it.
    lines: Range<usize>,
    /// The line after the comment.
    end: usize,
    /// Level of the first entry's heading.
    level: u8,
    decisions: Vec<Decision>,
}

impl Comment {
    /// Returns the level and the decisions of a comment; `None` if it is not a comment, or holds no
    /// decision.
    fn of(text: &[u8]) -> Option<(u8, Vec<Decision>)> {
        let text = std::str::from_utf8(text).ok()?;
        let inner = uncommented(text)?;
        let notes = Notes::read(format!("# {LOG}\n{inner}\n").into_bytes());
        let decisions = notes.decisions();
        let first = decisions.first()?;
        let mut headings = notes.outline.headings.iter();
        let heading = headings.find(|heading| heading.line + 1 == first.line)?;
        Some((heading.level, decisions))
    }
}

/// Returns the content of a comment; `None` if the text is not exactly one.
fn uncommented(text: &str) -> Option<&str> {
    text.trim().strip_prefix("<!--")?.strip_suffix("-->")
}

fn numbered(key: Key, before: usize) -> Key {
    match key {
        Key::Field(name, _) => Key::Field(name, before),
        Key::Row(place, _) => Key::Row(place, before),
        Key::Question(words, _) => Key::Question(words, before),
        Key::Label(name, _) => Key::Label(name, before),
        Key::Head | Key::Text(_) => key,
    }
}

/// Returns the words of a question, answered or not.
fn question(line: &str) -> Option<&str> {
    let rest = line
        .trim_start()
        .strip_prefix(['-', '*', '+'])?
        .trim_start();
    let marks = ["[ ]", "[x]", "[X]"];
    let words = marks.iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some(words.trim())
}
