//! [`TestEnv`]: a home, a project and an environment that no other test and no person shares.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{
    Disk,
    process::{self, Cancel, Ending, Heartbeat, Launch, Limits},
};
use callosum_sandbox::{ForkServer, Layers, SandboxSpec};
use serde_json::Value;

use crate::fakes;

/// Timeout after which a test gives up on the program.
const PATIENCE: Duration = Duration::from_mins(2);

/// A machine on which nothing was ever configured.
#[derive(Debug)]
pub struct TestEnv {
    folder: tempfile::TempDir,
}

impl TestEnv {
    /// Makes a home, an empty project, and an empty folder for programs.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("callosum-test-")
            .tempdir()
            .expect("a temporary folder can be made");
        let env = Self { folder };
        for folder in [env.home(), env.project(), env.programs()] {
            Disk::real()
                .create_dir_all(&folder)
                .expect("a folder can be made");
        }
        env
    }

    /// The folder in which all the others are.
    pub fn folder(&self) -> PathBuf {
        // What the program prints has its links resolved, as on a machine where /tmp is one.
        Disk::real()
            .canonicalize(self.folder.path())
            .expect("the folder is there")
    }

    /// `HOME`.
    pub fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    /// The folder that the program starts in.
    pub fn project(&self) -> PathBuf {
        self.folder().join("project")
    }

    /// The first folder of `PATH`, for programs that a test wants to be found.
    pub fn programs(&self) -> PathBuf {
        self.folder().join("bin")
    }

    /// `CALLOSUM_HOME`.
    pub fn machine_home(&self) -> PathBuf {
        self.home().join("state")
    }

    /// `CALLOSUM_CONFIG`.
    pub fn configuration(&self) -> PathBuf {
        self.home().join("config")
    }

    /// Writes a file of the project, with the folders on the way to it.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        let disk = Disk::real();
        let folder = path.parent().expect("a file is in a folder");
        disk.create_dir_all(folder).expect("a folder can be made");
        disk.replace(&path, content.as_ref(), 0o644)
            .expect("a file can be written");
    }

    /// Reads a file of the project as text.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.project().join(path);
        let bytes = Disk::real().read(&path).expect("the file can be read");
        String::from_utf8(bytes).expect("the file is text")
    }

    /// Makes the project a git repository with one commit of its contents.
    pub fn git_init(&self) {
        for arguments in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--allow-empty", "--message=begin"],
        ] {
            self.git(arguments);
        }
    }

    /// Makes the project a git repository in which `git reset --hard`, `git stash drop` and `git branch -D old` lose work:
    /// with a changed file, a stash, and branches `old` and `other` with a commit of their own.
    pub fn git_init_with_work(&self) {
        self.write("work.txt", "committed\n");
        self.git_init();
        for branch in ["old", "other"] {
            self.git(&["checkout", "--quiet", "-b", branch]);
            let message = format!("--message={branch}");
            self.git(&["commit", "--quiet", "--allow-empty", &message]);
            self.git(&["checkout", "--quiet", "main"]);
        }
        self.write("work.txt", "stashed\n");
        self.git(&["stash", "push", "--quiet"]);
        self.write("work.txt", "changed\n");
    }

    /// Runs git in the project, without any user's configuration. Returns its output.
    pub fn git(&self, arguments: &[&str]) -> String {
        let mut git = self.program(PathBuf::from("git"));
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Test"),
            ("GIT_AUTHOR_EMAIL", "test@example.org"),
            ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_COMMITTER_NAME", "Test"),
            ("GIT_COMMITTER_EMAIL", "test@example.org"),
            ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
        ] {
            git = git.env(name, value);
        }
        git.arguments(arguments).run().success().stdout
    }

    /// Runs `callosum` in the project.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        self.callosum().arguments(arguments).run()
    }

    /// `callosum`, to be given arguments, input or more of an environment, and then run.
    pub fn callosum(&self) -> Run {
        self.program(fakes::program("callosum"))
    }

    /// Any program, to be run likewise.
    pub fn program(&self, program: PathBuf) -> Run {
        Run::new(self, program)
    }
}

impl Default for TestEnv {
    fn default() -> Self {
        Self::new()
    }
}

/// A program about to be run.
#[derive(Clone, Debug)]
pub struct Run(Launch);

impl Run {
    fn new(env: &TestEnv, program: PathBuf) -> Self {
        let mut path = env.programs().into_os_string();
        path.push(":/usr/bin:/bin");
        let environment: [(&str, OsString); 14] = [
            ("PATH", path),
            ("HOME", env.home().into()),
            ("CALLOSUM_HOME", env.machine_home().into()),
            ("CALLOSUM_CONFIG", env.configuration().into()),
            // Most tests look at state in the project; `uninitialized` has those of the default.
            ("CALLOSUM_STATE", "project".into()),
            ("CALLOSUM_ASSUME_YES", "1".into()),
            // The tmux servers of this machine are no test's.
            ("TMUX_TMPDIR", env.folder().into()),
            // What listens on this machine is no test's.
            ("CALLOSUM_MODEL_SERVERS", "off".into()),
            // Tests run in parallel, and the page has one default port.
            ("CALLOSUM_PAGE", "off".into()),
            ("CALLOSUM_TEST_CLOCK", "2026-01-02T03:04:05Z".into()),
            ("CALLOSUM_TEST_IDS", "sequence".into()),
            // How busy the machine is decides nothing.
            ("CALLOSUM_TEST_PATIENCE", "60".into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
        ];
        Self(Launch {
            program,
            arguments: Vec::new(),
            folder: env.project(),
            environment: environment
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(PATIENCE),
                output_bytes: 256 << 20,
                error_bytes: 1 << 20,
            },
        })
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        let arguments = arguments.into_iter();
        self.0
            .arguments
            .extend(arguments.map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.0.environment.retain(|(known, _)| known != name);
        self.0.environment.push((name.into(), value.into()));
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.environment.retain(|(known, _)| known != name);
        self
    }

    /// Starts it in another folder.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.0.folder = folder.into();
        self
    }

    /// Gives it something to read.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.input = bytes.into();
        self
    }

    /// Runs it to its end. Panics if it cannot be started or takes minutes.
    pub fn run(&self) -> Output {
        let cancel = Cancel::new().expect("a pipe can be made");
        let run = process::run(&self.0, &cancel, &mut |_, _| {}).expect("the program starts");
        self.output(run)
    }

    /// Returns the same command in the standard library's form, for a test that speaks to the
    /// program while it runs.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test holds the pipes of what it speaks to itself"
    )]
    pub fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.0.program);
        command
            .args(&self.0.arguments)
            .env_clear()
            .envs(self.0.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.0.folder);
        command
    }

    /// Runs it with new namespaces refused, as in many containers.
    pub fn run_in_container(&self) -> Output {
        let launch = self.0.clone();
        let order = SandboxSpec {
            layers: Layers {
                system_calls: true,
                ..Layers::default()
            },
            room: PathBuf::new(),
            places: Vec::new(),
            links: Vec::new(),
            listen: Vec::new(),
            gate: None,
            folder: launch.folder,
            program: launch.program,
            arguments: launch.arguments,
            environment: launch.environment,
        };
        let cancel = Cancel::new().expect("a pipe can be made");
        let server = ForkServer::new(fakes::program("callosum"));
        let (run, _) = server
            .run(
                &order,
                &launch.input,
                launch.limits,
                &cancel,
                &Heartbeat::default(),
                &mut |_, _| {},
            )
            .expect("the program starts");
        self.output(run)
    }

    fn output(&self, run: process::Run) -> Output {
        let code = match run.ending {
            Ending::Exited(code) => code,
            Ending::Signalled(signal) => 128 + signal,
            other => panic!("`{}`: {other:?}", self.0.program.display()),
        };
        Output {
            stdout: String::from_utf8_lossy(&run.output).into_owned(),
            stderr: String::from_utf8_lossy(&run.error).into_owned(),
            code,
        }
    }
}

/// Output and exit code of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its exit code; 128 and the signal's number if one ended it, as in a shell.
    pub code: i32,
}

impl Output {
    /// The same, if it ended with exit code 0.
    #[expect(
        clippy::return_self_not_must_use,
        reason = "the assertion is what it is called for"
    )]
    pub fn success(self) -> Self {
        self.ended_with(0)
    }

    /// The same, if it ended with this exit code.
    #[expect(
        clippy::return_self_not_must_use,
        reason = "the assertion is what it is called for"
    )]
    pub fn ended_with(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "exit code\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// Its standard output, read as one JSON value.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in:\n{}\n{}", self.stdout, self.stderr))
    }
}
