//! Checks of what a turn cites, against the files of its session's folder as they are now.

use std::path::Path;

use callosum_citation::{Tally, find, verify};
use callosum_host::Disk;

/// Most citations of a turn that are looked up.
const MOST: usize = 20;

/// Counts the citations of a text that hold in a folder; `None` if it cites nothing, or the folder is gone.
pub(super) fn tally(disk: &Disk, folder: Option<&str>, text: &str) -> Option<Tally> {
    let mut citations = find(text);
    citations.truncate(MOST);
    let folder = Path::new(folder?);
    if citations.is_empty() || !disk.exists(folder).unwrap_or(false) {
        return None;
    }
    Some(Tally::of(&verify(disk, folder, &citations)))
}
