//! Who speaks: [`SpeakerArgs`] of the command line, else the client, by its environment; [`asking`] of a tool.

use callosum_mesh::{Voice, agent::AgentName, board::Order};
use callosum_session::trajectory::Agent;
use clap::Args;

use super::open;
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit},
};
use callosum_config::Environment;

/// A client's mark in the environment of what it runs, its agent's name, and the variable with its
/// session, where there is one.
const MARKS: [(&str, &str, Option<&str>); 5] = [
    ("CLAUDECODE", "claude-code", Some("CLAUDE_CODE_SESSION_ID")),
    ("CODEX_THREAD_ID", "codex", Some("CODEX_THREAD_ID")),
    ("QWEN_CODE", "qwen-code", Some("QWEN_CODE_SESSION_ID")),
    ("GEMINI_CLI", "gemini-cli", None),
    ("OPENCODE", "opencode", None),
];

/// Who speaks where no client does.
const PERSON: &str = "person";

/// Who speaks where a client asks that does not say its name.
const UNNAMED: &str = "unknown";

/// Returns the agent that runs this program, as its client's environment says.
pub(crate) fn agent_of(environment: &Environment) -> Option<&'static str> {
    let mut marks = MARKS.iter();
    let mark = marks.find(|(mark, _, _)| environment.get(mark).is_some());
    mark.map(|(_, name, _)| *name)
}

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

/// Returns the agent in whose environment this process runs, by the variables that clients set for what they start.
pub(in crate::cli) fn agent_in(environment: &Environment) -> Option<&'static str> {
    let mark = MARKS
        .iter()
        .find(|(mark, _, _)| environment.get(mark).is_some());
    mark.map(|(_, name, _)| *name)
}

impl SpeakerArgs {
    /// Who speaks, and from where.
    pub(super) fn voice(&self, context: &Context) -> Voice {
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
        Voice {
            agent,
            session_id: self.session.clone().or(session),
            pane_id: text("TMUX_PANE"),
            cwd: Some(context.folder.to_string_lossy().into_owned()),
        }
    }

    /// Does what they want done.
    pub(super) fn give(&self, context: &Context, order: Order) -> Result<(), CommandError> {
        open::given(context, order, &self.voice(context)).map(drop)
    }

    /// The same to something that has to be there: where nothing came of it, `none` says that it is not, with the command
    /// that lists what is.
    pub(super) fn give_to(
        &self,
        context: &Context,
        order: Order,
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

/// Who speaks where a client asks by a tool of ours: as the client says of itself.
pub(crate) fn asking(context: &Context) -> Voice {
    let asker = context.asker();
    let named = Some(asker.agent.as_str()).filter(|_| asker.agent != Agent::default());
    let agent = named.and_then(|name| AgentName::of_speaker(name).ok());
    Voice {
        agent: agent.unwrap_or_else(|| UNNAMED.parse().expect("it is a name")),
        session_id: asker.session,
        pane_id: None,
        cwd: Some(context.folder.to_string_lossy().into_owned()),
    }
}
