//! [`FakeCluster`] and [`FakeServer`]: a server in memory, for decisions without a network.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use super::{Delivery, KeyEntry, Progress, Published, Server, ServerError, StoredMessage};

/// State that all connections share.
#[derive(Default)]
struct State {
    messages: Vec<(String, String, Vec<u8>)>,
    keys: BTreeMap<String, KeyEntry>,
    revision: u64,
    acknowledged: BTreeMap<String, BTreeSet<u64>>,
    is_down: bool,
    elapsed: SignedDuration,
    /// Requests so far.
    requests: usize,
}

/// Server that machines connect to.
#[derive(Clone, Default)]
pub(crate) struct FakeCluster(Rc<RefCell<State>>);

/// Connection of a machine.
pub(crate) struct FakeServer {
    state: Rc<RefCell<State>>,
    consumer: String,
}

impl FakeCluster {
    pub(crate) fn connect(&self, consumer: &str) -> FakeServer {
        FakeServer {
            state: Rc::clone(&self.0),
            consumer: consumer.to_owned(),
        }
    }

    pub(crate) fn set_down(&self, is_down: bool) {
        self.0.borrow_mut().is_down = is_down;
    }

    /// Lets the server's clock go on.
    pub(crate) fn pass(&self, time: SignedDuration) {
        self.0.borrow_mut().elapsed += time;
    }

    /// Removes the latest messages, as a loss of power does.
    pub(crate) fn lose(&self, count: usize) {
        let mut state = self.0.borrow_mut();
        let left = state.messages.len().saturating_sub(count);
        state.messages.truncate(left);
        for acknowledged in state.acknowledged.values_mut() {
            acknowledged.retain(|sequence| *sequence <= left as u64);
        }
    }

    /// Keeps a message back from a machine, until acknowledgements are forgotten.
    pub(crate) fn hold_back(&self, consumer: &str, sequence: u64) {
        let mut state = self.0.borrow_mut();
        let done = state.acknowledged.entry(consumer.to_owned()).or_default();
        done.insert(sequence);
    }

    /// Removes the oldest messages. Places in the stream stay as they are.
    pub(crate) fn drop_oldest(&self, count: usize) {
        for (subject, _, _) in &mut self.0.borrow_mut().messages[..count] {
            subject.clear();
        }
    }

    /// Removes all keys, and begins to count revisions again.
    pub(crate) fn lose_keys(&self) {
        let mut state = self.0.borrow_mut();
        state.keys.clear();
        state.revision = 0;
    }

    /// Forgets which messages a machine has acknowledged, as if its acknowledgements were lost.
    pub(crate) fn forget_acknowledgements(&self) {
        self.0.borrow_mut().acknowledged.clear();
    }

    pub(crate) fn requests(&self) -> usize {
        self.0.borrow().requests
    }

    pub(crate) fn messages(&self) -> Vec<(String, Vec<u8>)> {
        let state = self.0.borrow();
        let messages = state.messages.iter();
        messages
            .map(|(subject, _, body)| (subject.clone(), body.clone()))
            .collect()
    }

    /// Puts a message in that no machine of ours has sent.
    pub(crate) fn forge(&self, subject: &str, body: Vec<u8>) {
        let message = (subject.to_owned(), String::new(), body);
        self.0.borrow_mut().messages.push(message);
    }
}

impl FakeServer {
    fn up(&self) -> Result<std::cell::RefMut<'_, State>, ServerError> {
        let mut state = self.state.borrow_mut();
        state.requests += 1;
        if state.is_down {
            return Err(ServerError::Unreachable {
                servers: "nowhere".to_owned(),
                reason: "it is down".to_owned(),
            });
        }
        Ok(state)
    }

    fn last_place(state: &State, subject: &str) -> Option<usize> {
        state.messages.iter().rposition(|(of, _, _)| of == subject)
    }

    fn stored(state: &State, at: usize) -> StoredMessage {
        StoredMessage {
            sequence: at as u64 + 1,
            body: state.messages[at].2.clone(),
        }
    }
}

impl Server for FakeServer {
    fn last(&mut self, subject: &str) -> Result<Option<StoredMessage>, ServerError> {
        let state = self.up()?;
        Ok(Self::last_place(&state, subject).map(|at| Self::stored(&state, at)))
    }

    fn next(&mut self, subject: &str, from: u64) -> Result<Option<StoredMessage>, ServerError> {
        let state = self.up()?;
        let places = (1..).zip(&state.messages).zip(0..);
        let mut places = places.filter(|((sequence, _), _)| *sequence >= from);
        let found = places.find(|((_, (of, _, _)), _)| of == subject);
        Ok(found.map(|(_, at)| Self::stored(&state, at)))
    }

    fn publish(
        &mut self,
        subject: &str,
        id: &str,
        after: u64,
        body: Vec<u8>,
    ) -> Result<Published, ServerError> {
        let mut state = self.up()?;
        if let Some(at) = state.messages.iter().position(|(_, known, _)| known == id) {
            return Ok(Published::At(at as u64 + 1));
        }
        let last = Self::last_place(&state, subject).map_or(0, |at| at as u64 + 1);
        if last != after {
            return Ok(Published::Conflict);
        }
        let message = (subject.to_owned(), id.to_owned(), body);
        state.messages.push(message);
        Ok(Published::At(state.messages.len() as u64))
    }

    fn pull(&mut self, most: usize, _wait: Duration) -> Result<Vec<Delivery>, ServerError> {
        let state = self.up()?;
        let none = BTreeSet::new();
        let done = state.acknowledged.get(&self.consumer).unwrap_or(&none);
        let messages = (1..).zip(&state.messages);
        let messages = messages
            .filter(|(sequence, (subject, _, _))| !done.contains(sequence) && !subject.is_empty());
        let deliveries = messages.map(|(sequence, (subject, _, body))| Delivery {
            sequence,
            subject: subject.clone(),
            body: body.clone(),
        });
        Ok(deliveries.take(most).collect())
    }

    fn acknowledge(&mut self, sequences: &[u64]) -> Result<(), ServerError> {
        let mut state = self.up()?;
        let done = state.acknowledged.entry(self.consumer.clone()).or_default();
        done.extend(sequences);
        Ok(())
    }

    fn retry(&mut self, _sequence: u64) -> Result<(), ServerError> {
        self.up().map(drop)
    }

    fn entry(&mut self, key: &str) -> Result<Option<KeyEntry>, ServerError> {
        Ok(self.up()?.keys.get(key).cloned())
    }

    fn set(
        &mut self,
        key: &str,
        revision: u64,
        value: Vec<u8>,
    ) -> Result<Option<u64>, ServerError> {
        let known = self.up()?.keys.get(key).map_or(0, |entry| entry.revision);
        if known != revision {
            return Ok(None);
        }
        self.put(key, value).map(Some)
    }

    fn put(&mut self, key: &str, value: Vec<u8>) -> Result<u64, ServerError> {
        let mut state = self.up()?;
        state.revision += 1;
        let entry = KeyEntry {
            revision: state.revision,
            value,
            changed: Timestamp::UNIX_EPOCH + state.elapsed,
        };
        state.keys.insert(key.to_owned(), entry);
        Ok(state.revision)
    }

    fn keys(&mut self, prefix: &str) -> Result<Vec<String>, ServerError> {
        let state = self.up()?;
        let begin = format!("{prefix}.");
        let keys = state.keys.keys().filter(|key| key.starts_with(&begin));
        Ok(keys.cloned().collect())
    }

    fn progress(&mut self) -> Result<Progress, ServerError> {
        let pending = self.pull(usize::MAX, Duration::ZERO)?;
        let last = self.up()?.messages.len() as u64;
        Ok(Progress {
            through: pending.first().map_or(last, |first| first.sequence - 1),
            pending: pending.len() as u64,
        })
    }

    fn leave(&mut self) -> Result<(), ServerError> {
        let consumer = self.consumer.clone();
        self.up()?.acknowledged.remove(&consumer);
        Ok(())
    }

    fn version(&self) -> String {
        "2.11.0".to_owned()
    }

    fn replicas(&self) -> usize {
        1
    }
}
