//! Serves the clients that people code with: Claude Code, Codex, Gemini CLI, Qwen Code and opencode.
//!
//! Start with [`hook`], which answers the events that clients send before and after their tools run. [`registration`] enters
//! hooks and servers into the clients' settings files, and [`transcript`] reads how full their contexts are. [`undo`] records
//! what their tools change, [`conflict`] notices two agents that edit one file, and [`intervention`] the errors that they hit.
//! [`project_sources`] collects what a session's start adds, [`related`] asks for past turns about its work,
//! [`digest_sources`] reads what the user configured for it, [`presence`] shows routing which agents can work, [`signs_of_life`] when each was last heard of,
//! [`session_git`] reads session files as of git's HEAD, and [`renames`] follows renamed files.
//!
//! Not here: whether a command is dangerous (`callosum-guard`), and what a message says (`callosum-intervention`).

#![forbid(unsafe_code)]

pub mod conflict;
pub mod digest_sources;
pub mod hook;
pub mod intervention;
pub mod presence;
pub mod project_sources;
pub mod registration;
pub mod related;
pub mod renames;
pub mod session_git;
pub mod signs_of_life;
pub mod transcript;
pub mod undo;
