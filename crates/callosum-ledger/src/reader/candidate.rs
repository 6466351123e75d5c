//! [`Candidate`]: an entry before it is read.

use std::ops::Range;

use jiff::Timestamp;

use crate::{
    entry::read_timestamp,
    hashlog::{HashlogLine, HashlogRequest, Row},
};

/// An entry before it is read.
pub(super) struct Candidate<'s> {
    /// Its number in the file, from 1.
    pub(super) number: usize,
    pub(super) place: CandidatePlace<'s>,
}

/// Location in which to look for it.
pub(super) enum CandidatePlace<'s> {
    /// As given by the hashlog.
    Line(HashlogLine<'s>),
    /// As given by the hashlog's index.
    Row(Row),
    /// In the bytes that were scanned.
    Range(Range<usize>),
}

impl<'s> Candidate<'s> {
    pub(super) fn from_line(line: HashlogLine<'s>) -> Self {
        Self {
            number: line.seq as usize,
            place: CandidatePlace::Line(line),
        }
    }

    pub(super) fn asked(asked: HashlogRequest<'s>) -> Self {
        match asked {
            HashlogRequest::Line(line) => Self::from_line(line),
            HashlogRequest::Row(row) => Self {
                number: row.number as usize,
                place: CandidatePlace::Row(row),
            },
        }
    }

    pub(super) fn plain(number: usize, range: Range<usize>) -> Self {
        Self {
            number,
            place: CandidatePlace::Range(range),
        }
    }

    /// Returns the hashlog's information about it: its executor and time.
    pub(super) fn indexed(&self) -> Option<(&str, Timestamp)> {
        match &self.place {
            CandidatePlace::Line(line) => Some((&line.executor, read_timestamp(&line.timestamp)?)),
            CandidatePlace::Row(_) | CandidatePlace::Range(_) => None,
        }
    }

    /// Returns its offset in the file and its length in bytes.
    pub(super) fn extent(&self) -> (u64, u64) {
        match &self.place {
            CandidatePlace::Line(line) => (line.offset, line.length),
            CandidatePlace::Row(row) => (row.offset, u64::from(row.length)),
            CandidatePlace::Range(range) => (range.start as u64, range.len() as u64),
        }
    }
}
