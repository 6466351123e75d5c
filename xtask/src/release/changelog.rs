//! The changelog when a version is released.

use super::version::Version;

/// The heading of what no release has yet.
const UNRELEASED: &str = "## [Unreleased]";

/// Returns the changelog in which the section of unreleased changes is that of a version, below an empty one.
///
/// The line `To be VERSION.`, with which a section of unreleased changes may begin, is removed. Fails if the section is
/// missing or empty, or if the version has one already.
pub(super) fn released(text: &str, version: &Version, date: &str) -> Result<String, String> {
    let heading = format!("## [{version}]");
    if text.lines().any(|line| line.starts_with(&heading)) {
        return Err(format!("CHANGELOG.md has a section of {version} already"));
    }
    let (before, rest) = split_at_line(text, UNRELEASED)
        .ok_or_else(|| format!("CHANGELOG.md has no line `{UNRELEASED}`"))?;
    let end = rest.find("\n## ").map_or(rest.len(), |at| at + 1);
    let (section, after) = rest.split_at(end);
    let section = section.trim_start();
    let planned = section.lines().next().unwrap_or_default();
    let section = if planned.starts_with("To be ") && planned.ends_with('.') {
        section[planned.len()..].trim_start()
    } else {
        section
    };
    if section.is_empty() {
        return Err("CHANGELOG.md has no unreleased changes".to_owned());
    }
    Ok(format!(
        "{before}{UNRELEASED}\n\n{heading} - {date}\n\n{section}{after}"
    ))
}

/// Splits a text around a line that is equal to `line`.
fn split_at_line<'t>(text: &'t str, line: &str) -> Option<(&'t str, &'t str)> {
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        if whole.trim_end() == line {
            return Some((&text[..at], &text[at + whole.len()..]));
        }
        at += whole.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let version = Version::read("0.2.0").unwrap();
        let found = released(text, &version, "2026-12-01");
        let found = found.as_deref().map_err(String::as_str);
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn unreleased_changes_move_below_the_version() {
        check(
            "# Changelog\n\nText.\n\n## [Unreleased]\n\n### Help\n\n- One.\n\n## [0.1.0] - 2026-01-01\n\n- First.\n",
            Ok(
                "# Changelog\n\nText.\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Help\n\n- One.\n\n\
                 ## [0.1.0] - 2026-01-01\n\n- First.\n",
            ),
        );
    }

    #[test]
    fn the_first_release_loses_the_line_that_announced_it() {
        check(
            "## [Unreleased]\n\nTo be 0.2.0.\n\n- One.\n",
            Ok("## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n- One.\n"),
        );
    }

    #[test]
    fn nothing_to_release_is_an_error() {
        check(
            "# Changelog\n",
            Err("CHANGELOG.md has no line `## [Unreleased]`"),
        );
        for empty in [
            "## [Unreleased]\n",
            "## [Unreleased]\n\nTo be 0.2.0.\n\n## [0.1.0] - 2026-01-01\n\n- One.\n",
        ] {
            check(empty, Err("CHANGELOG.md has no unreleased changes"));
        }
        check(
            "## [Unreleased]\n\n- One.\n\n## [0.2.0] - 2026-11-01\n",
            Err("CHANGELOG.md has a section of 0.2.0 already"),
        );
    }
}
