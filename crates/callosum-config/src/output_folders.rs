//! [`OutputFolders`]: the folders in which output files of tasks may be written (`mesh.output_folders` of config.toml).
//!
//! A task may write to the project of the agent that left it, and to the folders that the user's own configuration names.
//! A cloned repository has no say. A home folder is no project, even if it is a git repository: too much of it is run or
//! trusted by other programs.

use std::path::{Path, PathBuf};

use callosum_host::Disk;
use toml::Value;

use super::{Environment, Homes, MeshSettings, Roots};

/// Most folders.
const MOST: usize = 32;

/// Allowed values of the key.
pub(crate) const ALLOWED: &str = "a list of up to 32 folders, each absolute or below `~/`";

/// Reads the value of the key; `None` if it is not allowed.
pub(crate) fn read(value: &Value) -> Option<Vec<String>> {
    let folders = value.as_array().filter(|folders| folders.len() <= MOST)?;
    let folders = folders.iter().map(|folder| {
        let folder = folder.as_str()?;
        let is_absolute = folder.starts_with('/') || folder.starts_with("~/");
        let is_plain =
            !folder.contains(char::is_control) && !folder.split('/').any(|part| part == "..");
        (is_absolute && is_plain).then(|| folder.to_owned())
    });
    folders.collect()
}

/// Finds the folders that a task may write to.
#[derive(Clone, Debug)]
pub struct OutputFolders {
    disk: Disk,
    /// Folders that the user names.
    named: Vec<PathBuf>,
    /// Folders that are no project, and contain none of the projects: those around them are no project either.
    excluded: Vec<PathBuf>,
}

impl OutputFolders {
    /// Reads what the user configured.
    pub fn new(
        disk: &Disk,
        environment: &Environment,
        homes: &Homes,
        settings: &MeshSettings,
    ) -> Self {
        let real = |path: PathBuf| disk.canonicalize(&path).unwrap_or(path);
        let named = settings.output_folders.iter();
        let home = environment.path("HOME");
        let config = homes.user_config.parent().map(Path::to_owned);
        let excluded = [home, Some(homes.machine.clone()), config];
        Self {
            disk: disk.clone(),
            named: named
                .map(|folder| real(environment.at_home(folder)))
                .collect(),
            excluded: excluded.into_iter().flatten().map(real).collect(),
        }
    }

    /// Returns the folders for a task that was left in `cwd`, with every link resolved. Reads a few files of the project.
    pub fn of(&self, cwd: Option<&str>) -> Vec<PathBuf> {
        let cwd = cwd.map(Path::new).filter(|cwd| cwd.is_absolute());
        let roots = cwd.and_then(|cwd| Roots::find(&self.disk, cwd, None).ok());
        let project = roots.map(|roots| roots.tree);
        let project = project.filter(|tree| self.is_project(tree));
        project.into_iter().chain(self.named.clone()).collect()
    }

    fn is_project(&self, tree: &Path) -> bool {
        tree.parent().is_some() && !self.excluded.iter().any(|folder| folder.starts_with(tree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    /// CALC-PAT-2b: the author's project and the user's folders, and neither a home nor the whole disk.
    #[test]
    fn a_task_may_write_to_its_project_and_to_the_folders_that_the_user_names() {
        let ground = TestDir::new();
        ground.write("home/shop/.calrc", "{}");
        ground.write("home/shop/src/a.rs", "");
        ground.write("home/notes/a.md", "");
        let home = ground.path("home");
        let environment = Environment::default().with("HOME", home.to_str().unwrap());
        let homes = Homes::find(&environment).unwrap();
        let settings = MeshSettings {
            output_folders: vec!["~/notes".to_owned()],
            ..MeshSettings::default()
        };
        let folders = OutputFolders::new(&ground.disk, &environment, &homes, &settings);
        let real = |path: &str| ground.disk.canonicalize(&ground.path(path)).unwrap();
        let notes = real("home/notes");
        let of = |path: PathBuf| folders.of(path.to_str());
        assert_eq!(
            of(real("home/shop/src")),
            [real("home/shop"), notes.clone()]
        );
        assert_eq!(of(home), std::slice::from_ref(&notes));
        assert_eq!(of(PathBuf::from("/")), std::slice::from_ref(&notes));
        assert_eq!(folders.of(Some("shop")), std::slice::from_ref(&notes));
        assert_eq!(folders.of(None), [notes]);
    }

    #[test]
    fn a_folder_is_absolute_or_below_the_home() {
        let read = |text: &str| {
            let table: toml::Table = format!("folders = {text}").parse().unwrap();
            read(&table["folders"])
        };
        assert_eq!(read("[\"/srv/out\", \"~/out\"]").unwrap().len(), 2);
        for wrong in [
            "[\"out\"]",
            "[\"~\"]",
            "[\"/srv/../etc\"]",
            "\"/srv\"",
            "[1]",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
