//! [`Runner`]s: commands that run a project's tests, from the project's own setup of its test tools.
//!
//! Start with [`runners`]. The commands of a build server are in `build`.

use std::collections::BTreeSet;

use crate::{
    file_role,
    report_layout::Statement,
    survey::{Survey, file::SurveyedFile},
};

/// A command that runs tests, and the line of the setup that it follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Runner {
    /// The command.
    command: String,
    /// The file of the setup.
    path: String,
    /// Its line.
    line: u32,
}

impl Runner {
    /// States the command with its place.
    pub(super) fn statement(&self, survey: &Survey) -> Option<Statement> {
        let cited = survey.cite(&self.path, self.line)?;
        Some(Statement::at(cited).says(&format!("run `{}`", self.command)))
    }
}

/// The commands, each once: pytest, tox and nox, and the recipes of a justfile. Setups of tests and
/// examples are left out, and those nearest to the root come first.
pub(super) fn runners(survey: &Survey) -> Vec<Runner> {
    let mut files: Vec<&SurveyedFile> = survey
        .files
        .iter()
        .filter(|file| !file_role::is_aside(file.folder()))
        .collect();
    files.sort_by_key(|file| (file.path.split('/').count(), &file.path));
    let mut seen = BTreeSet::new();
    let found = files.into_iter().flat_map(|file| {
        let text = file.text.as_deref().unwrap_or_default();
        let lines = (1..).zip(text.lines());
        let commands =
            lines.filter_map(|(line, content)| Some((command(file.name(), content)?, line)));
        let runners = commands.map(|(command, line)| Runner {
            command,
            path: file.path.clone(),
            line,
        });
        runners.collect::<Vec<_>>()
    });
    found
        .filter(|runner| seen.insert(runner.command.clone()))
        .collect()
}

/// The command that a line of a file of this name sets up.
fn command(name: &str, line: &str) -> Option<String> {
    let is_header = |headers: &[&str]| headers.iter().any(|header| line.starts_with(header));
    let command = match name {
        "pyproject.toml" if is_header(&["[tool.pytest"]) => "pytest",
        "pyproject.toml" if is_header(&["[tool.tox"]) => "tox",
        "setup.cfg" if is_header(&["[tool:pytest]"]) => "pytest",
        "tox.ini" | "pytest.ini" if is_header(&["[pytest]"]) => "pytest",
        "tox.ini" if is_header(&["[tox]", "[testenv"]) => "tox",
        "noxfile.py" if is_header(&["@nox.session", "@session"]) => "nox",
        "justfile" | "Justfile" | ".justfile" => {
            let (recipe, _) = line.split_once(':')?;
            let recipe = recipe.split(' ').next()?.trim_start_matches('@');
            let is_test = recipe.starts_with("test") || recipe == "check";
            return (is_test && !line.contains(":=")).then(|| format!("just {recipe}"));
        }
        // A dependency group that installs pytest says so without any setup of it.
        "pyproject.toml" if asks_for_pytest(line) => "pytest",
        _ => return None,
    };
    Some(command.to_owned())
}

/// Whether a line of a list of requirements is for pytest itself.
fn asks_for_pytest(line: &str) -> bool {
    let mut quoted = line.split(['"', '\'']).skip(1).step_by(2);
    quoted.any(|requirement| {
        let rest = requirement.strip_prefix("pytest");
        rest.is_some_and(|rest| {
            !rest.starts_with(|c: char| c.is_alphanumeric() || "-_".contains(c))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{survey, tree};

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[(&str, &str, u32)]) {
        let folder = tree(files);
        let found = runners(&survey(folder.path()));
        let seen: Vec<(&str, &str, u32)> = found
            .iter()
            .map(|runner| (runner.command.as_str(), runner.path.as_str(), runner.line))
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_setup_of_the_projects_own_test_tools_says_how_tests_are_run() {
        let project =
            "[project]\nname = \"shelf\"\n\n[dependency-groups]\ntests = [\n  \"pytest\",\n]\n";
        let setup =
            "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n\n[tool.tox]\nenv_list = []\n";
        check(
            &[("pyproject.toml", &format!("{project}{setup}"))],
            &[
                ("pytest", "pyproject.toml", 6),
                ("tox", "pyproject.toml", 11),
            ],
        );
        check(
            &[
                (
                    "setup.cfg",
                    "[metadata]\nname = x\n[tool:pytest]\naddopts = -q\n",
                ),
                (
                    "tox.ini",
                    "[tox]\nenvlist = py\n\n[testenv]\ncommands = pytest\n",
                ),
                (
                    "noxfile.py",
                    "import nox\n\n@nox.session\ndef tests(session):\n    pass\n",
                ),
                (
                    "justfile",
                    "version := \"1\"\n\ntest *args:\n    cargo test\n\ntest-all: test\n",
                ),
            ],
            &[
                ("just test", "justfile", 3),
                ("just test-all", "justfile", 6),
                ("nox", "noxfile.py", 3),
                ("pytest", "setup.cfg", 3),
                ("tox", "tox.ini", 1),
            ],
        );
    }

    #[test]
    fn an_examples_setup_says_nothing_about_the_project() {
        check(
            &[
                (
                    "examples/shop/pyproject.toml",
                    "[tool.pytest.ini_options]\n",
                ),
                ("tests/app/tox.ini", "[tox]\n"),
                (
                    "pyproject.toml",
                    "[project]\nname = \"x\"\ndependencies = [\"pytest-shelf\"]\n",
                ),
            ],
            &[],
        );
    }
}
