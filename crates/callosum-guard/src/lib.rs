//! The guard's decision: whether a shell command or a file write may go ahead, and why.
//!
//! Start with [`decide`], which reads a command as the shell would, finds every command that it
//! would run, however wrapped, and lets each rule look at each; [`explain`] tells how it
//! came about, and [`decide_write`] judges one path. [`CommandAnalysis`] is a command that is interpreted once, for drivers that
//! also ask which folders it visits, and which files it or git changes. All are pure over [`Facts`] and [`Policy`]:
//! the same command, facts and policy give the same [`Verdict`] again.
//!
//! Nothing here reads or writes a file. `callosum-snapshot` keeps a tree as it was, for commands
//! that were allowed and should not have been.
//!
//! Deliberately not here: gathering facts, asking people, keeping records. Work is bounded by the
//! size of the text and by counts, never by a clock; beyond the bounds the answer is to ask.
//!
//! Its limits: `docs/guard/limits.md`.

#![forbid(unsafe_code)]

mod analyze;
pub mod auto_allow;
mod catalog;
mod changed_files;
mod collected;
mod command_analysis;
pub mod config;
mod data_loss;
mod decide;
mod facts;
mod fetch;
mod formatter;
mod generated_sql;
mod git_questions;
mod git_state;
mod git_writes;
mod glob;
mod harmless;
mod link;
mod loopback;
mod overwrite;
pub mod patch;
mod path;
mod path_class;
mod permission;
mod policy;
mod process_names;
mod program_names;
mod protect;
mod rule;
mod secret_files;
mod secret_list;
mod secret_read;
mod sed;
mod shell;
mod text_patterns;
pub mod tool_name;
mod verdict;
mod visited_dirs;
mod well_known_dirs;

pub use crate::{
    catalog::{RuleSummary, current_id, is_fixed, rules},
    changed_files::Touched,
    command_analysis::CommandAnalysis,
    decide::{decide, explain},
    facts::Facts,
    git_questions::{GitQuestion, Questions},
    git_state::GitState,
    git_writes::{GitWrite, GitWriteSource},
    glob::takes_in,
    permission::{Permission, PermissionError},
    policy::{Policy, UserRule},
    protect::decide_write,
    rule::{Severity, Strictness, can_be_made_again},
    secret_list::SecretReads,
    secret_read::decide_read,
    verdict::{Coverage, Decision, Explanation, RuleTrace, Step, Verdict},
};
