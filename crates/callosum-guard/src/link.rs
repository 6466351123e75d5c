//! Links on the way to a path, as far as the facts know them.

use std::borrow::Cow;

use crate::{facts::Facts, path};

/// The facts by which a command's path is judged: one that deletes, moves or replaces a link does
/// so to the link itself, not to what it leads to.
pub(crate) fn facts_of_entry<'f>(
    command: &str,
    text: &str,
    cwd: Option<&str>,
    facts: &'f Facts,
) -> Cow<'f, Facts> {
    let entry = matches!(command, "rm" | "unlink" | "rmdir" | "mv" | "ln" | "gln");
    if !entry || facts.links.is_empty() || text.ends_with('/') {
        return Cow::Borrowed(facts);
    }
    let mut facts = Cow::Borrowed(facts);
    let at = path::absolute(text, cwd);
    // What `ln` is given may be a folder, so it is also asked about a file within it.
    let makes = matches!(command, "ln" | "gln");
    let own = |link: &String| *link == at || makes && path::is_within(&at, link);
    if facts.links.keys().any(own) {
        facts.to_mut().links.retain(|link, _| !own(link));
    }
    facts
}

/// A path with the links on its way followed, as far as the facts know them.
pub(crate) fn follow(path: &str, facts: &Facts) -> String {
    let longest = facts
        .links
        .iter()
        .filter(|(link, _)| path::is_within(path, link))
        .max_by_key(|(link, _)| link.len());
    match longest {
        Some((link, target)) => path::absolute(&format!("{target}{}", &path[link.len()..]), None),
        None => path.to_owned(),
    }
}
