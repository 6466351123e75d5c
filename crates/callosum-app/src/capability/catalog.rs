//! The catalogue of this project, gathered from what is built in and from the registry.

use callosum_plan::CapabilityName;
use callosum_plan_run::kernel::outcomes::Outcomes;
use callosum_plan_run::kernel::{
    AcceptedManifest, Catalogue, Change, Holding, Manifest, PendingChange, Provenance,
    built_in_manifests, is_held_at_best, registered_manifests,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capability::accepted::AcceptedManifests;
use crate::capability::configured_models;
use crate::capability::outcomes::OutcomesOutput;
use crate::context::Context;
use crate::executor_pool::Roster;
use crate::tool_schema_cache::KeptTools;
use crate::{CommandError, Exit};

/// One capability.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CapabilityOutput {
    /// Name in plans, without a colon.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Description.
    pub description: String,
    /// Its version, as its provider states it.
    pub version: String,
    /// The version that this machine accepted: derived from changes where the provider states none. Absent for what is
    /// built in, and for what no run has seen yet.
    pub accepted_version: Option<String>,
    /// The change that led to the accepted version.
    pub last_change: Option<ChangeOutput>,
    /// A change since the accepted version that needs a person: until `callosum capability accept`, calls are refused.
    pub pending_change: Option<ChangeOutput>,
    /// `primitive`, `composite` or `agent`.
    pub kind: String,
    /// Skills.
    pub skills: Vec<String>,
    /// The type of what it takes, in the language of plans.
    pub input: String,
    /// Constraints of its server on arguments beyond that type, as keywords of JSON Schema; only
    /// the server checks them.
    pub unenforced_input_keywords: Vec<String>,
    /// The type of what it answers.
    pub output: String,
    /// JSON Schema keywords for its answers beyond that type, from its server; they are not
    /// enforced.
    pub unenforced_output_keywords: Vec<String>,
    /// Effects on the world.
    pub effects: Vec<String>,
    /// Trust tier, 0 to 3.
    pub trust_tier: u8,
    /// Sensitivity of its answers.
    pub sensitivity: String,
    /// Fields of arguments that are withheld where it is trusted less than 2.
    pub sensitive_fields: Vec<String>,
    /// Calls that one run may make of it; none means as many as the run has.
    pub calls_per_run: Option<u64>,
    /// Milliseconds that one call may take.
    pub milliseconds: u64,
    /// Bytes that one answer may have.
    pub answer_bytes: u64,
    /// `built-in`, `executor` or `tool-server`: who performs it.
    pub source: String,
    /// The executor or server, empty where it is built in.
    pub provider: String,
    /// Whether it can be asked what became of a call.
    pub answers_by_key: bool,
    /// Whether it was revoked on this machine.
    pub revoked: bool,
    /// Outcomes of its calls in this project.
    pub outcomes: OutcomesOutput,
}

impl CapabilityOutput {
    /// Returns what is printed about a capability.
    pub fn of(manifest: &Manifest, revoked: bool, outcomes: &Outcomes) -> Self {
        let texts = |items: &std::collections::BTreeSet<String>| items.iter().cloned().collect();
        Self {
            id: manifest.id.to_string(),
            name: manifest.name.clone(),
            description: manifest.description.clone(),
            version: manifest.version.clone(),
            accepted_version: None,
            last_change: None,
            pending_change: None,
            kind: manifest.kind.to_string(),
            skills: texts(&manifest.skills),
            input: manifest.input.as_str().to_owned(),
            unenforced_input_keywords: texts(&manifest.unheld.keywords),
            output: manifest.output.as_str().to_owned(),
            unenforced_output_keywords: texts(&manifest.unheld_output.keywords),
            effects: manifest.effects.iter().map(ToString::to_string).collect(),
            trust_tier: manifest.trust_tier.get(),
            sensitivity: manifest.sensitivity.to_string(),
            sensitive_fields: texts(&manifest.sensitive_fields),
            calls_per_run: manifest.quotas.calls_per_run,
            milliseconds: manifest.quotas.milliseconds,
            answer_bytes: manifest.quotas.answer_bytes,
            source: manifest.provenance.source().to_owned(),
            provider: manifest.provenance.provider().to_owned(),
            answers_by_key: manifest.answers_by_key,
            revoked,
            outcomes: OutcomesOutput::of(outcomes, &manifest.id),
        }
    }
}

/// A change of a capability from one version to another.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ChangeOutput {
    /// The version before.
    pub from: String,
    /// The version after.
    pub to: String,
    /// `patch`, `minor` or `major`.
    pub level: String,
    /// Changes, the farthest first.
    pub reasons: Vec<String>,
}

impl CapabilityOutput {
    /// Adds what this machine accepted of it, and what waits for a person.
    #[must_use]
    pub fn with_history(
        self,
        accepted: Option<&AcceptedManifest>,
        pending: Option<&PendingChange>,
    ) -> Self {
        let last = accepted.and_then(|accepted| {
            let last = accepted.last_change.as_ref()?;
            Some(ChangeOutput {
                from: last.from.to_string(),
                to: accepted.version.to_string(),
                level: last.level.to_string(),
                reasons: last.reasons.clone(),
            })
        });
        Self {
            accepted_version: accepted.map(|accepted| accepted.version.to_string()),
            last_change: last,
            pending_change: pending.map(ChangeOutput::of),
            ..self
        }
    }
}

impl ChangeOutput {
    fn of(pending: &PendingChange) -> Self {
        let PendingChange { from, to, change } = pending;
        let Change { reasons } = change;
        Self {
            from: from.to_string(),
            to: to.to_string(),
            level: change.level().to_string(),
            reasons: reasons.iter().map(|reason| reason.text.clone()).collect(),
        }
    }
}

/// Gathers what plans can call in this project, and holds back what widened since this machine accepted it. An entry of
/// the registry that is no capability is left out, with a warning.
pub fn catalogue(context: &Context) -> Result<Catalogue, CommandError> {
    let (mut catalogue, tracked) = gathered(context)?;
    let accepted = AcceptedManifests::of_project(context);
    accepted.hold_back(&mut catalogue, &tracked, context.clock.now())?;
    Ok(catalogue)
}

/// The same, for a run: what is new, or changed in a compatible way, is accepted from here on.
pub fn noted_catalogue(context: &Context) -> Result<Catalogue, CommandError> {
    let (mut catalogue, tracked) = gathered(context)?;
    let accepted = AcceptedManifests::of_project(context);
    accepted.note(&mut catalogue, &tracked, context.clock.now())?;
    Ok(catalogue)
}

/// The catalogue, and the manifests in it whose changes are looked at: those of executors that this machine may start,
/// and of their tools that a server listed.
///
/// Those are as they would be where the machine confines: it is no change of a capability that a process in a sandbox can't make
/// one of its own.
pub(super) fn gathered(context: &Context) -> Result<(Catalogue, Vec<Manifest>), CommandError> {
    let internal = |error| CommandError::from_error(Exit::Internal, &error);
    let mut catalogue =
        Catalogue::new(built_in_manifests(env!("CARGO_PKG_VERSION"))).map_err(internal)?;
    // First, so that no entry of a repository's registry takes the name of a model of the user's.
    for manifest in configured_models::manifests(context) {
        if let Err(error) = catalogue.add(manifest) {
            context.report.warn(&format!("left out: {error}"), None);
        }
    }
    let roster = Roster::load(context)?;
    let kept_tools = KeptTools::of_project(context);
    let mut found = None;
    let mut tracked = Vec::new();
    for executor in roster.registry().executors() {
        let tools = kept_tools.of(executor)?;
        let holding = if is_held_at_best(executor) {
            *found.get_or_insert_with(|| holding(context))
        } else {
            Holding::Files
        };
        let is_trusted = roster.is_trusted(executor);
        let manifests = registered_manifests(executor, is_trusted, &tools, holding);
        let mut own: Vec<&Manifest> = Vec::new();
        let anywhere = match holding {
            Holding::Files => manifests.clone(),
            Holding::Nothing => registered_manifests(executor, is_trusted, &tools, Holding::Files),
        };
        let anywhere = anywhere.unwrap_or_default();
        let manifests = match manifests {
            Ok(manifests) => manifests,
            Err(error) => {
                context.report.warn(&format!("left out: {error}"), None);
                continue;
            }
        };
        for manifest in manifests {
            let id = manifest.id.clone();
            match catalogue.add(manifest) {
                Ok(()) => own.extend(anywhere.iter().find(|one| one.id == id)),
                Err(error) => context.report.warn(&format!("left out: {error}"), None),
            }
        }
        let is_listed = |one: &Manifest| match one.provenance {
            Provenance::ToolServer(_) => tools.iter().any(|tool| tool.name == one.name),
            _ => true,
        };
        let own = own.into_iter().filter(|one| is_listed(one)).cloned();
        if is_trusted && !executor.is_embedded() {
            tracked.extend(own);
        }
    }
    Ok((catalogue, tracked))
}

/// Returns the confinement that this machine offers for executors; none if that cannot be tried.
///
/// Starts this program once, or a few times.
fn holding(context: &Context) -> Holding {
    let confiner = context.surroundings().ok().and_then(|it| it.confiner);
    match confiner {
        Some(confiner) if confiner.system().holds_files() => Holding::Files,
        _ => Holding::Nothing,
    }
}

/// Tells of servers some of whose tools are no capabilities, because what they tell of them is no tool: a line for each,
/// however many they are.
pub fn count_unfit(context: &Context) -> Result<(), CommandError> {
    let roster = Roster::load(context)?;
    let kept_tools = KeptTools::of_project(context);
    for executor in roster.registry().executors() {
        let unfit = kept_tools.unfit(executor)?;
        let Some(first) = unfit.first() else {
            continue;
        };
        let id = &executor.id;
        let what = match unfit.len() {
            1 => format!("left out: {id}: its tool {first}"),
            count => format!("left out: {count} tools of {id}, for example {first}"),
        };
        context
            .report
            .warn(&what, Some(&format!("callosum executor check {id}")));
    }
    Ok(())
}

/// Tells of each tool of a server that is no capability, because what its server tells of it is no tool.
pub fn warn_of_unfit(context: &Context) -> Result<(), CommandError> {
    let roster = Roster::load(context)?;
    let kept_tools = KeptTools::of_project(context);
    for executor in roster.registry().executors() {
        for what in kept_tools.unfit(executor)? {
            let what = format!("left out: {}: its tool {what}", executor.id);
            context.report.warn(&what, None);
        }
    }
    Ok(())
}

/// Reads the name of a capability from the command line, in any of its spellings.
pub fn named(text: &str) -> Result<CapabilityName, CommandError> {
    CapabilityName::parse(text).map_err(|error| CommandError::from_error(Exit::Usage, &error))
}
