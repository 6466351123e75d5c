//! Results of a walk: the commands that would run, and what they would write by redirection.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    setting::Setting,
    value::{Arg, Value},
};
use crate::shell::ParseError;

/// A file that a command writes by a redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) path: String,
    pub(crate) appends: bool,
    /// Whether its name came out of a list of the tree.
    pub(crate) listed: bool,
}

/// One command that would run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    /// Number of other calls that it is nested in.
    pub(crate) depth: usize,
    /// The construct that led to this call.
    pub(crate) via: String,
    /// Its name, without a folder; empty if it is not known.
    pub(crate) name: String,
    /// All its words, the name among them.
    pub(crate) words: Vec<Arg>,
    /// The folder it runs in, if known.
    pub(crate) cwd: Option<String>,
    /// Its input, if something is fed to it.
    pub(crate) input: Option<Value>,
    /// The file that its input comes from, if a redirection names one.
    pub(crate) fed_from: Option<String>,
    /// The text that it takes for commands, if it takes one.
    pub(crate) script: Option<Value>,
    /// The files that its redirections write.
    pub(crate) writes: Vec<Write>,
    /// For git, the settings besides those in files.
    pub(crate) settings: Vec<Setting>,
    /// Whether it runs on another machine or in a container.
    pub(crate) elsewhere: bool,
    /// Whether it runs in a container without a folder of this machine.
    pub(crate) contained: bool,
    /// The path that it moves or copies several things to, one after the other, and that is not known to be a folder.
    pub(crate) collects: Option<String>,
    /// Whether it was only guessed that these words are a command.
    pub(crate) guessed: bool,
    /// The variables of its environment by which it picks a database; of what is not known the text is empty.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// For the client of a service, the service's address in its environment.
    pub(crate) endpoint: Option<String>,
    /// Whether its words are the list of what it would destroy rather than what was written.
    pub(crate) open: bool,
}

impl Call {
    /// The texts of all its words.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

/// Results of a walk.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) calls: Vec<Call>,
    pub(crate) faults: BTreeSet<ParseError>,
    /// Links that are made on the way, and where each leads.
    pub(crate) links: BTreeMap<String, String>,
    /// The folders that a shell goes to, but for those that may be made on the way.
    pub(crate) entered: Vec<String>,
    /// The files that redirections read.
    pub(crate) reads: Vec<String>,
    /// Paths that are moved on the way: the new one, then the old one.
    pub(crate) moves: Vec<(String, String)>,
    /// Programs that are copied or linked on the way, by the path that they are at from then on.
    pub(crate) programs: BTreeMap<String, String>,
}
