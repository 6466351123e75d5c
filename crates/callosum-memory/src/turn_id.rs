//! The number of a turn in the index: its session and its place in it, so that an entry of an index says its session.

/// Bits of the place in a session: most turns of a session are 1,048,576.
const BITS: u32 = 20;

/// The highest place.
pub(crate) const LAST: i64 = (1 << BITS) - 1;

/// Returns the number of a turn.
pub(crate) fn turn_id(session: i64, place: i64) -> i64 {
    session << BITS | place
}

/// Returns the session of a turn.
pub(crate) fn session_of(turn: i64) -> i64 {
    turn >> BITS
}

/// Returns the place of a turn in its session, from 0.
pub(crate) fn in_session(turn: i64) -> i64 {
    turn & LAST
}

/// Returns the first and the last number that turns of a session can have.
pub(crate) fn range(session: i64) -> (i64, i64) {
    (turn_id(session, 0), turn_id(session, LAST))
}
