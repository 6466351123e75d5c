//! [`answer`]: one job of the process that speaks to an agent for the controller.

use std::{
    cell::OnceCell,
    pin::pin,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use agent_client_protocol::{
    Agent, Client, Error, ErrorCode, JsonRpcMessage as _, UntypedMessage,
    is_incoming_transport_closed, on_receive_notification, on_receive_request,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo, Responder,
        schema::{
            CancelNotification, ClientCapabilities, FileSystemCapabilities, Implementation,
            InitializeRequest, NewSessionRequest, PromptRequest, SessionId, SessionModeState,
            SetSessionModeRequest,
        },
    },
};
use callosum_citation::tokens;
use callosum_host::process::{Ending, InteractiveChild};
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
    select,
    sync::{Notify, mpsc::UnboundedSender},
    time::{sleep, timeout},
};

use super::{
    mode::{ModeChoice, mode_that_asks},
    policy::Policy,
    session::Session,
    wire::{Spoke, wire},
};
use crate::{
    output_format::{CUT_OFF, ErrorText, NOT_SPOKEN, UNREACHABLE, UNREADABLE, WRITES_UNASKED},
    sanitize::without_stack,
    transport::{Event, Job, LEAVE_WITHIN, Tell, Want, WorkerContext, cancel, relay, say},
};

/// Longest time that an agent may take to end after its input or output ended.
const ENDS_WITHIN: Duration = Duration::from_millis(300);

/// The same for an agent that reports only as it ends why its answer ended: on a busy machine that
/// takes seconds.
const TELLS_WITHIN: Duration = Duration::from_mins(1);

/// Interval between two checks whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Does one job and reports its events; `tell` returns whether the receiver still listens.
pub(crate) fn answer(
    job: &Job,
    means: &WorkerContext<'_>,
    tell: &mut Tell<'_>,
) -> Result<(), ErrorText> {
    // An agent that has sent its answer may still record why that ended.
    let is_last = |event: &Event| matches!(event, Event::TooMuch);
    relay(tell, is_last, async |tell| {
        let (program, arguments) = job
            .command
            .as_ref()
            .ok_or_else(|| ErrorText::of_ours("the job has no command"))?;
        let (mut agent, input, output) = InteractiveChild::start(program.as_ref(), arguments)
            .map_err(|error| ErrorText::of_kind(UNREACHABLE, &error.to_string()))?;
        let failed = |error: std::io::Error| ErrorText::of_ours(&error.to_string());
        let output = pipe::Receiver::from_owned_fd(output).map_err(failed)?;
        let input = pipe::Sender::from_owned_fd(input).map_err(failed)?;
        let policy = Policy {
            disk: means.disk,
            root: &job.root,
        };
        match converse(job, &policy, output, input, tell.clone()).await {
            Ok(()) => {
                if matches!(job.want, Want::Answer(_)) {
                    // Its input has ended: it may write down what it still has to.
                    let ended = ending(&mut agent, time_to_end(job)).await;
                    if ended.is_none() && job.tells_as_it_ends {
                        say(&tell, Event::Unended);
                    }
                }
                Ok(())
            }
            Err(Failure::Reported(complaint)) => Err(complaint),
            Err(gone @ Failure::Gone { .. }) => {
                Err(gone.complaint(ending(&mut agent, ENDS_WITHIN).await))
            }
        }
    })
}

/// Returns the time to wait for an agent that has answered; at most half of the silence limit, so
/// that this does not end it.
fn time_to_end(job: &Job) -> Duration {
    if job.tells_as_it_ends {
        TELLS_WITHIN.min(job.limits.quiet() / 2).max(ENDS_WITHIN)
    } else {
        ENDS_WITHIN
    }
}

/// Waits until an agent whose input or output ended has ended; `None` if that takes longer than
/// `within`.
async fn ending(agent: &mut InteractiveChild, within: Duration) -> Option<Ending> {
    let ended = async {
        loop {
            if let Some(ending) = agent.ending() {
                return ending;
            }
            sleep(LOOK_AGAIN).await;
        }
    };
    timeout(within, ended).await.ok()
}

/// Reason why a conversation had no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// A reported error.
    Reported(ErrorText),
    /// The agent's output ended.
    Gone {
        /// Whether it had written a message of its protocol.
        spoke: bool,
    },
}

impl Failure {
    /// Converts it to an error, with how the agent ended if that is known.
    pub(super) fn complaint(self, ending: Option<Ending>) -> ErrorText {
        let how = match ending {
            Some(Ending::Exited(code)) => format!(" with exit code {code}"),
            Some(Ending::Signalled(signal)) => format!(" by signal {signal}"),
            _ => String::new(),
        };
        match self {
            Self::Reported(complaint) => complaint,
            Self::Gone { spoke: true } => {
                ErrorText::of_kind(CUT_OFF, &format!("the agent ended{how}"))
            }
            Self::Gone { spoke: false } => ErrorText::of_kind(
                NOT_SPOKEN,
                &format!("the agent ended{how} and wrote nothing"),
            ),
        }
    }
}

impl From<ErrorText> for Failure {
    fn from(complaint: ErrorText) -> Self {
        Self::Reported(complaint)
    }
}

/// Has a conversation with an agent, from the handshake to its answer, or to the farewell.
pub(super) async fn converse<R, W>(
    job: &Job,
    policy: &Policy<'_>,
    from: R,
    to: W,
    tell: UnboundedSender<Event>,
) -> Result<(), Failure>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let leave = cancel::leaving(job.farewell.as_deref());
    let spoke = Spoke::default();
    let talk = Talking {
        job,
        spoke: spoke.clone(),
        session: Mutex::new(Session::default()),
        stalled: Notify::new(),
        tell: tell.clone(),
    };
    let ended = Client
        .v1()
        .on_receive_notification(
            async |notification: UntypedMessage, _| {
                if notification.method() == "session/update" {
                    talk.take(notification.params());
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async |asked: UntypedMessage, responder: Responder, _| {
                if asked.method() == "session/request_permission" {
                    talk.session().interrupt();
                }
                if let Some(what) = policy.refuses(asked.method(), asked.params()) {
                    talk.session().refuse(what);
                }
                let answer = policy.answer(asked.method(), asked.params());
                let answer = answer.map_err(|(code, words)| Error::new(code, words));
                responder.respond_with_result(answer)
            },
            on_receive_request!(),
        )
        .connect_with(wire(from, to, spoke, tell), async |agent| {
            let asked = OnceCell::new();
            let mut work = pin!(talk.ask(&agent, &asked));
            Ok(select! {
                done = &mut work => done.map(|last| last.into_iter().for_each(|event| talk.say(event))),
                () = leave => {
                    if let Some(session) = asked.get() {
                        // An agent that has ended does not receive this; either way it is gone in
                        // the end.
                        drop(agent.send_notification(CancelNotification::new(SessionId::clone(session))));
                        drop(timeout(LEAVE_WITHIN, work).await);
                    }
                    Ok(())
                }
            })
        })
        .await;
    // What fails besides the conversation is the pipe.
    ended.unwrap_or_else(|_| Err(talk.gone()))
}

/// State of a conversation with an agent.
struct Talking<'t> {
    job: &'t Job,
    spoke: Spoke,
    session: Mutex<Session>,
    stalled: Notify,
    tell: UnboundedSender<Event>,
}

impl Talking<'_> {
    /// Completes the handshake and does what the job asks. Returns the last events.
    async fn ask(
        &self,
        agent: &ConnectionTo<Agent>,
        asked: &OnceCell<SessionId>,
    ) -> Result<Vec<Event>, Failure> {
        let files = FileSystemCapabilities::new().read_text_file(true);
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new().fs(files))
            .client_info(Implementation::new("callosum", env!("CARGO_PKG_VERSION")));
        let hello = agent.send_request(hello).block_task().await;
        let named = hello.map_err(|error| self.not_begun(&error))?.agent_info;
        let Want::Answer(request) = &self.job.want else {
            let (version, name) = named.map(|it| (it.version, it.name)).unzip();
            return Ok(vec![Event::Found {
                version,
                offers: name.into_iter().collect(),
                tools: Vec::new(),
            }]);
        };
        let opened = agent.send_request(NewSessionRequest::new(&self.job.root));
        let opened = opened.block_task().await;
        let opened = opened.map_err(|error| self.failed(&error))?;
        let session = opened.session_id;
        if self.job.must_ask {
            self.have_it_ask(agent, &session, opened.modes.as_ref())
                .await?;
        }
        let prompt = request.spoken_plainly();
        self.say(Event::Given {
            prompt_tokens: tokens::estimate(&prompt),
            shown: Map::new(),
        });
        self.session().id = Some(session.to_string());
        let session = asked.get_or_init(|| session).clone();
        // Its result is read as it is: reasons to stop, and places for usage, are more than the
        // protocol has.
        let prompt = PromptRequest::new(session, vec![prompt.into()]);
        let prompt = prompt.to_untyped_message();
        let prompt = prompt.map_err(|error| self.failed(&error))?;
        let result = select! {
            result = agent.send_request(prompt).block_task() => result,
            () = self.stalled.notified() => {
                // What it counted until now was paid for.
                for event in self.session().counted(&Value::Null) {
                    self.say(event);
                }
                let words = "the agent kept starting messages before the previous one had ended";
                return Err(ErrorText::of_kind(CUT_OFF, words).into());
            }
        };
        let result = result.map_err(|error| self.failed(&error))?;
        if self.spoke.is_garbled() {
            let words = "the agent wrote a message that is not UTF-8";
            return Err(ErrorText::of_kind(UNREADABLE, words).into());
        }
        let mut session = self.session();
        session.end(&result).map_err(|complaint| {
            // What is no answer was paid for.
            for event in session.counted(&result) {
                self.say(event);
            }
            complaint.into()
        })
    }

    /// Sets the mode in which an agent asks before it changes anything; fails if no mode is known to.
    async fn have_it_ask(
        &self,
        agent: &ConnectionTo<Agent>,
        session: &SessionId,
        modes: Option<&SessionModeState>,
    ) -> Result<(), Failure> {
        let mode = match mode_that_asks(modes) {
            ModeChoice::Asks => return Ok(()),
            ModeChoice::Set(mode) => mode,
            ModeChoice::Unknown(names) => {
                let words = match names.as_slice() {
                    [] => "the agent offers no session modes".to_owned(),
                    names => format!(
                        "none of its modes is known to ask for permission: {}",
                        names.join(", ")
                    ),
                };
                return Err(ErrorText::of_kind(WRITES_UNASKED, &words).into());
            }
        };
        let request = SetSessionModeRequest::new(session.clone(), mode.clone());
        let set = agent.send_request(request).block_task().await;
        set.map(drop).map_err(|error| {
            if is_incoming_transport_closed(&error) {
                return self.gone();
            }
            let why = to_complaint(&error).words;
            let words = format!("the agent did not accept the mode `{mode}`: {why}");
            ErrorText::of_kind(WRITES_UNASKED, &words).into()
        })
    }

    /// Processes an agent's notification.
    fn take(&self, notification: &Value) {
        let mut session = self.session();
        let is_within = session.take(notification);
        session.events.drain(..).for_each(|event| self.say(event));
        if !is_within {
            self.say(Event::TooMuch);
        }
        if session.is_stalled() {
            self.stalled.notify_one();
        }
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, event: Event) {
        say(&self.tell, event);
    }

    /// Returns the failure of a handshake; the agent, or the library for it, reports whether the
    /// version is the reason.
    fn not_begun(&self, error: &Error) -> Failure {
        match self.failed(error) {
            Failure::Reported(complaint) if error.code == ErrorCode::INVALID_REQUEST => {
                ErrorText::of_kind(UNREADABLE, &complaint.words).into()
            }
            failure => failure,
        }
    }

    /// Converts an error of the agent, or of the connection to it.
    fn failed(&self, error: &Error) -> Failure {
        if is_incoming_transport_closed(error) {
            return self.gone();
        }
        to_complaint(error).into()
    }

    fn gone(&self) -> Failure {
        Failure::Gone {
            spoke: self.spoke.ever(),
        }
    }
}

/// Converts an agent's error.
///
/// Its code is that of JSON-RPC, or the status of a server that the agent asked; other agents put
/// the status next to it.
fn to_complaint(error: &Error) -> ErrorText {
    let message = match error.message.as_str() {
        "" => "an error without a message",
        message => message,
    };
    let data = error.data.as_ref();
    let at = |way: &&str| data?.pointer(way);
    let details = ["/details", "/message", "/error/message", ""]
        .iter()
        .find_map(|way| at(way)?.as_str());
    let words = match details {
        Some(details) if details != message => format!("{message}: {details}"),
        _ => message.to_owned(),
    };
    let places = ["/status", "/code", "/error/status", "/error/code"];
    let beside = places.iter().find_map(|way| status(at(way)?));
    // Gemini CLI says 500 where it knows of no status.
    let code = Value::from(i32::from(error.code));
    let own = status(&code).filter(|status| *status != 500);
    // Some agents put the name of a kind where others have a status.
    let named = |way: &&str| at(way)?.as_str().filter(|name| !name.trim().is_empty());
    let named = places.iter().find_map(named);
    let is_login =
        error.code == ErrorCode::AUTH_REQUIRED && message.to_lowercase().contains("auth");
    ErrorText {
        words: without_stack(&words),
        status: own.or(beside),
        kind: is_login
            .then_some("authentication_error")
            .or(named)
            .map(str::to_lowercase),
        ..ErrorText::default()
    }
}

/// The status of an HTTP answer, as a number or in digits.
fn status(value: &Value) -> Option<u64> {
    let digits = value.as_str().and_then(|digits| digits.parse().ok());
    let number = value.as_u64().or(digits)?;
    (400..600).contains(&number).then_some(number)
}
