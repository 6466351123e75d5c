//! [`answer`]: one job of the process that speaks to an agent for the controller.

use std::{
    cell::OnceCell,
    pin::pin,
    sync::{Mutex, PoisonError},
};

use agent_client_protocol::{
    Agent, Client, Error, ErrorCode, JsonRpcMessage as _, UntypedMessage,
    is_incoming_transport_closed, on_receive_notification, on_receive_request,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo, Responder,
        schema::{
            CancelNotification, ClientCapabilities, FileSystemCapabilities, Implementation,
            InitializeRequest, NewSessionRequest, PromptRequest, SessionId,
        },
    },
};
use callosum_evidence::tokens;
use callosum_host::process::Talk;
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
    select,
    sync::mpsc::UnboundedSender,
    time::timeout,
};

use super::{
    policy::Policy,
    session::Session,
    wire::{Spoke, wire},
};
use crate::{
    dialect::{CUT_OFF, Complaint, UNREACHABLE, UNREADABLE},
    transport::{Event, Job, LEAVE_WITHIN, Means, Tell, Want, farewell, relay, say},
};

/// Does one job, and tells what happens; `tell` says whether anybody still listens.
pub(crate) fn answer(job: &Job, means: &Means<'_>, tell: &mut Tell<'_>) -> Result<(), Complaint> {
    relay(tell, async |tell| {
        let (program, arguments) = job
            .command
            .as_ref()
            .ok_or_else(|| Complaint::of_ours("the job has no command"))?;
        let (_agent, input, output) = Talk::start(program.as_ref(), arguments)
            .map_err(|error| Complaint::of_kind(UNREACHABLE, &error.to_string()))?;
        let failed = |error: std::io::Error| Complaint::of_ours(&error.to_string());
        let output = pipe::Receiver::from_owned_fd(output).map_err(failed)?;
        let input = pipe::Sender::from_owned_fd(input).map_err(failed)?;
        let policy = Policy {
            disk: means.disk,
            root: &job.root,
        };
        converse(job, &policy, output, input, tell).await
    })
}

/// Has a conversation with an agent, from the handshake to its answer, or to the farewell.
pub(super) async fn converse<R, W>(
    job: &Job,
    policy: &Policy<'_>,
    from: R,
    to: W,
    tell: UnboundedSender<Event>,
) -> Result<(), Complaint>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let leave = farewell::leaving(job.farewell.as_deref());
    let spoke = Spoke::default();
    let talk = Talking {
        job,
        spoke: spoke.clone(),
        session: Mutex::new(Session::default()),
        tell: tell.clone(),
    };
    let ended = Client
        .v1()
        .on_receive_notification(
            async |told: UntypedMessage, _| {
                if told.method() == "session/update" {
                    talk.take(&told.params()["update"]);
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
                        // An agent that has ended is not told; either way it is gone in the end.
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

/// What is at hand while it is spoken with an agent.
struct Talking<'t> {
    job: &'t Job,
    spoke: Spoke,
    session: Mutex<Session>,
    tell: UnboundedSender<Event>,
}

impl Talking<'_> {
    /// Shakes hands, and asks what the job asks. Hands out what is to be told last.
    async fn ask(
        &self,
        agent: &ConnectionTo<Agent>,
        asked: &OnceCell<SessionId>,
    ) -> Result<Vec<Event>, Complaint> {
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
            }]);
        };
        let opened = agent.send_request(NewSessionRequest::new(&self.job.root));
        let opened = opened.block_task().await;
        let session = opened.map_err(|error| self.failed(&error))?.session_id;
        let prompt = request.spoken_plainly();
        self.say(Event::Given {
            prompt_tokens: tokens::estimate(&prompt),
            shown: Map::new(),
        });
        let session = asked.get_or_init(|| session).clone();
        // Its result is read as it is: reasons to stop, and places for usage, are more than the
        // protocol has.
        let prompt = PromptRequest::new(session, vec![prompt.into()]);
        let prompt = prompt.to_untyped_message();
        let prompt = prompt.map_err(|error| self.failed(&error))?;
        let result = agent.send_request(prompt).block_task().await;
        let result = result.map_err(|error| self.failed(&error))?;
        self.session().end(&result)
    }

    /// Takes in what an agent tells while it works.
    fn take(&self, update: &Value) {
        let mut session = self.session();
        let is_within = session.take(update);
        session.events.drain(..).for_each(|event| self.say(event));
        if !is_within {
            self.say(Event::TooMuch);
        }
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, event: Event) {
        say(&self.tell, event);
    }

    /// Why there was no handshake: an agent, or the library for it, says whether it is because of
    /// the version.
    fn not_begun(&self, error: &Error) -> Complaint {
        let complaint = self.failed(error);
        if error.code == ErrorCode::INVALID_REQUEST {
            return Complaint::of_kind(UNREADABLE, &complaint.words);
        }
        complaint
    }

    /// What an agent says that went wrong.
    fn failed(&self, error: &Error) -> Complaint {
        if is_incoming_transport_closed(error) {
            return self.gone();
        }
        let message = match error.message.as_str() {
            "" => "an error without words",
            message => message,
        };
        let details = error.data.as_ref().and_then(|data| {
            let ways = ["/details", "/message", ""];
            ways.iter().find_map(|way| data.pointer(way)?.as_str())
        });
        let words = match details {
            Some(details) if details != message => format!("{message}: {details}"),
            _ => message.to_owned(),
        };
        let is_login =
            error.code == ErrorCode::AUTH_REQUIRED && message.to_lowercase().contains("auth");
        Complaint {
            words,
            kind: is_login.then(|| "authentication_error".to_owned()),
            ..Complaint::default()
        }
    }

    fn gone(&self) -> Complaint {
        if self.spoke.ever() {
            Complaint::of_kind(CUT_OFF, "the agent ended")
        } else {
            let words = "the agent ended without a word of its protocol";
            Complaint::of_kind(UNREACHABLE, words)
        }
    }
}
