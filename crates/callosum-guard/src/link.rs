//! Links on the way to a path, as far as the facts know them.

use std::borrow::Cow;

use crate::{facts::Facts, path};

/// So many links are followed on one way, as many as the system does.
const MOST: usize = 40;

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
    let at = self::entry(text, cwd, &facts);
    // What `ln` is given may be a folder, so it is also asked about a file within it.
    let makes = matches!(command, "ln" | "gln");
    let named = path::absolute(text, cwd);
    let own = |link: &String| Some(link) == at.as_ref() || makes && path::is_within(&named, link);
    if facts.links.keys().any(own) {
        facts.to_mut().links.retain(|link, _| !own(link));
    }
    facts
}

/// Resolves a path from a folder on: links on its way are followed in their place, as far as the
/// facts know them, so that `..` behind one leads from its target.
pub(crate) fn resolve(text: &str, cwd: Option<&str>, facts: &Facts) -> String {
    if facts.links.is_empty() {
        return path::absolute(text, cwd);
    }
    resolve_by(text, cwd, &|link| facts.links.get(link))
}

/// The same by what is known of a link.
pub(crate) fn resolve_by<'l>(
    text: &'l str,
    cwd: Option<&'l str>,
    leads: &dyn Fn(&str) -> Option<&'l String>,
) -> String {
    let folder = cwd.filter(|_| !text.starts_with('/'));
    let mut is_rooted = folder.unwrap_or(text).starts_with('/');
    let mut rest: Vec<&str> = text.split('/').rev().collect();
    rest.extend(
        folder
            .into_iter()
            .flat_map(|folder| folder.split('/').rev()),
    );
    let mut at: Vec<&str> = Vec::new();
    let mut followed = 0;
    while let Some(part) = rest.pop() {
        match part {
            "" | "." => continue,
            ".." if at.last().is_some_and(|last| *last != "..") => {
                at.pop();
                continue;
            }
            ".." if is_rooted => continue,
            part => at.push(part),
        }
        let joined = at.join("/");
        let standing = if is_rooted {
            format!("/{joined}")
        } else {
            joined
        };
        if let Some(target) = leads(&standing)
            && *target != standing
            && (!is_rooted || target.starts_with('/'))
            && followed < MOST
        {
            followed += 1;
            is_rooted = target.starts_with('/');
            at.clear();
            rest.extend(target.split('/').rev());
        }
    }
    let start = if is_rooted { "/" } else { "" };
    path::absolute(&format!("{start}{}", at.join("/")), None)
}

/// The path of an entry itself: only the links on the way to it are followed. `None` where what it names is no entry, as
/// `..` is none.
pub(crate) fn entry(text: &str, cwd: Option<&str>, facts: &Facts) -> Option<String> {
    let (folder, name) = match text.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((folder, name)) => (folder, name),
        None => (".", text),
    };
    if matches!(name, "" | "." | "..") {
        return None;
    }
    let folder = resolve(folder, cwd, facts);
    Some(path::absolute(name, Some(&folder)))
}

/// Returns the facts with the links that a command adds, as if they existed.
pub(crate) fn with_made<'m>(
    facts: &Facts,
    made: impl IntoIterator<Item = (&'m String, &'m String)>,
) -> Facts {
    let mut more = facts.clone();
    for (link, target) in made {
        let link = entry(link, None, &more).unwrap_or_else(|| link.clone());
        more.links.insert(link, target.clone());
    }
    more
}
