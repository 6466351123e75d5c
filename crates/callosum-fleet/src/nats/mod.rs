//! [`Nats`]: the real server, over `async-nats`, from threads without a runtime.
//!
//! Start with [`Nats::connect`]. `connection` opens or creates what a machine needs on the server. Each machine has one
//! durable, named pull consumer with explicit acknowledgements. Not used: ordered consumers and watchers, which hung after a
//! restart of the server (nats.rs 1596) and pile up on reconnects. A connection that breaks fails the calls on it; the
//! caller connects again.

mod connection;

use std::{fmt::Display, sync::Arc, time::Duration};

use async_nats::{
    Client, HeaderMap,
    connection::State,
    header,
    jetstream::{
        self, AckKind, Context,
        consumer::{PullConsumer, pull::Batch},
        context::PublishErrorKind,
        kv::{Store, UpdateErrorKind},
        message::StreamMessage,
        stream::{LastRawMessageErrorKind, Stream},
    },
};
use callosum_config::FleetSetting;
use futures_util::{StreamExt as _, TryStreamExt as _, future::join_all};
use jiff::Timestamp;
use tokio::runtime::Runtime;

use self::connection::{Faults, connected, consumer, workspace};
use super::{
    Delivery, KeyEntry, Membership, Progress, Published, Server, ServerError, StoredMessage,
};

/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Error of a request that was not answered in time.
const TIMED_OUT: &str = "the request timed out";

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
            let creation = is_join.then_some(setting.replicas);
            let client = connected(setting, &membership.names, &faults).await?;
            let mut context = jetstream::new(client.clone());
            context.set_timeout(ANSWER);
            let (stream, store) = workspace(&context, &client, &faults, creation).await?;
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

    /// Reads the last message of a subject, or the first from a place on, from the leader of a stream. A follower may answer with an older one.
    fn message(
        &self,
        stream: &Stream,
        subject: &str,
        from: Option<u64>,
    ) -> Result<Option<StreamMessage>, ServerError> {
        let found = self.runtime.block_on(async {
            match from {
                Some(from) => stream.get_first_raw_message_by_subject(subject, from).await,
                None => stream.get_last_raw_message_by_subject(subject).await,
            }
        });
        match found {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }
}

fn stored(message: StreamMessage) -> StoredMessage {
    StoredMessage {
        sequence: message.sequence,
        body: message.payload.to_vec(),
    }
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
        let found = self.message(&self.stream, subject, None)?;
        Ok(found.map(stored))
    }

    fn next(&mut self, subject: &str, from: u64) -> Result<Option<StoredMessage>, ServerError> {
        let found = self.message(&self.stream, subject, Some(from))?;
        Ok(found.map(stored))
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
        let pulled = async {
            // A machine that waits asks once. What came with the first message is asked for only if there is a first.
            if !wait.is_zero() {
                let first = consumer.batch().max_messages(1).expires(wait);
                let first = first.messages().await.map_err(|error| error.to_string())?;
                taken(first, &mut messages).await?;
                if messages.is_empty() {
                    return Ok(());
                }
            }
            let rest = consumer.fetch().max_messages(most - messages.len());
            let rest = rest.messages().await.map_err(|error| error.to_string())?;
            taken(rest, &mut messages).await
        };
        // A connection may be gone without a sign, and a request that does not expire would wait for its answer.
        let pulled = self.runtime.block_on(async {
            let pulled = tokio::time::timeout(wait + ANSWER, pulled).await;
            pulled.map_err(|_| TIMED_OUT.to_owned()).flatten()
        });
        pulled.map_err(|error| self.failed(error))?;
        // The connection may be gone. An empty batch does not show that.
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
        let Some(message) = self.message(&self.store.stream, &subject, None)? else {
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

    fn create(&mut self, keys: Vec<(String, Vec<u8>)>) -> Result<Vec<bool>, ServerError> {
        let store = &self.store;
        let created = keys.iter().map(|(key, value)| {
            // On a slow link one answer after the other would be waited for.
            store.update(key, value.clone().into(), 0)
        });
        let created = self.runtime.block_on(join_all(created));
        let created = created.into_iter().map(|created| match created {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
            Err(error) => Err(self.failed(error)),
        });
        created.collect()
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

    fn progress(&mut self) -> Result<Progress, ServerError> {
        let info = self.runtime.block_on(self.consumer.get_info());
        let info = info.map_err(|error| self.failed(error))?;
        Ok(Progress {
            through: info.ack_floor.stream_sequence,
            pending: info.num_pending + info.num_ack_pending as u64,
        })
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
