//! Files that a program loads by their name and runs, if the same command wrote them before:
//! `conftest.py`, `noxfile.py`, a configuration in JavaScript, a playbook, a compose file.
//!
//! The contents of a file that existed before are not known here.

use super::embedded_code;
use crate::analyze::{
    evaluator::Evaluator,
    pattern,
    value::{Arg, Value},
};

/// Programs, the names of the files that each loads, and a program of the language that these are in.
const LOADED: &[(&[&str], &[&str], &str)] = &[
    (
        &["pytest", "py.test"],
        &["conftest.py", "test_*.py", "*_test.py"],
        "python",
    ),
    (&["nox"], &["noxfile.py"], "python"),
    (&["invoke", "inv"], &["tasks.py"], "python"),
    (&["fab"], &["fabfile.py"], "python"),
    (&["doit"], &["dodo.py"], "python"),
    (&["scons"], &["SConstruct", "SConscript"], "python"),
    (&["locust"], &["locustfile.py"], "python"),
    (&["pip", "pip3"], &["setup.py"], "python"),
    (&["rake"], &["Rakefile", "*.rake"], "ruby"),
    (&["rspec"], &["*_spec.rb", "spec_helper.rb"], "ruby"),
    (&["fastlane"], &["Fastfile"], "ruby"),
    (&["vagrant"], &["Vagrantfile"], "ruby"),
    (&["bundle"], &["Gemfile"], "ruby"),
    (&["gulp"], &["gulpfile.*"], "node"),
    (&["grunt"], &["Gruntfile.*"], "node"),
    (
        &["jest", "vitest", "mocha", "ava", "playwright", "cypress"],
        &[
            "*.config.*",
            "*.test.*",
            "*.spec.*",
            ".mocharc.*",
            "*.setup.*",
        ],
        "node",
    ),
    (
        &[
            "vite",
            "webpack",
            "rollup",
            "eslint",
            "next",
            "nuxt",
            "astro",
            "tailwindcss",
            "postcss",
            "babel",
            "prettier",
            "tsup",
            "svelte-kit",
        ],
        &["*.config.*", ".eslintrc.*", ".prettierrc.*", ".babelrc.*"],
        "node",
    ),
    (&["mix"], &["mix.exs"], "elixir"),
];

impl Evaluator<'_> {
    /// Follows what such a program loads.
    pub(super) fn loaded(&mut self, name: &str, words: &[Arg]) {
        for (programs, files, language) in LOADED {
            if !programs.contains(&name) {
                continue;
            }
            let language = embedded_code::LANGUAGES
                .iter()
                .find(|one| one.runs(language));
            for content in self.written(words, files) {
                if let Some(language) = language {
                    self.code(language, &content);
                }
            }
        }
        match name {
            "ansible-playbook" => {
                for playbook in self.written(words, &[]) {
                    for command in of_playbook(&playbook) {
                        self.elsewhere(|walker| {
                            walker.under(name, |walker| walker.text(&command, None))
                        });
                    }
                }
            }
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
                self.composed(name, words);
            }
            // A file of statements is as if it came in.
            "mongosh" | "mongo" | "redis-cli" | "valkey-cli" | "keydb-cli" => {
                let statements = self.written(words, &[]).concat();
                if !statements.is_empty()
                    && let Some(call) = self.found.calls.last_mut()
                {
                    call.input = Some(Value::known(statements));
                }
            }
            _ => {}
        }
    }

    /// Returns the contents of files that were written before: those that the words name, and those
    /// of these names.
    fn written(&self, words: &[Arg], names: &[&str]) -> Vec<String> {
        let named: Vec<String> = words
            .iter()
            .skip(1)
            .map(|word| self.state.absolute(&word.text))
            .collect();
        let here = self.state.absolute(".");
        let here = here.trim_end_matches('.');
        let files = self.state.files.iter().filter(|(path, content)| {
            let name = crate::path::name(path);
            let is_loaded =
                path.starts_with(here) && names.iter().any(|one| pattern::matches(one, name));
            content.is_known() && (is_loaded || named.contains(path))
        });
        files
            .take(8)
            .map(|(_, content)| content.text.clone())
            .collect()
    }

    /// Follows the services of a compose file as containers that are started one by one.
    fn composed(&mut self, name: &str, words: &[Arg]) {
        const FILES: [&str; 4] = [
            "docker-compose.y*ml",
            "compose.y*ml",
            "podman-compose.y*ml",
            "*.compose.y*ml",
        ];
        let has = |wanted: &[&str]| {
            words
                .iter()
                .any(|word| wanted.contains(&word.text.as_str()))
        };
        let is_compose = name.ends_with("-compose") || has(&["compose"]);
        if !is_compose || !has(&["up", "run", "start", "create"]) {
            return;
        }
        for file in self.written(words, &FILES) {
            for service in of_compose(&file) {
                self.inner("compose", &service, None);
            }
        }
    }
}

/// The commands of a playbook: what its shells and commands are given.
fn of_playbook(playbook: &str) -> Vec<String> {
    const MODULES: [&str; 4] = ["shell", "command", "raw", "script"];
    let mut found: Vec<String> = Vec::new();
    // A block goes on as far as it is indented.
    let mut block: Option<usize> = None;
    for line in playbook.lines() {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        if let Some(outer) = block {
            if depth > outer && !text.is_empty() {
                found.push(text.trim_start_matches("cmd:").trim().to_owned());
                continue;
            }
            block = None;
        }
        let text = text.trim_start_matches("- ");
        let depth = line.len() - text.len();
        let Some((module, given)) = text.split_once(':') else {
            continue;
        };
        let module = module.rsplit('.').next().unwrap_or(module);
        if !MODULES.contains(&module) {
            continue;
        }
        let given = given.trim().trim_matches(['"', '\'']);
        if matches!(given, "" | "|" | ">" | "|-" | ">-") {
            block = Some(depth);
        } else {
            found.push(given.to_owned());
        }
    }
    found
}

/// The services of a compose file, each as the words that would start it by itself.
fn of_compose(file: &str) -> Vec<Vec<Arg>> {
    let items = |text: &str| -> Vec<String> {
        let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
        let items = inner
            .split(',')
            .map(|item| item.trim().trim_matches(['"', '\'']));
        items
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut services: Vec<(Vec<Arg>, Vec<Arg>)> = Vec::new();
    let mut key = String::new();
    let mut in_services = false;
    for line in file
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        if depth == 0 {
            in_services = text == "services:";
            continue;
        }
        if !in_services {
            continue;
        }
        let (given, is_item) = match text.strip_prefix("- ") {
            Some(item) => (item.trim().trim_matches(['"', '\'']), true),
            None => match text.split_once(':') {
                Some((name, given)) => {
                    name.trim().clone_into(&mut key);
                    (given.trim(), false)
                }
                None => continue,
            },
        };
        // A service begins at a name with nothing behind it, before the first of its keys.
        if !is_item && given.is_empty() && depth <= 4 && !is_key(&key) {
            let run = ["docker", "run", "--rm"].map(Arg::plain).to_vec();
            services.push((run, vec![Arg::plain("image")]));
            continue;
        }
        let Some((run, command)) = services.last_mut() else {
            continue;
        };
        match key.as_str() {
            "volumes" => {
                let mounts = if is_item {
                    vec![given.to_owned()]
                } else {
                    items(given)
                };
                for mount in mounts.iter().filter(|mount| mount.contains(':')) {
                    run.extend(["-v", mount].map(Arg::plain));
                }
            }
            "privileged" if given == "true" => run.push(Arg::plain("--privileged")),
            "pid" | "network_mode" | "ipc" if given.trim_matches(['"', '\'']) == "host" => {
                let option = if key == "network_mode" {
                    "network"
                } else {
                    key.as_str()
                };
                run.push(Arg::plain(format!("--{option}=host")));
            }
            "command" | "entrypoint" if !given.is_empty() => {
                let words = if is_item {
                    vec![given.to_owned()]
                } else if given.starts_with('[') {
                    items(given)
                } else {
                    let text = given.trim_matches(['"', '\'']);
                    text.split_whitespace().map(str::to_owned).collect()
                };
                command.extend(words.into_iter().map(Arg::plain));
            }
            _ => {}
        }
    }
    services
        .into_iter()
        .map(|(run, command)| [run, command].concat())
        .collect()
}

/// Whether it is a key of a service, rather than the name of one.
fn is_key(name: &str) -> bool {
    const KEYS: [&str; 16] = [
        "volumes",
        "command",
        "entrypoint",
        "environment",
        "ports",
        "depends_on",
        "build",
        "image",
        "networks",
        "labels",
        "healthcheck",
        "deploy",
        "env_file",
        "expose",
        "devices",
        "cap_add",
    ];
    KEYS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::{of_compose, of_playbook};
    use crate::analyze::value::display_words;

    /// CAKE-SHIM-1: a playbook's commands are found, in one line and in a block.
    #[test]
    fn the_commands_of_a_playbook_are_found() {
        let playbook = "- hosts: all\n  tasks:\n    - name: x\n      shell: rm -rf /a\n    \
                        - ansible.builtin.command: ls\n    - shell: |\n        rm -rf /b\n      when: x\n";
        assert_eq!(of_playbook(playbook), ["rm -rf /a", "ls", "rm -rf /b"]);
    }

    /// CAKE-SHIM-1: a service of a compose file is a container with its mounts and its command.
    #[test]
    fn the_services_of_a_compose_file_are_found() {
        let file = "services:\n  x:\n    image: alpine\n    volumes: ['/:/host']\n    command: rm -rf /host/a\n  \
                    y:\n    privileged: true\n    volumes:\n      - data:/var\n    command: [\"ls\", \"-l\"]\nvolumes:\n  data:\n";
        let found: Vec<String> = of_compose(file)
            .iter()
            .map(|words| display_words(words))
            .collect();
        assert_eq!(
            found,
            [
                "docker run --rm -v /:/host image rm -rf /host/a",
                "docker run --rm --privileged -v data:/var image ls -l"
            ]
        );
    }
}
