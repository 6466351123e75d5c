//! Connecting to a server, and opening or creating the stream, the bucket and the consumer of a machine.

use std::{
    fmt::Display,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, Event,
    connection::State,
    jetstream::{
        Context,
        consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull::Config as PullConfig},
        context::{CreateStreamErrorKind, GetStreamErrorKind},
        kv::{Config as KvConfig, Store},
        stream::{Config as StreamConfig, Stream},
    },
};
use callosum_config::{Credentials, FleetSetting};

use super::ANSWER;
use crate::{Membership, Names, ServerError};

/// Longest wait for a connection. A system asks after 0, 1 and 3 seconds.
const CONNECT: Duration = Duration::from_secs(4);

/// Time after which an unacknowledged message comes again.
const ACK_WAIT: Duration = Duration::from_secs(5);

/// Time in which the server recognizes a message that is sent twice. The check of the last message of a subject has no
/// such limit.
const DUPLICATES: Duration = Duration::from_mins(10);

/// Most messages that a machine may have taken and not acknowledged.
const MOST_PENDING: i64 = 1024;

/// The oldest version of the server that is tested.
const OLDEST: (u64, u64) = (2, 11);

/// Code of the error that there is no such stream.
const NO_STREAM: u64 = 10059;

/// Facts about the connection, for errors.
#[derive(Clone)]
pub(super) struct Faults {
    pub(super) workspace: String,
    pub(super) servers: String,
    /// The last error that the server reported outside of an answer.
    pub(super) reported: Arc<Mutex<Option<String>>>,
}

impl Faults {
    fn reported(&self) -> Option<String> {
        let reported = self.reported.lock();
        reported.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn unreachable(&self, reason: impl Display) -> ServerError {
        ServerError::Unreachable {
            servers: self.servers.clone(),
            reason: reason.to_string(),
        }
    }

    /// Explains an error of a call.
    pub(super) fn of(&self, state: State, error: impl Display) -> ServerError {
        if let Some(reported) = self.reported().filter(|reported| is_refusal(reported)) {
            return ServerError::Refused { reason: reported };
        }
        let reason = error.to_string();
        // A network that is cut leaves the connection as it is.
        if state == State::Connected && !reason.contains("timed out") {
            ServerError::Failed { reason }
        } else {
            self.unreachable(reason)
        }
    }
}

/// Whether the server reports that it does not accept the credentials, or that they do not allow this.
fn is_refusal(reported: &str) -> bool {
    let reported = reported.to_ascii_lowercase();
    ["authorization", "authentication", "permissions", "revoked"]
        .iter()
        .any(|word| reported.contains(word))
}

/// Returns the name of the stream and of the bucket of a workspace.
fn store_name(workspace: &str) -> String {
    format!("callosum_{workspace}")
}

pub(super) async fn connected(
    setting: &FleetSetting,
    names: &Names,
    faults: &Faults,
) -> Result<Client, ServerError> {
    let reported = Arc::clone(&faults.reported);
    let Names { user, machine } = names;
    let mut options = ConnectOptions::new()
        .name(format!("callosum {names}"))
        // Answers to one machine are not for another, and permissions name this.
        .custom_inbox_prefix(format!("_INBOX_{user}_{machine}"))
        .connection_timeout(CONNECT)
        .request_timeout(Some(ANSWER))
        .max_reconnects(1)
        // A cluster names its servers by addresses that may not be allowed.
        .ignore_discovered_servers()
        .event_callback(move |event| {
            let reported = Arc::clone(&reported);
            async move {
                let text = match event {
                    Event::ServerError(error) => error.to_string(),
                    Event::ClientError(error) => error.to_string(),
                    _ => return,
                };
                let known = reported.lock();
                *known.unwrap_or_else(PoisonError::into_inner) = Some(text);
            }
        });
    options = match &setting.credentials {
        Some(Credentials::Password(user, password)) => {
            options.user_and_password(user.clone(), password.clone())
        }
        Some(Credentials::Token(token)) => options.token(token.clone()),
        None => options,
    };
    if let Some(file) = &setting.ca_file {
        options = options.add_root_certificates(file.clone());
    }
    let client = options.connect(setting.servers.clone()).await;
    let client = client.map_err(|error| match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            ServerError::Refused {
                reason: error.to_string(),
            }
        }
        _ => faults.unreachable(error),
    })?;
    let version = client.server_info().version;
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found < OLDEST {
        return Err(ServerError::Old { found: version });
    }
    Ok(client)
}

/// Opens the stream and the bucket of a workspace. Creates them if there are none, with this many replicas if that is given.
pub(super) async fn workspace(
    context: &Context,
    client: &Client,
    faults: &Faults,
    creation: Option<usize>,
) -> Result<(Stream, Store), ServerError> {
    let name = store_name(&faults.workspace);
    let explain = |error: &dyn Display| faults.of(client.connection_state(), error);
    let stream = match context.get_stream(&name).await {
        Ok(stream) => stream,
        Err(error) => {
            let is_missing = matches!(
                error.kind(),
                GetStreamErrorKind::JetStream(error) if error.error_code().0 == NO_STREAM
            );
            if !is_missing {
                return Err(explain(&error));
            }
            let Some(replicas) = creation else {
                return Err(ServerError::NoWorkspace {
                    workspace: faults.workspace.clone(),
                    reason: "run `callosum mesh fleet join` again".to_owned(),
                });
            };
            let created = context.create_stream(stream_config(faults, replicas)).await;
            created.map_err(|error| match error.kind() {
                CreateStreamErrorKind::JetStream(error) => ServerError::NoWorkspace {
                    workspace: faults.workspace.clone(),
                    reason: error.to_string(),
                },
                _ => explain(&error),
            })?;
            let made = context.get_stream(&name).await;
            made.map_err(|error| explain(&error))?
        }
    };
    let store = match context.get_key_value(&name).await {
        Ok(store) => store,
        Err(error) => {
            let Some(num_replicas) = creation else {
                return Err(explain(&error));
            };
            let config = KvConfig {
                bucket: name,
                description: format!("Claims of the workspace {}", faults.workspace),
                history: 1,
                num_replicas,
                ..KvConfig::default()
            };
            let created = context.create_key_value(config).await;
            created.map_err(|error| explain(&error))?
        }
    };
    Ok((stream, store))
}

fn stream_config(faults: &Faults, num_replicas: usize) -> StreamConfig {
    let workspace = &faults.workspace;
    StreamConfig {
        name: store_name(workspace),
        subjects: vec![format!("callosum.{workspace}.events.>")],
        description: Some(format!("Events of the workspace {workspace}")),
        duplicate_window: DUPLICATES,
        // It is appended to, and no more.
        deny_delete: true,
        allow_direct: true,
        num_replicas,
        ..StreamConfig::default()
    }
}

pub(super) async fn consumer(
    stream: &Stream,
    client: &Client,
    faults: &Faults,
    membership: &Membership,
) -> Result<PullConsumer, ServerError> {
    let config = PullConfig {
        durable_name: Some(membership.consumer()),
        description: Some(membership.names.to_string()),
        deliver_policy: DeliverPolicy::All,
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_ack_pending: MOST_PENDING,
        ..PullConfig::default()
    };
    let name = membership.consumer();
    let made = stream.get_or_create_consumer(&name, config).await;
    made.map_err(|error| faults.of(client.connection_state(), error))
}
