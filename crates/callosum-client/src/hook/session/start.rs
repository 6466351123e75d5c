//! The beginning of a context: repairs missing files and summarizes the session's state.

use callosum_citation::tokens;
use callosum_executor::client::Client;
use callosum_session::{Config, PendingHandoff, SessionStart, trajectory::Agent};

use super::{CurrentIntent, Done, HookInput, PATIENCE, Problem, SessionProject};
use crate::project_sources;

/// Most characters of the text: Claude Code cuts a hook's output near 10,000, and no other client
/// is known to take less.
const MOST: usize = 9_000;

/// The line about the intent takes at most this part of the tokens.
const SHARE_OF_INTENT: u64 = 3;

/// Returns the text for a context that begins, nothing if there is nothing to report, and the
/// hand-offs in it, which count as picked up once the text is output: [`picked_up`]. The line about
/// the intent comes first, and counts toward the token budget.
///
/// If another session writes for too long, nothing is healed and no hand-off is included. The rest
/// is still output, and the trail gets a record.
pub(super) fn summarize(
    ground: &SessionProject,
    client: &'static Client,
    input: &HookInput,
    intent: Option<&CurrentIntent>,
) -> Result<(Done, Vec<PendingHandoff>), Problem> {
    let program = client.program;
    let session = ground.session(Agent::default());
    let held = match session.hold_within(PATIENCE) {
        Ok(held) => Some(held),
        Err(error) => {
            ground.tell(program, "session-start", input, &error.into());
            None
        }
    };
    let mut healed = Vec::new();
    let mut is_mended = false;
    if let Some(held) = &held {
        is_mended = held.mended.is_some();
        let done = held.heal(&ground.committed()).and_then(|found| {
            held.note_healed(&found)?;
            healed = found;
            Ok(())
        });
        if let Err(error) = done {
            ground.tell(program, "session-start", input, &error.into());
        }
    }
    let config = Config::load(&session)?;
    let names = project_sources::names(program);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut opening = SessionStart {
        is_mended,
        healed,
        ..SessionStart::gather(&session, &names, &input.session, config.enforcement)?
    };
    if held.is_none() {
        opening.waiting.clear();
    }
    opening.recollection.entries = project_sources::newest_ids(&ground.disk, ground.ledger());
    let budget = config.start_tokens;
    let intent = intent.map(|intent| intent.line(budget / SHARE_OF_INTENT));
    let intent = intent.unwrap_or_default();
    let left = budget.saturating_sub(tokens::estimate(&intent));
    let summary = opening.told(left, MOST - intent.chars().count());
    let mut handed = opening.waiting;
    handed.truncate(summary.handed_over);
    Ok((Done::context(intent + &summary.text), handed))
}

/// Records that hand-offs have reached a session of the client's. If that fails, they are shown
/// again, and the trail gets a record.
pub(super) fn picked_up(
    ground: &SessionProject,
    client: &'static Client,
    input: &HookInput,
    handed: &[PendingHandoff],
) {
    let program = client.program;
    let agent = Agent::new(program).unwrap_or_default();
    let session = ground.session(Agent::default());
    let held = session.hold_within(PATIENCE);
    let written = held.and_then(|held| held.pick_up(&agent, handed, &input.session));
    if let Err(error) = written {
        ground.tell(program, "session-start", input, &error.into());
    }
}
