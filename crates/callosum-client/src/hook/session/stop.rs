//! A session's context fills, it comes to rest, is about to be compacted, or ends: what happened in it is
//! written down.

use std::{cmp::Ordering, path::Path, time::Duration};

use callosum_redact::terminal_escape::untagged;
use callosum_session::{
    ClaimScope, Config, HandoffError, NewHandoff, SessionError,
    budget::{Budget, Zone},
    grounding::{Tally, Threshold, lacking_time},
    title_of,
    trajectory::Agent,
};

use super::{Done, HookInput, Problem, SessionProject};
use crate::transcript::{SaveError, save, usage_in_brief};

/// Longest wait for another session's step at the end of a turn.
const AT_REST: Duration = Duration::from_secs(5);

/// Longest wait for another session's step between two calls of tools.
const BETWEEN_CALLS: Duration = Duration::from_millis(100);

/// Most claims that are named.
const MOST_NAMED: usize = 5;

/// A tool has run, or a person has sent a prompt. Writes a checkpoint if the context has entered a
/// fuller zone since the last look (Seed LOA §4.3), and outputs nothing. Else it costs a look at
/// the ends of the transcript. If another session writes at the moment, the next call comes soon
/// enough.
pub(super) fn between(
    ground: &SessionProject,
    input: &HookInput,
    transcript: &Path,
) -> Result<Done, Problem> {
    if !ground.disk.exists(transcript)? {
        return Ok(Done::Nothing);
    }
    let Some(reading) = usage_in_brief(&ground.disk, transcript)? else {
        return Ok(Done::Nothing);
    };
    let session = ground.session(Agent::default());
    let config = Config::load(&session)?;
    let zone = Budget::of(&reading.usage, &config.limits).zone;
    let name = transcript.file_name().unwrap_or_default().to_string_lossy();
    let reached = session.zone_reached(&name)?.unwrap_or(Zone::Green);
    let written = match zone.cmp(&reached) {
        Ordering::Equal => return Ok(Done::Nothing),
        // A context that was compacted fills again.
        Ordering::Less => session
            .hold_within(BETWEEN_CALLS)
            .and_then(|held| held.note_zone(&name, zone))
            .map_err(Problem::from),
        Ordering::Greater => save_within(ground, &config, input, Some(transcript), BETWEEN_CALLS),
    };
    match written {
        Err(
            Problem::Session(SessionError::Busy(_))
            | Problem::Save(SaveError::Session(SessionError::Busy(_))),
        ) => Ok(Done::Nothing),
        written => written.map(|()| Done::Nothing),
    }
}

/// A turn is over. Blocks the agent from stopping only if the project asks for that; and then once,
/// so that no session goes in a circle.
pub(super) fn rested(ground: &SessionProject, input: &HookInput) -> Result<Done, Problem> {
    let config = saved(ground, input)?;
    if !config.block_stop || input.is_continued {
        return Ok(Done::Nothing);
    }
    Ok(complaint(ground, &config)?.map_or(Done::Nothing, Done::Block))
}

/// The context is about to be compacted: reports claims without evidence while the evidence can
/// still be added.
pub(super) fn compacted(ground: &SessionProject, input: &HookInput) -> Result<Done, Problem> {
    let config = saved(ground, input)?;
    let Some(complaint) = complaint(ground, &config)? else {
        return Ok(Done::Nothing);
    };
    Ok(if config.block_compact {
        Done::Block(complaint)
    } else {
        Done::Tell(complaint)
    })
}

/// The session ends. Writes a hand-off if the session made claims and all are grounded; the next
/// session gets the others, and they still count.
pub(super) fn ended(ground: &SessionProject, input: &HookInput) -> Result<Done, Problem> {
    let config = saved(ground, input)?;
    let tally = tally(ground, &config)?;
    if tally.total > 0 && tally.passes(&Threshold::default()) {
        let session = ground.session(Agent::default());
        let new = NewHandoff {
            session_id: Some(input.session.clone()).filter(|id| !id.is_empty()),
            ..NewHandoff::default()
        };
        let mut held = session.hold_within(super::PATIENCE)?;
        held.look_for_merges(&ground.committed())?;
        match held.hand_off(&new, &config) {
            // The next session gets the claims that block.
            Ok(_) | Err(HandoffError::Blocked(_)) => {}
            Err(HandoffError::Session(error)) => return Err(error.into()),
        }
    }
    Ok(Done::Nothing)
}

/// Writes a checkpoint.
fn saved(ground: &SessionProject, input: &HookInput) -> Result<Config, Problem> {
    let session = ground.session(Agent::default());
    let config = Config::load(&session)?;
    let transcript = input.transcript.as_deref();
    let there = transcript.filter(|path| ground.disk.exists(path).unwrap_or(false));
    save_within(ground, &config, input, there, AT_REST)?;
    Ok(config)
}

fn save_within(
    ground: &SessionProject,
    config: &Config,
    input: &HookInput,
    transcript: Option<&Path>,
    patience: Duration,
) -> Result<(), Problem> {
    let session = ground.session(Agent::default());
    let id = Some(input.session.as_str()).filter(|id| !id.is_empty());
    save(
        &session,
        config,
        transcript,
        id,
        patience,
        &ground.committed(),
    )?;
    Ok(())
}

fn tally(ground: &SessionProject, config: &Config) -> Result<Tally, Problem> {
    let session = ground.session(Agent::default());
    let enforcement = config.enforcement;
    let count = || Tally::since_handoff(&session, ClaimScope::Everyone, MOST_NAMED, enforcement);
    let tally = count()?;
    if !tally.cites_missing {
        return Ok(tally);
    }
    let renames = ground.renames();
    let moved = session.hold_within(AT_REST).and_then(|mut held| {
        held.set_history(&renames);
        held.follow_moves(ClaimScope::Everyone)
    });
    match moved {
        Ok(moved) if !moved.is_empty() => Ok(count()?),
        // The next one that holds the session follows them.
        Ok(_) | Err(SessionError::Busy(_)) => Ok(tally),
        Err(error) => Err(error.into()),
    }
}

/// Returns the report of claims without evidence, if there are too many.
fn complaint(ground: &SessionProject, config: &Config) -> Result<Option<String>, Problem> {
    let tally = tally(ground, config)?;
    if tally.passes(&Threshold::default()) {
        return Ok(None);
    }
    let unread = tally.unread.iter().map(|place| untagged(place));
    let unread: Vec<String> = unread.collect();
    let unread = match unread.as_slice() {
        [] => String::new(),
        places => format!(
            "{}: not a record, and may hide claims. Correct the line or delete it",
            places.join(", ")
        ),
    };
    if tally.lacking == 0 {
        return Ok(Some(unread));
    }
    let named = tally.named.iter();
    let mut named: Vec<String> = named
        .map(|claim| {
            untagged(&format!(
                "{} ({})",
                title_of(&claim.claim.text),
                claim.complaint()
            ))
        })
        .collect();
    let (many, total) = (tally.lacking, tally.total);
    if many > MOST_NAMED {
        named.push(format!("{} more", many - MOST_NAMED));
    }
    let unread = if unread.is_empty() {
        unread
    } else {
        format!(". {unread}")
    };
    Ok(Some(format!(
        "{many} of {total} decisions lack evidence: {}. Add valid evidence with `callosum \
         session cite {time} PLACE`, which replaces invalid evidence, or mark them as \
         assumptions with `callosum session cite {time} --source assumption`{unread}",
        named.join("; "),
        time = lacking_time(&tally.named),
    )))
}
