//! The acting agent: [`SpeakerArgs`] of the command line, else the client, by its environment.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::mesh::author_args`].

use callosum_app::mesh::author_args::{MARKS, PERSON};
use callosum_app::mesh::open;
use callosum_app::{CommandError, Exit};
use callosum_mesh::Author;
use callosum_mesh::agent::AgentName;
use callosum_mesh::board::Command;
use clap::Args;

use crate::cli::context::Context;

/// Options that name the acting agent.
#[derive(Args, Debug)]
pub(super) struct SpeakerArgs {
    /// Act as this agent [default: the client that runs the command, or `person`]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::of_speaker)]
    agent: Option<AgentName>,
    /// Session of the agent [default: the session of the client]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl SpeakerArgs {
    /// Returns the author of an event: agent, session and place.
    pub(super) fn voice(&self, context: &Context) -> Author {
        let environment = &context.environment;
        let text = |name: &str| {
            let value = environment.get(name)?.to_str()?;
            Some(value.to_owned())
        };
        let mark = MARKS
            .iter()
            .find(|(mark, _, _)| environment.get(mark).is_some());
        let client = mark.map_or(PERSON, |(_, name, _)| name);
        let client: AgentName = client.parse().expect("it is a name");
        let agent = self.agent.clone().unwrap_or_else(|| client.clone());
        let session = mark.filter(|_| agent == client);
        let session = session.and_then(|(_, _, variable)| text((*variable)?));
        Author {
            agent,
            session_id: self.session.clone().or(session),
            pane_id: text("TMUX_PANE"),
            cwd: Some(context.folder.to_string_lossy().into_owned()),
        }
    }

    /// Does what they want done.
    pub(super) fn give(&self, context: &Context, order: Command) -> Result<(), CommandError> {
        open::given(context, order, &self.voice(context)).map(drop)
    }

    /// Does the same for something that has to exist: if it does not, the error is `none`, with the
    /// command that lists the existing ones.
    pub(super) fn give_to(
        &self,
        context: &Context,
        order: Command,
        none: String,
        list: &str,
    ) -> Result<(), CommandError> {
        let events = open::given(context, order, &self.voice(context))?;
        if events.is_empty() {
            return Err(CommandError::new(Exit::No, none).hint(list));
        }
        Ok(())
    }
}
