//! [`GuardConfig`]: sum of the `cake_config.yaml` of the user and of the project.
//!
//! The guard must decide with any content of the files, so loading never fails: a file that is
//! broken counts as far as it makes the guard stricter, and is reported ([`BrokenCake`]). A file
//! that is not there costs one call of the system; nothing is remembered between two calls.

use std::path::{Path, PathBuf};

use callosum_guard::{
    Permission, Policy, SecretReads,
    config::{Config, ConfigError},
};
use callosum_host::{Disk, DiskError, disk::EntryKind};

use super::secret_reads::SecretReadsFile;

/// The name of the file, in a project's root and in the user's configuration folder.
pub(super) const NAME: &str = "cake_config.yaml";

/// Configuration from the files, and the remarks about them.
#[derive(Debug, Default)]
pub struct GuardConfig {
    /// Configuration in force.
    pub config: Config,
    /// The files that cannot be used as they are.
    pub broken: Vec<BrokenCake>,
    /// Entries of a project's file that do not count.
    pub passed_over: Vec<PassedOver>,
    /// Unknown keys, as `FILE: key`.
    pub unknown: Vec<String>,
    /// The files that agents do not read, if a person turned that on.
    pub secrets: Option<SecretReads>,
}

/// A key of a project's file that would loosen the guard, or is not the project's to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// The file.
    pub path: PathBuf,
    /// The key.
    pub key: &'static str,
}

/// Reason that a file cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum BrokenCake {
    /// It is a folder, a device or the like.
    #[error("{} is not a regular file", path.display())]
    NoFile {
        /// Path of the file.
        path: PathBuf,
    },
    /// It is not text.
    #[error("{} is not UTF-8", path.display())]
    NotText {
        /// Path of the file.
        path: PathBuf,
    },
    /// It is no configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The disk does not give it.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl GuardConfig {
    /// Reads the user's file and those of a project, in the folders given. A folder that is given
    /// twice is read once.
    pub fn load(disk: &Disk, user: Option<&Path>, roots: &[&Path]) -> Self {
        let mut loaded = Self::default();
        if let Some(path) = user
            && let Some(config) = loaded.read(disk, path, &Config::default())
        {
            loaded.config = config;
        }
        loaded.secrets = user.and_then(|user| {
            let file = user.with_file_name(super::secret_reads::NAME);
            SecretReadsFile::new(disk, &file).in_force(roots)
        });
        for (at, root) in roots.iter().enumerate() {
            let path = root.join(NAME);
            if roots[..at].contains(root) || user == Some(path.as_path()) {
                continue;
            }
            let base = loaded.config.clone();
            if let Some(config) = loaded.read(disk, &path, &base) {
                let keys = loaded.config.passes_over(&config).into_iter();
                loaded.passed_over.extend(keys.map(|key| PassedOver {
                    path: path.clone(),
                    key,
                }));
                let standing = std::mem::take(&mut loaded.config);
                loaded.config = standing.tightened_by(&config);
            }
        }
        loaded
    }

    /// The policy that it comes to.
    pub fn policy(&self, permissions: Vec<Permission>) -> Policy {
        Policy {
            secrets: self.secrets.clone(),
            ..self.config.policy(permissions)
        }
    }

    /// A file's content, as far as it counts; what is wrong with it is noted.
    fn read(&mut self, disk: &Disk, path: &Path, base: &Config) -> Option<Config> {
        match read(disk, path, base) {
            Ok(None) => None,
            Ok(Some(read)) => {
                let named = |key: &String| format!("{}: {key}", path.display());
                self.unknown.extend(read.unknown.iter().map(named));
                Some(read.config)
            }
            Err(broken) => {
                let left = match &broken {
                    BrokenCake::Config(error) => Some(error.stricter_part()),
                    _ => None,
                };
                self.broken.push(broken);
                left
            }
        }
    }
}

impl std::fmt::Display for PassedOver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, key } = self;
        write!(
            f,
            "{}: `{key}` is ignored: a project can only make the guard stricter",
            path.display()
        )
    }
}

fn read(
    disk: &Disk,
    path: &Path,
    base: &Config,
) -> Result<Option<callosum_guard::config::Read>, BrokenCake> {
    let Some(mut found) = disk.stat(path)? else {
        return Ok(None);
    };
    if found.kind == EntryKind::Link {
        // A link that leads nowhere is a file that its owner believes to be read.
        let target = disk.stat(&disk.canonicalize(path)?)?;
        found = target.ok_or_else(|| no_file(path))?;
    }
    // A pipe would be waited for, and a device may have no end.
    if found.kind != EntryKind::File {
        return Err(no_file(path));
    }
    let shown = path.display().to_string();
    if found.len > callosum_guard::config::LONGEST as u64 {
        return Err(ConfigError::TooLarge { file: shown }.into());
    }
    let text = String::from_utf8(disk.read(path)?).map_err(|_| BrokenCake::NotText {
        path: path.to_owned(),
    })?;
    Ok(Some(Config::parse_over(&shown, &text, base)?))
}

fn no_file(path: &Path) -> BrokenCake {
    BrokenCake::NoFile {
        path: path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use callosum_guard::Strictness;

    use super::*;
    use crate::test_dir::TestDir;

    fn file(strictness: &str) -> String {
        format!(
            "version: \"1.0\"\nstrictness: {strictness}\nescalation:\n  max_strikes: 4\n  \
             cooldown_minutes: 5\n  human_notification: {{enabled: false}}\nperformance:\n  \
             max_latency_ms: 300\n  max_memory_mb: 1024\nsafety:\n  require_confirmation: false\n  \
             audit_all_commands: true\n"
        )
    }

    fn load(ground: &TestDir) -> GuardConfig {
        let (user, root) = (ground.path("home/cake_config.yaml"), ground.path("project"));
        GuardConfig::load(&ground.disk, Some(&user), &[&root, &root])
    }

    /// CAKE-CFG-1: without files the seed's values hold; the user's file counts, and the project's
    /// where it is stricter.
    #[test]
    fn the_stricter_of_both_files_holds() {
        for (user, project, holds) in [
            (None, None, Strictness::Balanced),
            (Some("minimal"), None, Strictness::Minimal),
            (Some("minimal"), Some("balanced"), Strictness::Balanced),
            (Some("minimal"), Some("paranoid"), Strictness::Paranoid),
            (Some("paranoid"), Some("minimal"), Strictness::Paranoid),
            (None, Some("minimal"), Strictness::Balanced),
            (None, Some("paranoid"), Strictness::Paranoid),
        ] {
            let ground = TestDir::new();
            for (name, strictness) in [("home", user), ("project", project)] {
                if let Some(strictness) = strictness {
                    ground.write(&format!("{name}/cake_config.yaml"), file(strictness));
                }
            }
            let loaded = load(&ground);
            assert_eq!(loaded.config.strictness, holds, "{user:?} {project:?}");
            assert!(loaded.broken.is_empty());
            let is_looser = project == Some("minimal");
            assert_eq!(loaded.passed_over.len(), usize::from(is_looser));
        }
    }

    /// CAKE-CFG-1: a broken file of any owner never loosens, and is named.
    #[test]
    fn a_broken_file_never_loosens_and_is_named() {
        let whole = file("paranoid");
        let long = "#".repeat(300_000);
        let cut = file("minimal").replace("max_strikes: 4", "max_strikes: 40");
        for name in ["home", "project"] {
            let other = if name == "home" { "project" } else { "home" };
            for broken in [
                cut.as_bytes(),
                b"strictness: [",
                b"\xff\xfe",
                long.as_bytes(),
            ] {
                let ground = TestDir::new();
                ground.write(&format!("{name}/cake_config.yaml"), broken);
                let loaded = load(&ground);
                assert_eq!(loaded.config, Config::default(), "{name}");
                let path = ground.path(name).join(NAME).display().to_string();
                assert!(loaded.broken[0].to_string().starts_with(&path));
                ground.write(&format!("{other}/cake_config.yaml"), &whole);
                assert_eq!(load(&ground).config.strictness, Strictness::Paranoid);
            }
        }
    }

    /// CAKE-CFG-1: what is no file is not waited for, and a link to nothing is reported.
    #[test]
    fn what_is_no_file_is_reported_and_not_waited_for() {
        let ground = TestDir::new();
        ground.folder("project/cake_config.yaml");
        let loaded = load(&ground);
        assert!(matches!(loaded.broken[0], BrokenCake::NoFile { .. }));
        let ground = TestDir::new();
        ground.folder("project");
        let link = ground.path("project/cake_config.yaml");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert_eq!(load(&ground).broken.len(), 1);
        ground.disk.remove_file(&link).unwrap();
        std::os::unix::fs::symlink(ground.write("kept.yaml", file("paranoid")), &link).unwrap();
        assert_eq!(load(&ground).config.strictness, Strictness::Paranoid);
    }
}
