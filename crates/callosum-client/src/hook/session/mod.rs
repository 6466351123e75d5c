//! Events of a client's session: it begins, comes to rest, is compacted, or ends.
//!
//! Start with [`observe`]. A session that begins gets a summary ([`start`]). If its context fills,
//! or if it rests, is compacted or ends, its work is saved ([`stop`]). [`may_clear`] answers a
//! client that asks before it clears a context. `callosum-session` decides on the content; this
//! module delivers it to the right client and session.
//!
//! Failure mode: an observing hook reports no failure to the client and leaves a record on the
//! trail. The gate before a clear blocks on failure if the project keeps sessions; elsewhere it
//! allows. In a project that keeps none, nothing is output, written or created.

mod at_start;
mod clear;
mod current_intent;
mod hook_input;
mod mesh_inbox;
mod pane_state;
mod related_turns;
mod session_project;
mod start;
mod stop;
mod untold;

use std::{cell::Cell, time::Duration};

use callosum_executor::client::Client;
use callosum_host::Disk;
use callosum_session::PendingHandoff;
use serde_json::{Value, json};

pub(super) use self::clear::{folder_of_event, may_clear, unchecked_in};
pub use self::current_intent::{CurrentIntent, IntentSource};
pub(super) use self::pane_state::note_dialog;
pub use self::related_turns::StartSources;
use self::{
    at_start::Start,
    hook_input::HookInput,
    mesh_inbox::{InboxResult, Neighbours, UNREAD},
    related_turns::RelatedWork,
    session_project::{Problem, SessionProject, Unfound},
    untold::{Untold, When},
};
use super::{
    answer::Reply, deadline::Progress, responder::Responder, tokens, tool_errors, undo_records,
};
use callosum_config::{Environment, Homes};

/// Longest wait for another session's step.
const PATIENCE: Duration = Duration::from_secs(1);

/// The command that a client clears a context by.
const CLEAR: &str = "clear";

/// The observed event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionEvent {
    /// A context begins: a new one, or one that was cleared, compacted or taken up again.
    Begin,
    /// A person has sent a prompt, or a tool has run: the model is asked next.
    Between,
    /// A turn is over.
    Rest,
    /// The context is about to be made shorter.
    Compact,
    /// The session ends.
    End,
    /// A command of a file's was typed, and is about to be sent to the model.
    Typed,
}

/// The output of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Done {
    /// Nothing.
    Nothing,
    /// This, to the model.
    Context(String),
    /// This, to the person.
    Tell(String),
    /// That it must not go on, and why.
    Block(String),
}

impl Done {
    /// This context; nothing if it is empty.
    fn context(text: String) -> Self {
        if text.is_empty() {
            Self::Nothing
        } else {
            Self::Context(text)
        }
    }

    /// This context with the context of `own` behind it; an `own` that is no context stays as it is.
    fn after(self, own: Self) -> Self {
        match own {
            Self::Nothing => self,
            Self::Context(text) => self.followed_by(&text),
            other @ (Self::Tell(_) | Self::Block(_)) => other,
        }
    }

    /// This, and behind it what others have for the model; what is no context stays as it is.
    fn followed_by(self, text: &str) -> Self {
        match self {
            done if text.is_empty() => done,
            Self::Nothing => Self::Context(text.to_owned()),
            Self::Context(own) => {
                let between = if own.ends_with('\n') { "" } else { "\n" };
                Self::Context(format!("{own}{between}{text}"))
            }
            done @ (Self::Tell(_) | Self::Block(_)) => done,
        }
    }
}

impl SessionEvent {
    /// The moment that an event's name means, whichever client's name it is.
    fn named(name: &str) -> Option<Self> {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        match word.as_str() {
            "sessionstart" => Some(Self::Begin),
            "userpromptsubmit" | "beforeagent" | "posttooluse" | "posttoolusefailure"
            | "aftertool" => Some(Self::Between),
            "stop" | "afteragent" => Some(Self::Rest),
            "precompact" | "precompress" => Some(Self::Compact),
            "sessionend" => Some(Self::End),
            "userpromptexpansion" | "typedcommand" => Some(Self::Typed),
            _ => None,
        }
    }

    /// Our word for it.
    fn word(self) -> &'static str {
        match self {
            Self::Begin => "session-start",
            Self::Between => "between-calls",
            Self::Rest => "stop",
            Self::Compact => "pre-compact",
            Self::End => "session-end",
            Self::Typed => "typed-command",
        }
    }
}

/// Handles an event, named by `event` or by its own name, and returns the reply: `silence` if there
/// is nothing to report. `progress` gets the reply for a timeout. If delivery must be recorded,
/// `voice` writes the reply before this returns.
pub(super) fn observe(
    client: &'static Client,
    event: &str,
    bytes: &[u8],
    silence: Reply,
    progress: &Progress,
    voice: &Responder,
    sources: StartSources,
) -> Reply {
    let input = HookInput::read(bytes);
    let Some(moment) = SessionEvent::named(event).or_else(|| SessionEvent::named(&input.name))
    else {
        if !input.notification.is_empty() {
            let environment = Environment::from_process();
            if let Err(error) = pane_state::note(&environment, client, event, &input, bytes) {
                Unfound::of(environment, error.into()).tell(client.program, "notification");
            }
        }
        return silence;
    };
    if moment == SessionEvent::Typed {
        return if input.command == CLEAR {
            clear::typed(client.program, input.folder.as_deref())
        } else {
            silence
        };
    }
    let environment = Environment::from_process();
    if let Err(error) = pane_state::note(&environment, client, event, &input, bytes) {
        Unfound::of(environment.clone(), error.into()).tell(client.program, moment.word());
    }
    let mut about_errors = None;
    match tool_moment(event, &input) {
        Some(ToolMoment::After) => {
            undo_records::after(&environment, client.program, &input.call_key);
            // Also for a sub-agent: the message is in its own next request.
            match tool_errors::after_tool(&environment, client.program, &input.session, bytes) {
                Ok(message) => about_errors = message,
                Err(error) => {
                    Unfound::of(environment.clone(), error.into())
                        .tell(client.program, moment.word());
                }
            }
        }
        Some(ToolMoment::Prompt) => {
            undo_records::turn_begins(&environment, client.program, &input.session);
        }
        None => {}
    }
    let untold = Homes::find(&environment).ok();
    let untold = untold.and_then(|homes| Untold::place(&homes, client, &input));
    match When::of(client, moment, &input) {
        When::Now => {}
        When::AtNextPrompt => {
            return remembered(
                client,
                moment,
                &input,
                silence,
                environment,
                untold.as_ref(),
            );
        }
        When::Never => return silence,
    }
    let is_untold = moment == SessionEvent::Between
        && untold::is_prompt(event, &input)
        && untold.as_ref().is_some_and(Untold::is_noted);
    // A beginning that was not reported is reported with the first prompt after it.
    let moment = if is_untold {
        SessionEvent::Begin
    } else {
        moment
    };
    // A sub-agent's calls do not fill the agent's own context.
    let is_idle =
        moment == SessionEvent::Between && (input.is_helper || input.transcript.is_none());
    let ground = if is_idle {
        None
    } else {
        find_ground(client, moment, &input)
    };
    let start =
        (moment == SessionEvent::Begin).then(|| Start::find(&environment, &input, sources.intent));
    let intent = start.as_ref().and_then(|start| start.intent.as_ref());
    let (own, handed) = match &ground {
        Some(ground) => kept(ground, client, moment, &input, intent),
        None => (intent_alone(intent), Vec::new()),
    };
    let related = start
        .as_ref()
        .map(|start| RelatedWork::new(sources.related, &environment, (start, &input), &handed));
    let own = match &start {
        Some(start) => {
            let lines = start.errors(client, &own);
            own.followed_by(&lines)
        }
        None => own,
    };
    let own = match about_errors {
        Some(message) => Done::Context(message).after(own),
        None => own,
    };
    let said_of = |done: &Done| match done {
        Done::Nothing => silence.clone(),
        done => reply(&input.name, done),
    };
    // What the project itself has to say comes in any case, however long the others take.
    let unread = if moment == SessionEvent::Begin {
        UNREAD
    } else {
        ""
    };
    progress.prepare(said_of(&own.clone().followed_by(unread)), false);
    // Only a context has room for the others' messages.
    let takes_more = matches!(own, Done::Nothing | Done::Context(_));
    let heard = Cell::new(None);
    let say = |text: &str| {
        takes_more && {
            let is_heard = voice.is_heard(&said_of(&own.clone().followed_by(text)));
            heard.set(Some(is_heard));
            is_heard
        }
    };
    let occasion = if is_untold {
        Occasion::FirstPrompt
    } else {
        Occasion::Moment(moment)
    };
    let session = (&input, bytes, related.as_ref());
    let mut met = met(&environment, client, occasion, session, &own, say);
    let done = own.followed_by(&met.text);
    if let Done::Context(text) = &done {
        let given = tokens::Given {
            client: client.program,
            session: &input.session,
            folder: input.folder.as_deref(),
            event: moment.word(),
            text,
        };
        tokens::note(&Disk::real(), &environment, &given);
    }
    if let Some(error) = met.fault.take() {
        Unfound::of(environment, error.into()).tell(client.program, moment.word());
    }
    let reply = said_of(&done);
    let is_told = untold.filter(|_| matches!(moment, SessionEvent::Begin | SessionEvent::End));
    let ground = ground.filter(|_| !handed.is_empty());
    if is_told.is_none() && ground.is_none() {
        return reply;
    }
    if heard.get().unwrap_or_else(|| voice.is_heard(&reply)) || done == Done::Nothing {
        if let Some(ground) = ground {
            start::picked_up(&ground, client, &input, &handed);
        }
        // A session that is still remembered gets it once more.
        if let Some(Err(error)) = is_told.map(|untold| untold.forget()) {
            let unfound = Unfound::of(Environment::from_process(), Problem::Disk(error));
            unfound.tell(client.program, moment.word());
        }
    }
    reply
}

/// Returns the line about the current intent, if the project reports nothing else.
fn intent_alone(intent: Option<&CurrentIntent>) -> Done {
    let line = intent.map(|intent| intent.line(u64::MAX));
    Done::context(line.unwrap_or_default())
}

/// Answers our plugin in a client without hooks: what its model is sent about the errors of a tool.
pub(super) fn after_tool_of_plugin(client: &str, event: &str, bytes: &[u8]) -> Option<Reply> {
    let input = HookInput::read(bytes);
    if tool_moment(event, &input) != Some(ToolMoment::After) {
        return None;
    }
    let environment = Environment::from_process();
    undo_records::after(&environment, client, &input.call_key);
    match tool_errors::after_tool(&environment, client, &input.session, bytes) {
        Ok(message) => Some(reply(&input.name, &Done::Context(message?))),
        Err(error) => {
            Unfound::of(environment, error.into()).tell(client, SessionEvent::Between.word());
            None
        }
    }
}

/// The two moments between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolMoment {
    /// A tool has run.
    After,
    /// A person has sent a prompt.
    Prompt,
}

/// Returns which of the moments between calls an event is.
fn tool_moment(event: &str, input: &HookInput) -> Option<ToolMoment> {
    let known = SessionEvent::named(event).is_some();
    let name = if known { event } else { &input.name };
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    match word.as_str() {
        "posttooluse" | "posttoolusefailure" | "aftertool" => Some(ToolMoment::After),
        "userpromptsubmit" | "beforeagent" => Some(ToolMoment::Prompt),
        _ => None,
    }
}

/// Remembers a session whose client drops the output at this event, and does the other work of the
/// event.
fn remembered(
    client: &'static Client,
    moment: SessionEvent,
    input: &HookInput,
    silence: Reply,
    environment: Environment,
    untold: Option<&Untold>,
) -> Reply {
    let ground = find_ground(client, moment, input);
    let own = match (&ground, moment) {
        (Some(ground), SessionEvent::Compact) => kept(ground, client, moment, input, None).0,
        _ => Done::Nothing,
    };
    let found = Neighbours::find(&environment, client, input);
    let is_anything = ground.is_some() || !matches!(found, Ok(None));
    let fault = match found {
        Ok(Some(mut found)) if moment == SessionEvent::Begin => found.begun().fault,
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let noted = match untold.filter(|_| is_anything) {
        Some(untold) => untold.note(),
        None => Ok(()),
    };
    let problem = fault.map(Problem::from);
    let problem = problem.or_else(|| noted.err().map(Problem::Disk));
    if let Some(problem) = problem {
        Unfound::of(environment, problem).tell(client.program, moment.word());
    }
    match own {
        Done::Nothing => silence,
        done => reply(&input.name, &done),
    }
}

/// The project of an event, if sessions are kept in it. What goes wrong is on the trail.
fn find_ground(client: &Client, moment: SessionEvent, input: &HookInput) -> Option<SessionProject> {
    let found = SessionProject::find(input.folder.as_deref());
    found.unwrap_or_else(|unfound| {
        unfound.tell(client.program, moment.word());
        None
    })
}

/// On which occasion the others are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occasion {
    /// At this moment.
    Moment(SessionEvent),
    /// At the first prompt of a context that got no output as it began.
    FirstPrompt,
}

/// Returns the output of the project's own sessions for an event, and the hand-offs in it.
fn kept(
    ground: &SessionProject,
    client: &'static Client,
    moment: SessionEvent,
    input: &HookInput,
    intent: Option<&CurrentIntent>,
) -> (Done, Vec<PendingHandoff>) {
    let alone = |done| (done, Vec::new());
    let done = match moment {
        SessionEvent::Begin => start::summarize(ground, client, input, intent),
        SessionEvent::Rest => stop::rested(ground, input).map(alone),
        SessionEvent::Compact => stop::compacted(ground, input).map(|done| match done {
            Done::Tell(_) if !shows_before_compact(client) => alone(Done::Nothing),
            done => alone(done),
        }),
        SessionEvent::End => stop::ended(ground, input).map(alone),
        SessionEvent::Between => match &input.transcript {
            Some(transcript) => stop::between(ground, input, transcript).map(alone),
            None => Ok(alone(Done::Nothing)),
        },
        SessionEvent::Typed => Ok(alone(Done::Nothing)),
    };
    done.unwrap_or_else(|problem| {
        ground.tell(client.program, moment.word(), input, &problem);
        alone(intent_alone(intent))
    })
}

/// Returns whether a client shows the person what its hook says before a context is compacted. Claude Code 2.1.332 prints
/// the JSON as it is, and Qwen Code was not seen to show any of it.
fn shows_before_compact(client: &Client) -> bool {
    matches!(client.program, "codex" | "gemini")
}

/// Returns the output of the other agents on this machine for an occasion, in addition to the
/// project's `own`, with past turns about the work that a session begins with. `say` writes it, and what it writes counts as
/// delivered.
fn met(
    environment: &Environment,
    client: &Client,
    occasion: Occasion,
    (input, bytes, related): (&HookInput, &[u8], Option<&RelatedWork<'_>>),
    own: &Done,
    say: impl FnOnce(&str) -> bool,
) -> InboxResult {
    let moment = match occasion {
        Occasion::Moment(moment) => moment,
        Occasion::FirstPrompt => SessionEvent::Begin,
    };
    if matches!(moment, SessionEvent::Compact | SessionEvent::Typed) {
        return InboxResult::default();
    }
    let mut found = match Neighbours::find(environment, client, input) {
        Ok(Some(found)) => found,
        Ok(None) => {
            let text = related.map(|related| related.line(None));
            return InboxResult {
                text: text.unwrap_or_default(),
                fault: None,
            };
        }
        Err(error) => {
            let line = if moment == SessionEvent::Begin {
                UNREAD
            } else {
                ""
            };
            return InboxResult {
                text: line.to_owned(),
                fault: Some(error),
            };
        }
    };
    let recovered = match own {
        Done::Context(recovered) => recovered,
        _ => "",
    };
    if occasion == Occasion::FirstPrompt {
        return found.at_first_prompt(recovered, related, say);
    }
    match moment {
        SessionEvent::Begin => found.at_begin(recovered, related, say),
        SessionEvent::Between => found.between(moment.word(), bytes, input.is_helper, say),
        SessionEvent::Rest => found.at_rest(),
        SessionEvent::End => found.at_end(),
        SessionEvent::Compact | SessionEvent::Typed => InboxResult::default(),
    }
}

/// Returns the output in the form that all clients with such an event take.
fn reply(event: &str, done: &Done) -> Reply {
    // Clients take a context under the name of their own event alone.
    let event = if event.is_empty() {
        "SessionStart"
    } else {
        event
    };
    let output: Value = match done {
        Done::Nothing => json!({}),
        Done::Context(text) => json!({"hookSpecificOutput": {
            "hookEventName": event, "additionalContext": text,
        }}),
        Done::Tell(text) => json!({"systemMessage": text}),
        Done::Block(reason) => json!({"decision": "block", "reason": reason}),
    };
    Reply {
        stdout: format!("{output}\n"),
        ..Reply::default()
    }
}
