//! The use cases of Callosum: one function for each, plain options in, plain results out.
//!
//! The command line, MCP tools, the daemon and the providers of plans call these functions. Start with [`context::Context`], which
//! every use case gets: the project, the machine, and the [`report::Reporter`] that receives warnings and progress. The modules
//! have the names of the commands. Failures are [`CommandError`]s: what failed, why, and one hint.
//!
//! Not here: arguments and printing. This crate knows neither clap nor a terminal.

#![forbid(unsafe_code)]

pub mod agreement;
pub mod audit;
pub mod audit_change;
pub mod auto_checkpoint;
mod background;
pub mod bead;
pub mod beads_cli;
#[cfg(feature = "plans")]
pub mod capability;
pub mod ck;
pub mod client_settings;
mod command_error;
pub mod config;
pub mod config_errors;
#[cfg(feature = "plans")]
pub mod constitution;
pub mod context;
pub mod delegate;
pub mod disk_errors;
pub mod doctor;
pub mod executor;
pub mod executor_pool;
pub mod executor_readiness;
pub mod executor_selection;
pub mod find;
#[cfg(feature = "plans")]
pub mod goal;
pub mod guard;
pub mod guard_hooks;
pub mod hook_probe;
pub mod hook_tokens;
pub mod init;
pub mod instructions;
pub mod intent;
pub mod json_error;
pub mod ledger;
pub mod ledger_errors;
pub mod mcp_registration;
pub mod memory;
pub mod mesh;
pub mod mesh_health;
pub mod metrics;
pub mod model;
pub mod open_ledger;
pub mod operator;
pub mod overview;
#[cfg(feature = "plans")]
pub mod plan;
pub mod recall;
pub mod replay;
pub mod report;
pub mod self_check;
pub mod serve;
pub mod session;
pub mod session_hooks;
pub mod shell;
mod shell_word;
pub mod snapshot;
pub mod state_inventory;
pub mod status;
pub mod task_prefix;
pub mod time_arg;
pub mod time_span;
pub mod tool_schema_cache;
pub mod trust;
pub mod undo;
pub mod uninstall;
pub mod verify;
pub mod watch;
mod wording;
pub mod zone_report;

pub use self::{
    command_error::{CommandError, Exit},
    shell_word::shell_word,
    wording::{lasting, many, thousands},
};
