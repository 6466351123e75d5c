//! [`Version`], and the texts of `Cargo.toml` and `Cargo.lock` with another one.

use std::{collections::BTreeSet, fmt};

/// A version as Semantic Versioning has it, without build metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version(String);

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Version {
    /// Reads `1.2.3` and `1.2.3-rc.1`; `None` for other forms.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (numbers, before) = match text.split_once('-') {
            Some((numbers, before)) => (numbers, Some(before)),
            None => (text, None),
        };
        let is_number = |part: &str| {
            let has_digits = !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
            has_digits && (part == "0" || !part.starts_with('0'))
        };
        let is_word =
            |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_alphanumeric());
        let is_version = numbers.split('.').count() == 3
            && numbers.split('.').all(is_number)
            && before.is_none_or(|before| before.split('.').all(is_word));
        is_version.then(|| Self(text.to_owned()))
    }
}

/// Returns `Cargo.toml` of the workspace with another version, every other byte as it was.
pub(super) fn in_manifest(text: &str, version: &Version) -> Result<String, String> {
    let mut section = "";
    let mut changed = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        if line.starts_with('[') {
            section = line.trim_end();
        }
        if section == "[workspace.package]" && line.starts_with("version = ") {
            changed += 1;
            format!("version = \"{version}\"\n")
        } else {
            line.to_owned()
        }
    });
    let text = lines.collect();
    match changed {
        1 => Ok(text),
        _ => Err("Cargo.toml: [workspace.package] has no single `version`".to_owned()),
    }
}

/// Returns the packages of `Cargo.lock` that come from no registry: the members of the workspace.
pub(super) fn members(lock: &str) -> BTreeSet<String> {
    let packages = lock.split("[[package]]\n").skip(1);
    let ours = packages.filter(|package| !package.contains("\nsource = "));
    ours.filter_map(|package| {
        let name = package.lines().next()?.strip_prefix("name = \"")?;
        Some(name.trim_end_matches('"').to_owned())
    })
    .collect()
}

/// Returns `Cargo.lock` with another version of its members, every other byte as it was.
pub(super) fn in_lock(lock: &str, members: &BTreeSet<String>, version: &Version) -> String {
    let mut is_member = false;
    let lines = lock.split_inclusive('\n').map(|line| {
        if let Some(name) = line.strip_prefix("name = \"") {
            is_member = members.contains(name.trim_end().trim_end_matches('"'));
        }
        if is_member && line.starts_with("version = ") {
            format!("version = \"{version}\"\n")
        } else {
            line.to_owned()
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::read(text).unwrap()
    }

    #[test]
    fn only_versions_of_semantic_versioning_are_read() {
        for text in ["0.1.0", "10.20.30", "1.0.0-rc.1", "1.0.0-alpha"] {
            assert_eq!(version(text).to_string(), text);
        }
        for text in [
            "", "1", "1.0", "v1.0.0", "1.0.0.0", "1.00.0", "1.0.0-", "1.0.0 ", "1.0.0+b",
        ] {
            assert_eq!(Version::read(text), None, "{text}");
        }
    }

    #[test]
    fn only_the_version_of_the_workspace_changes() {
        let text = "[workspace.package]\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                    [workspace.dependencies]\nversion = \"1\"\n";
        let changed = in_manifest(text, &version("0.2.0")).unwrap();
        assert_eq!(changed, text.replace("0.1.0", "0.2.0"));
        assert!(in_manifest("[workspace]\n", &version("0.2.0")).is_err());
    }

    #[test]
    fn a_library_of_the_same_version_keeps_it_in_the_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\ndependencies = [\n \"other\",\n]\n\n\
                    [[package]]\nname = \"other\"\nversion = \"0.1.0\"\nsource = \"registry\"\nchecksum = \"00\"\n";
        let members = members(lock);
        assert_eq!(members, BTreeSet::from(["ours".to_owned()]));
        let expected = lock.replacen("version = \"0.1.0\"", "version = \"0.2.0\"", 1);
        assert_eq!(in_lock(lock, &members, &version("0.2.0")), expected);
    }

    /// The texts of this repository have the form that the functions expect.
    #[test]
    fn this_repository_can_be_given_another_version() {
        let manifest = include_str!("../../../Cargo.toml");
        let lock = include_str!("../../../Cargo.lock");
        let next = version("99.0.0");
        let changed = in_manifest(manifest, &next).unwrap();
        assert_eq!(changed.matches("version = \"99.0.0\"").count(), 1);
        let members = members(lock);
        assert!(members.contains("callosum") && members.contains("xtask"));
        let changed = in_lock(lock, &members, &next);
        assert_eq!(
            changed.matches("version = \"99.0.0\"").count(),
            members.len()
        );
    }
}
