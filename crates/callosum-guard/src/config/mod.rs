//! `cake_config.yaml`: strictness of the guard, and all other settings that the seed lets people
//! change.
//!
//! Start with [`Config::parse`]. A value out of its range is an error that lists the allowed ones;
//! an unknown key is reported and ignored. [`Config::tightened_by`] puts a project's file under the
//! user's own: it may make the guard stricter and nothing else.
//!
//! Deliberately not here: finding and reading the files. Form: `docs/formats/cake-config.md`.

mod proof;
mod read;

#[cfg(test)]
mod tests;

pub use self::read::{ConfigError, LONGEST, Problem, Read};

use std::collections::BTreeMap;

use crate::{
    permission::Permission,
    policy::{Policy, UserRule},
    rule::Strictness,
    verdict::Decision,
};

/// Settings of a `cake_config.yaml` (Seed CAKE §6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Limit on the danger that the guard tolerates.
    pub strictness: Strictness,
    /// Consequences if an agent ignores interventions.
    pub escalation: Escalation,
    /// Resource limits of the guard.
    pub performance: Performance,
    /// Whether to confirm and to record.
    pub safety: Safety,
    /// Store of remembered errors.
    pub database: Database,
    /// Level and destination of the log.
    pub logging: Logging,
    /// Retention and size limit of snapshots.
    pub snapshot: Snapshot,
    /// Whether an agent may discard its own changes in a linked worktree that its client made for it.
    pub relaxed_worktrees: bool,
    /// When an agent that hits an error gets a message.
    pub interventions: Interventions,
    /// Errors to look for in tool output besides the built-in ones.
    pub patterns: Vec<ErrorPattern>,
    /// Rules besides the built-in ones.
    pub rules: Vec<UserRule>,
}

/// When an agent that hits an error gets a message (Seed CAKE §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interventions {
    /// The errors that get one.
    pub mode: InterventionMode,
    /// Percent of confidence that a severe error must exceed; 0 to 100.
    pub min_confidence_percent: u8,
    /// Occurrences of a failed test or lint error before it gets one; 1 to 100.
    pub medium_repeats: u8,
}

/// The errors that get a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterventionMode {
    /// Errors that come back, and errors with a known fix.
    #[default]
    Repeat,
    /// Each error that the seed's rules name.
    All,
    /// None. Errors are not recorded either.
    Off,
}

/// An error to look for in tool output (Seed CAKE §2, `add_pattern`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorPattern {
    /// A regular expression over one line.
    pub pattern: String,
    /// The type of the error.
    pub error_type: String,
}

/// Consequences if an agent ignores interventions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalation {
    /// Number of interventions after which a person is notified; 1 to 10.
    pub max_strikes: u8,
    /// Minutes between two interventions over the same; 1 to 60.
    pub cooldown_minutes: u8,
    /// Address that a notification of a person is posted to; `None` if none is.
    pub webhook: Option<String>,
    /// Whether a person is notified on the desktop.
    pub desktop: bool,
}

/// Resource limits of the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performance {
    /// Milliseconds for an intervention; 50 to 1000.
    pub max_latency_ms: u16,
    /// Mebibytes of memory; 512 to 4096.
    pub max_memory_mb: u16,
}

/// Whether to confirm and to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Safety {
    /// Whether a person is asked about every command that the guard would allow by itself.
    pub require_confirmation: bool,
    /// Whether commands that are allowed are recorded too.
    pub audit_all_commands: bool,
    /// Whether the user's auto-allow may hold. It turns nothing on.
    pub auto_allow: bool,
    /// Whether a refused command is replaced by a careful form of the same command.
    pub rewrite: bool,
}

/// Store of remembered errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// The file, if it is not in the machine's state folder; the reader replaces `~`.
    pub path: Option<String>,
    /// Hours after which an error is forgotten.
    pub ttl_hours: u32,
}

/// Level and destination of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logging {
    /// `DEBUG`, `INFO`, `WARNING` or `ERROR`.
    pub level: String,
    /// The file; `~` is for the reader to replace. `None` if the machine's state folder has it.
    pub file: Option<String>,
    /// Mebibytes after which another file is begun.
    pub max_size_mb: u32,
}

/// Retention and size limit of snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Hours.
    pub retention_hours: u32,
    /// Gibibytes of all together.
    pub max_size_gb: u32,
}

impl Default for Config {
    /// The values that the seed shows.
    fn default() -> Self {
        Self {
            strictness: Strictness::Balanced,
            escalation: Escalation {
                max_strikes: 4,
                cooldown_minutes: 5,
                webhook: None,
                desktop: false,
            },
            performance: Performance {
                max_latency_ms: 300,
                max_memory_mb: 1_024,
            },
            safety: Safety {
                require_confirmation: false,
                audit_all_commands: true,
                auto_allow: true,
                rewrite: false,
            },
            database: Database {
                path: None,
                ttl_hours: 24,
            },
            logging: Logging {
                level: "INFO".to_owned(),
                file: None,
                max_size_mb: 100,
            },
            snapshot: Snapshot {
                retention_hours: 72,
                max_size_gb: 1,
            },
            relaxed_worktrees: false,
            interventions: Interventions {
                mode: InterventionMode::Repeat,
                min_confidence_percent: 80,
                medium_repeats: 3,
            },
            patterns: Vec::new(),
            rules: Vec::new(),
        }
    }
}

impl Config {
    /// Puts a project's file under this one, which is the user's.
    ///
    /// The stricter of both counts, rules are added, what is kept is kept longer. Where files lie
    /// and whom to tell stays as the user has it: a repository is not asked.
    #[must_use]
    pub fn tightened_by(mut self, project: &Config) -> Config {
        self.strictness = self.strictness.max(project.strictness);
        let escalation = &mut self.escalation;
        escalation.max_strikes = escalation.max_strikes.min(project.escalation.max_strikes);
        escalation.cooldown_minutes = escalation
            .cooldown_minutes
            .min(project.escalation.cooldown_minutes);
        self.safety.require_confirmation |= project.safety.require_confirmation;
        self.safety.audit_all_commands |= project.safety.audit_all_commands;
        self.safety.auto_allow &= project.safety.auto_allow;
        self.safety.rewrite &= project.safety.rewrite;
        self.snapshot.retention_hours = self
            .snapshot
            .retention_hours
            .max(project.snapshot.retention_hours);
        self.relaxed_worktrees &= project.relaxed_worktrees;
        self.patterns.extend(project.patterns.iter().cloned());
        self.rules.extend(project.rules.iter().cloned());
        self
    }

    /// The keys of a project's file under this one that do not count, because they would loosen
    /// it, or are not the project's to say.
    pub fn passes_over(&self, project: &Config) -> Vec<&'static str> {
        let (ours, theirs) = (&self.escalation, &project.escalation);
        [
            ("strictness", project.strictness < self.strictness),
            (
                "escalation.max_strikes",
                theirs.max_strikes > ours.max_strikes,
            ),
            (
                "escalation.cooldown_minutes",
                theirs.cooldown_minutes > ours.cooldown_minutes,
            ),
            (
                "escalation.human_notification.webhook",
                theirs.webhook.is_some() && theirs.webhook != ours.webhook,
            ),
            (
                "escalation.human_notification.desktop",
                theirs.desktop && !ours.desktop,
            ),
            (
                "safety.require_confirmation",
                self.safety.require_confirmation && !project.safety.require_confirmation,
            ),
            (
                "safety.audit_all_commands",
                self.safety.audit_all_commands && !project.safety.audit_all_commands,
            ),
            (
                "safety.rewrite",
                project.safety.rewrite && !self.safety.rewrite,
            ),
            (
                "database.path",
                project.database.path.is_some() && project.database.path != self.database.path,
            ),
            ("interventions", project.interventions != self.interventions),
            (
                "logging.file",
                project.logging.file.is_some() && project.logging.file != self.logging.file,
            ),
            (
                "worktrees",
                project.relaxed_worktrees && !self.relaxed_worktrees,
            ),
            (
                "snapshot.retention_hours",
                project.snapshot.retention_hours < self.snapshot.retention_hours,
            ),
        ]
        .into_iter()
        .filter_map(|(key, is_passed_over)| is_passed_over.then_some(key))
        .collect()
    }

    /// The policy that it comes to, with what a person has allowed.
    pub fn policy(&self, permissions: Vec<Permission>) -> Policy {
        Policy {
            strictness: self.strictness,
            rules: self.rules.clone(),
            permissions,
            once: Vec::new(),
            confirm: self.safety.require_confirmation,
            relaxed_worktrees: self.relaxed_worktrees,
            levels: BTreeMap::new(),
            on_budget: (self.strictness == Strictness::Paranoid).then_some(Decision::Block),
            secrets: None,
        }
    }
}
