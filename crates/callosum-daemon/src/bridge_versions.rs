//! [`BridgeVersions`]: records which versions of the bridge file were read, and how many were overwritten before that.
//!
//! Start with [`BridgeVersions::hear`], which follows each file from place to place, and with
//! [`BridgeVersions::read`]. Each reading is of one version, so if a file was closed more often than it was
//! read, the rest were overwritten unread.
//!
//! Deliberately not here: watching and reading. The caller passes the changes and the results of
//! readings.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use callosum_host::watch::{Change, Move};

/// Most files that are followed at once, apart from the bridge's own.
const MOST: usize = 256;

/// Place of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VersionKey {
    /// Place of the bridge file.
    Bridge,
    /// Place of the next projection, and for a moment of a file that was exchanged away.
    Next,
    /// Among those that were exchanged away, under this name.
    Late(OsString),
}

/// Result of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    New,
    /// The same text as in the last reading.
    Same,
    /// Someone is still writing it.
    Cut,
    /// There is no file, or one that others are left to.
    Nothing,
}

/// Files and their readings.
#[derive(Debug, Default)]
pub(super) struct BridgeVersions {
    sheets: BTreeMap<VersionKey, Sheet>,
    /// A file that was in one of the places, until it is known where it is now.
    adrift: Option<Adrift>,
    lost: usize,
}

/// A file.
#[derive(Debug, Default)]
struct Sheet {
    /// Number of times that it was written in its place, or put there, since the last reading.
    unread: usize,
    /// Whether one of those is only that it was put there.
    is_put: bool,
    /// Whether it is to be read.
    is_due: bool,
    /// Whether it was written in its present place.
    is_written: bool,
    /// Whether someone is writing it.
    is_begun: bool,
    /// Whether someone was writing it at the last reading.
    was_begun: bool,
    /// Result of its last reading since all was quiet.
    reading: Option<Reading>,
    /// Whether it was cut when it was read last.
    is_cut: bool,
    /// Bytes of the last reading.
    last: Vec<u8>,
}

#[derive(Debug)]
struct Adrift {
    sheet: Sheet,
    was_bridge: bool,
    /// The move that took it away; `None` where another was put in its place.
    by: Option<Move>,
    /// Whether all was quiet since. The system may not have reported the rest before.
    is_old: bool,
}

impl BridgeVersions {
    /// Takes in what was done to a file.
    pub(super) fn hear(&mut self, place: VersionKey, change: Change) {
        match change {
            Change::Begun => {
                let sheet = self.sheet(place);
                sheet.is_begun = true;
                sheet.is_written = true;
            }
            Change::Closed => {
                let sheet = self.sheet(place);
                sheet.unread += 1;
                sheet.is_begun = false;
                sheet.is_written = true;
                sheet.is_due = true;
            }
            Change::Put(by) => self.put(place, by),
            Change::Gone(by) => self.gone(place, by),
            Change::Unknown => {
                self.lost += 1;
                self.look();
            }
        }
    }

    fn put(&mut self, place: VersionKey, by: Move) {
        let came = self
            .adrift
            .take_if(|adrift| adrift.by == Some(by))
            .map(|adrift| adrift.sheet);
        self.settle();
        let is_bridge = place == VersionKey::Bridge;
        let was = self.sheets.remove(&place);
        if is_bridge {
            self.adrift = Some(Adrift {
                sheet: was.unwrap_or_default(),
                was_bridge: true,
                by: None,
                is_old: false,
            });
        } else if let Some(was) = was {
            // Who takes a file away reads it before.
            self.lost += was.unread.saturating_sub(1);
        }
        let mut sheet = came.unwrap_or(Sheet {
            unread: usize::from(is_bridge),
            is_put: is_bridge,
            ..Sheet::default()
        });
        sheet.is_due |= is_bridge;
        sheet.is_written = false;
        self.sheets.insert(place, sheet);
    }

    fn gone(&mut self, place: VersionKey, by: Move) {
        let was_bridge = place == VersionKey::Bridge;
        if was_bridge
            && let Some(adrift) = self.adrift.as_mut().filter(|adrift| adrift.by.is_none())
        {
            // It was exchanged, and the one that came is ours. What was written into one that was followed here stays unread.
            adrift.by = Some(by);
            let sheet = self.sheet(place);
            let is_put = std::mem::take(&mut sheet.is_put);
            sheet.unread = sheet.unread.saturating_sub(usize::from(is_put));
            return;
        }
        self.settle();
        let sheet = self.sheets.remove(&place).unwrap_or_default();
        self.adrift = Some(Adrift {
            sheet,
            was_bridge,
            by: Some(by),
            is_old: false,
        });
    }

    /// Ends the search for a file of unknown place.
    fn settle(&mut self) {
        let Some(adrift) = self.adrift.take() else {
            return;
        };
        let Sheet {
            unread, is_begun, ..
        } = adrift.sheet;
        // A program that exchanges the file has read its last version, unless someone was writing
        // over it.
        let is_had = adrift.was_bridge && adrift.by.is_some() && !is_begun;
        self.lost += unread.saturating_sub(usize::from(is_had));
    }

    /// Marks the bridge file to be read, even without a notice.
    pub(super) fn look(&mut self) {
        self.sheet(VersionKey::Bridge).is_due = true;
    }

    /// Whether someone writes, or has written, into the file in the bridge file's place.
    pub(super) fn is_written(&self) -> bool {
        let bridge = self.sheets.get(&VersionKey::Bridge);
        bridge.is_some_and(|sheet| sheet.is_written)
    }

    /// Whether no one is writing a file that was exchanged away, and its text was read.
    pub(super) fn is_done(&self, late: &OsStr) -> bool {
        let sheet = self.sheets.get(&VersionKey::Late(late.to_owned()));
        sheet.is_some_and(|sheet| !sheet.is_begun && !sheet.is_due && !sheet.is_cut)
    }

    /// Has the file in the bridge file's place stay, until it is written once more.
    pub(super) fn leave(&mut self) {
        self.sheet(VersionKey::Bridge).is_written = false;
    }

    /// Returns the places to read. A file that is somewhere only for a moment is read where it
    /// goes.
    pub(super) fn due(&self) -> Vec<VersionKey> {
        let due = self.sheets.iter();
        let due = due.filter(|(place, sheet)| sheet.is_due && **place != VersionKey::Next);
        due.map(|(place, _)| place.clone()).collect()
    }

    /// Takes in what was read, or that nothing could be; how that came out.
    pub(super) fn read(&mut self, place: &VersionKey, bytes: Option<&[u8]>) -> Reading {
        let sheet = self.sheet(place.clone());
        sheet.is_due = false;
        let reading = match bytes {
            None => Reading::Nothing,
            Some(bytes) if !bytes.is_empty() && bytes == sheet.last => Reading::Same,
            // To read it as what it is takes longer than another takes to write over it.
            Some(bytes) if bytes.trim_ascii_end().last() != Some(&b'}') => Reading::Cut,
            Some(_) => Reading::New,
        };
        // One that finds what stood there before is of another that wrote the same, unless that was read while it was being
        // written, in the place of what was closed before.
        let may_be_same = sheet.reading.is_none() && !sheet.was_begun;
        if reading == Reading::New || (may_be_same && reading == Reading::Same) {
            sheet.unread = sheet.unread.saturating_sub(1);
            sheet.is_put = false;
        }
        sheet.reading = Some(reading);
        sheet.is_cut = reading == Reading::Cut;
        if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty() && reading != Reading::Same) {
            bytes.clone_into(&mut sheet.last);
        }
        reading
    }

    /// Records that all notices were handled. Returns the number of unread overwrites since the
    /// last call.
    pub(super) fn rest(&mut self) -> usize {
        match &mut self.adrift {
            Some(adrift) if !adrift.is_old => adrift.is_old = true,
            _ => self.settle(),
        }
        for sheet in self.sheets.values_mut() {
            let Some(reading) = sheet.reading.take() else {
                continue;
            };
            sheet.was_begun = sheet.is_begun;
            if reading != Reading::Cut {
                self.lost += std::mem::take(&mut sheet.unread);
                sheet.is_put = false;
            }
        }
        self.sheets.retain(|place, sheet| {
            *place == VersionKey::Bridge || sheet.unread > 0 || sheet.is_begun || sheet.is_due
        });
        while self.sheets.len() > MOST {
            self.lost += self.sheets.pop_last().map_or(0, |(_, sheet)| sheet.unread);
        }
        std::mem::take(&mut self.lost)
    }

    fn sheet(&mut self, place: VersionKey) -> &mut Sheet {
        self.sheets.entry(place).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Change::{Begun, Closed, Gone, Put};
    use VersionKey::{Bridge, Late, Next};

    fn late_name() -> &'static OsStr {
        OsStr::new("1.json")
    }

    fn late() -> VersionKey {
        Late(late_name().into())
    }

    /// A trail that has heard all of this.
    fn heard(changes: &[(VersionKey, Change)]) -> BridgeVersions {
        let mut trail = BridgeVersions::default();
        for (place, change) in changes {
            trail.hear(place.clone(), *change);
        }
        trail
    }

    /// Has everything that is due read, and found to be new.
    fn read_all(trail: &mut BridgeVersions) -> usize {
        for (nth, place) in trail.due().into_iter().enumerate() {
            let bytes = format!("{{{nth}}}");
            assert_eq!(trail.read(&place, Some(bytes.as_bytes())), Reading::New);
        }
        // The system will report nothing more by then.
        trail.rest() + trail.rest()
    }

    /// CALC-L3-1: what was closed and written over unread is counted, and what another file was put in the place of, but
    /// not what was exchanged away and read.
    #[test]
    fn what_was_overwritten_unread_is_counted() {
        let (one, two) = (Move(1), Move(2));
        let bridge = |changes: &[Change]| -> Vec<(VersionKey, Change)> {
            changes.iter().map(|change| (Bridge, *change)).collect()
        };
        let exchanged = [Put(one), Gone(two)];
        let cases: [(&[Change], usize); 9] = [
            (&[Begun, Closed], 0),
            (&[Begun, Closed, Begun, Closed], 1),
            (&[Begun, Closed, Closed], 1),
            (&[Begun, Closed, exchanged[0], exchanged[1]], 0),
            (
                &[Begun, Closed, Begun, Closed, exchanged[0], exchanged[1]],
                1,
            ),
            (&[Begun, Closed, Begun, exchanged[0], exchanged[1]], 1),
            (&[Begun, Closed, Put(one)], 1),
            (&[Put(one), Put(two)], 1),
            (&[Put(one), Begun, Closed], 1),
        ];
        for (changes, lost) in cases {
            let mut trail = heard(&bridge(changes));
            assert_eq!(read_all(&mut trail), lost, "{changes:?}");
        }
    }

    /// CALC-L3-1: two who write the file that one of them had is put away are both read, or one is counted.
    #[test]
    fn a_file_is_followed_to_where_it_is_put_away() {
        let (one, two) = (Move(1), Move(2));
        let put_away = [
            (late(), Gone(one)),
            (Bridge, Put(one)),
            (Bridge, Gone(two)),
            (late(), Put(two)),
        ];
        let begun = [(Bridge, Begun)];
        let mut trail = heard(&[&begun[..], &put_away, &[(late(), Closed)]].concat());
        assert!(!trail.is_written());
        assert_eq!(trail.due(), [Bridge, late()]);
        assert_eq!(read_all(&mut trail), 0);
        // The second is written in the place of the first.
        let closed = [(Bridge, Begun), (Bridge, Closed)];
        let mut trail = heard(&[&closed[..], &put_away, &[(late(), Closed)]].concat());
        assert_eq!(read_all(&mut trail), 1);
        let mut trail = heard(&[&closed[..], &put_away].concat());
        assert_eq!(trail.read(&late(), Some(b"{1}")), Reading::New);
        assert_eq!(trail.rest(), 0);
        trail.hear(late(), Closed);
        assert_eq!(trail.read(&late(), Some(b"{2}")), Reading::New);
        assert_eq!(trail.rest(), 0);
    }

    /// CALC-L3-1: one who had the file open when another was put in its place, and writes over what was not read yet, is counted.
    #[test]
    fn who_writes_into_a_file_on_its_way_is_heard() {
        let (one, two, three) = (Move(1), Move(2), Move(3));
        let shown = [
            (Next, Gone(one)),
            (Bridge, Put(one)),
            (Bridge, Gone(two)),
            (Next, Put(two)),
        ];
        let set_aside = [(Next, Gone(three)), (late(), Put(three))];
        let first = [(Bridge, Begun), (Bridge, Closed)];
        let second = [(Next, Begun), (Next, Closed)];
        let mut trail = heard(&[&first[..], &shown, &set_aside].concat());
        assert_eq!(trail.due(), [Bridge, late()]);
        assert_eq!(read_all(&mut trail), 0);
        let mut trail = heard(&[&first[..], &shown, &second].concat());
        assert_eq!(trail.due(), [Bridge]);
        for (place, change) in set_aside {
            trail.hear(place, change);
        }
        assert_eq!(read_all(&mut trail), 1);
        // What is taken away was read, but for what was written over.
        let taken_away = [(Next, Put(three))];
        assert_eq!(
            read_all(&mut heard(&[&first[..], &shown, &taken_away].concat())),
            0
        );
        let changes = [&first[..], &shown, &second, &taken_away].concat();
        assert_eq!(read_all(&mut heard(&changes)), 1);
    }

    /// CALC-L3-1: two who wrote the file are counted also where it is put away and back, and who is still at it is not
    /// done.
    #[test]
    fn a_file_that_is_put_back_keeps_what_is_not_read() {
        let moved = |from: VersionKey, to: VersionKey, by: u32| {
            [
                (from.clone(), Gone(Move(by))),
                (to.clone(), Put(Move(by))),
                (to, Gone(Move(by + 1))),
                (from, Put(Move(by + 1))),
            ]
        };
        let written = [(Bridge, Begun), (Bridge, Closed)];
        let away = moved(late(), Bridge, 1);
        let mut trail = heard(&[&written[..], &written, &away].concat());
        assert_eq!(trail.read(&late(), Some(b"{2}")), Reading::New);
        assert!(trail.is_done(late_name()));
        for (place, change) in moved(late(), Bridge, 3) {
            trail.hear(place, change);
        }
        assert_eq!(trail.read(&Bridge, Some(b"{2}")), Reading::Same);
        assert_eq!(trail.rest() + trail.rest(), 1);
        let mut trail = heard(&[&written[..], &away].concat());
        assert_eq!(trail.read(&late(), Some(b"")), Reading::Cut);
        assert!(!trail.is_done(late_name()));
        trail.hear(late(), Closed);
        assert_eq!(trail.read(&late(), Some(b"{2}")), Reading::New);
        assert!(trail.is_done(late_name()));
    }

    /// CALC-L3-1: what was read while it was being written says nothing of what was closed before it.
    #[test]
    fn what_is_read_while_it_is_written_is_not_read_twice() {
        let mut trail = heard(&[(Bridge, Begun), (Bridge, Closed), (Bridge, Begun)]);
        assert_eq!(trail.read(&Bridge, Some(b"{2}")), Reading::New);
        assert_eq!(trail.rest(), 0);
        trail.hear(Bridge, Closed);
        assert_eq!(trail.read(&Bridge, Some(b"{2}")), Reading::Same);
        assert_eq!(trail.rest(), 1);
        trail.hear(Bridge, Begun);
        trail.hear(Bridge, Closed);
        assert_eq!(trail.read(&Bridge, Some(b"{2}")), Reading::Same);
        assert_eq!(trail.rest(), 0);
        assert_eq!(trail.read(&Bridge, Some(b"{")), Reading::Cut);
        assert_eq!(trail.read(&Bridge, None), Reading::Nothing);
    }
}
