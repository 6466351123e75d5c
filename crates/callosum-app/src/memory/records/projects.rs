//! [`known_projects`]: the projects that this machine knows.

use std::collections::BTreeSet;
use std::path::PathBuf;

use callosum_config::{Homes, Repositories};
use callosum_host::Disk;

/// Most bytes of the note that names the root of a project.
const LONGEST_NOTE: u64 = 64 * 1024;

/// Returns the roots of the projects that their user began, and of those whose state is on this machine. Some may be gone.
///
/// A list that cannot be read is empty.
pub fn known_projects(disk: &Disk, homes: &Homes) -> BTreeSet<PathBuf> {
    let begun = Repositories::new(disk, homes.repositories());
    let begun = begun.all().unwrap_or_default().known;
    let mut roots: BTreeSet<PathBuf> = begun.into_iter().map(|known| known.root).collect();
    let states = homes.machine.join("projects");
    for entry in disk.list_dir(&states).unwrap_or_default() {
        let note = states.join(entry.name).join("root");
        let note = disk.read_at_most(&note, LONGEST_NOTE);
        let root = note.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        roots.extend(root.map(PathBuf::from));
    }
    roots.retain(|root| root.is_absolute());
    roots
}
