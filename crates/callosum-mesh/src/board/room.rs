//! How much has room on a board: everybody who asks for anything holds all of it in memory, and writes it down anew.
//!
//! What nobody has taken yet is never forgotten: more of it is refused ([`Board::room_for_task`], [`Board::room_for_message`]). Of what
//! is over the newest is remembered ([`forget`]), and the log has all.

use super::{Board, Message, NewTask, Receipt, Refusal, Task};

/// Most tasks that are not over, and messages that nobody has seen.
const MOST: usize = 2000;

/// Most bytes of the words of either together.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Of tasks and of messages that are over, of dead letters and of discoveries so many are remembered.
const MOST_OVER: usize = 500;

/// And so many bytes of the words of each, but for the newest.
const MOST_BYTES_OVER: usize = 1024 * 1024;

/// Most bytes of the other keys of the bridge file together.
const MOST_BYTES_OF_FIELDS: usize = 256 * 1024;

impl Board {
    /// Fails where one more task has no room.
    pub(super) fn room_for_task(&self, task: &NewTask) -> Result<(), Refusal> {
        let standing = self.tasks.iter().filter(|task| !task.status.is_over());
        let more = task.prompt.len() + other_bytes(&task.other);
        room_for("tasks that are not over", standing.map(task_bytes), more)
    }

    /// Fails where one more message has no room.
    pub(super) fn room_for_message(&self, content: &str) -> Result<(), Refusal> {
        let standing = self.messages.iter().filter(|message| is_standing(message));
        let bytes = standing.map(message_bytes);
        room_for("messages that nobody has seen", bytes, content.len())
    }

    /// Fails where this much of another key of the bridge file, beside those that stay, has no room.
    pub(super) fn room_for_field(&self, key: &str, bytes: usize) -> Result<(), Refusal> {
        let others = self.fields.iter().filter(|(other, _)| *other != key);
        let others: usize = others
            .map(|(key, value)| key.len() + value.to_string().len())
            .sum();
        let bytes = others + key.len() + bytes;
        if bytes > MOST_BYTES_OF_FIELDS {
            return Err(Refusal::TooManyFields { bytes });
        }
        Ok(())
    }

    /// Forgets the oldest tasks that are over.
    pub(super) fn forget_tasks(&mut self) {
        forget(&mut self.tasks, |task| task.status.is_over(), task_bytes);
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

fn room_for(
    what: &'static str,
    standing: impl Iterator<Item = usize>,
    more: usize,
) -> Result<(), Refusal> {
    let (count, bytes) = standing.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes));
    if count >= MOST || bytes + more > MOST_BYTES {
        return Err(Refusal::Full { what, count, bytes });
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
}
