//! [`answer`]: one job of the process that speaks to an MCP server for the controller.

use callosum_citation::tokens;
use callosum_host::process::InteractiveChild;
use rmcp::{
    ClientHandler, Peer, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
        ClientCapabilities, ClientConfig, CustomResult, Implementation, ListToolsRequest,
        PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, RequestId,
        ServerResult, Tool,
    },
    service::{
        ClientInitializeError, ClientLifecycleMode, NotificationContext, PeerRequestOptions,
        RunningService, ServiceError, serve_client_with_lifecycle,
    },
    transport::{
        IntoTransport, StreamableHttpClientTransport, async_rw::AsyncRwTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Map, Value};
use tokio::{
    io::{copy, sink},
    net::unix::pipe,
    sync::mpsc::UnboundedSender,
    time::timeout,
};

use super::{
    http_transport::Remote,
    resources,
    tool::{self, Listed},
};
use crate::{
    http::Caller,
    output_format::{CUT_OFF, ErrorText, UNREACHABLE, UNREADABLE},
    runner::LARGEST_ANSWER,
    sanitize::with_causes,
    server_tool::bounded,
    transport::{
        Event, Job, LEAVE_WITHIN, LONGEST_MESSAGE, ReadOutput, Tell, Want, WorkerContext, cancel,
        relay, say,
    },
};

/// Does one job and reports its events; `tell` returns whether the receiver still listens.
pub(crate) fn answer(
    job: &Job,
    means: &WorkerContext<'_>,
    tell: &mut Tell<'_>,
) -> Result<(), ErrorText> {
    let is_last = |event: &Event| matches!(event, Event::TooMuch | Event::Done);
    relay(tell, is_last, |tell| converse(job, means, tell))
}

async fn converse(
    job: &Job,
    means: &WorkerContext<'_>,
    tell: UnboundedSender<Event>,
) -> Result<(), ErrorText> {
    if job.endpoint.is_some() {
        let caller = Caller::new(job, means.environment)?;
        let config = StreamableHttpClientTransportConfig::with_uri(caller.own_address());
        let remote = Remote::new(caller, tell.clone());
        let transport = StreamableHttpClientTransport::with_client(remote.clone(), config);
        let done = speak(job, transport, None, tell).await;
        // A server's error with a status says more than that no message came.
        return done.map_err(|complaint| remote.refusal().unwrap_or(complaint));
    }
    let (program, arguments) = job
        .command
        .as_ref()
        .ok_or_else(|| ErrorText::of_ours("the job has no command"))?;
    let (_server, input, output) = InteractiveChild::start(program.as_ref(), arguments)
        .map_err(|error| ErrorText::of_kind(UNREACHABLE, &with_causes(&error)))?;
    let failed = |error: std::io::Error| ErrorText::of_ours(&error.to_string());
    let rest = output.try_clone().map_err(failed)?;
    let rest = pipe::Receiver::from_owned_fd(rest).map_err(failed)?;
    let output = pipe::Receiver::from_owned_fd(output).map_err(failed)?;
    let input = pipe::Sender::from_owned_fd(input).map_err(failed)?;
    let transport = AsyncRwTransport::new(ReadOutput::new(output, tell.clone()), input)
        .with_max_line_length(LONGEST_MESSAGE);
    speak(job, transport, Some(rest), tell).await
}

/// Shakes hands, and asks what the job asks. `rest` is what comes from a server of our own after its
/// farewell.
async fn speak<T, E, A>(
    job: &Job,
    transport: T,
    rest: Option<pipe::Receiver>,
    tell: UnboundedSender<Event>,
) -> Result<(), ErrorText>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let leave = cancel::leaving(job.farewell.as_deref());
    let service = serve_client_with_lifecycle(Listener(tell.clone()), transport, lifecycle)
        .await
        .map_err(|error| not_begun(&error))?;
    let peer: &Peer<RoleClient> = &service;
    if let Want::Resources(query) = &job.want {
        return resources::read_listed(peer, query, &tell).await;
    }
    let tools = listed(peer).await?;
    let wanted = job.tool.as_deref().unwrap_or_default();
    let chosen = tools.iter().find(|one| one.info.name == wanted);
    let unfit = chosen.and_then(|one| one.info.unfit.as_deref());
    match (&job.want, chosen.and_then(|one| one.tool.as_ref())) {
        _ if unfit.is_some() && !wanted.is_empty() => Err(ErrorText::of_ours(&format!(
            "its server's tool `{wanted}` cannot be called: {}",
            unfit.unwrap_or_default()
        ))),
        (Want::Look, chosen) => {
            if let Some(tool) = chosen {
                choose(tool, job)?;
            }
            let version = peer.peer_info().and_then(|info| {
                info.server_info
                    .as_ref()
                    .map(|server| server.version.clone())
            });
            say(
                &tell,
                Event::Found {
                    version,
                    offers: tools
                        .iter()
                        .filter(|one| one.tool.is_some())
                        .map(|one| one.info.name.clone())
                        .collect(),
                    tools: bounded(tools.into_iter().map(|one| one.info)),
                },
            );
            Ok(())
        }
        (Want::Answer(_), _) if job.tool.is_none() => Err(ErrorText::of_ours(
            "it is a server of tools, but none of them takes a task",
        )),
        (Want::Ready | Want::Resources(_), _) => {
            Err(ErrorText::of_ours("a server of tools loads no model"))
        }
        (Want::Answer(_) | Want::Call(_), None) => Err(ErrorText::of_ours(&format!(
            "its server no longer has the tool `{wanted}`"
        ))),
        (Want::Answer(request), Some(tool)) => {
            let argument = choose(tool, job)?;
            let wanted = wanted.to_owned();
            let prompt = request.spoken_plainly();
            say(
                &tell,
                Event::Given {
                    prompt_tokens: tokens::estimate(&prompt),
                    shown: Map::new(),
                },
            );
            let call = CallToolRequestParams::new(wanted)
                .with_arguments(tool::arguments(argument, prompt));
            let Some(result) = called(service, call, leave, rest).await? else {
                return Ok(());
            };
            let text = tool::text_of(&result);
            if result.is_error == Some(true) {
                return Err(ErrorText::words(&text));
            }
            say(&tell, Event::Text { text });
            say(&tell, Event::Done);
            Ok(())
        }
        (Want::Call(arguments), Some(_)) => {
            say(&tell, Event::Calling);
            let call =
                CallToolRequestParams::new(wanted.to_owned()).with_arguments(arguments.clone());
            let Some(result) = called(service, call, leave, rest).await? else {
                return Ok(());
            };
            say(&tell, answered(result));
            say(&tell, Event::Done);
            Ok(())
        }
    }
}

/// Lists all tools of a server. An invalid list is read entry by entry, so that one bad entry does
/// not cost the others.
async fn listed(peer: &Peer<RoleClient>) -> Result<Vec<Listed>, ErrorText> {
    let mut listed: Vec<Listed> = Vec::new();
    let mut cursor = None;
    loop {
        let page = ListToolsRequest {
            params: Some(PaginatedRequestParams::default().with_cursor(cursor)),
            ..ListToolsRequest::default()
        };
        let asked = peer
            .send_cancellable_request(page.into(), PeerRequestOptions::no_options())
            .await
            .map_err(|error| not_done(&error))?;
        let result = asked.await_response().await;
        cursor = match result.map_err(|error| not_done(&error))? {
            ServerResult::ListToolsResult(page) => {
                listed.extend(page.tools.into_iter().map(Listed::of));
                page.next_cursor
            }
            ServerResult::CustomResult(CustomResult(Value::Object(mut page))) => {
                let Some(Value::Array(entries)) = page.remove("tools") else {
                    return Err(not_done(&ServiceError::UnexpectedResponse));
                };
                for entry in entries {
                    let number = listed.len() + 1;
                    listed.push(Listed::of_json(entry, number));
                }
                let cursor = page.get("nextCursor").and_then(Value::as_str);
                cursor.map(str::to_owned)
            }
            _ => return Err(not_done(&ServiceError::UnexpectedResponse)),
        };
        if cursor.is_none() {
            return Ok(tool::without_unnameable(listed));
        }
    }
}

/// Calls a tool, once; `None` if no one waits for its answer any more.
async fn called(
    service: RunningService<RoleClient, Listener>,
    call: CallToolRequestParams,
    leave: impl Future<Output = ()>,
    rest: Option<pipe::Receiver>,
) -> Result<Option<CallToolResult>, ErrorText> {
    let asked = service
        .peer()
        .send_cancellable_request(
            CallToolRequest::new(call).into(),
            PeerRequestOptions::no_options(),
        )
        .await
        .map_err(|error| not_done(&error))?;
    let id = asked.id.clone();
    let result = tokio::select! {
        result = asked.await_response() => result.map_err(|error| not_done(&error))?,
        () = leave => {
            take_leave(service, id, rest).await;
            return Ok(None);
        }
    };
    match result {
        ServerResult::CallToolResult(result) => Ok(Some(result)),
        _ => Err(not_done(&ServiceError::UnexpectedResponse)),
    }
}

/// Converts a tool's answer to an event, unless it exceeds the limit of an answer.
fn answered(result: CallToolResult) -> Event {
    let text = tool::texts(&result);
    let structured = result.structured_content.filter(|value| !value.is_null());
    let beside = structured
        .as_ref()
        .map_or(0, |value| value.to_string().len());
    if text.len() + beside > LARGEST_ANSWER {
        return Event::TooMuch;
    }
    Event::Called {
        text,
        structured,
        is_error: result.is_error == Some(true),
    }
}

/// Notifies the server that the request is canceled, closes its input, and waits a moment for it to
/// end by itself.
async fn take_leave(
    mut service: RunningService<RoleClient, Listener>,
    request: RequestId,
    rest: Option<pipe::Receiver>,
) {
    let leave = async {
        let reason = "the request was canceled".to_owned();
        let cancelled = CancelledNotificationParam::new(Some(request), Some(reason));
        // A server that has ended does not receive this; either way it is gone in the end.
        drop(service.peer().notify_cancelled(cancelled).await);
        drop(service.close().await);
        if let Some(mut rest) = rest {
            drop(copy(&mut rest, &mut sink()).await);
        }
    };
    drop(timeout(LEAVE_WITHIN, leave).await);
}

fn choose(tool: &Tool, job: &Job) -> Result<String, ErrorText> {
    tool::argument(tool, job.argument.as_deref())
        .map_err(|error| ErrorText::of_ours(&error.to_string()))
}

fn not_begun(error: &ClientInitializeError) -> ErrorText {
    let kind = match error {
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => UNREACHABLE,
        _ => UNREADABLE,
    };
    ErrorText::of_kind(kind, &with_causes(error))
}

pub(super) fn not_done(error: &ServiceError) -> ErrorText {
    match error {
        ServiceError::McpError(error) => ErrorText::words(&error.message),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            ErrorText::of_kind(CUT_OFF, "its server ended")
        }
        other => ErrorText::of_kind(UNREADABLE, &with_causes(other)),
    }
}

/// The controller's side of the connection: it listens, and grants nothing.
struct Listener(UnboundedSender<Event>);

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("callosum", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        if let Some(what) = params.message {
            say(&self.0, Event::Doing { what });
        }
    }
}
