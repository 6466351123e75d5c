//! `callosum ledger stats`: number of entries, by executor, and the work that the ledger saved.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// `callosum ledger stats --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StatsOutput {
    /// Entries, archives included.
    pub entries: u64,
    /// Entries in archives.
    pub archived_entries: u64,
    /// Number of archives.
    pub archives: u64,
    /// Bytes of the active ledger.
    pub ledger_bytes: u64,
    /// Number of ledgers in each state, with the number of their entries: `active`, `rotating`,
    /// `archived` (a checksum in it is wrong) and `validated` (an archive whose every checksum is
    /// right).
    pub states: BTreeMap<String, StateStatsOutput>,
    /// Tokens that executors say they used.
    pub tokens_used: u64,
    /// The same for each executor.
    pub executors: BTreeMap<String, ExecutorStatsOutput>,
    /// The time of the earliest entry.
    pub first: Option<String>,
    /// The time of the latest entry.
    pub last: Option<String>,
}

/// The ledgers of one state in numbers.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StateStatsOutput {
    /// Number of ledgers.
    pub ledgers: u64,
    /// Number of their entries.
    pub entries: u64,
}

/// One executor in numbers.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ExecutorStatsOutput {
    /// Its entries.
    pub entries: u64,
    /// Tokens that it says it used.
    pub tokens_used: u64,
}
