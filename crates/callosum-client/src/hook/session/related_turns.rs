//! [`RelatedWork`]: asks for past turns about the work that a session begins with.

use callosum_config::{Environment, Homes};
use callosum_host::Disk;
use callosum_mesh::{agent::AgentName, board::Board};
use callosum_session::PendingHandoff;

use super::{at_start::Start, current_intent::IntentSource, hook_input::HookInput};
use crate::related::{CurrentWork, RelatedQuestion, RelatedSource, related_line};

/// Sources of the text that a session starts with, which the program supplies.
#[derive(Clone, Copy, Debug)]
pub struct StartSources {
    /// Finds the intent at work.
    pub intent: IntentSource,
    /// Finds past turns.
    pub related: RelatedSource,
}

/// The work that a session begins with, as far as the project knows it.
pub(super) struct RelatedWork<'s> {
    source: RelatedSource,
    environment: &'s Environment,
    start: &'s Start<'s>,
    session: &'s str,
    work: CurrentWork,
}

impl<'s> RelatedWork<'s> {
    /// Takes the intent at work, and the hand-offs that the session gets.
    pub(super) fn new(
        source: RelatedSource,
        environment: &'s Environment,
        (start, input): (&'s Start<'s>, &'s HookInput),
        handed: &[PendingHandoff],
    ) -> Self {
        let mut work = CurrentWork::default();
        if let Some(intent) = &start.intent {
            work.add(&intent.goal);
        }
        for handed in handed {
            work.add(handed.reasoning.as_deref().unwrap_or_default());
        }
        Self {
            source,
            environment,
            start,
            session: &input.session,
            work,
        }
    }

    /// Returns the line about past turns; empty without any. The tasks of an agent are on the board, if there is one.
    pub(super) fn line(&self, board: Option<(&Board, &AgentName)>) -> String {
        let (Some(folders), Ok(homes)) = (self.start.folders(), Homes::find(self.environment))
        else {
            return String::new();
        };
        let mut work = self.work.clone();
        if let Some((board, agent)) = board {
            work.add_tasks(board, agent);
        }
        let disk = Disk::real();
        let question = RelatedQuestion {
            disk: &disk,
            homes: &homes,
            folders,
            session: Some(self.session).filter(|session| !session.is_empty()),
            work,
        };
        related_line(&(self.source)(&question))
    }
}
