//! Parts of a shell text that was read.
//!
//! Words keep their quotes, since a quoted star is a star. Deliberately not here: the expansion of
//! a word, which depends on its place.

use std::{cell::OnceCell, rc::Rc};

/// Commands in the order in which they stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
}

/// One command, simple or made of others.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Assignments, words and redirections.
    Simple(Simple),
    /// Two or more commands, each reading what the one before it writes.
    Pipeline(Vec<Command>),
    /// `{ …; }`, or `( … )` and `… &` where what it changes ends with it.
    Group { body: Script, subshell: bool },
    /// Commands joined by `&&`: none of them runs behind one that fails.
    Chain(Script),
    /// Commands joined by `||`: each runs if the one before it fails.
    Either(Script),
    /// `if`: every part of it, in order.
    Parts(Vec<Script>),
    /// `while`, `until` and `for ((…))`: its test and its body.
    Loop(Vec<Script>),
    /// `for` and `select`; without words it runs over the arguments.
    For {
        variable: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    /// `case`: the examined word, the script of each arm, and whether one of the arms matches
    /// everything.
    Case {
        subject: Word,
        arms: Vec<Script>,
        is_whole: bool,
    },
    /// A function, which runs nothing until it is called.
    Function { name: String, body: Rc<Command> },
    /// `[[ … ]]` and `(( … ))`: nothing runs but what their words hold.
    Test(Vec<Word>),
    /// A compound command with redirections of its own.
    Redirected {
        command: Box<Command>,
        redirects: Vec<Redirect>,
    },
}

/// A simple command as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
}

/// `name=value`, `name+=value` or `name=(values)`.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) adds: bool,
    pub(crate) value: Word,
    pub(crate) list: Option<Vec<Word>>,
}

/// One redirection.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) kind: RedirectKind,
    /// The descriptor, if it is written.
    pub(crate) descriptor: Option<u8>,
    /// The variable that gets its number: `{name}>`.
    pub(crate) name: Option<String>,
    /// Whether it takes what the command writes to its standard output.
    pub(crate) output: bool,
    pub(crate) target: Target,
}

/// Effect of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|` and `&>`: what was in the file is gone.
    Truncate,
    /// `>>` and `&>>`.
    Append,
    /// `<>`
    ReadWrite,
    /// `<&` and `>&` to a descriptor.
    Duplicate,
    /// `<<`, `<<-` and `<<<`.
    Text,
}

/// Target of a redirection.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A file, a descriptor, or the text after `<<<`.
    Word(Word),
    /// The body of a here-document, which is read when its line ends.
    Body(Rc<OnceCell<Word>>),
}

/// One word, in parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

/// A part of a word.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Text with its quotes taken off.
    Text { text: String, quoted: bool },
    /// `$name`, `${name…}`.
    Parameter { parameter: Parameter, quoted: bool },
    /// `$(…)` and backticks.
    Substitution { script: Script, quoted: bool },
    /// `<(…)` and `>(…)`.
    Process {
        script: Script,
        /// Whether it takes what is written, as `>(…)` does.
        takes: bool,
    },
    /// `$((…))`, with the words that run something within.
    Arithmetic(Vec<Word>),
}

/// A parameter and what is done with its value.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) change: Change,
}

/// Change that `${name…}` makes to the value.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Nothing.
    None,
    /// `-`, `:-`, `=` and `:=`: this word if there is no value.
    Default { word: Word, assigns: bool },
    /// `+` and `:+`: this word if there is a value.
    Alternative(Word),
    /// `?` and `:?`: never empty.
    Demand,
    /// `${#name}`
    Length,
    /// `${!name}`
    Indirect,
    /// `#`, `##`, `%` and `%%`.
    Strip {
        pattern: Word,
        front: bool,
        longest: bool,
    },
    /// `/` and `//`.
    Replace {
        pattern: Word,
        with: Word,
        all: bool,
    },
    /// `:offset:length`
    Slice { offset: Word, length: Option<Word> },
    /// `^`, `^^`, `,` and `,,`.
    Case { upper: bool, all: bool },
    /// `@Q` and its like, and any other change.
    Other,
}

impl Script {
    /// Joins the commands from there on to a chain, if there are several.
    pub(super) fn chain(&mut self, from: usize) {
        if self.commands.len() > from + 1 {
            let commands = self.commands.split_off(from);
            self.commands.push(Command::Chain(Script { commands }));
        }
    }

    /// Joins the commands from there on, if there are several; each runs if the one before it
    /// fails.
    pub(super) fn choose(&mut self, from: usize) {
        if self.commands.len() > from + 1 {
            let commands = self.commands.split_off(from);
            self.commands.push(Command::Either(Script { commands }));
        }
    }

    /// Has the commands from there on run in parallel with what follows.
    pub(super) fn put_aside(&mut self, from: usize) {
        let commands = self.commands.split_off(from);
        if !commands.is_empty() {
            self.commands.push(Command::Group {
                body: Script { commands },
                subshell: true,
            });
        }
    }
}

impl Word {
    /// A word of this text, quoted.
    pub(crate) fn quoted(text: &str) -> Word {
        Word {
            parts: vec![Part::Text {
                text: text.to_owned(),
                quoted: true,
            }],
        }
    }

    /// Returns its text, if it is nothing but text.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut whole = String::new();
        for part in &self.parts {
            match part {
                Part::Text { text, .. } => whole.push_str(text),
                _ => return None,
            }
        }
        Some(whole)
    }

    /// Adds text, joined to the text before it where both are quoted alike.
    pub(crate) fn push_text(&mut self, more: &str, quoted: bool) {
        if let Some(Part::Text { text, quoted: same }) = self.parts.last_mut()
            && *same == quoted
        {
            text.push_str(more);
            return;
        }
        self.parts.push(Part::Text {
            text: more.to_owned(),
            quoted,
        });
    }
}
