//! [`auto_allow`]: decides whether a command line may run without the client's own prompt.
//!
//! Start with [`auto_allow`]. It is stricter than [`decide`](crate::decide), which looks for what
//! is dangerous: here each command of the line must be one that is known to be harmless. `table`
//! has the built-in programs with the options that are known of each, `git` those of git, `path`
//! the files that may be read and written, [`preset`] lists of programs that a person can add at
//! once. Anything unknown is refused, and the client prompts as usual.
//!
//! Not here: the switch, the user's list, and the answer to a client.

mod git;
mod path;
pub mod preset;
mod program;
mod script;
mod table;
mod words;

use crate::{
    analyze::{
        self,
        value::{Arg, MAYBE, SOME},
    },
    decide::decide,
    facts::Facts,
    permission::Permission,
    policy::Policy,
    rule::{self, GENERAL},
    shell::{
        self, Budget,
        tree::{Command, Part, Redirect, RedirectKind, Script, Simple, Target},
    },
    verdict::Decision,
};

/// Most bytes of a command line. Longer ones are rarely looked at by a person either, and go to the client's prompt.
const LONGEST: usize = 16 * 1024;

/// Most folders that a command of a line may run in, one for each way that the line can take.
const MOST_FOLDERS: usize = 8;

/// The files on disk, as far as a decision needs them. Paths are absolute.
pub trait Tree {
    /// Returns the target of a path with all links followed. A path that does not exist leads from
    /// its deepest existing folder on. `None` if that is not certain, as for a link to nothing.
    fn real(&self, path: &str) -> Option<String>;

    /// Returns whether a file, a folder or something else is at a path, links followed. `None` if nothing is.
    fn kind(&self, path: &str) -> Option<Kind>;

    /// Returns the names in a folder, each with whether it is itself a folder. `None` if the folder cannot be read.
    fn names(&self, folder: &str) -> Option<Vec<(String, bool)>>;

    /// Returns the text of a small file. `None` if it cannot be read or is larger than 256 KiB.
    fn text(&self, path: &str) -> Option<String>;
}

/// Kind of the entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Other,
}

/// Reason to leave a command line to the client's own prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllowRefusal {
    /// The guard asks or blocks.
    #[error("the guard does not allow it")]
    Verdict,
    /// The guard did not understand all of it, or it runs on another machine or in a container.
    #[error("the guard does not understand the whole command")]
    NotUnderstood,
    /// There is no project, or it is the home folder or holds it.
    #[error("it does not run in a project")]
    NoProject,
    /// A form of the shell's that is never allowed.
    #[error("{0} is never auto-allowed")]
    Syntax(&'static str),
    /// A variable that may change what a program does.
    #[error("the variable `{0}` may change what a program does")]
    Variable(String),
    /// A program that is neither built in nor listed.
    #[error("`{0}` is not on the list")]
    Program(String),
    /// An option or operand of a built-in program that is not known to be harmless.
    #[error("`{program}` with `{word}` is not known to be harmless")]
    Word {
        /// The program.
        program: String,
        /// The word.
        word: String,
    },
    /// A file that is not read or not written without asking.
    #[error("`{path}` {reason}")]
    Path {
        /// The path as written.
        path: String,
        /// The reason.
        reason: &'static str,
    },
}

/// Decides whether a command line may run without the client's own prompt: `Ok` if it was understood completely, the guard
/// allows it, and each of its commands only reads, writes only what is harmless inside the project, or is on the user's
/// list.
///
/// Costs as much as [`decide`] and a few system calls for each path that the line names.
pub fn auto_allow(
    command: &str,
    facts: &Facts,
    policy: &Policy,
    listed: &[Permission],
    tree: &dyn Tree,
) -> Result<(), AllowRefusal> {
    // bash and fish disagree on the end of a quote with `\'` in it, and the reader skips `coproc`.
    let is_read_alike = !command.contains("\\'") && !command.contains("coproc");
    if command.len() > LONGEST || !command.chars().all(is_plain) || !is_read_alike {
        return Err(AllowRefusal::NotUnderstood);
    }
    let (Some(root), Some(cwd)) = (facts.root.as_deref(), facts.cwd.as_deref()) else {
        return Err(AllowRefusal::NoProject);
    };
    let home = facts.home.as_deref().unwrap_or("/");
    if crate::path::is_within(home, root) {
        return Err(AllowRefusal::NoProject);
    }
    let mut budget = Budget { bytes: LONGEST * 4 };
    let (script, faults) = shell::read(command, 0, &mut budget);
    if !faults.is_empty() {
        return Err(AllowRefusal::NotUnderstood);
    }
    let line = Line {
        facts,
        policy,
        listed,
        tree,
        root,
    };
    let mut folders = vec![cwd.to_owned()];
    let around = Around {
        may_enter: true,
        is_fed: false,
    };
    for command in &script.commands {
        line.command(command, around, &mut folders)?;
    }
    // Last, since it costs the most.
    let verdict = decide(command, facts, policy);
    if verdict.decision != Decision::Allow || verdict.rule.is_some() {
        return Err(AllowRefusal::Verdict);
    }
    let found = analyze::unwrap(command, facts, rule::KNOWN_PROGRAMS);
    // A listed program may run a file that the guard has not read; that is what its user trusts.
    let mut is_trusted = false;
    let mut is_strange = |call: &analyze::Call| {
        if call.depth == 0 {
            is_trusted = line.is_listed(&call.words);
        }
        let is_opaque = || rule::is_opaque(&GENERAL.read(call, facts));
        call.elsewhere || call.contained || !is_trusted && (call.guessed || is_opaque())
    };
    if !found.faults.is_empty() || found.calls.iter().any(&mut is_strange) {
        return Err(AllowRefusal::NotUnderstood);
    }
    Ok(())
}

/// Returns whether a pattern may be on the list: the program must not be one that runs the words that follow, since
/// these would then run unseen. A shell may be listed with a script.
pub fn may_be_listed(pattern: &Permission) -> bool {
    is_listable(pattern.words())
}

fn is_listable(words: &[String]) -> bool {
    let name = words.first().map_or("", String::as_str);
    let name = crate::path::name(name);
    if table::RUNNERS.contains(&name) {
        return false;
    }
    let script = words.get(1).map_or("", String::as_str);
    let has_script = !script.is_empty() && !script.starts_with('-') && !script.contains('*');
    !table::SHELLS.contains(&name) || has_script
}

/// Returns whether a character means the same to all shells. The guard's own signs for unknown text are not among them.
fn is_plain(letter: char) -> bool {
    match letter {
        '\n' | '\t' | ' ' => true,
        MAYBE | SOME => false,
        _ => !letter.is_control() && !letter.is_whitespace(),
    }
}

/// Context of a command.
#[derive(Clone, Copy, Debug)]
struct Around {
    /// Whether a `cd` holds for what follows it, and is known to have run.
    may_enter: bool,
    /// Whether something is piped into it.
    is_fed: bool,
}

/// A command line that is looked at.
struct Line<'a> {
    facts: &'a Facts,
    policy: &'a Policy,
    listed: &'a [Permission],
    tree: &'a dyn Tree,
    root: &'a str,
}

impl Line<'_> {
    /// Checks one command. `folders` are those that it may run in, and afterwards those that the next one may run in.
    fn command(
        &self,
        command: &Command,
        around: Around,
        folders: &mut Vec<String>,
    ) -> Result<(), AllowRefusal> {
        match command {
            Command::Simple(simple) => self.simple(simple, around, folders),
            Command::Pipeline(commands) => {
                for (at, command) in commands.iter().enumerate() {
                    let around = Around {
                        // zsh runs the last one in its own shell, bash does not.
                        may_enter: false,
                        is_fed: around.is_fed || at > 0,
                    };
                    self.command(command, around, folders)?;
                }
                Ok(())
            }
            Command::Chain(script) => self.chain(script, around, folders),
            Command::Either(script) => {
                for command in &script.commands {
                    let around = Around {
                        may_enter: false,
                        ..around
                    };
                    self.command(command, around, folders)?;
                }
                Ok(())
            }
            Command::Group { .. } => Err(AllowRefusal::Syntax("a group or a background command")),
            Command::Parts(_) | Command::Loop(_) | Command::For { .. } | Command::Case { .. } => {
                Err(AllowRefusal::Syntax("a compound command"))
            }
            Command::Function { .. } => Err(AllowRefusal::Syntax("a function")),
            Command::Test(_) => Err(AllowRefusal::Syntax("a test in double brackets")),
            Command::Redirected { .. } => Err(AllowRefusal::Syntax("a compound command")),
        }
    }

    /// Checks commands joined by `&&`. What comes after them may run behind any of them that failed.
    fn chain(
        &self,
        script: &Script,
        around: Around,
        folders: &mut Vec<String>,
    ) -> Result<(), AllowRefusal> {
        let mut after: Vec<String> = Vec::new();
        for command in &script.commands {
            self.command(command, around, folders)?;
            // The folder that a `cd` goes to exists, so it does not fail.
            if !is_enter(command) {
                after.extend(folders.iter().cloned());
            }
        }
        folders.extend(after);
        folders.sort_unstable();
        folders.dedup();
        if folders.len() > MOST_FOLDERS {
            return Err(AllowRefusal::NotUnderstood);
        }
        Ok(())
    }

    fn simple(
        &self,
        simple: &Simple,
        around: Around,
        folders: &mut Vec<String>,
    ) -> Result<(), AllowRefusal> {
        for assignment in &simple.assignments {
            let is_literal = assignment.list.is_none()
                && !assignment.adds
                && words::text(&assignment.value).is_ok();
            if !is_literal || !words::is_harmless(&assignment.name) {
                return Err(AllowRefusal::Variable(assignment.name.clone()));
            }
        }
        let mut is_fed = around.is_fed;
        for redirect in &simple.redirects {
            is_fed |= self.redirect(redirect, folders)?;
        }
        if simple.words.is_empty() {
            return Ok(());
        }
        if let Some(script) = echoed(&simple.words) {
            // `echo "$(date)"`: the output is text, of any content, if the command that prints it
            // is allowed.
            for script in script {
                let around = Around {
                    may_enter: false,
                    is_fed: false,
                };
                for command in &script.commands {
                    self.command(command, around, &mut folders.clone())?;
                }
            }
            return Ok(());
        }
        let words = self.expand(&simple.words, folders)?;
        let Some(name) = words.first().cloned() else {
            return Err(AllowRefusal::NotUnderstood);
        };
        let is_bare = simple.words.first().is_some_and(words::is_bare);
        let built_in = if !is_bare {
            Err(AllowRefusal::Program(name.clone()))
        } else if name == "cd" {
            self.enter(&words, around, folders)
        } else {
            self.built_in(&words, is_fed, folders)
        };
        let Err(refusal) = built_in else {
            return Ok(());
        };
        let args: Vec<Arg> = words.iter().map(Arg::plain).collect();
        let is_listed = self.is_listed(&args);
        let takes_code = is_fed && table::takes_code(&name);
        let may_run_data = words.iter().any(|word| path::is_data(word));
        if !is_listed || !is_bare || takes_code || may_run_data {
            return Err(refusal);
        }
        // A listed program runs inside the project, and nowhere else.
        for folder in folders.iter() {
            path::inside(self, ".", folder)?;
        }
        Ok(())
    }

    /// Returns whether one of the user's patterns is for these words.
    fn is_listed(&self, words: &[Arg]) -> bool {
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let mut listed = self.listed.iter();
        is_listable(&texts) && listed.any(|pattern| may_be_listed(pattern) && pattern.covers(words))
    }

    /// Goes to a folder of the project that exists.
    fn enter(
        &self,
        words: &[String],
        around: Around,
        folders: &mut Vec<String>,
    ) -> Result<(), AllowRefusal> {
        let [_, folder] = words else {
            return Err(refused_word(words, words.get(1)));
        };
        if !around.may_enter || folder.starts_with('-') || folder.is_empty() {
            return Err(refused_word(words, Some(folder)));
        }
        for from in folders.iter_mut() {
            let real = path::inside(self, folder, from)?;
            if self.tree.kind(&real) != Some(Kind::Folder) {
                return Err(AllowRefusal::Path {
                    path: folder.clone(),
                    reason: "is not a folder",
                });
            }
            *from = real;
        }
        folders.dedup();
        Ok(())
    }

    /// Checks a redirection; whether it feeds something to the command.
    fn redirect(&self, redirect: &Redirect, folders: &[String]) -> Result<bool, AllowRefusal> {
        if redirect.name.is_some() {
            return Err(AllowRefusal::Syntax("a named descriptor"));
        }
        let word = match &redirect.target {
            Target::Word(word) => word,
            // A body without expansions is text.
            Target::Body(body) => {
                let literal = body.get().and_then(shell::tree::Word::literal);
                return match literal {
                    Some(_) => Ok(true),
                    None => Err(AllowRefusal::Syntax("an expansion in a here-document")),
                };
            }
        };
        let text = words::text(word)?;
        if text.contains(['*', '?', '[']) {
            return Err(AllowRefusal::Syntax(
                "a pattern as the target of a redirection",
            ));
        }
        match redirect.kind {
            RedirectKind::Text => Ok(true),
            RedirectKind::Duplicate => {
                let is_descriptor = text == "-" || text.chars().all(|c| c.is_ascii_digit());
                if is_descriptor && !text.is_empty() {
                    Ok(false)
                } else {
                    Err(AllowRefusal::Syntax("a redirection to an unknown target"))
                }
            }
            RedirectKind::Read => {
                for folder in folders {
                    path::read(self, &text, folder)?;
                }
                Ok(true)
            }
            RedirectKind::Truncate | RedirectKind::Append if text == "/dev/null" => Ok(false),
            RedirectKind::Truncate | RedirectKind::Append => {
                for folder in folders {
                    path::write(self, &text, folder)?;
                }
                Ok(false)
            }
            RedirectKind::ReadWrite => Err(AllowRefusal::Syntax("a file opened to read and write")),
        }
    }
}

/// Returns whether a command is a `cd`.
fn is_enter(command: &Command) -> bool {
    let Command::Simple(simple) = command else {
        return false;
    };
    let first = simple.words.first().and_then(shell::tree::Word::literal);
    first.as_deref() == Some("cd")
}

/// Returns the substitutions in the words of an `echo`, if these are all that is to be expanded. `None` for any other
/// command, and for an `echo` of plain words.
fn echoed(words: &[shell::tree::Word]) -> Option<Vec<&Script>> {
    let (name, rest) = words.split_first()?;
    if name.literal().as_deref() != Some("echo") {
        return None;
    }
    let mut scripts = Vec::new();
    for part in rest.iter().flat_map(|word| &word.parts) {
        match part {
            Part::Text { quoted: true, .. } => {}
            Part::Text { text, .. } if !text.contains(['*', '?', '[', '{', '~', '(', '=']) => {}
            Part::Substitution {
                script,
                quoted: true,
            } => scripts.push(script),
            Part::Parameter { parameter, .. } if words::is_status(parameter) => {}
            _ => return None,
        }
    }
    (!scripts.is_empty()).then_some(scripts)
}

/// The refusal of a command for one of its words.
fn refused_word(words: &[String], word: Option<&String>) -> AllowRefusal {
    AllowRefusal::Word {
        program: words.first().cloned().unwrap_or_default(),
        word: word.cloned().unwrap_or_default(),
    }
}
