//! Changes of the graph: each is checked against the journal under a lock, recorded, and read back.

use callosum_intent::graph::{
    Change, ChangeError, Created, Edge, Graph, Intent, IntentId, LONGEST_TERM, Link, LinkRecord,
    NewIntent, Provenance, RelationRecord, Status,
};
use callosum_redact::secrets;

use super::current;
use super::journal::{self, PassedOverReason};
use crate::context::Context;
use crate::{CommandError, Exit, open_ledger};

/// The name of the lock that one change holds, from its check until it is on disk.
const LOCK: &str = "cal_intents";

/// Creates an intent, with its parent and relations. It is on disk when this returns.
///
/// Fills in the origin from the context where the caller left it empty. Refuses texts that look like secrets. Warns of
/// conflicts with intents at work.
pub fn create(context: &Context, new: NewIntent) -> Result<Intent, CommandError> {
    refuse_secrets(&new)?;
    let new = NewIntent {
        provenance: origin(context, new.provenance),
        ..new
    };
    let (graph, id) = record(context, |graph| {
        let free = || IntentId::from_random(&context.ids.uuid_v4());
        let mut intent = free();
        while graph.get(&intent).is_some() {
            intent = free();
        }
        let new = new.clone();
        Ok(Change::IntentCreated(Box::new(Created { intent, new })))
    })?;
    changed(context, &graph, &id)
}

/// Takes an intent to a state, and records the reason and the run of a plan whose outcome it is.
///
/// Refuses a transition that the table lacks, also if another process made it illegal a moment before. Secrets in the reason are masked.
pub fn set_status(
    context: &Context,
    id: &IntentId,
    to: Status,
    reason: &str,
    run: Option<&str>,
) -> Result<Intent, CommandError> {
    let reason = secrets::mask(reason).text;
    let reason: String = reason.chars().take(LONGEST_TERM).collect();
    let provenance = Provenance {
        run: run.map(str::to_owned),
        ..Provenance::default()
    };
    let provenance = origin(context, provenance);
    let (graph, id) = record(context, |graph| {
        let intent = graph
            .get(id)
            .ok_or_else(|| unfitting(&ChangeError::UnknownIntent { id: id.clone() }))?;
        Ok(Change::of_status(
            id.clone(),
            intent.status,
            to,
            reason.clone(),
            provenance.clone(),
        ))
    })?;
    changed(context, &graph, &id)
}

/// Relates two intents, or changes the weight of a relation that exists.
pub fn relate(context: &Context, edge: &Edge) -> Result<Intent, CommandError> {
    let provenance = origin(context, Provenance::default());
    let (graph, id) = record(context, |graph| {
        let record = RelationRecord {
            edge: edge.clone(),
            provenance: provenance.clone(),
        };
        Ok(if graph.has(edge) {
            Change::IntentRelationshipModified(record)
        } else {
            Change::IntentRelationshipCreated(record)
        })
    })?;
    changed(context, &graph, &id)
}

/// Adds a link to an intent, or removes it. Whether the task or bead exists is the caller's to check.
pub(super) fn set_link(
    context: &Context,
    id: &IntentId,
    link: Link,
    is_new: bool,
) -> Result<Intent, CommandError> {
    let record = LinkRecord {
        intent: id.clone(),
        link,
        provenance: origin(context, Provenance::default()),
    };
    let (graph, id) = self::record(context, |_| {
        Ok(if is_new {
            Change::IntentLinked(record.clone())
        } else {
            Change::IntentUnlinked(record.clone())
        })
    })?;
    let intent = graph.get(&id).cloned();
    intent.ok_or_else(|| unfitting(&ChangeError::UnknownIntent { id: id.clone() }))
}

/// Records the change that `decide` makes of the graph, and returns the graph after it.
///
/// The lock keeps processes apart; `git clean` may remove it, so the record is read back: one that another process's record
/// came before, and that no longer fits, counts for nothing and is an error here.
fn record(
    context: &Context,
    decide: impl Fn(&Graph) -> Result<Change, CommandError>,
) -> Result<(Graph, IntentId), CommandError> {
    let ledger = open_ledger::open(context)?;
    let _lock = open_ledger::lock(context, LOCK)?;
    let before = journal::read(context)?;
    let passed_over = before.passed_over.len();
    let mut before = before.graph;
    let change = decide(&before)?;
    let now = context.clock.now();
    before
        .apply(&change, now)
        .map_err(|error| unfitting(&error))?;
    let change_id = context.new_id();
    let event = journal::event(&change, &change_id).map_err(CommandError::internal)?;
    open_ledger::record(&ledger, event)?;
    let after = journal::read(context)?;
    match after.refusal(passed_over, &change_id) {
        None => {
            let (disk, paths) = (&context.disk, &context.ledger_paths());
            current::store(disk, paths, &after.graph, after.place);
            Ok((after.graph, change.intent().clone()))
        }
        Some(PassedOverReason::Unfitting(error)) => Err(unfitting(error)),
        Some(error @ PassedOverReason::Unreadable(_)) => {
            let why = error.to_string();
            Err(
                CommandError::new(Exit::Internal, "cannot read a change of intents back")
                    .cause(why),
            )
        }
    }
}

/// Returns an intent that was changed, after warnings about its conflicts.
fn changed(context: &Context, graph: &Graph, id: &IntentId) -> Result<Intent, CommandError> {
    for conflict in graph.conflicts_of(id) {
        let other = if conflict.one == *id {
            &conflict.other
        } else {
            &conflict.one
        };
        let what = format!("{id} conflicts with {other}: {}", conflict.kind);
        let hint = format!("callosum intent show {other}");
        context.report.warn(&what, Some(&hint));
    }
    let intent = graph.get(id).cloned();
    intent.ok_or_else(|| unfitting(&ChangeError::UnknownIntent { id: id.clone() }))
}

/// Fills in what the context knows about the origin of a change.
fn origin(context: &Context, known: Provenance) -> Provenance {
    let here = context.provenance();
    Provenance {
        agent: known.agent.or(here.asked_by),
        session: known.session.or(here.asked_in),
        branch: known.branch.or(here.branch),
        run: known.run,
    }
}

/// Refuses an intent with a text that looks like a secret: records stay.
fn refuse_secrets(new: &NewIntent) -> Result<(), CommandError> {
    for text in new.texts() {
        let found = secrets::mask(text).found;
        if let Some(kind) = found.first() {
            let what = format!(
                "the intent contains what looks like a secret ({})",
                kind.name()
            );
            let hint = "use the name of the secret, not the secret itself";
            return Err(CommandError::new(Exit::Usage, what).hint(hint));
        }
    }
    Ok(())
}

/// Explains why a change does not fit.
fn unfitting(error: &ChangeError) -> CommandError {
    let exit = match error {
        ChangeError::Invalid(_) | ChangeError::InvalidLink(_) => Exit::Usage,
        _ => Exit::No,
    };
    let explained = CommandError::from_error(exit, error);
    match error {
        ChangeError::Invalid(_) | ChangeError::InvalidLink(_) | ChangeError::Itself { .. } => {
            explained
        }
        ChangeError::UnknownIntent { .. } => explained.hint("callosum intent list --all"),
        ChangeError::Illegal { id, .. }
        | ChangeError::Stale { id, .. }
        | ChangeError::DuplicateIntent { id }
        | ChangeError::HasParent { id, .. }
        | ChangeError::DuplicateRelation { from: id, .. }
        | ChangeError::UnknownRelation { from: id, .. }
        | ChangeError::DuplicateLink { intent: id, .. }
        | ChangeError::UnknownLink { intent: id, .. } => {
            explained.hint(format!("callosum intent show {id}"))
        }
        ChangeError::Cycle(cycle) => match cycle.0.get(1) {
            Some(id) => explained.hint(format!("callosum intent show {id}")),
            None => explained,
        },
    }
}
