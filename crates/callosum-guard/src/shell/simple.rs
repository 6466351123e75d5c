//! Simple commands: assignments, words, redirections; and the function that one may turn out to be.

use super::{
    reader::{ParseError, Reader},
    tree::{Assignment, Command, Part, Simple, Word},
};

impl Reader<'_> {
    pub(super) fn simple(&mut self) -> Option<Command> {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect() {
                simple.redirects.push(redirect);
                continue;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()
            {
                simple.assignments.push(assignment);
                continue;
            }
            if !simple.words.is_empty()
                && simple.words.first().is_some_and(declares)
                && let Some(assignment) = self.list_assignment()
            {
                simple.assignments.push(assignment);
                continue;
            }
            let Some(word) = self.word() else {
                break;
            };
            simple.words.push(word);
            if simple.words.len() == 1 && simple.assignments.is_empty() && self.is_function() {
                let name = simple.words[0].literal().unwrap_or_default();
                return Some(self.function(name));
            }
        }
        let empty =
            simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
        (!empty).then_some(Command::Simple(simple))
    }

    /// Eats `()` behind a name.
    pub(super) fn is_function(&mut self) -> bool {
        let before = self.at;
        self.blanks();
        if self.eat("(") {
            self.blanks();
            if self.eat(")") {
                return true;
            }
        }
        self.at = before;
        false
    }

    /// Reads `name=value` here, if there is one.
    pub(super) fn assignment(&mut self) -> Option<Assignment> {
        let (name, adds, length) = assigned(self.rest())?;
        let name = name.to_owned();
        let index = self.text[self.at + name.len()..self.at + length].to_owned();
        self.at += length;
        if self.starts("(") {
            return Some(self.values(name, adds));
        }
        let mut value = self.word().unwrap_or_default();
        if index.contains(['$', '`']) {
            let index = self.within(&index, |reader| reader.quoted_until(None));
            value.parts.push(Part::Arithmetic(vec![index]));
        }
        Some(Assignment {
            name,
            adds,
            value,
            list: None,
        })
    }

    /// `name=(values)` behind `declare` and its like.
    pub(super) fn list_assignment(&mut self) -> Option<Assignment> {
        let (name, adds, length) = assigned(self.rest())?;
        if !self.rest()[length..].starts_with('(') {
            return None;
        }
        let name = name.to_owned();
        self.at += length;
        Some(self.values(name, adds))
    }

    fn values(&mut self, name: String, adds: bool) -> Assignment {
        self.at += 1;
        let mut list = Vec::new();
        loop {
            self.lines();
            if self.peek().is_none() {
                self.fault(ParseError::Unfinished);
                break;
            }
            if self.eat(")") {
                break;
            }
            if let Some(word) = self.word() {
                list.push(word);
            } else {
                self.fault(ParseError::Unexpected);
                self.skip_one();
            }
        }
        Assignment {
            name,
            adds,
            value: Word::default(),
            list: Some(list),
        }
    }
}

/// Whether a command is one that takes `name=(values)` among its words.
fn declares(word: &Word) -> bool {
    matches!(
        word.parts.as_slice(),
        [Part::Text { text, .. }]
            if matches!(text.as_str(), "declare" | "typeset" | "local" | "readonly" | "export")
    )
}

/// The name, whether it is added to, and how long `name=` or `name+=` is.
pub(super) fn assigned(text: &str) -> Option<(&str, bool, usize)> {
    let bytes = text.as_bytes();
    if !bytes
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
    {
        return None;
    }
    let name = bytes
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    let mut at = name;
    if bytes.get(at) == Some(&b'[') {
        at += text[at..].find(']')? + 1;
    }
    let adds = bytes.get(at) == Some(&b'+');
    at += usize::from(adds);
    (bytes.get(at) == Some(&b'=')).then(|| (&text[..name], adds, at + 1))
}
