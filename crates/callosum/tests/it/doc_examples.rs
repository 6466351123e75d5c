//! The examples of README and `docs/` run, and print what the pages show.
//!
//! A page's `console` blocks run in order, in one project folder of a new machine. `$ ` begins a
//! command, `> ` continues it, and the other lines are what it prints, in order; lines may be left
//! out, and `…` stands for any text. Two comments, which readers do not see, prepare a page:
//! `<!-- setup`, then lines for bash, and `<!-- let NAME = COMMAND -->`, after which NAME stands
//! for what COMMAND printed (an id that the program chose).

use std::path::{Path, PathBuf};

use callosum_testkit::{Output, TestEnv, fakes};

/// One part of a page that runs.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Setup(String),
    Let { name: String, command: String },
    Examples(Vec<Example>),
}

/// A command, and the lines that the page shows of its output.
#[derive(Debug, Default, PartialEq, Eq)]
struct Example {
    command: String,
    shown: Vec<String>,
}

/// Returns the parts of a page that run, in order.
fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = page;
    loop {
        let starts = ["<!-- setup\n", "<!-- let ", "```console\n"];
        let next = starts
            .iter()
            .filter_map(|start| Some((rest.find(start)?, *start)))
            .min();
        let Some((at, start)) = next else {
            return parts;
        };
        rest = &rest[at + start.len()..];
        let end = if start.starts_with('`') {
            "\n```"
        } else {
            "-->"
        };
        let (text, after) = rest.split_once(end).expect("the part has an end");
        rest = after;
        parts.push(match start {
            "<!-- setup\n" => Part::Setup(text.to_owned()),
            "<!-- let " => {
                let (name, command) = text.split_once(" = ").expect("`let NAME = COMMAND`");
                Part::Let {
                    name: name.to_owned(),
                    command: command.trim().to_owned(),
                }
            }
            _ => Part::Examples(examples(text)),
        });
    }
}

fn examples(block: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example {
                command: command.to_owned(),
                shown: Vec::new(),
            });
            continue;
        }
        let last = examples.last_mut().expect("a block begins with a command");
        match line.strip_prefix("> ") {
            Some(more) if last.shown.is_empty() => {
                last.command.push('\n');
                last.command.push_str(more);
            }
            _ if line.trim().is_empty() || line.trim() == "…" => {}
            _ => last.shown.push(line.to_owned()),
        }
    }
    examples
}

/// Whether a line is what the page shows, in which `…` stands for any text.
fn is_shown(line: &str, shown: &str) -> bool {
    let mut parts = shown.trim().split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.trim().strip_prefix(first) else {
        return false;
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || shown.trim_end().ends_with('…')
}

/// A machine on which the commands of one page run.
struct Reader {
    env: TestEnv,
    folder: PathBuf,
    /// What the page writes for an id, and the id.
    names: Vec<(String, String)>,
}

impl Reader {
    fn new() -> Self {
        let env = TestEnv::new();
        let folder = env.project();
        Self {
            env,
            folder,
            names: Vec::new(),
        }
    }

    fn with_names(&self, text: &str) -> String {
        let names = self.names.iter();
        names.fold(text.to_owned(), |text, (name, value)| {
            text.replace(name, value)
        })
    }

    /// Runs lines in bash, and goes to the folder that they end in.
    fn bash(&mut self, lines: &str) -> Output {
        let program = fakes::program("callosum");
        let programs = program.parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", programs.display());
        let ended_in = self.env.folder().join("ended-in");
        let script = format!(
            "{lines}\nstatus=$?; printf %s \"$PWD\" > '{}'; exit $status",
            ended_in.display()
        );
        let bash = self.env.program("bash".into());
        let run = bash
            .arguments(["-c", &script])
            .env("PATH", &path)
            .in_folder(&self.folder);
        let output = run.run();
        if let Ok(folder) = std::fs::read_to_string(&ended_in) {
            self.folder = folder.into();
        }
        output
    }

    /// Runs one part, and returns what is not as the page shows it.
    fn run(&mut self, part: Part) -> Vec<String> {
        match part {
            Part::Setup(lines) => {
                let output = self.bash(&format!("exec 2>&1\nset -e\n{lines}"));
                if output.code == 0 {
                    return Vec::new();
                }
                vec![format!("the setup fails:\n{}", output.stdout)]
            }
            Part::Let { name, command } => {
                let output = self.bash(&self.with_names(&command));
                let value = output.stdout.trim().to_owned();
                if output.code != 0 || value.is_empty() {
                    let Output { stdout, stderr, .. } = output;
                    return vec![format!("no {name}: {command}\n{stdout}{stderr}")];
                }
                self.names.push((name, value));
                Vec::new()
            }
            Part::Examples(examples) => examples
                .iter()
                .filter_map(|example| self.example(example))
                .collect(),
        }
    }

    fn example(&mut self, example: &Example) -> Option<String> {
        // Both streams in the order in which they are written, as a terminal shows them.
        let command = self.with_names(&example.command);
        let printed_by = self.bash(&format!("exec 2>&1\n{command}"));
        let printed = &printed_by.stdout;
        if printed_by.code != 0 && example.shown.is_empty() {
            return Some(format!("`{}` fails:\n{printed}", example.command));
        }
        let mut lines = printed.lines();
        let missing = example.shown.iter().find(|shown| {
            let shown = self.with_names(shown);
            !lines.any(|line| is_shown(line, &shown))
        })?;
        Some(format!(
            "`{}` does not print `{missing}`:\n{printed}",
            example.command
        ))
    }
}

/// Returns every page of the documentation: README, and all below `docs`.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn every_console_example_of_the_documentation_works_as_it_is_written() {
    let pages: Vec<_> = pages()
        .into_iter()
        .map(|page| (std::fs::read_to_string(&page).unwrap(), page))
        .filter(|(text, _)| text.contains("```console\n"))
        .collect();
    assert!(
        pages.len() >= 2,
        "the tutorial and one other page have examples"
    );
    let findings: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = pages
            .iter()
            .map(|(text, page)| {
                scope.spawn(move || {
                    let mut reader = Reader::new();
                    let findings = parts(text).into_iter().flat_map(|part| reader.run(part));
                    findings
                        .map(|finding| format!("{}: {finding}", page.display()))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(findings.is_empty(), "{}", findings.join("\n\n"));
}

#[test]
fn an_ellipsis_stands_for_any_text() {
    assert!(is_shown("a 1 b", "a … b"));
    assert!(is_shown("  a b c", "a …"));
    assert!(!is_shown("a 1 c", "a … b"));
    assert!(!is_shown("a b c", "a b"));
}

#[test]
fn the_parts_of_a_page_are_read_in_order() {
    let page = "<!-- setup\ntouch a\n-->\ntext\n<!-- let b7 = ls -->\n```console\n$ cat <<E\n> E\n$ ls b7\nb7\n…\n```\n```\n$ not run\n```\n";
    let example = |command: &str, shown: &[&str]| Example {
        command: command.to_owned(),
        shown: shown.iter().map(|&line| line.to_owned()).collect(),
    };
    assert_eq!(
        parts(page),
        [
            Part::Setup("touch a\n".to_owned()),
            Part::Let {
                name: "b7".to_owned(),
                command: "ls".to_owned()
            },
            Part::Examples(vec![example("cat <<E\nE", &[]), example("ls b7", &["b7"])]),
        ]
    );
}
