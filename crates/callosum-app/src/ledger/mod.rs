//! Use cases of `callosum ledger`.

pub mod at;
pub mod backup;
pub mod check_proof;
pub mod checksum;
pub mod cost;
pub mod diff;
pub mod entry;
pub mod export;
pub mod filter;
pub mod prove;
pub mod query;
pub mod recover;
pub mod rotate;
pub mod show;
pub mod stats;

pub use self::backup::BackupOutput;
pub use self::check_proof::CheckProofOutput;
pub use self::cost::CostOutput;
pub use self::diff::DiffOutput;
pub use self::filter::Filter;
pub use self::prove::ProveOutput;
pub use self::query::{QueryOutput, as_text, entries, entry_of};
pub use self::recover::RecoverOutput;
pub use self::rotate::RotateOutput;
pub use self::stats::StatsOutput;
