//! [`spawn`]: starts a program on streams of the caller's choice; [`replace`]: becomes another program.
//!
//! They serve commands that run another command for a person: the program gets the person's environment and
//! process group, and the caller waits for it.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    path::Path,
    process::{Child, Stdio},
};

use super::run::SpawnError;

/// A program to start, and the open files that become its three streams.
#[derive(Debug)]
pub struct Spawn<'a> {
    /// A path, or a name that the system looks up in `PATH` of `environment`.
    pub program: &'a OsStr,
    /// Arguments, without the program's name.
    pub arguments: &'a [OsString],
    /// The folder that it starts in.
    pub folder: &'a Path,
    /// The whole environment.
    pub environment: &'a [(OsString, OsString)],
    /// Its standard input.
    pub stdin: OwnedFd,
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
}

/// Starts a program in the caller's process group and returns at once.
///
/// The three streams are closed on this side. Dropping the returned child does not end it.
#[expect(
    clippy::disallowed_methods,
    reason = "apart from `run`, this is a place that starts a program"
)]
pub fn spawn(spawn: Spawn<'_>) -> Result<Child, SpawnError> {
    let child = std::process::Command::new(spawn.program)
        .args(spawn.arguments)
        .current_dir(spawn.folder)
        .env_clear()
        .envs(spawn.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(spawn.stdin))
        .stdout(Stdio::from(spawn.stdout))
        .stderr(Stdio::from(spawn.stderr))
        .spawn();
    child.map_err(|source| explain(spawn.program, spawn.folder, source))
}

/// Replaces this process with a program, which keeps its streams, folder and environment. Returns only on failure.
#[expect(
    clippy::disallowed_methods,
    reason = "the process becomes the program; no child is left to watch"
)]
pub fn replace(program: &OsStr, arguments: impl IntoIterator<Item = OsString>) -> io::Error {
    std::process::Command::new(program).args(arguments).exec()
}

fn explain(program: &OsStr, folder: &Path, source: io::Error) -> SpawnError {
    // The system reports a missing folder as it reports a missing program.
    if source.kind() == io::ErrorKind::NotFound && !folder.is_dir() {
        return SpawnError::NoFolder {
            folder: folder.to_owned(),
        };
    }
    super::interactive::explain(Path::new(program), source)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{Read as _, Write as _, pipe},
    };

    use super::*;

    #[test]
    fn a_program_runs_on_the_given_streams_with_the_given_environment() {
        let (read_input, write_input) = pipe().unwrap();
        let (read_output, write_output) = pipe().unwrap();
        let (read_error, write_error) = pipe().unwrap();
        let mut child = spawn(Spawn {
            program: OsStr::new("sh"),
            arguments: &["-c", "read line; echo $line $WORD; pwd >&2; exit 4"].map(OsString::from),
            folder: Path::new("/"),
            environment: &[("PATH", "/usr/bin:/bin"), ("WORD", "two")]
                .map(|(name, value)| (name.into(), value.into())),
            stdin: read_input.into(),
            stdout: write_output.into(),
            stderr: write_error.into(),
        })
        .unwrap();
        let mut write_input = write_input;
        write_input.write_all(b"one\n").unwrap();
        let read_all = |end: OwnedFd| {
            let mut text = String::new();
            File::from(end).read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(read_all(read_output.into()), "one two\n");
        assert_eq!(read_all(read_error.into()), "/\n");
        assert_eq!(child.wait().unwrap().code(), Some(4));
    }

    #[test]
    fn a_program_that_cannot_be_started_says_why() {
        let start = |program: &str, folder: &str| {
            let (input, output) = pipe().unwrap();
            spawn(Spawn {
                program: OsStr::new(program),
                arguments: &[],
                folder: Path::new(folder),
                environment: &[("PATH".into(), "/usr/bin:/bin".into())],
                stdin: input.into(),
                stdout: output.try_clone().unwrap().into(),
                stderr: output.into(),
            })
        };
        assert!(matches!(
            start("no-such-program-anywhere", "/"),
            Err(SpawnError::NotFound { .. })
        ));
        assert!(matches!(
            start("/", "/"),
            Err(SpawnError::NotExecutable { .. })
        ));
        assert!(matches!(
            start("sh", "/no/such/folder"),
            Err(SpawnError::NoFolder { .. })
        ));
    }
}
