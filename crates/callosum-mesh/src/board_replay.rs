//! [`catch_up`]: a board brought up to the events of the log.

use crate::{
    board::Board,
    journal::{JournalError, Notice, Reader},
};

/// Events that are read at once.
const BATCH: usize = 1024;

/// Result of bringing a board up to the log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CatchUp {
    /// Number of events that it would have needed and that the log has dropped.
    pub(crate) lost: u64,
    /// Whether it was built from scratch, because the log ends before it or is another log.
    pub(crate) is_rebuilt: bool,
}

/// Applies the events that a reader has left to the board.
pub(crate) fn catch_up(board: &mut Board, reader: &mut Reader) -> Result<CatchUp, JournalError> {
    let mut caught = CatchUp::default();
    loop {
        let batch = reader.next_batch(BATCH)?;
        for notice in &batch.notices {
            match notice {
                Notice::Reset { .. } => {
                    *board = Board::default();
                    caught.is_rebuilt = true;
                }
                Notice::Dropped { count } => caught.lost += count,
                Notice::Damaged { .. } => {}
            }
        }
        if batch.events.is_empty() {
            return Ok(caught);
        }
        for event in &batch.events {
            board.apply(event);
        }
    }
}
