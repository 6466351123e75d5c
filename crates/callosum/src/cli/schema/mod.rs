//! The JSON Schemas of what `--json` prints, made from the very types that are printed.

#[cfg(feature = "plans")]
mod plans;

use callosum_app::audit::{CheckpointOutput, RecordsOutput};
use callosum_app::bead::{BeadDiffOutput, BeadListOutput, BeadOutput, ReadyOutput};
use callosum_app::config::{ConfigCheckOutput, ConfigOutput};
use callosum_app::delegate::{DelegateOutput, DetachedOutput, TasksOutput};
use callosum_app::doctor::DoctorOutput;
use callosum_app::executor::{
    DiscoverOutput, ExecutorOutput, ListOutput, RemovedOutput, RunOutput, RunsOutput,
};
use callosum_app::find::FindOutput;
use callosum_app::guard::{
    AutoAllowOutput, CheckOutput, ExplainOutput, MetricsOutput, PermitOutput, PermitsOutput,
    PresetsOutput, RuleOutput, RulesOutput, SecretsOutput, TestOutput,
};
use callosum_app::init::InitOutput;
use callosum_app::intent::{IntentListOutput, IntentOutput, IntentTreeOutput};
use callosum_app::json_error::FailureOutput;
use callosum_app::ledger::{
    BackupOutput, CheckProofOutput, CostOutput, DiffOutput, ProveOutput, QueryOutput,
    RecoverOutput, RotateOutput, StatsOutput,
};
use callosum_app::memory::{
    MemoryChangeOutput, MemoryStatusOutput, ModelInstallOutput, SessionsFoundOutput,
};
use callosum_app::mesh::{
    BridgeOutput, ClassifyOutput, ConflictOutput, ConflictsOutput, DigestOutput, DiscoveriesOutput,
    EventsOutput, FleetDoctorOutput, FleetLeaveOutput, FleetStatusOutput, FleetSyncOutput,
    InjectOutput, LeasesOutput, MeshTaskOutput, MeshTasksOutput, MessagesOutput, PanesOutput,
    PublishOutput, RoutesOutput, ShownConflictOutput,
};
use callosum_app::metrics::MachineMetricsOutput;
use callosum_app::model::ModelCheckOutput;
use callosum_app::operator::{OperatorCheckOutput, OperatorSayOutput};
use callosum_app::overview::OverviewOutput;
use callosum_app::recall::{
    RecallChangeOutput, RecallListOutput, RecallShowOutput, RecallSimilarOutput,
};
use callosum_app::replay::ReplayOutput;
use callosum_app::self_check::SelfCheckOutput;
use callosum_app::serve::ServeStatusOutput;
use callosum_app::session::{
    BudgetOutput, CheckpointOutput as SessionCheckOutput, DecideOutput, DecisionsOutput,
    GhostOutput, GroundingOutput, HandoffOutput, HealOutput, RecoverOutput as SessionRecoverOutput,
    ReposOutput, ResolveOutput, SessionStatusOutput, SyncOutput, SynthesisOutput,
};
use callosum_app::snapshot::{CleanOutput, RestoreOutput, SnapshotOutput, SnapshotsOutput};
use callosum_app::status::StatusOutput;
use callosum_app::trust::TrustOutput;
use callosum_app::undo::{UndoListOutput, UndoOutput};
use callosum_app::uninstall::UninstallOutput;
use callosum_app::verify::VerificationOutput;
use callosum_app::watch::{WatchOutput, WatchTestOutput};
use schemars::{Schema, schema_for};

use super::executor::ChecksOutput;
use super::generate::SchemasOutput;
use super::guard::LogOutput;
use super::ledger::AtOutput;
use super::serve::ServingOutput;
use super::serve::open::OpenOutput;

#[cfg(feature = "plans")]
use self::plans::SCHEMAS as PLANS;

/// A program without plans has no schemas of them.
#[cfg(not(feature = "plans"))]
const PLANS: &[Entry] = &[];

/// Nominal address of the published schemas; nothing is ever fetched from there.
const BASE: &str = "https://callosum.invalid/schemas/";

/// A schema's name and what makes it.
pub(super) type Entry = (&'static str, fn() -> Schema);

/// The schemas of outputs, by name, without those of plans.
const SCHEMAS: &[Entry] = &[
    ("output-audit-checkpoint", || schema_for!(CheckpointOutput)),
    ("output-audit-records", || schema_for!(RecordsOutput)),
    ("output-bead", || schema_for!(BeadOutput)),
    ("output-bead-diff", || schema_for!(BeadDiffOutput)),
    ("output-bead-list", || schema_for!(BeadListOutput)),
    ("output-bead-ready", || schema_for!(ReadyOutput)),
    ("output-config", || schema_for!(ConfigOutput)),
    ("output-config-check", || schema_for!(ConfigCheckOutput)),
    ("output-delegate", || schema_for!(DelegateOutput)),
    ("output-delegate-detached", || schema_for!(DetachedOutput)),
    ("output-delegate-tasks", || schema_for!(TasksOutput)),
    ("output-doctor", || schema_for!(DoctorOutput)),
    ("output-error", || schema_for!(FailureOutput)),
    ("output-executor", || schema_for!(ExecutorOutput)),
    ("output-executor-check", || schema_for!(ChecksOutput)),
    ("output-executor-discover", || schema_for!(DiscoverOutput)),
    ("output-executor-list", || schema_for!(ListOutput)),
    ("output-executor-remove", || schema_for!(RemovedOutput)),
    ("output-executor-run", || schema_for!(RunOutput)),
    ("output-executor-runs", || schema_for!(RunsOutput)),
    ("output-find", || schema_for!(FindOutput)),
    ("output-find-sessions", || schema_for!(SessionsFoundOutput)),
    ("output-generate-schemas", || schema_for!(SchemasOutput)),
    ("output-guard-allow", || schema_for!(PermitOutput)),
    ("output-guard-auto-allow", || schema_for!(AutoAllowOutput)),
    ("output-guard-check", || schema_for!(CheckOutput)),
    ("output-guard-explain", || schema_for!(ExplainOutput)),
    ("output-guard-log", || schema_for!(LogOutput)),
    ("output-guard-metrics", || schema_for!(MetricsOutput)),
    ("output-guard-permissions", || schema_for!(PermitsOutput)),
    ("output-guard-presets", || schema_for!(PresetsOutput)),
    ("output-guard-rule", || schema_for!(RuleOutput)),
    ("output-guard-rules", || schema_for!(RulesOutput)),
    ("output-guard-secrets", || schema_for!(SecretsOutput)),
    ("output-guard-test", || schema_for!(TestOutput)),
    ("output-init", || schema_for!(InitOutput)),
    ("output-intent", || schema_for!(IntentOutput)),
    ("output-intent-list", || schema_for!(IntentListOutput)),
    ("output-intent-tree", || schema_for!(IntentTreeOutput)),
    ("output-ledger-at", || schema_for!(AtOutput)),
    ("output-ledger-backup", || schema_for!(BackupOutput)),
    ("output-ledger-check-proof", || {
        schema_for!(CheckProofOutput)
    }),
    ("output-ledger-diff", || schema_for!(DiffOutput)),
    ("output-ledger-prove", || schema_for!(ProveOutput)),
    ("output-ledger-query", || schema_for!(QueryOutput)),
    ("output-ledger-recover", || schema_for!(RecoverOutput)),
    ("output-ledger-rotate", || schema_for!(RotateOutput)),
    ("output-ledger-stats", || schema_for!(StatsOutput)),
    ("output-ledger-cost", || schema_for!(CostOutput)),
    ("output-memory-change", || schema_for!(MemoryChangeOutput)),
    ("output-memory-model-install", || {
        schema_for!(ModelInstallOutput)
    }),
    ("output-memory-status", || schema_for!(MemoryStatusOutput)),
    ("output-mesh-bridge", || schema_for!(BridgeOutput)),
    ("output-mesh-conflict", || schema_for!(ShownConflictOutput)),
    ("output-mesh-conflict-resolved", || {
        schema_for!(ConflictOutput)
    }),
    ("output-mesh-conflicts", || schema_for!(ConflictsOutput)),
    ("output-mesh-digest", || schema_for!(DigestOutput)),
    ("output-mesh-discoveries", || schema_for!(DiscoveriesOutput)),
    ("output-mesh-event", || schema_for!(EventsOutput)),
    ("output-mesh-fleet", || schema_for!(FleetStatusOutput)),
    ("output-mesh-fleet-doctor", || {
        schema_for!(FleetDoctorOutput)
    }),
    ("output-mesh-fleet-leave", || schema_for!(FleetLeaveOutput)),
    ("output-mesh-fleet-sync", || schema_for!(FleetSyncOutput)),
    ("output-mesh-leases", || schema_for!(LeasesOutput)),
    ("output-mesh-messages", || schema_for!(MessagesOutput)),
    ("output-mesh-publish", || schema_for!(PublishOutput)),
    ("output-mesh-inject", || schema_for!(InjectOutput)),
    ("output-mesh-panes", || schema_for!(PanesOutput)),
    ("output-mesh-classify", || schema_for!(ClassifyOutput)),
    ("output-mesh-routes", || schema_for!(RoutesOutput)),
    ("output-mesh-task", || schema_for!(MeshTaskOutput)),
    ("output-mesh-tasks", || schema_for!(MeshTasksOutput)),
    ("output-metrics", || schema_for!(MachineMetricsOutput)),
    ("output-model-check", || schema_for!(ModelCheckOutput)),
    ("output-operator-check", || schema_for!(OperatorCheckOutput)),
    ("output-operator-say", || schema_for!(OperatorSayOutput)),
    ("output-recall-change", || schema_for!(RecallChangeOutput)),
    ("output-recall-list", || schema_for!(RecallListOutput)),
    ("output-recall-show", || schema_for!(RecallShowOutput)),
    ("output-recall-similar", || schema_for!(RecallSimilarOutput)),
    ("output-replay", || schema_for!(ReplayOutput)),
    ("output-open", || schema_for!(OpenOutput)),
    ("output-self-check", || schema_for!(SelfCheckOutput)),
    ("output-serve", || schema_for!(ServingOutput)),
    ("output-serve-status", || schema_for!(ServeStatusOutput)),
    ("output-session-budget", || schema_for!(BudgetOutput)),
    ("output-session-check", || schema_for!(SessionCheckOutput)),
    ("output-session-checkpoint", || schema_for!(SynthesisOutput)),
    ("output-session-decide", || schema_for!(DecideOutput)),
    ("output-session-ghost", || schema_for!(GhostOutput)),
    ("output-session-grounding", || schema_for!(GroundingOutput)),
    ("output-session-handoff", || schema_for!(HandoffOutput)),
    ("output-session-heal", || schema_for!(HealOutput)),
    ("output-session-recover", || {
        schema_for!(SessionRecoverOutput)
    }),
    ("output-session-repos", || schema_for!(ReposOutput)),
    ("output-session-resolve", || schema_for!(ResolveOutput)),
    ("output-session-status", || schema_for!(SessionStatusOutput)),
    ("output-session-decisions", || schema_for!(DecisionsOutput)),
    ("output-session-sync", || schema_for!(SyncOutput)),
    ("output-snapshot-clean", || schema_for!(CleanOutput)),
    ("output-snapshot-create", || schema_for!(SnapshotOutput)),
    ("output-snapshot-list", || schema_for!(SnapshotsOutput)),
    ("output-snapshot-restore", || schema_for!(RestoreOutput)),
    ("output-status", || schema_for!(StatusOutput)),
    ("output-top", || schema_for!(OverviewOutput)),
    ("output-trust", || schema_for!(TrustOutput)),
    ("output-undo", || schema_for!(UndoOutput)),
    ("output-undo-list", || schema_for!(UndoListOutput)),
    ("output-uninstall", || schema_for!(UninstallOutput)),
    ("output-verify", || schema_for!(VerificationOutput)),
    ("output-watch", || schema_for!(WatchOutput)),
    ("output-watch-test", || schema_for!(WatchTestOutput)),
];

/// Returns every schema, by name.
pub(super) fn all() -> Vec<Entry> {
    let mut all = SCHEMAS.to_vec();
    for entry in PLANS {
        let next = all.iter().position(|(name, _)| *name > entry.0);
        all.insert(next.unwrap_or(all.len()), *entry);
    }
    all
}

/// The schema of this name, with the id that it is published under.
pub(super) fn named(name: &str) -> Option<Schema> {
    let (name, make) = all().into_iter().find(|(known, _)| *known == name)?;
    let mut schema = make();
    schema.insert("$id".to_owned(), format!("{BASE}{name}.schema.json").into());
    Some(schema)
}
