//! Values as far as they can be known without running anything.
//!
//! A value is text in which two signs of the private use area replace unknown parts: one for a part
//! that may be empty, one for a part that is not. So a path with an unknown end is still known by
//! its beginning. The source of a value travels with it.

/// Placeholder for text that is not known and may be empty.
pub(crate) const MAYBE: char = '\u{F8F0}';
/// Placeholder for text that is not known but is not empty.
pub(crate) const SOME: char = '\u{F8F1}';

/// Bytes of a value beyond which it is taken for unknown: one that is doubled again and again
/// would soon fill the machine.
pub(crate) const MAX_VALUE: usize = 64 * 1024;
/// Values of a list beyond which it is taken for unknown.
pub(crate) const MAX_VALUES: usize = 1024;

/// The source of a value, as far as that matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// From the network.
    pub(crate) remote: bool,
    /// Out of something that decodes.
    pub(crate) decoded: bool,
    /// Out of a file that keeps keys or passwords.
    pub(crate) secret: bool,
    /// All that such a file holds, and not one value that was picked out of it.
    pub(crate) entire: bool,
    /// The name of a file that such were put into on the way.
    pub(crate) holds: bool,
    /// A list of the files of a tree that nothing was picked out of.
    pub(crate) listed: bool,
    /// Names of tags or of remotes, and none of files.
    pub(crate) refs: bool,
    /// A path that a program names which nothing is known of.
    pub(crate) named: bool,
    /// Numbers of processes that were picked by their user.
    pub(crate) of_user: bool,
    /// Numbers of all processes of a kind that much else runs as.
    pub(crate) of_kind: bool,
    /// Numbers of processes of this program.
    pub(crate) ours: bool,
    /// The number of the process that started another one.
    pub(crate) parent: bool,
    /// The column of a table of processes that holds such numbers, counted from 1; 0 if none does.
    pub(crate) parent_column: u8,
    /// The changes to the tree that are not committed, as a diff.
    pub(crate) changes: bool,
    /// The same with its two sides exchanged.
    pub(crate) undoing: bool,
    /// Names of files that were deleted.
    pub(crate) gone: bool,
    /// The path of a tree that git made earlier in the command, or the number of a container that
    /// was made.
    pub(crate) made: bool,
    /// The unchanged contents of a file that existed before: to run it is to run the file.
    pub(crate) file: bool,
    /// Whether it is a file that was searched for by its name, in some folder below the given one.
    pub(crate) found: bool,
    /// Whether it is one of several things that the same command is run for.
    pub(crate) each: bool,
    /// Whether it means anything in the given folder, at any depth.
    pub(crate) within: bool,
}

impl Source {
    /// Whether it is a list that names of files may stand in.
    fn lists_files(self) -> bool {
        self.listed && !self.refs
    }

    pub(crate) fn join(self, other: Source) -> Source {
        Source {
            remote: self.remote || other.remote,
            decoded: self.decoded || other.decoded,
            secret: self.secret || other.secret,
            entire: self.entire || other.entire,
            holds: self.holds || other.holds,
            listed: self.listed || other.listed,
            // Of a list that has files as well some may be named.
            refs: (self.refs || other.refs) && !self.lists_files() && !other.lists_files(),
            named: self.named || other.named,
            of_user: self.of_user || other.of_user,
            of_kind: self.of_kind || other.of_kind,
            ours: self.ours || other.ours,
            parent: self.parent || other.parent,
            parent_column: self.parent_column.max(other.parent_column),
            changes: self.changes || other.changes,
            undoing: self.undoing || other.undoing,
            gone: self.gone || other.gone,
            made: self.made || other.made,
            file: self.file || other.file,
            found: self.found || other.found,
            each: self.each || other.each,
            within: self.within || other.within,
        }
    }
}

/// A text, in whole or in part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) source: Source,
}

impl Value {
    pub(crate) fn known(text: impl Into<String>) -> Value {
        Value {
            text: text.into(),
            source: Source::default(),
        }
    }

    pub(crate) fn unknown() -> Value {
        Value::known(MAYBE)
    }

    pub(crate) fn filled() -> Value {
        Value::known(SOME)
    }

    pub(crate) fn from(source: Source) -> Value {
        Value {
            text: MAYBE.to_string(),
            source,
        }
    }

    pub(crate) fn is_known(&self) -> bool {
        is_known(&self.text)
    }

    /// Returns the value as a piece that was taken out of its context.
    pub(crate) fn apart(mut self) -> Value {
        self.source.file = false;
        self
    }

    /// Whether a command of the text is not known at all, taken as one for a shell.
    pub(crate) fn hides_a_command(&self) -> bool {
        self.text.split(['\n', ';', '|', '&']).any(|command| {
            let command = command.trim();
            !command.is_empty()
                && command
                    .chars()
                    .all(|c| c.is_whitespace() || matches!(c, MAYBE | SOME))
        })
    }

    pub(crate) fn append(&mut self, other: &Value) {
        push(&mut self.text, &other.text);
        self.source = self.source.join(other.source);
    }
}

/// Adds text, or makes the whole unknown if it becomes too long.
pub(crate) fn push(text: &mut String, more: &str) {
    if text.len() + more.len() > MAX_VALUE {
        text.clear();
        text.push(MAYBE);
    } else {
        text.push_str(more);
    }
}

/// Whether nothing of a text is unknown.
pub(crate) fn is_known(text: &str) -> bool {
    !text.contains([MAYBE, SOME])
}

/// One word of a command that would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arg {
    pub(crate) text: String,
    pub(crate) source: Source,
    /// Whether some of it stood in quotes.
    pub(crate) quoted: bool,
    /// Whether it is a pattern that the shell fills in with names of files.
    pub(crate) glob: bool,
}

impl Arg {
    pub(crate) fn plain(text: impl Into<String>) -> Arg {
        Arg {
            text: text.into(),
            ..Arg::default()
        }
    }

    pub(crate) fn is_known(&self) -> bool {
        is_known(&self.text)
    }

    pub(crate) fn value(&self) -> Value {
        Value {
            text: self.text.clone(),
            source: self.source,
        }
    }
}

/// Words as one line, what is not known shown as `…`.
pub(crate) fn display_words(words: &[Arg]) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        let text = word.text.replace([MAYBE, SOME], "…");
        let plain = !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || "-_=+./:@%^,~*?[]{}!…".contains(c));
        if plain {
            line.push_str(&text);
        } else {
            line.push('\'');
            line.push_str(&text.replace('\'', r"'\''"));
            line.push('\'');
        }
    }
    line
}

/// Joins the sources of words.
pub(super) fn source_of(words: &[Arg]) -> Source {
    words
        .iter()
        .fold(Source::default(), |all, word| all.join(word.source))
}
