//! [`Position`]: the point up to which the journal was followed, and the ends of its views there.
//!
//! Everything here is derived from the journal. A position is kept in memory between two writes,
//! and on disk as the watermark.

use jiff::{ToSpan, civil::Date};
use serde::{Deserialize, Serialize};

use crate::{
    hashlog,
    journal::{Archived, EntryRef},
    task_id::{LAST_NUMBER_OF_A_DAY, TaskId},
};
use callosum_json::Checksum;

/// Point up to which the journal was followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The day file; none before the first record.
    pub(crate) day: Option<Date>,
    /// The offset in it after the last record.
    pub(crate) offset: u64,
    /// The number of the last record.
    pub(crate) seq: u64,
    /// The hash of the last record.
    pub(crate) head: Checksum,
    /// The number of the last record that is known to be on disk.
    pub(crate) synced: u64,
    /// The number of the last record before the day file. What is stored was synced with its name,
    /// and has no need of it.
    #[serde(skip)]
    pub(crate) before_day: u64,
    /// The highest dated id that was given out.
    pub(crate) last_id: Option<(Date, u16)>,
    /// The archived ledgers, the earliest first.
    pub(crate) archives: Vec<Archived>,
    /// The active ledger; none before it is begun.
    pub(crate) view: Option<View>,
}

/// Text around the entries of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// The bytes before the first entry.
    pub(crate) head: String,
    /// The bytes after the last entry.
    pub(crate) tail: String,
}

/// Ends of the ledger file and the hashlog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct View {
    #[serde(flatten)]
    pub(crate) begun: Begun,
    /// Hash that the hashlog's first line follows.
    pub(crate) follows: Checksum,
    /// The offset in the ledger file after the last entry; the tail follows.
    pub(crate) ledger_end: u64,
    /// Number of its entries.
    pub(crate) entries: u64,
    /// The size of the hashlog.
    pub(crate) hashlog_end: u64,
    /// The hash of the hashlog's last line.
    pub(crate) hashlog_head: Checksum,
}

impl Position {
    /// Before the journal's first record.
    pub(crate) fn start() -> Self {
        Self {
            day: None,
            offset: 0,
            seq: 0,
            head: Checksum::ZERO,
            synced: 0,
            before_day: 0,
            last_id: None,
            archives: Vec::new(),
            view: None,
        }
    }

    /// Whether the day file's name is known to be on disk, as it is with any record in it. Who wrote
    /// the file may have been killed before.
    pub(crate) fn has_durable_name(&self) -> bool {
        self.synced > self.before_day
    }

    /// Keeps in mind that this id is taken.
    ///
    /// One of a day to come, which only another program gives out, is not counted on from: it
    /// would use up the ids of all days before it.
    pub(crate) fn note_id(&mut self, id: &TaskId) {
        let last = id.day_and_number().filter(|(day, _)| self.has_come(*day));
        self.last_id = self.last_id.max(last);
    }

    /// Whether an id of this day could have been given out by now; clocks differ by a day at most.
    pub(crate) fn has_come(&self, day: Date) -> bool {
        self.day
            .is_none_or(|today| day <= today.saturating_add(1.day()))
    }

    /// Reserves the next dated id of `today`; `None` once the day's numbers are used up.
    ///
    /// A clock that went back continues in the later day, so that no id is used twice.
    pub(crate) fn next_id(&mut self, today: Date) -> Option<TaskId> {
        let (day, number) = match self.last_id {
            Some((day, number)) if day >= today => (day, number),
            _ => (today, 0),
        };
        if number >= LAST_NUMBER_OF_A_DAY {
            return None;
        }
        let id = TaskId::dated(day, number + 1)?;
        self.last_id = Some((day, number + 1));
        Some(id)
    }
}

impl View {
    /// Returns a ledger without entries, whose hashlog continues that of the ledger before.
    pub(crate) fn after(begun: Begun, hashlog_head: Checksum) -> Self {
        Self {
            ledger_end: begun.head.len() as u64,
            begun,
            entries: 0,
            hashlog_end: 0,
            follows: hashlog_head,
            hashlog_head,
        }
    }

    /// The file of a ledger without entries.
    pub(crate) fn empty_file(&self) -> String {
        format!("{}{}", self.begun.head, self.begun.tail)
    }

    /// The size of the ledger file.
    pub(crate) fn ledger_len(&self) -> u64 {
        self.ledger_end + self.begun.tail.len() as u64
    }

    /// Appends an entry: its bytes in the ledger before the tail, and its line in the hashlog.
    pub(crate) fn push(&mut self, entry: EntryRef<'_>, ledger: &mut Vec<u8>, index: &mut Vec<u8>) {
        let lead: &[u8] = if self.entries > 0 {
            b",\n    "
        } else {
            b"\n    "
        };
        ledger.extend_from_slice(lead);
        ledger.extend_from_slice(entry.json.as_bytes());
        let offset = self.ledger_end + lead.len() as u64;
        self.ledger_end = offset + entry.json.len() as u64;
        self.entries += 1;
        let before = index.len();
        self.hashlog_head = hashlog::write_line(
            index,
            self.entries,
            offset,
            entry.json.as_bytes(),
            entry.checksum,
            self.hashlog_head,
        );
        self.hashlog_end += (index.len() - before) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-SCH-2: the day's numbers count up, and a new day begins again at 1.
    #[test]
    fn ids_count_up_within_a_day_and_never_go_back_to_an_earlier_one() {
        let mut position = Position::start();
        let monday = Date::constant(2026, 11, 2);
        let tuesday = Date::constant(2026, 11, 3);
        let mut next = |day| position.next_id(day).map(|id| id.to_string());
        assert_eq!(next(monday).as_deref(), Some("cal_2026_11_02_0001"));
        assert_eq!(next(monday).as_deref(), Some("cal_2026_11_02_0002"));
        assert_eq!(next(tuesday).as_deref(), Some("cal_2026_11_03_0001"));
        assert_eq!(next(monday).as_deref(), Some("cal_2026_11_03_0002"));
    }

    /// CAL-SCH-2: an id of another program, years ahead, uses up no ids of the days before.
    #[test]
    fn an_id_of_a_day_to_come_is_not_counted_on_from() {
        let today = Date::constant(2026, 11, 2);
        let mut position = Position::start();
        position.day = Some(today);
        position.note_id(&"cal_9999_12_31_9999".parse().unwrap());
        let next = position.next_id(today).unwrap();
        assert_eq!(next.as_str(), "cal_2026_11_02_0001");
    }

    /// CAL-SCH-2: after 9,999 there is no dated id left.
    #[test]
    fn a_day_runs_out_of_ids_after_9999() {
        let day = Date::constant(2026, 11, 2);
        let mut position = Position::start();
        position.note_id(&"cal_2026_11_02_9998".parse().unwrap());
        position.note_id(&"cal_2026_11_02_0005".parse().unwrap());
        assert_eq!(
            position.next_id(day).unwrap().as_str(),
            "cal_2026_11_02_9999"
        );
        assert_eq!(position.next_id(day), None);
    }
}
