//! [`Nats`]: the real server, over `async-nats`, from threads without a runtime.
//!
//! Start with [`Nats::connect`]. Each machine has one durable, named pull consumer with explicit acknowledgements. Not
//! used: ordered consumers and watchers, which hung after a restart of the server (nats.rs 1596) and pile up on
//! reconnects. A connection that breaks fails the calls on it; the caller connects again.

use std::{
    fmt::Display,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, Event, HeaderMap,
    connection::State,
    header,
    jetstream::{
        self, AckKind, Context,
        consumer::{
            AckPolicy, DeliverPolicy, PullConsumer,
            pull::{Batch, Config as PullConfig},
        },
        context::{CreateStreamErrorKind, GetStreamErrorKind, PublishErrorKind},
        kv::{Config as KvConfig, Store, UpdateErrorKind},
        message::StreamMessage,
        stream::{Config as StreamConfig, LastRawMessageErrorKind, Stream},
    },
};
use callosum_config::{Credentials, FleetSetting};
use futures_util::{StreamExt as _, TryStreamExt as _, future::join_all};
use jiff::Timestamp;
use tokio::runtime::Runtime;

use super::{Delivery, KeyEntry, Membership, Names, Published, Server, ServerError, StoredMessage};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(5);

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

/// A connection of this machine to a workspace.
pub struct Nats {
    runtime: Runtime,
    client: Client,
    stream: Stream,
    store: Store,
    context: Context,
    consumer: PullConsumer,
    membership: Membership,
    /// Messages of the last pull.
    taken: Vec<(u64, jetstream::Message)>,
    faults: Faults,
}

/// Facts about the connection, for errors.
#[derive(Clone)]
struct Faults {
    workspace: String,
    servers: String,
    /// The last error that the server reported outside of an answer.
    reported: Arc<Mutex<Option<String>>>,
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
    fn of(&self, state: State, error: impl Display) -> ServerError {
        if let Some(reported) = self.reported().filter(|reported| is_refusal(reported)) {
            return ServerError::Refused { reason: reported };
        }
        if state == State::Connected {
            ServerError::Failed {
                reason: error.to_string(),
            }
        } else {
            self.unreachable(error)
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

impl Nats {
    /// Connects as a machine that has joined. `is_join` creates the workspace if the server has none, as far as the
    /// credentials allow.
    pub fn connect(
        setting: &FleetSetting,
        membership: &Membership,
        is_join: bool,
    ) -> Result<Self, ServerError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ServerError::Failed {
                reason: error.to_string(),
            })?;
        let faults = Faults {
            workspace: membership.workspace.clone(),
            servers: setting.servers.join(", "),
            reported: Arc::default(),
        };
        let opened = runtime.block_on(async {
            let client = connected(setting, &membership.names, &faults).await?;
            let mut context = jetstream::new(client.clone());
            context.set_timeout(ANSWER);
            let (stream, store) = workspace(&context, &client, &faults, is_join).await?;
            if is_join {
                // That of an earlier log has acknowledged what this log does not have.
                drop(stream.delete_consumer(&membership.consumer()).await);
            }
            let consumer = consumer(&stream, &client, &faults, membership).await?;
            Ok((client, context, stream, store, consumer))
        });
        let (client, context, stream, store, consumer) = opened?;
        Ok(Self {
            runtime,
            client,
            stream,
            store,
            context,
            consumer,
            membership: membership.clone(),
            taken: Vec::new(),
            faults,
        })
    }

    fn failed(&self, error: impl Display) -> ServerError {
        self.faults.of(self.client.connection_state(), error)
    }

    fn subject_of(&self, key: &str) -> String {
        format!("{}{key}", self.store.prefix)
    }

    /// Reads a message from the leader of a stream. A follower may answer with an older one.
    fn message(
        &self,
        stream: &Stream,
        subject: &str,
        is_first: bool,
    ) -> Result<Option<StreamMessage>, ServerError> {
        let found = self.runtime.block_on(async {
            if is_first {
                stream.get_first_raw_message_by_subject(subject, 1).await
            } else {
                stream.get_last_raw_message_by_subject(subject).await
            }
        });
        match found {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }
}

async fn connected(
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

/// Opens the stream and the bucket of a workspace, or creates them.
async fn workspace(
    context: &Context,
    client: &Client,
    faults: &Faults,
    is_join: bool,
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
            if !is_join {
                return Err(ServerError::NoWorkspace {
                    workspace: faults.workspace.clone(),
                    reason: "run `callosum mesh fleet join` again".to_owned(),
                });
            }
            let created = context.create_stream(stream_config(faults)).await;
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
        Err(error) if !is_join => return Err(explain(&error)),
        Err(_) => {
            let config = KvConfig {
                bucket: name,
                description: format!("Claims of the workspace {}", faults.workspace),
                history: 1,
                ..KvConfig::default()
            };
            let created = context.create_key_value(config).await;
            created.map_err(|error| explain(&error))?
        }
    };
    Ok((stream, store))
}

fn stream_config(faults: &Faults) -> StreamConfig {
    let workspace = &faults.workspace;
    StreamConfig {
        name: store_name(workspace),
        subjects: vec![format!("callosum.{workspace}.events.>")],
        description: Some(format!("Events of the workspace {workspace}")),
        duplicate_window: DUPLICATES,
        // It is appended to, and no more.
        deny_delete: true,
        allow_direct: true,
        num_replicas: 1,
        ..StreamConfig::default()
    }
}

async fn consumer(
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

/// Takes the messages of a batch.
async fn taken(mut batch: Batch, taken: &mut Vec<(u64, jetstream::Message)>) -> Result<(), String> {
    while let Some(message) = batch.next().await {
        let message = message.map_err(|error| error.to_string())?;
        let info = message.info().map_err(|error| error.to_string())?;
        taken.push((info.stream_sequence, message));
    }
    Ok(())
}

impl Server for Nats {
    fn last(&mut self, subject: &str) -> Result<Option<StoredMessage>, ServerError> {
        let found = self.message(&self.stream, subject, false)?;
        Ok(found.map(|message| StoredMessage {
            sequence: message.sequence,
            body: message.payload.to_vec(),
        }))
    }

    fn oldest(&mut self, subject: &str) -> Result<Option<u64>, ServerError> {
        let found = self.message(&self.stream, subject, true)?;
        Ok(found.map(|message| message.sequence))
    }

    fn publish(
        &mut self,
        subject: &str,
        id: &str,
        after: u64,
        body: Vec<u8>,
    ) -> Result<Published, ServerError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::NATS_MESSAGE_ID, id);
        headers.insert(
            header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE,
            after.to_string().as_str(),
        );
        let subject = subject.to_owned();
        let published = self.runtime.block_on(async {
            let sent = self
                .context
                .publish_with_headers(subject, headers, body.into());
            sent.await?.await
        });
        match published {
            Ok(stored) => Ok(Published::At(stored.sequence)),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                Ok(Published::Conflict)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    fn pull(&mut self, most: usize, wait: Duration) -> Result<Vec<Delivery>, ServerError> {
        let mut messages = Vec::new();
        let consumer = &self.consumer;
        let pulled = self.runtime.block_on(async {
            let fetch = consumer.fetch().max_messages(most).messages().await;
            let fetch = fetch.map_err(|error| error.to_string())?;
            taken(fetch, &mut messages).await?;
            if messages.is_empty() && !wait.is_zero() {
                let first = consumer.batch().max_messages(1).expires(wait);
                let first = first.messages().await.map_err(|error| error.to_string())?;
                taken(first, &mut messages).await?;
            }
            Ok::<(), String>(())
        });
        pulled.map_err(|error| self.failed(error))?;
        // The connection may be gone, of which an empty batch says nothing.
        if messages.is_empty() && self.client.connection_state() != State::Connected {
            return Err(self.failed("the connection is lost"));
        }
        self.taken = messages;
        let deliveries = self.taken.iter().map(|(sequence, message)| Delivery {
            sequence: *sequence,
            subject: message.subject.to_string(),
            body: message.payload.to_vec(),
        });
        Ok(deliveries.collect())
    }

    fn acknowledge(&mut self, sequences: &[u64]) -> Result<(), ServerError> {
        let messages = self.taken.iter();
        let messages = messages.filter(|(sequence, _)| sequences.contains(sequence));
        let acks = messages.map(|(_, message)| message.double_ack());
        let acks = self.runtime.block_on(join_all(acks));
        let acks: Result<Vec<()>, _> = acks.into_iter().collect();
        acks.map(drop).map_err(|error| self.failed(error))
    }

    fn retry(&mut self, sequence: u64) -> Result<(), ServerError> {
        let found = self.taken.iter().find(|(known, _)| *known == sequence);
        let Some((_, message)) = found else {
            return Ok(());
        };
        let nak = AckKind::Nak(Some(Duration::from_secs(1)));
        let sent = self.runtime.block_on(message.ack_with(nak));
        sent.map_err(|error| self.failed(error))
    }

    fn entry(&mut self, key: &str) -> Result<Option<KeyEntry>, ServerError> {
        let subject = self.subject_of(key);
        let Some(message) = self.message(&self.store.stream, &subject, false)? else {
            return Ok(None);
        };
        if message.headers.get("KV-Operation").is_some() {
            return Ok(None);
        }
        let nanos = message.time.unix_timestamp_nanos();
        let changed = Timestamp::from_nanosecond(nanos).map_err(|error| self.failed(error))?;
        Ok(Some(KeyEntry {
            revision: message.sequence,
            value: message.payload.to_vec(),
            changed,
        }))
    }

    fn set(
        &mut self,
        key: &str,
        revision: u64,
        value: Vec<u8>,
    ) -> Result<Option<u64>, ServerError> {
        let updated = self
            .runtime
            .block_on(self.store.update(key, value.into(), revision));
        match updated {
            Ok(revision) => Ok(Some(revision)),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn put(&mut self, key: &str, value: Vec<u8>) -> Result<u64, ServerError> {
        let put = self.runtime.block_on(self.store.put(key, value.into()));
        put.map_err(|error| self.failed(error))
    }

    fn keys(&mut self, prefix: &str) -> Result<Vec<String>, ServerError> {
        let subjects = format!("{}.>", self.subject_of(prefix));
        let stream = self.store.stream.clone();
        let found = self.runtime.block_on(async {
            let found = stream.info_with_subjects(subjects).await;
            let found = found.map_err(|error| error.to_string())?;
            let found: Result<Vec<(String, usize)>, _> = found.try_collect().await;
            found.map_err(|error| error.to_string())
        });
        let found = found.map_err(|error| self.failed(error))?;
        let before = &self.store.prefix;
        let keys = found
            .into_iter()
            .filter_map(|(subject, _)| subject.strip_prefix(before).map(str::to_owned));
        Ok(keys.collect())
    }

    fn pending(&mut self) -> Result<u64, ServerError> {
        let info = self.runtime.block_on(self.consumer.get_info());
        let info = info.map(|info| info.num_pending + info.num_ack_pending as u64);
        info.map_err(|error| self.failed(error))
    }

    fn leave(&mut self) -> Result<(), ServerError> {
        let deleted = self
            .runtime
            .block_on(self.stream.delete_consumer(&self.membership.consumer()));
        deleted.map_err(|error| self.failed(error))?;
        let key = self.membership.presence_key();
        let removed = self.runtime.block_on(self.store.delete(&key));
        removed.map_err(|error| self.failed(error))
    }

    fn version(&self) -> String {
        self.client.server_info().version
    }

    fn replicas(&self) -> usize {
        self.stream.cached_info().config.num_replicas
    }
}
