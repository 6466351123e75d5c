//! Folders that agents work in: whether two of them belong to one project.

use std::path::Path;

use crate::quotation::quoted;

/// Whether two folders are of one project: one of them is in the other, or either is unknown.
pub(crate) fn is_near(here: Option<&str>, there: Option<&str>) -> bool {
    let (Some(here), Some(there)) = (here.map(Path::new), there.map(Path::new)) else {
        return true;
    };
    here.starts_with(there) || there.starts_with(here)
}

/// Returns the place of a text, for an agent that works here. Empty if the text is from the same
/// project, or from an unknown one.
pub(crate) fn elsewhere(here: Option<&str>, there: Option<&str>) -> String {
    match there {
        Some(folder) if !is_near(here, there) => format!(" in {}", quoted(folder)),
        _ => String::new(),
    }
}
