//! [`send`]: leaves a text as a message of the mesh, which a hook of the client delivers with its next tool call.
//!
//! The mesh records how far a message came, so its records are the evidence: a hook that delivered it, a turn that ended
//! after that, and the agent's own confirmation.

use std::time::{Duration, Instant};

use callosum_mesh::Author;
use callosum_mesh::addressee::Addressee;
use callosum_mesh::board::{Command, Message, Receipt as Progress};
use callosum_panes::Pane;
use callosum_panes::inject::{DeliveryRoute, Injection, Outcome, Phase, Receipt, Step};

use crate::CommandError;
use crate::context::Context;
use crate::mesh::{message, open};

/// Pause between two looks at the log.
const LOOK: Duration = Duration::from_millis(100);

/// Returns the session in a pane as the addressee of a message, if hooks report that session.
pub(super) fn addressee(context: &Context, pane: &Pane) -> Result<Option<Addressee>, CommandError> {
    let (Some(agent), Some(session)) = (pane.mesh_agent(), &pane.session_id) else {
        return Ok(None);
    };
    let Ok(to) = format!("{agent}@{session}").parse::<Addressee>() else {
        return Ok(None);
    };
    let mut mesh = open::mesh_again(context)?;
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let mut sessions = board.sessions.iter();
    let is_known = sessions.any(|known| to.is(&known.agent, Some(&known.session_id)));
    Ok(is_known.then_some(to))
}

/// Returns a name as the addressee of a message, if the mesh knows such an agent.
pub(super) fn agent(context: &Context, name: &str) -> Result<Option<Addressee>, CommandError> {
    let Ok(to) = name.parse::<Addressee>() else {
        return Ok(None);
    };
    let mut mesh = open::mesh_again(context)?;
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let mut sessions = board.sessions.iter();
    let is_known = sessions.any(|known| {
        let session = to.session.as_ref().map(|_| known.session_id.as_str());
        to.is(&known.agent, session)
    });
    Ok(is_known.then_some(to))
}

/// Sends a text as a message, and waits up to `wait` for a hook to deliver it.
pub(super) fn send(
    context: &Context,
    voice: &Author,
    to: &Addressee,
    pane: Option<&Pane>,
    injection: &Injection,
    wait: Duration,
) -> Result<Receipt, CommandError> {
    let began = Instant::now();
    let at = context.clock.now();
    let bytes = injection.text.as_str().len();
    let mut steps = Vec::new();
    let mut note = |phase: Phase, evidence: String| {
        steps.push(Step {
            phase,
            after_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            evidence,
        });
    };
    note(Phase::Accepted, format!("{bytes} bytes"));
    let outcome = if injection.options.dry_run {
        Outcome::Possible
    } else {
        let id = context.ids.uuid_v4();
        let order = Command::Send {
            id: id.clone(),
            to: to.clone(),
            content: injection.text.as_str().to_owned(),
            reply_to: None,
            ttl_seconds: None,
        };
        open::given(context, order, voice)?;
        if let Some(error) = message::undeliverable(context, &id)? {
            return Err(error);
        }
        note(
            Phase::Queued,
            format!("message {id} waits for a hook of {to}"),
        );
        let sent = delivered(context, &id, began + wait)?;
        let evidence = |message: &Message| message.evidence.clone().unwrap_or_default();
        match sent.as_ref().and_then(|sent| Some((sent, sent.receipt?))) {
            Some((sent, Progress::Delivered | Progress::Seen)) => {
                note(Phase::Seen, evidence(sent));
                Outcome::Seen { message: id }
            }
            Some((sent, Progress::Acked)) => {
                note(Phase::Acknowledged, evidence(sent));
                Outcome::Acknowledged { message: id }
            }
            _ => Outcome::Queued { message: id },
        }
    };
    Ok(Receipt {
        pane: pane.map_or_else(|| to.to_string(), |pane| pane.pane.clone()),
        pid: pane.map_or(0, |pane| pane.pid),
        route: DeliveryRoute::Hook,
        bytes,
        at,
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        steps,
        enters: 0,
        outcome,
    })
}

/// Waits until a message has come further than the queue. Returns it as it is then, or at the end of the time.
fn delivered(context: &Context, id: &str, until: Instant) -> Result<Option<Message>, CommandError> {
    loop {
        let mut mesh = open::mesh_again(context)?;
        let board = mesh.board().map_err(|error| open::explain(&error))?;
        let found = board.message(id).cloned();
        let is_moved = found
            .as_ref()
            .is_some_and(|message| message.receipt.is_some());
        let left = until.saturating_duration_since(Instant::now());
        if is_moved || left.is_zero() || context.cancel.wait_for(LOOK.min(left)).unwrap_or(true) {
            return Ok(found);
        }
    }
}
