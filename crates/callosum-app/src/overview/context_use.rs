//! [`Transcripts`]: the fill level of each session's context, from the end of its transcript.

use std::collections::BTreeMap;
use std::path::PathBuf;

use callosum_client::transcript::usage_in_brief;
use callosum_executor::client::Client;
use callosum_executor::output_format::Dialect;
use callosum_session::budget::{Budget, Limits};
use callosum_session::trajectory::Agent;
use callosum_session::{Config, Session};
use jiff::{SignedDuration, Timestamp};

use super::{AgentOutput, BudgetShareOutput};
use crate::client_settings::own_folder;
use crate::context::Context;

/// Time after which a transcript that was not found is looked for again: clients write it with the first answer.
const AGAIN: SignedDuration = SignedDuration::from_secs(10);

/// The transcripts of sessions, found once each.
#[derive(Default)]
pub(super) struct Transcripts {
    /// The transcript of each session, and when it was looked for.
    by_session: BTreeMap<String, (Option<PathBuf>, Timestamp)>,
}

impl Transcripts {
    /// Returns the fill level of an agent's context; `None` if its session or transcript is unknown, or has no numbers yet.
    pub(super) fn budget(
        &mut self,
        context: &Context,
        agent: &AgentOutput,
        limits: &Limits,
        now: Timestamp,
    ) -> Option<BudgetShareOutput> {
        let client = client(&agent.client)?;
        let session = agent.session_id.as_deref()?;
        let known = self.by_session.get(session);
        let known = known.filter(|(path, at)| path.is_some() || now.duration_since(*at) < AGAIN);
        let path = if let Some((path, _)) = known {
            path.clone()
        } else {
            let own = own_folder(context, client)?;
            let found = client.transcript_of(&context.disk, &own, session);
            let found = found.ok().flatten();
            let entry = (found.clone(), now);
            self.by_session.insert(session.to_owned(), entry);
            found
        }?;
        let reading = usage_in_brief(&context.disk, &path).ok().flatten()?;
        let budget = Budget::of(&reading.usage, limits);
        Some(BudgetShareOutput {
            used: reading.usage.in_use,
            window: reading.usage.window,
            percent: budget.percent,
            zone: budget.zone.name(),
        })
    }
}

fn client(name: &str) -> Option<&'static Client> {
    Client::of(match name {
        "claude" => Dialect::Claude,
        "codex" => Dialect::Codex,
        "gemini" => Dialect::Gemini,
        _ => return None,
    })
}

/// Returns the project's limits of the zones; the defaults if they cannot be read.
pub(super) fn limits(context: &Context) -> Limits {
    let zones = context.zones();
    let session = Session {
        disk: &context.disk,
        zones: &zones,
        clock: &context.clock,
        agent: Agent::default(),
    };
    Config::load(&session).map_or_else(|_| Limits::default(), |config| config.limits)
}
