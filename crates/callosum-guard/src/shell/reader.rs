//! The reader's position, and statements: lists and pipelines.
//!
//! A hand-written recursive descent for the grammar of bash. Other modules read commands:
//! `compound`, `simple` and `redirect`; `word` reads their words. It never gives up: text that it
//! cannot make sense of is noted and skipped.

use super::{
    redirect::PendingHereDoc,
    tree::{Command, Script},
};

/// Limit on the nesting of constructs.
pub(crate) const MAX_DEPTH: usize = 32;

/// A part that could not be read, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ParseError {
    /// A quote, substitution or compound command has no end.
    Unfinished,
    /// A token in a place in which its kind is not allowed.
    Unexpected,
    /// Nested deeper than is looked at.
    TooDeep,
    /// More text or more commands than are looked at.
    TooMuch,
}

/// Amount that may still be read in one decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Bytes that may still be read, counting each text that is read within another.
    pub(crate) bytes: usize,
}

impl Budget {
    /// Takes so many bytes; returns whether there are enough.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let enough = self.bytes >= bytes;
        self.bytes = self.bytes.saturating_sub(bytes);
        enough
    }
}

/// Reads a text, and what was wrong with it.
pub(crate) fn read(text: &str, depth: usize, budget: &mut Budget) -> (Script, Vec<ParseError>) {
    if depth > MAX_DEPTH {
        return (Script::default(), vec![ParseError::TooDeep]);
    }
    if !budget.take(text.len()) {
        return (Script::default(), vec![ParseError::TooMuch]);
    }
    let mut reader = Reader {
        text,
        at: 0,
        depth,
        waiting: Vec::new(),
        faults: Vec::new(),
        budget,
    };
    let mut script = Script::default();
    while reader.at < text.len() {
        let mut more = reader.list();
        script.commands.append(&mut more.commands);
        if reader.at < text.len() {
            // A word or sign that closes what was never opened: what follows it still runs in
            // the shells that forgive it.
            reader.fault(ParseError::Unexpected);
            reader.skip_one();
        }
    }
    reader.bodies();
    (script, reader.faults)
}

/// State of the reader.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) waiting: Vec<PendingHereDoc>,
    pub(super) faults: Vec<ParseError>,
    pub(super) budget: &'a mut Budget,
}

/// Words that end a list if they come first in a command.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "else", "elif", "esac", "}"];

impl Reader<'_> {
    pub(super) fn fault(&mut self, fault: ParseError) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    pub(super) fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn starts(&self, with: &str) -> bool {
        self.rest().starts_with(with)
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let there = self.starts(token);
        if there {
            self.at += token.len();
        }
        there
    }

    pub(super) fn skip_one(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Goes one level down; returns whether that is still allowed.
    ///
    /// If it is not, the rest of the text is skipped: its structure is not known.
    pub(super) fn deeper(&mut self) -> bool {
        self.depth += 1;
        let allowed = self.depth <= MAX_DEPTH;
        if !allowed {
            self.fault(ParseError::TooDeep);
            self.at = self.text.len();
        }
        allowed
    }

    /// Passes over blanks, continued lines and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            if self.starts("\\\n") {
                self.at += 2;
            } else if self.starts("\\\r\n") {
                self.at += 3;
            } else if matches!(self.peek(), Some(' ' | '\t' | '\r')) {
                self.at += 1;
            } else {
                break;
            }
        }
        if self.peek() == Some('#') {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Passes over the end of a line, and over the bodies that begin behind it.
    pub(super) fn newline(&mut self) -> bool {
        if self.peek() != Some('\n') {
            return false;
        }
        self.at += 1;
        self.bodies();
        true
    }

    /// Passes over blanks and the ends of lines.
    pub(super) fn lines(&mut self) {
        loop {
            self.blanks();
            if !self.newline() {
                return;
            }
        }
    }

    /// Reads another text one level down, and takes its faults over.
    pub(super) fn within<T>(&mut self, text: &str, read: impl FnOnce(&mut Reader<'_>) -> T) -> T
    where
        T: Default,
    {
        if self.depth >= MAX_DEPTH {
            self.fault(ParseError::TooDeep);
            return T::default();
        }
        if !self.budget.take(text.len()) {
            self.fault(ParseError::TooMuch);
            return T::default();
        }
        let mut inner = Reader {
            text,
            at: 0,
            depth: self.depth + 1,
            waiting: Vec::new(),
            faults: Vec::new(),
            budget: self.budget,
        };
        let got = read(&mut inner);
        inner.bodies();
        let faults = inner.faults;
        for fault in faults {
            self.fault(fault);
        }
        got
    }

    /// Returns the bare word that begins here, if there is one.
    pub(super) fn keyword(&self) -> &str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| c.is_whitespace() || ";&|<>()\"'`$\\#".contains(c))
            .unwrap_or(rest.len());
        match rest[end..].chars().next() {
            Some('"' | '\'' | '`' | '$' | '\\' | '#') => "",
            _ => &rest[..end],
        }
    }

    /// Eats a word of the grammar.
    pub(super) fn eat_keyword(&mut self, word: &str) -> bool {
        let there = self.keyword() == word;
        if there {
            self.at += word.len();
        }
        there
    }

    /// Eats the word that must stand here, or notes that it does not.
    pub(super) fn expect_keyword(&mut self, word: &str) {
        self.lines();
        if !self.eat_keyword(word) {
            self.fault(ParseError::Unfinished);
        }
    }

    /// Commands up to something that closes them.
    pub(super) fn list(&mut self) -> Script {
        let mut script = Script::default();
        // Where what `&&` and `||` join begins, and within it what `&&` alone does.
        let (mut begun, mut chained) = (0, 0);
        loop {
            self.lines();
            if self.peek().is_none()
                || self.starts(")")
                || self.starts(";;")
                || self.starts(";&")
                || CLOSERS.contains(&self.keyword())
            {
                script.chain(chained);
                script.choose(begun);
                return script;
            }
            let before = self.at;
            if self.eat("&&") || self.eat("||") || self.eat("&") || self.eat(";") {
                // It is only an error if nothing comes before it, and not one that hides anything.
                continue;
            }
            if let Some(command) = self.pipeline() {
                script.commands.push(command);
            }
            self.blanks();
            if self.starts(";;") || self.starts(";&") {
                script.chain(chained);
                script.choose(begun);
                return script;
            }
            if self.eat("&&") {
                continue;
            }
            script.chain(chained);
            let is_joined = self.eat("||");
            if !is_joined {
                script.choose(begun);
            }
            if !is_joined && self.eat("&") {
                script.put_aside(begun);
            } else if !is_joined && !self.eat(";") && self.at == before {
                self.fault(ParseError::Unexpected);
                self.skip_one();
            }
            chained = script.commands.len();
            if !is_joined {
                begun = chained;
            }
        }
    }

    fn pipeline(&mut self) -> Option<Command> {
        let mut commands = Vec::new();
        loop {
            self.lines();
            while self.eat_keyword("!") || self.eat_keyword("time") {
                self.blanks();
                if self.keyword() == "-p" {
                    self.at += 2;
                    self.blanks();
                }
            }
            let first = self.at;
            if let Some(command) = self.command() {
                commands.push(command);
            } else if self.at == first && !commands.is_empty() {
                self.fault(ParseError::Unfinished);
            }
            self.blanks();
            if self.starts("||") || !self.starts("|") {
                break;
            }
            self.at += 1;
            self.eat("&");
        }
        match commands.len() {
            0 => None,
            1 => commands.pop(),
            _ => Some(Command::Pipeline(commands)),
        }
    }

    pub(super) fn command(&mut self) -> Option<Command> {
        if !self.deeper() {
            return None;
        }
        let command = self.compound();
        let command = match command {
            Some(command) => {
                let redirects = self.redirects();
                Some(if redirects.is_empty() {
                    command
                } else {
                    Command::Redirected {
                        command: Box::new(command),
                        redirects,
                    }
                })
            }
            None => self.simple(),
        };
        self.depth -= 1;
        command
    }
}
