//! [`Stage`]: a clean home with a client in it, a server of models, and how they are asked.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use callosum_testkit::{
    Run, TestEnv,
    model::{Call, ModelServer, Options, Prompt, ScriptTurn, Usage},
};
use serde_json::{Value, json};

use crate::{
    client::{Agent, Client},
    install::Installed,
};

/// A clean home with the client settled in it, and a server.
pub(crate) struct Stage<'a> {
    pub(crate) client: &'a Client,
    installed: &'a Installed,
    pub(crate) env: Arc<TestEnv>,
    pub(crate) server: Arc<ModelServer>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(client: &'a Client, installed: &'a Installed) -> Self {
        Self::replying(client, installed, |_| None)
    }

    /// The same, with a model that answers by a function, and by scripts where that has nothing.
    pub(crate) fn replying(
        client: &'a Client,
        installed: &'a Installed,
        replies: impl Fn(&Prompt<'_>) -> Option<ScriptTurn> + Send + Sync + 'static,
    ) -> Self {
        let env = TestEnv::new();
        let options = Options {
            // Agents ask for titles and summaries of their own; those have no tools.
            side_calls: true,
            ..Options::default()
        };
        let server = ModelServer::replying_to(options, replies).unwrap();
        client.settle(&env, &server.url());
        env.write("src/main.rs", "fn main() {}\n");
        env.git_init();
        Self {
            client,
            installed,
            env: Arc::new(env),
            server: Arc::new(server),
        }
    }

    /// Puts another client into the same home.
    pub(crate) fn beside<'b>(&self, client: &'b Client, installed: &'b Installed) -> Stage<'b> {
        client.settle(&self.env, &self.server.url());
        Stage {
            client,
            installed,
            env: Arc::clone(&self.env),
            server: Arc::clone(&self.server),
        }
    }

    /// The client itself, in its environment.
    pub(crate) fn client(&self) -> Run {
        self.dressed(self.env.program(self.installed.program.clone()))
    }

    /// Registers the client with the project, as a person would who has its keys in variables.
    pub(crate) fn register(&self) {
        self.register_as(self.client.name, &[]);
    }

    /// The same under a name of its own, with more arguments.
    pub(crate) fn register_as(&self, name: &str, more: &[&str]) {
        self.register_passing(name, more, |_| true);
    }

    /// The same, as by a person who passes on only these of the client's variables.
    pub(crate) fn register_passing(&self, name: &str, more: &[&str], passes: fn(&str) -> bool) {
        let names = self.client.environment.iter().map(|(name, _)| *name);
        let passed = names.filter(|name| passes(name));
        let passed = passed.flat_map(|name| ["--pass-env", name]);
        let url = self.server.url();
        let server = url.trim_start_matches("http://");
        self.callosum()
            .arguments(["executor", "register", name])
            .arguments(passed)
            .arguments(["--allow-net", server])
            .arguments(more)
            .run()
            .success();
    }

    /// The same as an agent that speaks ACP, under the name `agent`.
    pub(crate) fn register_agent(&self, agent: &Agent) {
        let command = ["--protocol", "acp", "--command", agent.command];
        self.register_as("agent", &command);
    }

    /// Delegates a prompt with this script to the client.
    pub(crate) fn delegate(&self, turns: &[ScriptTurn]) -> (i32, Value) {
        self.delegate_linked(turns, None)
    }

    /// The same, with the entry of a task before it.
    pub(crate) fn delegate_linked(
        &self,
        turns: &[ScriptTurn],
        before: Option<&str>,
    ) -> (i32, Value) {
        self.delegate_to(self.client.name, turns, before)
    }

    pub(crate) fn delegate_to(
        &self,
        name: &str,
        turns: &[ScriptTurn],
        before: Option<&str>,
    ) -> (i32, Value) {
        let linked = before.map(|id| ["--link", id]).into_iter().flatten();
        let output = self.delegation(name, turns).arguments(linked).run();
        (output.code, output.json())
    }

    /// The same in one try.
    pub(crate) fn delegate_once_to(&self, name: &str, turns: &[ScriptTurn]) -> (i32, Value) {
        let output = self.delegation(name, turns).env("CAL_RETRY_MAX", "0").run();
        (output.code, output.json())
    }

    fn delegation(&self, name: &str, turns: &[ScriptTurn]) -> Run {
        let prompt = format!("Say what is there. {}", ScriptTurn::script(turns));
        self.callosum()
            .arguments(["delegate", &prompt, "--json"])
            .arguments(["--executor", name])
    }

    /// The turns by which a model answers in the form that the client asks for.
    pub(crate) fn answer(&self, summary: &str) -> Vec<ScriptTurn> {
        let usage = |input, output| {
            Some(Usage {
                input,
                output,
                cached: 0,
            })
        };
        let Some(tool) = self.client.answers_by else {
            return vec![ScriptTurn {
                usage: usage(5000, 300),
                ..ScriptTurn::text(summary)
            }];
        };
        let call = Call {
            name: tool.to_owned(),
            input: json!({"summary": summary}),
            ..Call::default()
        };
        vec![
            ScriptTurn {
                usage: usage(5000, 300),
                calls: vec![call],
                ..ScriptTurn::default()
            },
            ScriptTurn {
                usage: usage(0, 0),
                ..ScriptTurn::text("done")
            },
        ]
    }

    /// Our program, with the client in its `PATH` and environment.
    pub(crate) fn callosum(&self) -> Run {
        self.dressed(self.env.callosum())
    }

    /// Our program, with this client and others in its `PATH` and environment.
    pub(crate) fn callosum_with(&self, others: &[Stage<'_>]) -> Run {
        let run = self.dressed(self.env.callosum());
        let all = others
            .iter()
            .map(|other| other.installed)
            .chain([self.installed]);
        let folders = all.flat_map(|installed| installed.folders.clone());
        let system = ["/usr/bin", "/bin"].map(PathBuf::from);
        let path = std::env::join_paths(folders.chain(system)).unwrap();
        let run = others.iter().fold(run, |run, other| {
            other.client.environment(run, &self.server.url())
        });
        run.env("PATH", path)
    }

    pub(crate) fn dressed(&self, run: Run) -> Run {
        let own = self.installed.folders.iter().map(PathBuf::as_path);
        let system = ["/usr/bin", "/bin"].map(Path::new);
        let path = std::env::join_paths(own.chain(system)).unwrap();
        self.client
            .environment(run.env("PATH", path), &self.server.url())
    }
}
