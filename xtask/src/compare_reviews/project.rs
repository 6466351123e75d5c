//! [`Project`]: a temporary project with a home of its own, in which the program asks models by plans.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::{Options, method::Reply, planting::Bug};
use crate::{command_of_the_developer, release_build::target, say};

/// The plan of one question.
const PLAN: &str = "(defplan review (prompt model) (step :ask (:text (call :llm.infer {:prompt prompt :model model}))))";

/// The built-in model that repeats its prompt. It is no executor.
const ECHO: &str = "echo";

/// Longest time of one question.
const PATIENCE: &str = "10m";

/// Folders that only this comparison uses.
#[derive(Debug)]
pub(super) struct Project {
    callosum: PathBuf,
    /// Everything that is removed at the end.
    folder: PathBuf,
    /// The home that executors get.
    home: PathBuf,
}

impl Drop for Project {
    fn drop(&mut self) {
        // A folder that cannot be removed is in the target folder, where `cargo clean` removes it.
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl Project {
    /// Creates the project, with the executors of `--registry`, or those that are installed here.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    pub(super) fn create(options: &Options) -> Result<Self, String> {
        let callosum = match &options.callosum {
            Some(path) => path.clone(),
            None => built()?,
        };
        let fault = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        let callosum = callosum
            .canonicalize()
            .map_err(|error| fault(&callosum, error))?;
        let folder = target()?.join(format!("compare-reviews-{}", std::process::id()));
        let home = match &options.home {
            Some(home) => home.canonicalize().map_err(|error| fault(home, error))?,
            None => folder.join("home"),
        };
        let project = Self {
            callosum,
            folder,
            home,
        };
        for folder in [project.root(), project.folder.join("home")] {
            fs::create_dir_all(&folder).map_err(|error| fault(&folder, error))?;
        }
        let mut git = command_of_the_developer("git");
        git.args(["init", "--quiet"]).current_dir(project.root());
        output(git)?;
        project.run(&["init", "--ledger", "--yes"])?;
        if let Some(registry) = &options.registry {
            let to = project.root().join("registry.json");
            fs::copy(registry, to).map_err(|error| fault(registry, error))?;
            project.run(&["trust", "--yes"])?;
        } else if options.models.is_empty() || options.models.iter().any(|model| model != ECHO) {
            project.run(&["executor", "discover"])?;
        }
        Ok(project)
    }

    /// Returns the models that are asked: the ones that the options name, or all that are ready.
    pub(super) fn models(&self, named: &[String]) -> Result<Vec<String>, String> {
        let listed = json_of(&self.run(&["executor", "list", "--json"])?)?;
        let ready = ready(&listed);
        if let Some(unknown) = named
            .iter()
            .find(|name| *name != ECHO && !ready.contains(name))
        {
            return Err(format!(
                "`{unknown}` is not ready; ready are: {ECHO}{}{}",
                if ready.is_empty() { "" } else { ", " },
                ready.join(", ")
            ));
        }
        if !named.is_empty() {
            return Ok(named.to_vec());
        }
        if ready.is_empty() {
            return Err(
                "no executor is ready that can be asked; name a registry.json with --registry, or a home with logins with \
                 --home"
                    .to_owned(),
            );
        }
        Ok(ready)
    }

    /// Puts the repository of a bug in place of the one before.
    pub(super) fn plant(&self, bug: &Bug) -> Result<(), String> {
        let folder = self.root().join("source");
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        bug.plant(&folder)
    }

    /// Asks a model by a plan, and reads what that used from the run's records.
    pub(super) fn ask(&self, model: &str, prompt: &str, tokens: u64) -> Reply {
        self.asked(model, prompt, tokens)
            .unwrap_or_else(|why| Reply {
                text: Err(why),
                tokens: 0,
                cost_usd: 0.0,
                milliseconds: 0,
            })
    }

    fn asked(&self, model: &str, prompt: &str, tokens: u64) -> Result<Reply, String> {
        let input = json!({"prompt": prompt, "model": model}).to_string();
        let tokens = tokens.max(1).to_string();
        let mut run = self.command();
        run.args(["plan", "run", "--expression", PLAN, "--json"]);
        run.args(["--max-tokens", &tokens, "--timeout", PATIENCE]);
        run.args(["--input", &input]);
        // A run that failed ends with another exit code, and prints why.
        let printed = run.output().map_err(|error| error.to_string())?;
        let done = json_of(&String::from_utf8_lossy(&printed.stdout)).map_err(|error| {
            let words = String::from_utf8_lossy(&printed.stderr);
            let last = words.lines().last().unwrap_or(&error);
            format!("callosum plan run: {last}")
        })?;
        let Some(id) = done["run"].as_str() else {
            return Err(format!("the plan was refused: {}", done["findings"]));
        };
        let shown = json_of(&self.run(&["plan", "show", id, "--json"])?)?;
        let text = match (done["outcome"].as_str(), done["value"].as_str()) {
            (Some("completed"), Some(value)) => {
                text_of(value).ok_or_else(|| format!("the reply is no text: {value}"))
            }
            (Some("failed"), _) => {
                let why = done["error"]["message"].as_str();
                Err(why.unwrap_or("the run failed").to_owned())
            }
            (outcome, _) => Err(format!("the run is {}", outcome.unwrap_or("unfinished"))),
        };
        Ok(Reply {
            text,
            tokens: shown["tokens"].as_u64().unwrap_or_default(),
            cost_usd: shown["cost_usd"].as_f64().unwrap_or_default(),
            milliseconds: shown["elapsed_ms"].as_u64().unwrap_or_default(),
        })
    }

    fn root(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn command(&self) -> Command {
        let state = self.folder.join("home/state");
        let mut command = command_of_the_developer(&self.callosum);
        command
            .env("HOME", &self.home)
            .env("CALLOSUM_HOME", state)
            .env("CALLOSUM_CONFIG", self.folder.join("home/config.toml"))
            .env("CALLOSUM_STATE", "project")
            .current_dir(self.root());
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = self.command();
        command.args(arguments);
        output(command)
    }
}

/// Returns the executors that can be asked as models.
fn ready(listed: &Value) -> Vec<String> {
    let executors = listed["executors"].as_array().into_iter().flatten();
    let is_ready = |executor: &&Value| {
        executor["status"] == "active"
            && executor["enabled"] == true
            && executor["trusted"] == true
            && executor["id"] != "scout"
    };
    executors
        .filter(is_ready)
        .filter_map(|executor| executor["id"].as_str().map(str::to_owned))
        .collect()
}

/// Returns the program that was built like this one, or the one for release.
fn built() -> Result<PathBuf, String> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let places = [
        itself.with_file_name("callosum"),
        target()?.join("release/callosum"),
    ];
    let found = places.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| {
        "callosum is not built; run `cargo build` first, or name it with --callosum".to_owned()
    })
}

fn output(mut command: Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let arguments: Vec<String> = command
        .get_args()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let printed = command
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if printed.status.success() {
        return Ok(String::from_utf8_lossy(&printed.stdout).into_owned());
    }
    say(&String::from_utf8_lossy(&printed.stderr));
    Err(format!(
        "{program} {}: {}",
        arguments.join(" "),
        printed.status
    ))
}

fn json_of(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("unexpected output: {error}"))
}

/// Reads a text in the notation of plans.
fn text_of(value: &str) -> Option<String> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        text.push(match letters.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            other => other,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_executors_that_can_run_are_asked() {
        let listed = json!({"executors": [
            {"id": "scout", "status": "active", "enabled": true, "trusted": true},
            {"id": "one", "status": "active", "enabled": true, "trusted": true},
            {"id": "two", "status": "inactive", "enabled": true, "trusted": true},
            {"id": "three", "status": "active", "enabled": true, "trusted": false},
        ]});
        assert_eq!(ready(&listed), ["one"]);
    }

    #[test]
    fn a_text_of_a_plan_is_read_with_its_escapes() {
        assert_eq!(
            text_of(r#""a \"b\"\n\\n""#).as_deref(),
            Some("a \"b\"\n\\n")
        );
        assert_eq!(text_of("\"\"").as_deref(), Some(""));
        assert_eq!(text_of("nil"), None);
        assert_eq!(text_of("\"a\\\""), None);
    }
}
