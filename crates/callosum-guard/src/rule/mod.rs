//! Dangerous commands: rules as data, one file per tool.
//!
//! Start with [`Rule`]. A rule says in [patterns](matcher) which commands it applies to, its
//! severity, its reason, and what serves the same end. It carries commands that it must catch and
//! ones that look alike and must pass; one test checks all of them.
//!
//! To add a rule, add it to the table of its tool, or the tool to [`TOOLS`]. A condition beyond
//! patterns is a test with a name, a function next to the rules that use it.

mod alternative;
mod any_command;
mod app_deploy;
mod backup;
mod chmod;
mod cloud;
mod consent;
mod container;
mod database;
mod delete;
mod deploy;
mod device;
mod disk;
mod dry_run;
mod emulator;
mod forge;
mod git;
mod graph;
mod host_admin;
mod http_stores;
mod key_deletion;
mod kubernetes;
mod matcher;
mod mcp_call;
mod migration;
mod move_mirror;
mod network;
mod other_vcs;
mod package;
mod process;
mod publish;
mod queue;
mod record_keys;
mod redis;
mod release;
mod reset;
mod saas;
mod scale;
mod scratch_name;
mod self_protection;
mod statement;
mod static_site;
mod sudo;
mod system;
mod terraform;
mod test_database;
mod truncate;
mod upload;
mod virtual_machine;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::truncate::can_be_made_again;
pub(crate) use self::{
    alternative::alternatives,
    any_command::{GENERAL, is_opaque},
    dry_run::only_tells,
    emulator::is_emulated,
    git::git_folder,
    matcher::{is_pattern, matches},
};
use crate::{
    analyze::{KnownPrograms, Subject},
    verdict::Decision,
};

/// Limit on the danger that the guard tolerates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strictness {
    /// Only irreversible commands are asked about.
    Minimal,
    /// Irreversible commands are blocked, those that may be irreversible are asked about.
    #[default]
    Balanced,
    /// Commands that are otherwise asked about are blocked, and the seed's patterns hold as text.
    Paranoid,
}

/// Severity of the commands that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Irreversible: minimal asks, the others block.
    Block,
    /// Loses work, or reaches beyond the project: balanced asks, paranoid blocks.
    Ask,
    /// As a rule harmless: only paranoid asks.
    Note,
}

impl Severity {
    /// Returns the decision at a strictness.
    pub fn decision(self, strictness: Strictness) -> Decision {
        match (self, strictness) {
            (Self::Block, Strictness::Minimal)
            | (Self::Ask, Strictness::Balanced)
            | (Self::Note, Strictness::Paranoid) => Decision::Ask,
            (Self::Block, _) | (Self::Ask, Strictness::Paranoid) => Decision::Block,
            (Self::Ask | Self::Note, _) => Decision::Allow,
        }
    }
}

/// One built-in rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    /// Patterns; at least one must hold. See `matcher`.
    pub(crate) when: &'static [&'static str],
    pub(crate) severity: Severity,
    /// The reason, for the agent.
    pub(crate) reason: &'static str,
    /// Commands that serve the same end, or look at what it is about, the best first; see `alternative`.
    pub(crate) alternatives: &'static [&'static str],
    /// Commands that it must catch.
    #[cfg(test)]
    pub(crate) catches: &'static [&'static str],
    /// Commands that look alike and must pass.
    #[cfg(test)]
    pub(crate) spares: &'static [&'static str],
}

/// A test with a name, for what a pattern cannot say.
pub(crate) type Test = (&'static str, fn(&Subject<'_>) -> bool);

/// A tool and the rules for it.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The names it goes by.
    pub(crate) names: &'static [&'static str],
    /// Options that take the next word.
    pub(crate) takes: &'static str,
    /// Whether long options begin with one dash.
    pub(crate) one_dash: bool,
    pub(crate) tests: &'static [Test],
    pub(crate) rules: &'static [Rule],
}

/// Every tool that has rules.
pub(crate) const TOOLS: &[&[Tool]] = &[
    git::TOOLS,
    graph::TOOLS,
    other_vcs::TOOLS,
    delete::TOOLS,
    move_mirror::TOOLS,
    self_protection::TOOLS,
    chmod::TOOLS,
    sudo::TOOLS,
    container::TOOLS,
    disk::TOOLS,
    process::TOOLS,
    system::TOOLS,
    host_admin::TOOLS,
    package::TOOLS,
    publish::TOOLS,
    release::TOOLS,
    static_site::TOOLS,
    forge::TOOLS,
    terraform::TOOLS,
    cloud::TOOLS,
    database::TOOLS,
    redis::TOOLS,
    migration::TOOLS,
    consent::TOOLS,
    kubernetes::TOOLS,
    network::TOOLS,
    upload::TOOLS,
    key_deletion::TOOLS,
    virtual_machine::TOOLS,
    device::TOOLS,
    backup::TOOLS,
    queue::TOOLS,
    saas::TOOLS,
    mcp_call::TOOLS,
    http_stores::TOOLS,
    scale::TOOLS,
    deploy::TOOLS,
    app_deploy::TOOLS,
];

/// The programs that have rules, for the analysis of a command.
pub(crate) const KNOWN_PROGRAMS: KnownPrograms = KnownPrograms::new(&NAMES);

/// The names of all tools, one behind the other. A hook makes one decision, so they are put there at compile time.
static NAMES: [&str; name_count()] = {
    let mut names = [""; name_count()];
    let (mut file, mut at) = (0, 0);
    while file < TOOLS.len() {
        let mut tool = 0;
        while tool < TOOLS[file].len() {
            let mut name = 0;
            while name < TOOLS[file][tool].names.len() {
                names[at] = TOOLS[file][tool].names[name];
                (name, at) = (name + 1, at + 1);
            }
            tool += 1;
        }
        file += 1;
    }
    names
};

const fn name_count() -> usize {
    let (mut file, mut count) = (0, 0);
    while file < TOOLS.len() {
        let mut tool = 0;
        while tool < TOOLS[file].len() {
            count += TOOLS[file][tool].names.len();
            tool += 1;
        }
        file += 1;
    }
    count
}

/// The tools of this name.
pub(crate) fn tools(name: &str) -> impl Iterator<Item = &'static Tool> {
    TOOLS
        .iter()
        .flat_map(|tools| tools.iter())
        .filter(move |tool| tool.names.contains(&name))
}

/// Whether a built-in rule has this name.
pub(crate) fn is_ours(id: &str) -> bool {
    TOOLS
        .iter()
        .flat_map(|tools| tools.iter())
        .chain([&GENERAL])
        .flat_map(|tool| tool.rules)
        .any(|rule| rule.id == id)
}
