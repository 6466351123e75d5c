//! [`Tally`]: numbers of items on a board, for monitoring.

use jiff::{SignedDuration, Timestamp};

use super::{Board, Message, Receipt, Status};
use crate::project_folder::is_near;

/// Numbers of items on a board at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that were not delivered.
    pub waiting: u64,
    /// Wait of the oldest of them. Zero if there are none.
    pub oldest_waits: SignedDuration,
    /// Messages that were delivered without evidence that the agent has seen them.
    pub unseen: u64,
    /// Messages that could not be delivered, and are neither retried nor dropped.
    pub dead: u64,
    /// Tasks that no agent works on.
    pub pending: u64,
    /// Tasks that an agent works on.
    pub in_progress: u64,
    /// Leases that hold.
    pub leases: u64,
}

impl Board {
    /// Returns the number of dead letters that were sent from the project in this folder, or from
    /// an unknown folder.
    pub fn dead_letters_of(&self, folder: &str) -> u64 {
        let dead = self.messages.iter().filter(|message| {
            is_dead_letter(message) && is_near(Some(folder), message.cwd.as_deref())
        });
        dead.count() as u64
    }

    /// Counts what there is at this time. Costs a walk over messages, tasks and leases.
    pub fn tally(&self, now: Timestamp) -> Tally {
        let mut tally = Tally::default();
        for message in &self.messages {
            match message.receipt {
                None => {
                    tally.waiting += 1;
                    let waits = now.duration_since(message.timestamp);
                    tally.oldest_waits = tally.oldest_waits.max(waits);
                }
                Some(Receipt::Delivered) => tally.unseen += 1,
                Some(Receipt::Dead) => tally.dead += u64::from(is_dead_letter(message)),
                Some(Receipt::Seen | Receipt::Acked | Receipt::Dropped) => {}
            }
        }
        for task in &self.tasks {
            let claim = task.claim.as_ref();
            match task.status {
                Status::InProgress if claim.is_some_and(|claim| claim.until > now) => {
                    tally.in_progress += 1;
                }
                Status::InProgress | Status::Pending => tally.pending += 1,
                Status::Complete | Status::Cancelled => {}
            }
        }
        let leases = self.leases.iter().filter(|lease| lease.until > now);
        tally.leases = leases.count() as u64;
        tally
    }
}

/// Whether a message counts as a dead letter. A notice of the program to a session that is over does not: versions before
/// counted it.
fn is_dead_letter(message: &Message) -> bool {
    message.receipt == Some(Receipt::Dead) && !message.is_notice_to_session()
}
