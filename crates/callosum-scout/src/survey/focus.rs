//! [`Survey::read_for`]: a survey that has what a kind of digest needs to answer about a part of a tree.

use std::path::Path;

use callosum_host::Disk;
use callosum_source::walk::Scope;

use super::{Survey, SurveyError};
use crate::{kind::Kind, progress::Progress};

impl Survey {
    /// Reads what `kind` needs to answer about the part of the tree that `scope` means.
    ///
    /// The tests of `src` may be outside of it. So for [`Kind::Tests`] this reads the whole tree,
    /// at that cost, and the digest lists the tests that name something of that part.
    pub fn read_for(
        kind: Kind,
        disk: &Disk,
        root: &Path,
        scope: &Scope,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Self, SurveyError> {
        if kind != Kind::Tests || scope.paths.is_empty() {
            return Self::read(disk, root, scope, progress);
        }
        let mut whole = Self::read(disk, root, &Scope::WHOLE, progress)?;
        whole.focus = scope.paths.iter().map(ToString::to_string).collect();
        let holds = |path: &String| whole.files.iter().any(|file| is_below(&file.path, path));
        // A part that the whole does not hold is ignored, hidden or not there: its own reading says so.
        if whole.focus.iter().all(holds) {
            return Ok(whole);
        }
        Self::read(disk, root, scope, progress)
    }

    /// Whether a file is in the part that was asked about.
    pub(crate) fn is_in_focus(&self, at: usize) -> bool {
        let mut focus = self.focus.iter();
        self.focus.is_empty() || focus.any(|path| is_below(&self.files[at].path, path))
    }
}

fn is_below(file: &str, path: &str) -> bool {
    let rest = file.strip_prefix(path);
    path.is_empty()
        || path == "."
        || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
