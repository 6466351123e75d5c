//! Opens a run of a plan, so that this process can go on with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use callosum_ledger::Answers;
use callosum_plan::{Allowlist, CapabilityName, Finding, Program, Rule};
use callosum_plan_run::kernel::{Catalogue, Constitution, RunCaps, Sensitivity, TrustTier};
use callosum_plan_run::run::{
    CallKey, ConstitutionPrint, Grant, RulesStamp, RunError, RunJournal as _, RunRecord, RunRules,
    RunState, SealedJournal,
};

use crate::constitution::{Governance, governance};
use crate::context::Context;
use crate::plan::lock::RunLock;
use crate::plan::source::Source;
use crate::{CommandError, Exit, capability, ledger_errors};

/// Most calls of one run that are made at once.
pub const AT_ONCE: usize = 8;

/// A run that this process has taken, and what it needs to go on with it.
pub struct ClaimedRun {
    /// The run's records.
    pub journal: SealedJournal,
    /// The run's state.
    pub state: RunState,
    /// Whether the run has no foreign records, as far as its seals tell.
    pub is_alone: bool,
    /// The plan's text.
    pub source: Source,
    /// The compiled plan.
    pub program: Arc<Program>,
    /// The lock that is held while the run goes on.
    pub lock: RunLock,
}

/// Returns the store of a run's answers, which are not in the journal.
pub fn answers(context: &Context) -> Answers {
    Answers::new(context.disk.clone(), &context.ledger_paths())
}

/// Returns the constitution for plans here. One that can't be relied on permits nothing, and gives
/// the reason.
pub fn constitution(context: &Context) -> (Constitution, ConstitutionPrint) {
    let constitution = governance(context).constitution();
    let print = ConstitutionPrint {
        version: constitution.version().to_string(),
        hash: constitution.hash().to_owned(),
    };
    (constitution, print)
}

/// The current rules for plans, read again while a run goes on.
pub struct CurrentRules(pub Governance);

impl RunRules for CurrentRules {
    fn stamp(&self) -> RulesStamp {
        self.0.stamp()
    }

    fn revoked(&self) -> Result<BTreeSet<CapabilityName>, String> {
        self.0.revoked().map_err(|error| error.to_string())
    }

    fn constitution(&self) -> Option<Constitution> {
        self.0.read_constitution().ok()
    }
}

/// Returns the names of all capabilities that have a provider here.
pub fn provided(context: &Context) -> Result<BTreeSet<CapabilityName>, CommandError> {
    Ok(names(&capability::catalogue(context)?))
}

/// The names of what there is to call.
pub fn names(catalogue: &Catalogue) -> BTreeSet<CapabilityName> {
    let ids = catalogue.iter().map(|manifest| manifest.id.clone());
    ids.collect()
}

/// Adds where one finds what is provided, where a program was refused for lack of it.
pub fn with_hint_of_provided(error: CommandError, findings: &[Finding]) -> CommandError {
    let is_unknown = |finding: &Finding| finding.rule == Rule::UnknownCapability;
    if findings.iter().any(is_unknown) {
        error.hint("callosum capability list")
    } else {
        error
    }
}

/// Puts records on the run, and has the state follow. What does not fit the run is not put there.
pub fn tell(
    context: &Context,
    taken: &mut ClaimedRun,
    records: Vec<RunRecord>,
) -> Result<(), CommandError> {
    let mut state = taken.state.clone();
    for record in &records {
        let applied = state.apply(record.clone(), 0, context.clock.now());
        applied.map_err(CommandError::internal)?;
    }
    let recorded = taken.journal.tell(state.run(), &records);
    recorded.map_err(|error| ledger_errors::unwritten(&error))?;
    taken.state = state;
    Ok(())
}

/// Returns the grant of a run: the capabilities that its plan names, and nothing else.
pub fn grant(
    state: &RunState,
    approved: BTreeSet<CallKey>,
    constitution: ConstitutionPrint,
) -> Result<Grant, CommandError> {
    let allowed = Allowlist::parse(&state.started().capabilities);
    Ok(Grant {
        // A plan is started or resumed by a person at a command line.
        tier: TrustTier::OWN,
        allowed: allowed.map_err(CommandError::internal)?,
        approved,
        caps: RunCaps::default(),
        sensitivity: Sensitivity::Public,
        constitution,
    })
}

/// Explains why a run was interrupted.
pub fn broken_off(run: &callosum_plan_run::run::RunId, error: &RunError) -> CommandError {
    let what = format!("the run {run} stopped early");
    match error {
        RunError::Journal(error) => ledger_errors::unwritten(error)
            .in_place(&what)
            .hint(format!("callosum plan resume {run}")),
        RunError::Divergence(_) => CommandError::because(Exit::No, what, error).hint(format!(
            "nothing was done; callosum plan show {run}, or start a new run of the plan"
        )),
        RunError::Start(_) => CommandError::because(Exit::Usage, what, error),
        _ => CommandError::because(Exit::Environment, what, error)
            .hint(format!("callosum plan resume {run}")),
    }
}
