//! Commands that begin with a word or sign of the grammar: `if`, `for`, `case`, `{`, `(`, `[[`.

use std::rc::Rc;

use super::{
    reader::{ParseError, Reader},
    tree::{Command, Script},
};

impl Reader<'_> {
    /// A command that begins with a word or sign of the grammar.
    pub(super) fn compound(&mut self) -> Option<Command> {
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
                    self.fault(ParseError::Unfinished);
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
                Some(Command::Loop(vec![test, body]))
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
            self.fault(ParseError::Unfinished);
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
            return Command::Loop(vec![
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
        let mut is_whole = false;
        loop {
            self.lines();
            if self.peek().is_none() || self.eat_keyword("esac") {
                break;
            }
            let before = self.at;
            self.eat("(");
            loop {
                self.blanks();
                let from = self.at;
                let _pattern = self.word();
                is_whole |= &self.text[from..self.at] == "*";
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
                self.fault(ParseError::Unexpected);
                self.skip_one();
            }
        }
        Command::Case {
            subject,
            arms,
            is_whole,
        }
    }

    pub(super) fn function(&mut self, name: String) -> Command {
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
                self.fault(ParseError::Unfinished);
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
}
