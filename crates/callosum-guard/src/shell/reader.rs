//! Statements: lists, pipelines, compound commands, redirections, here-documents.
//!
//! A descent by hand over the grammar of bash. Words are read next door, in `word`. It never
//! gives up: what it cannot make sense of is noted and passed over.

use std::{cell::OnceCell, rc::Rc};

use super::tree::{
    Assignment, Command, Part, Redirect, RedirectKind, Script, Simple, Target, Word,
};

/// How deep constructs may stand in one another.
pub(crate) const MAX_DEPTH: usize = 32;

/// What could not be read, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A quote, substitution or compound command has no end.
    Unfinished,
    /// Something stands where nothing of its kind may.
    Unexpected,
    /// Nested deeper than is looked at.
    TooDeep,
    /// More text or more commands than are looked at.
    TooMuch,
}

/// How much may still be read in one decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Bytes that may still be read, counting each text that is read within another.
    pub(crate) bytes: usize,
}

impl Budget {
    /// Takes so many bytes, or says that there are not enough.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let enough = self.bytes >= bytes;
        self.bytes = self.bytes.saturating_sub(bytes);
        enough
    }
}

/// Reads a text, and what was wrong with it.
pub(crate) fn read(text: &str, depth: usize, budget: &mut Budget) -> (Script, Vec<Fault>) {
    if depth > MAX_DEPTH {
        return (Script::default(), vec![Fault::TooDeep]);
    }
    if !budget.take(text.len()) {
        return (Script::default(), vec![Fault::TooMuch]);
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
            reader.fault(Fault::Unexpected);
            reader.skip_one();
        }
    }
    reader.bodies();
    (script, reader.faults)
}

/// A here-document whose body begins behind the end of the line.
pub(super) struct Waiting {
    end: String,
    literal: bool,
    tabs: bool,
    body: Rc<OnceCell<Word>>,
}

/// Where the reading stands.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) waiting: Vec<Waiting>,
    pub(super) faults: Vec<Fault>,
    pub(super) budget: &'a mut Budget,
}

/// Words that end a list where they stand first in a command.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "else", "elif", "esac", "}"];

impl Reader<'_> {
    pub(super) fn fault(&mut self, fault: Fault) {
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

    /// Goes one level down, and says whether that is still allowed.
    ///
    /// Where it is not, the rest of the text is passed over: its structure is not known.
    pub(super) fn deeper(&mut self) -> bool {
        self.depth += 1;
        let allowed = self.depth <= MAX_DEPTH;
        if !allowed {
            self.fault(Fault::TooDeep);
            self.at = self.text.len();
        }
        allowed
    }

    /// Passes over blanks, continued lines and a comment.
    fn blanks(&mut self) {
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
    fn newline(&mut self) -> bool {
        if self.peek() != Some('\n') {
            return false;
        }
        self.at += 1;
        self.bodies();
        true
    }

    /// Passes over blanks and the ends of lines.
    fn lines(&mut self) {
        loop {
            self.blanks();
            if !self.newline() {
                return;
            }
        }
    }

    /// Reads the bodies of the here-documents that wait.
    fn bodies(&mut self) {
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
                self.fault(Fault::Unfinished);
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

    /// Reads another text one level down, and takes its faults over.
    pub(super) fn within<T>(&mut self, text: &str, read: impl FnOnce(&mut Reader<'_>) -> T) -> T
    where
        T: Default,
    {
        if self.depth >= MAX_DEPTH {
            self.fault(Fault::TooDeep);
            return T::default();
        }
        if !self.budget.take(text.len()) {
            self.fault(Fault::TooMuch);
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

    /// The bare word that begins here, where it is one.
    fn keyword(&self) -> &str {
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
    fn eat_keyword(&mut self, word: &str) -> bool {
        let there = self.keyword() == word;
        if there {
            self.at += word.len();
        }
        there
    }

    /// Eats the word that must stand here, or notes that it does not.
    fn expect_keyword(&mut self, word: &str) {
        self.lines();
        if !self.eat_keyword(word) {
            self.fault(Fault::Unfinished);
        }
    }

    /// Commands up to something that closes them.
    pub(super) fn list(&mut self) -> Script {
        let mut script = Script::default();
        loop {
            self.lines();
            if self.peek().is_none()
                || self.starts(")")
                || self.starts(";;")
                || self.starts(";&")
                || CLOSERS.contains(&self.keyword())
            {
                return script;
            }
            let before = self.at;
            if self.eat("&&") || self.eat("||") || self.eat("&") || self.eat(";") {
                // Only where nothing stands before it is it a fault, and none that hides
                // anything.
                continue;
            }
            if let Some(command) = self.pipeline() {
                script.commands.push(command);
            }
            self.blanks();
            if self.starts(";;") || self.starts(";&") {
                return script;
            }
            if !(self.eat("&&") || self.eat("||") || self.eat("&") || self.eat(";"))
                && self.at == before
            {
                self.fault(Fault::Unexpected);
                self.skip_one();
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
                self.fault(Fault::Unfinished);
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

    fn command(&mut self) -> Option<Command> {
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

    /// A command that begins with a word or sign of the grammar.
    fn compound(&mut self) -> Option<Command> {
        if self.starts("((")
            && let Some(inner) = self.arithmetic_end(2)
        {
            let text = self.text[self.at + 2..inner].to_owned();
            self.at = inner + 2;
            return Some(Command::Test(vec![
                self.within(&text, |reader| reader.quoted_until(None)),
            ]));
        }
        if self.eat("(") {
            let body = self.list();
            self.close(")");
            return Some(Command::Group {
                body,
                subshell: true,
            });
        }
        match self.keyword() {
            "{" => {
                self.at += 1;
                let body = self.list();
                if !self.eat_keyword("}") {
                    self.fault(Fault::Unfinished);
                }
                Some(Command::Group {
                    body,
                    subshell: false,
                })
            }
            "if" => {
                self.at += 2;
                Some(self.condition())
            }
            word @ ("while" | "until") => {
                self.at += word.len();
                let test = self.list();
                self.expect_keyword("do");
                let body = self.list();
                self.expect_keyword("done");
                Some(Command::Parts(vec![test, body]))
            }
            word @ ("for" | "select") => {
                self.at += word.len();
                Some(self.every())
            }
            "case" => {
                self.at += 4;
                Some(self.case())
            }
            "function" => {
                self.at += 8;
                self.blanks();
                let name = self.keyword().to_owned();
                self.at += name.len();
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    self.close(")");
                }
                Some(self.function(name))
            }
            "coproc" => {
                self.at += 6;
                self.blanks();
                // `coproc NAME { …; }`: the name is no command.
                let name = self.keyword().to_owned();
                let after = self.rest()[name.len()..].trim_start();
                if !name.is_empty() && (after.starts_with("{ ") || after.starts_with('(')) {
                    self.at += name.len();
                    self.blanks();
                }
                self.command()
            }
            "[[" => {
                self.at += 2;
                Some(self.test())
            }
            _ => None,
        }
    }

    pub(super) fn close(&mut self, sign: &str) {
        self.blanks();
        if !self.eat(sign) {
            self.fault(Fault::Unfinished);
        }
    }

    fn condition(&mut self) -> Command {
        let mut parts = vec![self.list()];
        self.expect_keyword("then");
        loop {
            parts.push(self.list());
            if self.eat_keyword("elif") {
                parts.push(self.list());
                self.expect_keyword("then");
            } else if !self.eat_keyword("else") {
                break;
            }
        }
        self.expect_keyword("fi");
        Command::Parts(parts)
    }

    fn every(&mut self) -> Command {
        self.blanks();
        if self.starts("((")
            && let Some(end) = self.arithmetic_end(2)
        {
            let text = self.text[self.at + 2..end].to_owned();
            self.at = end + 2;
            let test = self.within(&text, |reader| reader.quoted_until(None));
            let body = self.body();
            return Command::Parts(vec![
                Script {
                    commands: vec![Command::Test(vec![test])],
                },
                body,
            ]);
        }
        let variable = self.keyword().to_owned();
        self.at += variable.len();
        self.lines();
        let mut words = None;
        if self.eat_keyword("in") {
            let mut list = Vec::new();
            loop {
                self.blanks();
                match self.word() {
                    Some(word) => list.push(word),
                    None => break,
                }
            }
            words = Some(list);
        }
        let body = self.body();
        Command::For {
            variable,
            words,
            body,
        }
    }

    /// `do … done`, or `{ … }`, which `for` takes as well.
    fn body(&mut self) -> Script {
        self.blanks();
        self.eat(";");
        self.lines();
        if self.eat_keyword("{") {
            let body = self.list();
            self.expect_keyword("}");
            return body;
        }
        self.expect_keyword("do");
        let body = self.list();
        self.expect_keyword("done");
        body
    }

    fn case(&mut self) -> Command {
        self.blanks();
        let subject = self.word().unwrap_or_default();
        self.expect_keyword("in");
        let mut arms = Vec::new();
        loop {
            self.lines();
            if self.peek().is_none() || self.eat_keyword("esac") {
                break;
            }
            let before = self.at;
            self.eat("(");
            loop {
                self.blanks();
                let _pattern = self.word();
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.close(")");
            arms.push(self.list());
            self.blanks();
            let _ended = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            if self.at == before {
                self.fault(Fault::Unexpected);
                self.skip_one();
            }
        }
        Command::Case { subject, arms }
    }

    fn function(&mut self, name: String) -> Command {
        self.lines();
        let body = self.command().unwrap_or(Command::Test(Vec::new()));
        Command::Function {
            name,
            body: Rc::new(body),
        }
    }

    fn test(&mut self) -> Command {
        let mut words = Vec::new();
        loop {
            self.lines();
            if self.peek().is_none() {
                self.fault(Fault::Unfinished);
                break;
            }
            if self.eat_keyword("]]") {
                break;
            }
            match self.word() {
                Some(word) => words.push(word),
                None => self.skip_one(),
            }
        }
        Command::Test(words)
    }

    fn simple(&mut self) -> Option<Command> {
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
    fn is_function(&mut self) -> bool {
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

    /// `name=value` here, where it is one.
    fn assignment(&mut self) -> Option<Assignment> {
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
    fn list_assignment(&mut self) -> Option<Assignment> {
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
                self.fault(Fault::Unfinished);
                break;
            }
            if self.eat(")") {
                break;
            }
            if let Some(word) = self.word() {
                list.push(word);
            } else {
                self.fault(Fault::Unexpected);
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

    fn redirects(&mut self) -> Vec<Redirect> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            match self.redirect() {
                Some(redirect) => all.push(redirect),
                None => return all,
            }
        }
    }

    fn redirect(&mut self) -> Option<Redirect> {
        let before = self.at;
        let rest = self.rest();
        // `2>`, `{name}>`
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let output = digits == 0 || &rest[..digits] == "1";
        if digits > 0 && matches!(rest.as_bytes().get(digits), Some(b'<' | b'>')) {
            self.at += digits;
        } else if rest.starts_with('{')
            && let Some(end) = rest.find('}')
            && rest[1..end]
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && matches!(rest.as_bytes().get(end + 1), Some(b'<' | b'>'))
        {
            self.at += end + 1;
        }
        let kind = if self.starts("<(") || self.starts(">(") {
            self.at = before;
            return None;
        } else if self.eat("<<<") {
            RedirectKind::Text
        } else if self.eat("<<-") {
            return Some(self.heredoc(true));
        } else if self.eat("<<") {
            return Some(self.heredoc(false));
        } else if self.eat("&>>") || self.eat(">>") {
            RedirectKind::Append
        } else if self.eat("&>") || self.eat(">|") {
            RedirectKind::Truncate
        } else if self.eat("<>") {
            RedirectKind::ReadWrite
        } else if self.eat(">&") || self.eat("<&") {
            self.blanks();
            let file = !matches!(self.peek(), Some('0'..='9' | '-' | '$'));
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
            self.fault(Fault::Unfinished);
            Word::default()
        });
        Some(Redirect {
            kind,
            output,
            target: Target::Word(target),
        })
    }

    fn heredoc(&mut self, tabs: bool) -> Redirect {
        self.blanks();
        let before = self.at;
        let end = self.word().unwrap_or_default();
        let raw = &self.text[before..self.at];
        let literal = raw.contains(['\'', '"', '\\']);
        let body = Rc::new(OnceCell::new());
        self.waiting.push(Waiting {
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
            output: false,
            target: Target::Body(body),
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
