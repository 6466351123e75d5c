//! Words: quotes, expansions, substitutions.
//!
//! Quotes come off here, and each part remembers whether it was in them. Braces, tildes and globs
//! stay in the text: `expand` works out their values.

use super::{
    ansi,
    reader::{ParseError, Reader},
    tree::{Change, Parameter, Part, Script, Word},
};

/// Limit on the search for the end of an arithmetic expression or a pattern, in bytes.
const MAX_BALANCED: usize = 4_096;

/// Characters that end a word outside of quotes.
const METACHARACTERS: &str = " \t\r\n;&|<>()";

impl Reader<'_> {
    /// Reads the word that begins here, if there is one.
    pub(super) fn word(&mut self) -> Option<Word> {
        self.word_until("")
    }

    /// A word that also ends before one of these.
    fn word_until(&mut self, ends: &str) -> Option<Word> {
        let mut word = Word::default();
        let before = self.at;
        while let Some(next) = self.peek() {
            if ends.contains(next) {
                break;
            }
            if self.starts("<(") || self.starts(">(") {
                let takes = next == '>';
                self.at += 2;
                let script = self.nested();
                word.parts.push(Part::Process { script, takes });
                continue;
            }
            if METACHARACTERS.contains(next) {
                // `?(a|b)` and its like are patterns.
                let extended = next == '('
                    && self.at > before
                    && matches!(
                        self.text.as_bytes()[self.at - 1],
                        b'?' | b'*' | b'+' | b'@' | b'!'
                    );
                if extended && let Some(end) = self.balanced(self.at) {
                    word.push_text(&self.text[self.at..=end], false);
                    self.at = end + 1;
                    continue;
                }
                if ends.is_empty() || next == '\n' && !ends.contains('}') {
                    break;
                }
            }
            self.part(&mut word, false);
        }
        (self.at > before).then_some(word)
    }

    /// Adds what begins here to the word.
    fn part(&mut self, word: &mut Word, in_quotes: bool) {
        let Some(next) = self.peek() else { return };
        match next {
            '\\' => {
                self.at += 1;
                match self.peek() {
                    Some('\n') => self.at += 1,
                    Some(escaped) => {
                        if in_quotes && !matches!(escaped, '$' | '`' | '"' | '\\') {
                            word.push_text("\\", true);
                        }
                        let mut buffer = [0; 4];
                        word.push_text(escaped.encode_utf8(&mut buffer), true);
                        self.skip_one();
                    }
                    None => word.push_text("\\", true),
                }
            }
            '\'' if !in_quotes => {
                self.at += 1;
                let end = self.rest().find('\'').unwrap_or_else(|| {
                    self.fault(ParseError::Unfinished);
                    self.rest().len()
                });
                let text = self.text[self.at..self.at + end].to_owned();
                word.push_text(&text, true);
                self.at = (self.at + end + 1).min(self.text.len());
            }
            '"' if !in_quotes => {
                self.at += 1;
                word.push_text("", true);
                let mut inner = self.quoted_until(Some('"'));
                word.parts.append(&mut inner.parts);
            }
            '`' => {
                let script = self.backticks(in_quotes);
                word.parts.push(Part::Substitution {
                    script,
                    quoted: in_quotes,
                });
            }
            '$' => self.dollar(word, in_quotes),
            _ => {
                // The longest run of plain characters at once.
                let rest = self.rest();
                let plain = if in_quotes {
                    rest.find(['\\', '"', '`', '$'])
                } else {
                    rest.find(|c: char| {
                        METACHARACTERS.contains(c)
                            || matches!(c, '\\' | '\'' | '"' | '`' | '$' | '}' | '/' | ':')
                    })
                };
                let length = plain.unwrap_or(rest.len()).max(next.len_utf8());
                let text = self.text[self.at..self.at + length].to_owned();
                word.push_text(&text, in_quotes);
                self.at += length;
            }
        }
    }

    /// Text as within double quotes, up to this sign or to the end.
    pub(super) fn quoted_until(&mut self, end: Option<char>) -> Word {
        let mut word = Word::default();
        if !self.deeper() {
            return word;
        }
        loop {
            let Some(next) = self.peek() else {
                if end.is_some() {
                    self.fault(ParseError::Unfinished);
                }
                break;
            };
            if Some(next) == end {
                self.at += next.len_utf8();
                break;
            }
            if next == '"' {
                // A quote in a here-document is a character like others.
                word.push_text("\"", true);
                self.at += 1;
                continue;
            }
            self.part(&mut word, true);
        }
        self.depth -= 1;
        word
    }

    /// Commands up to the parenthesis that closes them.
    fn nested(&mut self) -> Script {
        if !self.deeper() {
            return Script::default();
        }
        let mut script = self.list();
        while self.peek().is_some() && !self.starts(")") {
            self.fault(ParseError::Unexpected);
            self.skip_one();
            script.commands.append(&mut self.list().commands);
        }
        if !self.eat(")") {
            self.fault(ParseError::Unfinished);
        }
        self.depth = self.depth.saturating_sub(1);
        script
    }

    fn backticks(&mut self, in_quotes: bool) -> Script {
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(next) = self.peek() else {
                self.fault(ParseError::Unfinished);
                break;
            };
            self.skip_one();
            match next {
                '`' => break,
                '\\' => match self.peek() {
                    Some(escaped)
                        if matches!(escaped, '`' | '\\' | '$') || in_quotes && escaped == '"' =>
                    {
                        text.push(escaped);
                        self.skip_one();
                    }
                    _ => text.push('\\'),
                },
                other => text.push(other),
            }
        }
        self.within(&text, |reader| {
            let mut script = reader.list();
            while reader.peek().is_some() {
                reader.fault(ParseError::Unexpected);
                reader.skip_one();
                script.commands.append(&mut reader.list().commands);
            }
            script
        })
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) {
        if self.starts("$((")
            && let Some(end) = self.arithmetic_end(3)
        {
            let text = self.text[self.at + 3..end].to_owned();
            self.at = end + 2;
            let inner = self.within(&text, |reader| reader.quoted_until(None));
            word.parts.push(Part::Arithmetic(vec![inner]));
            return;
        }
        if self.eat("$(") {
            let script = self.nested();
            word.parts.push(Part::Substitution { script, quoted });
            return;
        }
        if self.starts("$[")
            && let Some(end) = self.rest().find(']')
        {
            self.at += end + 1;
            word.parts.push(Part::Arithmetic(Vec::new()));
            return;
        }
        if !quoted && self.starts("$'") {
            self.at += 2;
            let start = self.at;
            while let Some(next) = self.peek() {
                if next == '\'' {
                    break;
                }
                self.skip_one();
                if next == '\\' {
                    self.skip_one();
                }
            }
            let text = ansi::decode(&self.text[start..self.at]);
            word.push_text(&text, true);
            if !self.eat("'") {
                self.fault(ParseError::Unfinished);
            }
            return;
        }
        if !quoted && self.starts("$\"") {
            self.at += 1;
            return;
        }
        if self.eat("${") {
            if !self.deeper() {
                return;
            }
            let parameter = self.parameter();
            self.depth = self.depth.saturating_sub(1);
            word.parts.push(Part::Parameter { parameter, quoted });
            return;
        }
        self.at += 1;
        let rest = self.rest();
        let length = match rest.bytes().next() {
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => 1,
            Some(b) if b.is_ascii_alphabetic() || b == b'_' => rest
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
                .count(),
            _ => {
                word.push_text("$", quoted);
                return;
            }
        };
        let parameter = Parameter {
            name: rest[..length].to_owned(),
            change: Change::None,
        };
        self.at += length;
        word.parts.push(Part::Parameter { parameter, quoted });
    }

    /// Reads the text between `${` and `}`.
    fn parameter(&mut self) -> Parameter {
        let mut change = Change::None;
        if self.starts("#") && !self.starts("#}") {
            self.at += 1;
            change = Change::Length;
        } else if self.starts("!") && !self.starts("!}") {
            self.at += 1;
            change = Change::Indirect;
        }
        let rest = self.rest();
        let mut length = rest
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        if length == 0 {
            length = usize::from(matches!(
                rest.bytes().next(),
                Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-')
            ));
        }
        let mut name = rest[..length].to_owned();
        self.at += length;
        if self.starts("[")
            && let Some(end) = self.rest().find(']')
        {
            name.push_str(&self.rest()[..=end]);
            self.at += end + 1;
        }
        let changed = self.change();
        if matches!(change, Change::None) {
            change = changed;
        }
        // The rest belongs to it.
        while let Some(next) = self.peek() {
            if next == '}' {
                break;
            }
            self.part(&mut Word::default(), false);
        }
        if !self.eat("}") {
            self.fault(ParseError::Unfinished);
        }
        Parameter { name, change }
    }

    fn change(&mut self) -> Change {
        for (sign, assigns) in [(":-", false), (":=", true), ("-", false), ("=", true)] {
            if self.eat(sign) {
                let word = self.operand("}");
                return Change::Default { word, assigns };
            }
        }
        if self.eat(":+") || self.eat("+") {
            return Change::Alternative(self.operand("}"));
        }
        if self.eat(":?") || self.eat("?") {
            self.operand("}");
            return Change::Demand;
        }
        for (sign, front, longest) in [
            ("##", true, true),
            ("#", true, false),
            ("%%", false, true),
            ("%", false, false),
        ] {
            if self.eat(sign) {
                let pattern = self.operand("}");
                return Change::Strip {
                    pattern,
                    front,
                    longest,
                };
            }
        }
        if self.eat("/") {
            let all = self.eat("/");
            let pattern = self.operand("}/");
            let with = if self.eat("/") {
                self.operand("}")
            } else {
                Word::default()
            };
            return Change::Replace { pattern, with, all };
        }
        if self.eat(":") {
            let offset = self.operand("}:");
            let length = self.eat(":").then(|| self.operand("}"));
            return Change::Slice { offset, length };
        }
        for (sign, upper) in [("^", true), (",", false)] {
            if self.eat(sign) {
                let all = self.eat(sign);
                return Change::Case { upper, all };
            }
        }
        if self.starts("}") || self.peek().is_none() {
            Change::None
        } else {
            Change::Other
        }
    }

    fn operand(&mut self, ends: &str) -> Word {
        if !self.deeper() {
            return Word::default();
        }
        let word = self.word_until(ends).unwrap_or_default();
        self.depth -= 1;
        word
    }

    /// Returns the position of the `))` that ends what begins `skip` bytes from here.
    pub(super) fn arithmetic_end(&self, skip: usize) -> Option<usize> {
        let open = self.at + skip - 1;
        let end = self.balanced(open)?;
        (self.text.as_bytes().get(end + 1) == Some(&b')')).then_some(end)
    }

    /// The parenthesis that closes the one at `open`.
    fn balanced(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        let mut quote = None;
        let bytes = self.text.as_bytes();
        let mut at = open;
        while let Some(&byte) = bytes.get(at).filter(|_| at - open <= MAX_BALANCED) {
            match (quote, byte) {
                (_, b'\\') => at += 1,
                (Some(open), close) if open == close => quote = None,
                (None, b'\'' | b'"') => quote = Some(byte),
                (None, b'(') => depth += 1,
                (None, b')') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }
}
