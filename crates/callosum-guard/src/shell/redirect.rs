//! Redirections, and the bodies of here-documents, which begin behind the end of the line.

use std::{cell::OnceCell, rc::Rc};

use super::{
    reader::{ParseError, Reader},
    tree::{Redirect, RedirectKind, Target, Word},
};

/// A here-document whose body begins behind the end of the line.
pub(super) struct PendingHereDoc {
    end: String,
    literal: bool,
    tabs: bool,
    body: Rc<OnceCell<Word>>,
}

impl Reader<'_> {
    pub(super) fn redirects(&mut self) -> Vec<Redirect> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            match self.redirect() {
                Some(redirect) => all.push(redirect),
                None => return all,
            }
        }
    }

    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let before = self.at;
        let rest = self.rest();
        // `2>`, `{name}>`
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut output = digits == 0 || &rest[..digits] == "1";
        let descriptor = rest[..digits].parse().ok();
        let mut name = None;
        if digits > 0 && matches!(rest.as_bytes().get(digits), Some(b'<' | b'>')) {
            self.at += digits;
        } else if rest.starts_with('{')
            && let Some(end) = rest.find('}')
            && rest[1..end]
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && matches!(rest.as_bytes().get(end + 1), Some(b'<' | b'>'))
        {
            name = Some(rest[1..end].to_owned());
            output = false;
            self.at += end + 1;
        }
        let reads = self.starts("<&");
        let kind = if self.starts("<(") || self.starts(">(") {
            self.at = before;
            return None;
        } else if self.eat("<<<") {
            RedirectKind::Text
        } else if self.eat("<<-") {
            return Some(self.heredoc(true, descriptor));
        } else if self.eat("<<") {
            return Some(self.heredoc(false, descriptor));
        } else if self.eat("&>>") || self.eat(">>") {
            RedirectKind::Append
        } else if self.eat("&>") || self.eat(">|") {
            RedirectKind::Truncate
        } else if self.eat("<>") {
            RedirectKind::ReadWrite
        } else if self.eat(">&") || self.eat("<&") {
            self.blanks();
            let file = !matches!(self.peek(), Some('0'..='9' | '-' | '$')) && !self.starts("\"$");
            if file {
                RedirectKind::Truncate
            } else {
                RedirectKind::Duplicate
            }
        } else if self.eat(">") {
            RedirectKind::Truncate
        } else if self.eat("<") {
            RedirectKind::Read
        } else {
            self.at = before;
            return None;
        };
        self.blanks();
        let target = self.word().unwrap_or_else(|| {
            self.fault(ParseError::Unfinished);
            Word::default()
        });
        Some(Redirect {
            kind,
            descriptor,
            name,
            output: output && !reads,
            target: Target::Word(target),
        })
    }

    fn heredoc(&mut self, tabs: bool, descriptor: Option<u8>) -> Redirect {
        self.blanks();
        let before = self.at;
        let end = self.word().unwrap_or_default();
        let raw = &self.text[before..self.at];
        let literal = raw.contains(['\'', '"', '\\']);
        let body = Rc::new(OnceCell::new());
        self.waiting.push(PendingHereDoc {
            // The delimiter is never expanded.
            end: end
                .literal()
                .unwrap_or_else(|| raw.replace(['\'', '"', '\\'], "")),
            literal,
            tabs,
            body: Rc::clone(&body),
        });
        Redirect {
            kind: RedirectKind::Text,
            descriptor,
            name: None,
            output: false,
            target: Target::Body(body),
        }
    }

    /// Reads the bodies of the here-documents that wait.
    pub(super) fn bodies(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            let mut body = String::new();
            let mut ended = false;
            while self.at < self.text.len() {
                let rest = self.rest();
                let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
                let advance = (line.len() + 1).min(rest.len());
                let shown = if waiting.tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                let plain = shown.trim_end_matches('\r');
                if plain == waiting.end {
                    self.at += line.len();
                    ended = true;
                    break;
                }
                // `EOF)` ends a body within a substitution.
                if self.depth > 0
                    && plain.trim_end_matches(')') == waiting.end
                    && plain.len() > waiting.end.len()
                {
                    self.at += line.len() - shown.len() + waiting.end.len();
                    ended = true;
                    break;
                }
                body.push_str(shown);
                body.push('\n');
                self.at += advance;
            }
            if !ended {
                self.fault(ParseError::Unfinished);
            }
            let word = if waiting.literal {
                Word::quoted(&body)
            } else {
                self.within(&body, |reader| reader.quoted_until(None))
            };
            // Each cell is filled here and nowhere else.
            drop(waiting.body.set(word));
            if self.peek() == Some('\n') {
                self.at += 1;
            }
        }
    }
}
