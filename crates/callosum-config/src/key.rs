//! [`Key`]: every setting, with its names, its range, its default and its meaning, in one table.
//!
//! `docs/config.md` is held against this table by a test.

use std::path::PathBuf;

use callosum_arbiter::{Concurrency, mode::DEFAULT_IO_THRESHOLD, recovery::DEFAULT_RETRY_MAX};

use super::value::{Takes, Value};

/// The word for archives that are compressed.
pub(crate) const GZIP: &str = "gzip";

/// A setting of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Most tasks at once.
    ConcurrencyLimit,
    /// Path of the ledger.
    LedgerPath,
    /// Path of the audit journal.
    AuditPath,
    /// The size at which a ledger is archived.
    RotationThresholdMb,
    /// Whether an archive is compressed.
    ArchiveCompression,
    /// The silence after which an executor counts as hanging.
    ExecutorTimeoutMs,
    /// Retries of a failed task.
    RetryMax,
    /// The first pause before a further try.
    BackoffBaseMs,
    /// The pause between the starts of staggered tasks.
    StaggerDelayMs,
    /// The file reads above which a task counts as a load.
    IoThreshold,
    /// Whether a short summary is an error.
    StrictSummary,
    /// The share of citations that must hold.
    RequireCitations,
    /// Whether an answer is used again.
    ReuseAnswers,
    /// The most starts in a tree of tasks.
    MaxSpawns,
    /// The most tokens of a tree of tasks.
    MaxTokens,
    /// The most money of a tree of tasks.
    MaxCost,
    /// The most time of a tree of tasks.
    MaxSeconds,
    /// Deepest nesting of tasks that start tasks.
    MaxDepth,
    /// The memory that this program may hold.
    MemoryLimitMb,
    /// The failures in a row that open a circuit.
    CircuitFailures,
    /// The time for which a circuit is open.
    CircuitPauseSeconds,
}

impl Key {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 21] = [
        Self::ConcurrencyLimit,
        Self::LedgerPath,
        Self::AuditPath,
        Self::RotationThresholdMb,
        Self::ArchiveCompression,
        Self::ExecutorTimeoutMs,
        Self::RetryMax,
        Self::BackoffBaseMs,
        Self::StaggerDelayMs,
        Self::IoThreshold,
        Self::StrictSummary,
        Self::RequireCitations,
        Self::ReuseAnswers,
        Self::MaxSpawns,
        Self::MaxTokens,
        Self::MaxCost,
        Self::MaxSeconds,
        Self::MaxDepth,
        Self::MemoryLimitMb,
        Self::CircuitFailures,
        Self::CircuitPauseSeconds,
    ];

    /// The name in `.calrc`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConcurrencyLimit => "concurrency_limit",
            Self::LedgerPath => "ledger_path",
            Self::AuditPath => "audit_path",
            Self::RotationThresholdMb => "rotation_threshold_mb",
            Self::ArchiveCompression => "archive_compression",
            Self::ExecutorTimeoutMs => "executor_timeout_ms",
            Self::RetryMax => "retry_max",
            Self::BackoffBaseMs => "backoff_base_ms",
            Self::StaggerDelayMs => "stagger_delay_ms",
            Self::IoThreshold => "io_threshold",
            Self::StrictSummary => "strict_summary",
            Self::RequireCitations => "require_citations",
            Self::ReuseAnswers => "reuse_answers",
            Self::MaxSpawns => "max_spawns",
            Self::MaxTokens => "max_tokens",
            Self::MaxCost => "max_cost",
            Self::MaxSeconds => "max_seconds",
            Self::MaxDepth => "max_depth",
            Self::MemoryLimitMb => "memory_limit_mb",
            Self::CircuitFailures => "circuit_failures",
            Self::CircuitPauseSeconds => "circuit_pause_seconds",
        }
    }

    /// The name in the environment.
    pub fn variable(self) -> &'static str {
        match self {
            Self::ConcurrencyLimit => "CAL_CONCURRENCY_LIMIT",
            Self::LedgerPath => "CAL_LEDGER_PATH",
            Self::AuditPath => "CAL_AUDIT_PATH",
            Self::RotationThresholdMb => "CAL_ROTATION_THRESHOLD_MB",
            Self::ArchiveCompression => "CAL_ARCHIVE_COMPRESSION",
            Self::ExecutorTimeoutMs => "CAL_EXECUTOR_TIMEOUT_MS",
            Self::RetryMax => "CAL_RETRY_MAX",
            Self::BackoffBaseMs => "CAL_BACKOFF_BASE_MS",
            Self::StaggerDelayMs => "CAL_STAGGER_DELAY_MS",
            Self::IoThreshold => "CAL_IO_THRESHOLD",
            Self::StrictSummary => "CAL_STRICT_SUMMARY",
            Self::RequireCitations => "CAL_REQUIRE_CITATIONS",
            Self::ReuseAnswers => "CAL_REUSE_ANSWERS",
            Self::MaxSpawns => "CAL_MAX_SPAWNS",
            Self::MaxTokens => "CAL_MAX_TOKENS",
            Self::MaxCost => "CAL_MAX_COST",
            Self::MaxSeconds => "CAL_MAX_SECONDS",
            Self::MaxDepth => "CAL_MAX_DEPTH",
            Self::MemoryLimitMb => "CAL_MEMORY_LIMIT_MB",
            Self::CircuitFailures => "CAL_CIRCUIT_FAILURES",
            Self::CircuitPauseSeconds => "CAL_CIRCUIT_PAUSE_SECONDS",
        }
    }

    /// Returns the values that it takes.
    pub fn takes(self) -> Takes {
        match self {
            Self::ConcurrencyLimit => Takes::Count(
                u64::from(*Concurrency::RANGE.start())..=u64::from(*Concurrency::RANGE.end()),
            ),
            Self::LedgerPath => Takes::File,
            Self::AuditPath => Takes::Folder,
            Self::RotationThresholdMb => Takes::Count(1..=4096),
            Self::ArchiveCompression => Takes::Choice(&["none", GZIP]),
            Self::ExecutorTimeoutMs => Takes::Count(100..=3_600_000),
            Self::RetryMax => Takes::Count(0..=5),
            Self::BackoffBaseMs => Takes::Count(0..=10_000),
            Self::StaggerDelayMs => Takes::Count(0..=60_000),
            Self::IoThreshold => Takes::Count(1..=1_000_000_000),
            Self::RequireCitations => Takes::Decimal(0..=10_000),
            Self::MaxSpawns => Takes::Count(0..=1_000_000),
            Self::MaxTokens => Takes::Count(0..=1_000_000_000_000),
            Self::MaxCost => Takes::Decimal(0..=10_000_000_000),
            Self::MaxSeconds => Takes::Count(0..=604_800),
            Self::MaxDepth => Takes::Count(1..=16),
            Self::MemoryLimitMb => Takes::Count(0..=1_048_576),
            Self::CircuitFailures => Takes::Count(0..=100),
            Self::CircuitPauseSeconds => Takes::Count(1..=86_400),
            Self::StrictSummary | Self::ReuseAnswers => Takes::Switch,
        }
    }

    /// The default value.
    pub fn default(self) -> Value {
        match self {
            Self::ConcurrencyLimit => Value::Count(Concurrency::default().get() as u64),
            Self::LedgerPath => Value::Path(PathBuf::from(".cal_memory.json")),
            Self::AuditPath => Value::Path(PathBuf::from("cal_audit")),
            // Seed CAL §9.3.
            Self::RotationThresholdMb => Value::Count(250),
            Self::ArchiveCompression => Value::Choice("none"),
            // Seed CAL §14.2.
            Self::ExecutorTimeoutMs => Value::Count(5_000),
            Self::RetryMax => Value::Count(u64::from(DEFAULT_RETRY_MAX)),
            Self::BackoffBaseMs | Self::StaggerDelayMs => Value::Count(500),
            Self::IoThreshold => Value::Count(DEFAULT_IO_THRESHOLD),
            Self::StrictSummary => Value::Switch(false),
            Self::ReuseAnswers => Value::Switch(true),
            Self::MaxDepth => Value::Count(3),
            Self::MemoryLimitMb => Value::Count(1024),
            Self::CircuitFailures => Value::Count(5),
            Self::CircuitPauseSeconds => Value::Count(60),
            Self::RequireCitations | Self::MaxCost => Value::Decimal(0),
            Self::MaxSpawns | Self::MaxTokens | Self::MaxSeconds => Value::Count(0),
        }
    }

    /// Returns its description, as in the reference.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::ConcurrencyLimit => "Most tasks that run at once",
            Self::LedgerPath => "Path of the ledger, relative to the root",
            Self::AuditPath => "Folder of the audit journal, relative to the root",
            Self::RotationThresholdMb => "Size in MB at which the ledger is archived",
            Self::ArchiveCompression => {
                "Whether to compress archives, in a format that `zcat` reads"
            }
            Self::ExecutorTimeoutMs => {
                "Milliseconds without output after which an executor is stopped (E002), unless its registry \
                 entry sets another limit"
            }
            Self::RetryMax => "Retries of a failed task; with the default, E007 is retried 5 times",
            Self::BackoffBaseMs => {
                "Milliseconds before the first retry after a crash; all other pauses scale with it"
            }
            Self::StaggerDelayMs => "Milliseconds between the starts of staggered tasks",
            Self::IoThreshold => "Number of expected file reads above which a task is staggered",
            Self::StrictSummary => {
                "Whether a summary under 2 KB is always sent back and then rejected (E003), instead of \
                 accepted and marked"
            }
            Self::RequireCitations => {
                "Share of an answer's citations that must be valid, or the answer is rejected (E003); 0 \
                 turns this off"
            }
            Self::ReuseAnswers => {
                "Whether a repeated request on an unchanged tree is answered from the ledger"
            }
            Self::MaxSpawns => {
                "Most executor starts in one task tree, retries included; 0 sets no limit"
            }
            Self::MaxTokens => {
                "Tokens, as reported by executors, after which nothing more is started; 0 sets no limit"
            }
            Self::MaxCost => {
                "US dollars, as reported by executors, after which nothing more is started; 0 sets no limit"
            }
            Self::MaxSeconds => "Seconds after which nothing more is started; 0 sets no limit",
            Self::MaxDepth => {
                "How deep executors can delegate to executors; 1 allows no nested delegation"
            }
            Self::MemoryLimitMb => {
                "Memory in MB above which this program starts nothing more and then fails waiting tasks \
                 (E006); 0 sets no limit"
            }
            Self::CircuitFailures => {
                "Consecutive failures of an executor (E001 to E004) after which it is paused; 0 turns this off"
            }
            Self::CircuitPauseSeconds => {
                "Seconds for which an executor is paused before one task may try it"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// CAL-CFG-1: the reference says what the code does.
    #[test]
    fn the_reference_has_each_key_as_it_is() {
        let page = include_str!("../../../docs/config.md");
        let mut table = String::from(
            "| key in `.calrc` | variable | allowed | default | meaning |\n|---|---|---|---|---|\n",
        );
        for key in Key::ALL {
            let (name, variable, meaning) = (key.name(), key.variable(), key.meaning());
            let (takes, default) = (key.takes(), key.default());
            writeln!(
                table,
                "| `{name}` | `{variable}` | {takes} | `{default}` | {meaning} |"
            )
            .unwrap();
        }
        assert!(page.contains(&table), "docs/config.md lacks:\n{table}");
    }
}
