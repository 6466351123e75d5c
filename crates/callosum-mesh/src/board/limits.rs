//! Limits of a board. Every client that asks for anything holds the whole board in memory, and
//! writes it in full.
//!
//! Items that no one has taken yet are never forgotten. Instead, new ones are rejected
//! ([`Board::room_for_task`], [`Board::room_for_message`]), and so are changes that make them
//! larger. Of finished items the newest are remembered ([`forget`]), and the log has all of them.
//!
//! What other machines send has limits of its own ([`ReceivedRoom`]), so that neither takes the room of the other.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Board, BoardError, Effect, Message, NewTask, Receipt, Status, Task};

/// Most open tasks, and most messages that no one has seen.
const MOST: usize = 2000;

/// Most bytes of the words of either together.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Most open tasks, and most unseen messages, of other machines.
const MOST_RECEIVED: usize = 4000;

/// Most bytes of the words of either together.
const MOST_BYTES_RECEIVED: usize = 4 * 1024 * 1024;

/// Most leases of other machines.
const MOST_LEASES_RECEIVED: usize = 1000;

/// Of tasks and of messages that are over, of dead letters and of discoveries so many are remembered.
const MOST_OVER: usize = 500;

/// And so many bytes of the words of each, but for the newest.
const MOST_BYTES_OVER: usize = 1024 * 1024;

/// Description of open tasks in errors.
const TASKS: &str = "tasks that are not finished, or that keep one of these waiting";

/// Most bytes of the other keys of the bridge file together.
const MOST_BYTES_OF_FIELDS: usize = 256 * 1024;

impl Board {
    /// Fails where one more task has no room.
    pub(super) fn room_for_task(&self, task: &NewTask) -> Result<(), BoardError> {
        let (count, bytes) = self.open_tasks();
        let more = task.prompt.len() + other_bytes(&task.other);
        room_for(TASKS, count, bytes, more)
    }

    /// Fails if the change makes an open task larger than the limit allows. A finished task may
    /// grow, because older ones are forgotten instead.
    pub(super) fn room_for_change(
        &self,
        task: &Task,
        set: &Map<String, Value>,
    ) -> Result<(), BoardError> {
        let mut changed = task.clone();
        changed.set(set.clone());
        let more = task_bytes(&changed).saturating_sub(task_bytes(task));
        if more == 0 || task.status.is_over() {
            return Ok(());
        }
        let (count, bytes) = self.open_tasks();
        if bytes + more > MOST_BYTES {
            let what = TASKS;
            return Err(BoardError::Full { what, count, bytes });
        }
        Ok(())
    }

    /// Returns the number of open tasks of this machine and the bytes of their texts. Canceled tasks that an open
    /// one needs count too: if they were forgotten, it would look as if nothing were needed any
    /// more.
    fn open_tasks(&self) -> (usize, usize) {
        let needed = self.needed();
        let own = self.tasks.iter().filter(|task| task.machine.is_none());
        counted(own.filter(|task| is_open(task, &needed)).map(task_bytes))
    }

    /// Returns the ids that unfinished tasks need.
    fn needed(&self) -> HashSet<String> {
        let tasks = self.tasks.iter().filter(|task| !task.status.is_over());
        tasks.flat_map(|task| task.needs.iter().cloned()).collect()
    }

    /// Fails where one more message has no room.
    pub(super) fn room_for_message(&self, content: &str) -> Result<(), BoardError> {
        let own = self.messages.iter().filter(|message| !message.is_foreign());
        let standing = own.filter(|message| is_standing(message));
        let (count, bytes) = counted(standing.map(message_bytes));
        room_for("unseen messages", count, bytes, content.len())
    }

    /// Fails if this many bytes of another key of the bridge file exceed the limit, together with
    /// the keys that stay. Making a value smaller is always allowed.
    pub(super) fn room_for_field(&self, key: &str, bytes: usize) -> Result<(), BoardError> {
        let length = |value: &Value| value.to_string().len();
        let before = self.fields.get(key).map_or(0, length);
        let others = self.fields.iter().filter(|(other, _)| *other != key);
        let others: usize = others.map(|(key, value)| key.len() + length(value)).sum();
        let is_more = bytes > before;
        let bytes = others + key.len() + bytes;
        if is_more && bytes > MOST_BYTES_OF_FIELDS {
            return Err(BoardError::TooManyFields { bytes });
        }
        Ok(())
    }

    /// Returns the room for what other machines send.
    pub(crate) fn room_for_received(&self) -> ReceivedRoom {
        let tasks = self.tasks.iter().filter(|task| !task.status.is_over());
        let foreign = tasks.clone().filter(|task| task.machine.is_some());
        let messages = self.messages.iter();
        let messages = messages.filter(|message| message.is_foreign() && is_standing(message));
        ReceivedRoom {
            tasks: foreign.count(),
            task_bytes: tasks.map(task_bytes).sum(),
            messages: counted(messages.map(message_bytes)),
            leases: self.leases.iter().filter(|it| it.is_foreign()).count(),
        }
    }

    /// Forgets the oldest tasks that are over.
    pub(super) fn forget_tasks(&mut self) {
        let needed = self.needed();
        forget(&mut self.tasks, |task| !is_open(task, &needed), task_bytes);
    }

    /// Forgets the oldest messages that were seen or taken back, and the oldest dead letters.
    pub(super) fn forget_messages(&mut self) {
        let is_dead = |message: &Message| message.receipt == Some(Receipt::Dead);
        let is_over = |message: &Message| !is_standing(message) && !is_dead(message);
        forget(&mut self.messages, is_over, message_bytes);
        forget(&mut self.messages, is_dead, message_bytes);
    }

    /// Forgets the oldest discoveries.
    pub(super) fn forget_discoveries(&mut self) {
        forget(
            &mut self.discoveries,
            |_| true,
            |discovery| discovery.content.len(),
        );
    }
}

/// The items of other machines on a board, and so the room for more.
#[derive(Debug)]
pub(crate) struct ReceivedRoom {
    /// Open tasks of other machines.
    tasks: usize,
    /// Bytes of the texts of all open tasks, since other machines may change any that is shared.
    task_bytes: usize,
    messages: (usize, usize),
    leases: usize,
}

impl ReceivedRoom {
    /// Takes room for an effect of another machine; fails if there is none. Room that effects before it made is not known
    /// here: it counts the next time.
    pub(crate) fn take(&mut self, effect: &Effect) -> Result<(), &'static str> {
        let most_bytes = MOST_BYTES + MOST_BYTES_RECEIVED;
        match effect {
            Effect::TaskAdded { prompt, other, .. } => {
                let bytes = self.task_bytes + prompt.len() + other_bytes(other);
                if self.tasks >= MOST_RECEIVED || bytes > most_bytes {
                    return Err("there is no room for more tasks of other machines");
                }
                (self.tasks, self.task_bytes) = (self.tasks + 1, bytes);
            }
            Effect::TaskChanged { set, .. } => {
                let bytes = self.task_bytes + other_bytes(set);
                if bytes > most_bytes {
                    return Err("there is no room for longer tasks of other machines");
                }
                self.task_bytes = bytes;
            }
            Effect::MessageSent { content, .. } => {
                let (count, bytes) = self.messages;
                let bytes = bytes + content.len();
                if count >= MOST_RECEIVED || bytes > MOST_BYTES_RECEIVED {
                    return Err("there is no room for more messages of other machines");
                }
                self.messages = (count + 1, bytes);
            }
            Effect::LeaseTaken { .. } => {
                if self.leases >= MOST_LEASES_RECEIVED {
                    return Err("there is no room for more leases of other machines");
                }
                self.leases += 1;
            }
            _ => {}
        }
        Ok(())
    }
}

fn is_open(task: &Task, needed: &HashSet<String>) -> bool {
    match task.status {
        Status::Complete => false,
        Status::Cancelled => needed.contains(&task.id),
        Status::Pending | Status::InProgress => true,
    }
}

fn is_standing(message: &Message) -> bool {
    matches!(message.receipt, None | Some(Receipt::Delivered))
}

fn task_bytes(task: &Task) -> usize {
    let result = task.result.as_ref().map_or(0, String::len);
    task.prompt.len() + result + other_bytes(&task.other)
}

fn other_bytes(other: &serde_json::Map<String, serde_json::Value>) -> usize {
    other
        .iter()
        .map(|(key, value)| key.len() + value.to_string().len())
        .sum()
}

fn message_bytes(message: &Message) -> usize {
    message.content.len()
}

/// Returns the number of items and the sum of their bytes.
fn counted(bytes: impl Iterator<Item = usize>) -> (usize, usize) {
    bytes.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes))
}

fn room_for(what: &'static str, count: usize, bytes: usize, more: usize) -> Result<(), BoardError> {
    if count >= MOST || bytes + more > MOST_BYTES {
        return Err(BoardError::Full { what, count, bytes });
    }
    Ok(())
}

/// Forgets the oldest of what is over, past the limits.
fn forget<T>(items: &mut Vec<T>, is_over: impl Fn(&T) -> bool, bytes: impl Fn(&T) -> usize) {
    let (mut count, mut sum, mut surplus) = (0, 0, 0);
    for item in items.iter().rev().filter(|item| is_over(item)) {
        count += 1;
        sum += bytes(item);
        surplus += usize::from(count > MOST_OVER || (sum > MOST_BYTES_OVER && count > 1));
    }
    if surplus > 0 {
        items.retain(|item| {
            let goes = surplus > 0 && is_over(item);
            surplus -= usize::from(goes);
            !goes
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-FAIL-1: of what is over the newest stays, by number and by bytes, and what is not over stays in any case.
    #[test]
    fn the_oldest_of_what_is_over_is_forgotten() {
        let kept = |items: Vec<usize>| {
            let mut items = items;
            forget(&mut items, |item| *item > 0, |item| *item);
            items
        };
        assert_eq!(kept(vec![1; MOST_OVER]).len(), MOST_OVER);
        let mut many = vec![0];
        many.extend(1..=MOST_OVER + 2);
        let left = kept(many);
        assert_eq!((left[0], left[1], left.len()), (0, 3, MOST_OVER + 1));
        let half = MOST_BYTES_OVER / 2;
        assert_eq!(kept(vec![half, 0, half, half]), [0, half, half]);
        assert_eq!(kept(vec![1, 2 * MOST_BYTES_OVER]), [2 * MOST_BYTES_OVER]);
    }

    /// CALC-FUT-1: another machine has room of its own, and no more than that.
    #[test]
    fn what_other_machines_send_has_its_own_limit() {
        let mut room = Board::default().room_for_received();
        let effect = |topic: &str, payload: Value| -> Effect {
            let tagged = serde_json::json!({ "type": topic, "payload": payload });
            serde_json::from_value(tagged).unwrap()
        };
        let text = |bytes: usize| Value::from("x".repeat(bytes));
        let task = |bytes: usize| {
            let payload = serde_json::json!({ "id": "t", "prompt": text(bytes) });
            effect("calc.task_handoff", payload)
        };
        assert!(
            room.take(&task(MOST_BYTES + MOST_BYTES_RECEIVED + 1))
                .is_err()
        );
        for _ in 0..MOST_RECEIVED {
            room.take(&task(1)).unwrap();
        }
        assert!(room.take(&task(1)).is_err());
        let set = serde_json::json!({ "task": "t", "set": { "prompt": text(MOST_BYTES) } });
        let change = effect("calc.task.changed", set);
        assert!(room.take(&change).is_ok());
        for _ in 0..3 {
            let _ = room.take(&change);
        }
        assert!(room.take(&change).is_err());
        let message = serde_json::json!({ "id": "m", "to": "codex", "content": text(MOST_BYTES) });
        let message = effect("calc.message", message);
        assert!(room.take(&message).is_ok() && room.take(&message).is_ok());
        assert!(room.take(&message).is_err());
    }

    /// CALC-FAIL-1: where a version before has let in more keys of the bridge file than have room, one can be made shorter.
    #[test]
    fn what_is_too_much_can_be_made_less() {
        let mut board = Board::default();
        for key in ["a", "b"] {
            let value = "x".repeat(MOST_BYTES_OF_FIELDS);
            board.fields.insert(key.to_owned(), value.into());
        }
        assert!(board.room_for_field("c", 1).is_err());
        assert!(board.room_for_field("a", MOST_BYTES_OF_FIELDS + 3).is_err());
        assert!(board.room_for_field("a", 1).is_ok());
    }
}
