//! Patterns for names of files: what they take in, without a look at what is there.

use crate::analyze::pattern;

/// Whether a name as given to a shell, of a file, of a folder or a pattern of either, includes a
/// file.
///
/// `**` matches any folders on the way to the last part.
pub fn takes_in(name: &str, file: &str) -> bool {
    if name == "." {
        return true;
    }
    let mut parts = file.split('/');
    let mut wanted = name.trim_end_matches('/').split('/');
    while let Some(wanted_part) = wanted.next() {
        if wanted_part == "**" {
            let last = wanted.next_back().unwrap_or("*");
            return parts.next_back().is_some_and(|part| fits(last, part));
        }
        if !parts.next().is_some_and(|part| fits(wanted_part, part)) {
            return false;
        }
    }
    true
}

fn fits(wanted: &str, part: &str) -> bool {
    let is_hidden = part.starts_with('.') && !wanted.starts_with('.');
    wanted == part || !is_hidden && pattern::matches(wanted, part)
}

/// Whether a pattern includes all of a folder's contents, or all but something: `*`, `.*`,
/// `!(keep)`, `[a-z]*`, `[!x]*`, and zsh's `^keep`.
pub(crate) fn takes_all(pattern: &str) -> bool {
    if pattern.len() > 1 && pattern.starts_with('^') {
        return true;
    }
    let mut wild = false;
    let mut rest = without_qualifiers(pattern);
    while let Some(letter) = rest.chars().next() {
        rest = match letter {
            '*' | '?' => {
                wild = true;
                &rest[1..]
            }
            '.' => &rest[1..],
            '!' if rest.starts_with("!(") => match rest.find(')') {
                Some(end) => {
                    wild = true;
                    &rest[end + 1..]
                }
                None => return false,
            },
            '[' => {
                let class = &rest[1..];
                // A bracket right at the beginning is a member.
                let Some(end) = class.char_indices().skip(1).find(|(_, c)| *c == ']') else {
                    return false;
                };
                let (class, behind) = class.split_at(end.0);
                let broad = class.starts_with(['!', '^', '*', '.'])
                    || ["a-z", "A-Z", ":al", ":lower", ":upper", ":graph", ":print"]
                        .iter()
                        .any(|range| class.contains(range));
                if !broad {
                    return false;
                }
                wild = true;
                behind.strip_prefix("]]").unwrap_or(&behind[1..])
            }
            _ => return false,
        };
    }
    wild
}

/// Returns a pattern without zsh's glob qualifiers: `*(D)`, hidden ones as well.
fn without_qualifiers(pattern: &str) -> &str {
    let cut = pattern
        .strip_suffix(')')
        .and_then(|inner| inner.rsplit_once('('));
    match cut {
        Some((before, qualifiers))
            if before.ends_with('*')
                && !qualifiers.is_empty()
                && qualifiers.chars().all(|letter| "DN./@oOn".contains(letter)) =>
        {
            before
        }
        _ => pattern,
    }
}

/// Whether a part of a path is a pattern that takes `name` in, which begins with a dot: as in a
/// shell, a pattern must have that dot itself.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    pattern.contains(['*', '?', '['])
        && pattern.starts_with('.') == name.starts_with('.')
        && takes(pattern, name)
}

fn takes(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = rest.as_str().trim_start_matches('*');
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| takes(rest, &name[at..]))
        }
        Some('[') => {
            // The characters of the set are not compared: it may match this one.
            let rest = rest.as_str();
            let after = rest.find(']').map_or("", |end| &rest[end + 1..]);
            let mut left = name.chars();
            left.next().is_some() && takes(after, left.as_str())
        }
        Some(wanted) => {
            let mut left = name.chars();
            let found = left.next();
            found.is_some_and(|found| wanted == '?' || wanted == found)
                && takes(rest.as_str(), left.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SNAP-1: a name includes itself and its contents, a pattern what it matches.
    #[test]
    fn a_name_takes_in_what_goes_with_it() {
        for (name, file) in [
            (".", "src/a.rs"),
            ("src", "src/a/b.rs"),
            ("src/", "src/a.rs"),
            ("*.log", "a.log"),
            ("sr?/*.rs", "src/a.rs"),
            ("**/*.md", "docs/x/a.md"),
            ("docs/**", "docs/x/a.md"),
            ("[a-c].txt", "b.txt"),
        ] {
            assert!(takes_in(name, file), "{name} {file}");
        }
        for (name, file) in [
            ("src", "srcs/a.rs"),
            ("src/a.rs", "src"),
            ("*.log", "x/a.log"),
            ("*", ".env"),
            ("**/*.md", "docs/a.rs"),
            ("[a-c].txt", "d.txt"),
        ] {
            assert!(!takes_in(name, file), "{name} {file}");
        }
    }

    /// CAKE-SHIM-1: a pattern is about what it takes in.
    #[test]
    fn a_pattern_is_about_what_it_takes_in() {
        for pattern in [".git*", ".g*t", ".gi?", ".[g]it", ".*t", "*.git", ".**"] {
            let is_met = pattern.starts_with('.');
            assert_eq!(matches(pattern, ".git"), is_met, "{pattern}");
        }
        for pattern in [".git?", ".github*", ".git", "git*", ".[", ""] {
            assert!(!matches(pattern, ".git"), "{pattern}");
        }
        let many = format!(".{}", "*?".repeat(10_000));
        assert!(!matches(&many, ".git"));
    }
}
