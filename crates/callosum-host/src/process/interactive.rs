//! [`InteractiveChild`]: a child that is spoken to while it runs.

use std::{
    ffi::OsString,
    io,
    os::fd::OwnedFd,
    path::Path,
    process::{Child, Stdio},
};

use super::run::{Ending, SpawnError, ending_of};

/// A running child whose standard input and output are at hand, killed when dropped.
///
/// It is for a process that was itself started by [`run`](super::run()): the child is given what that
/// one has, its environment, folder, standard error and process group, and ends with the group.
#[derive(Debug)]
pub struct InteractiveChild {
    child: Child,
}

impl InteractiveChild {
    /// Starts a program, and returns the pipe to its standard input and the one from its standard
    /// output.
    #[expect(
        clippy::disallowed_methods,
        reason = "apart from `run`, this is the place that starts a program"
    )]
    pub fn start(
        program: &Path,
        arguments: &[OsString],
    ) -> Result<(Self, OwnedFd, OwnedFd), SpawnError> {
        let child = std::process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|source| explain(program, source))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let talk = Self { child };
        match pipes {
            Some((input, output)) => Ok((talk, input.into(), output.into())),
            None => Err(SpawnError::System {
                program: program.to_owned(),
                source: io::ErrorKind::BrokenPipe.into(),
            }),
        }
    }
    /// Returns its ending, if it has ended; does not wait.
    pub fn ending(&mut self) -> Option<Ending> {
        // What cannot be asked for is not known.
        let ended = self.child.try_wait().ok().flatten();
        ended.map(ending_of)
    }
}

impl Drop for InteractiveChild {
    fn drop(&mut self) {
        // Either fails only if it has ended and its status was collected.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the error of a program that the system did not start.
pub(super) fn explain(program: &Path, source: io::Error) -> SpawnError {
    let program = program.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound if program.is_absolute() && program.exists() => {
            SpawnError::NoInterpreter { program }
        }
        io::ErrorKind::NotFound => SpawnError::NotFound { program },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { program },
        io::ErrorKind::ArgumentListTooLong => SpawnError::ArgumentsTooLong { program },
        _ => SpawnError::System { program, source },
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{Read as _, Write as _},
    };

    use super::*;

    #[test]
    fn a_child_that_ended_says_how() {
        let arguments = ["-c", "read line; exit $line"].map(OsString::from);
        let (mut talk, input, output) =
            InteractiveChild::start(Path::new("sh"), &arguments).unwrap();
        assert_eq!(talk.ending(), None);
        File::from(input).write_all(b"3\n").unwrap();
        let mut rest = Vec::new();
        File::from(output).read_to_end(&mut rest).unwrap();
        // Its output ends a moment before it does.
        let ended = std::iter::repeat_with(|| talk.ending()).find_map(|ending| ending);
        assert_eq!(ended, Some(Ending::Exited(3)));
    }

    #[test]
    fn a_child_hears_and_answers_and_is_gone_when_dropped() {
        let (talk, input, output) = InteractiveChild::start(Path::new("cat"), &[]).unwrap();
        let (mut input, mut output) = (File::from(input), File::from(output));
        input.write_all(b"one\n").unwrap();
        let mut heard = [0; 4];
        output.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"one\n");
        drop(talk);
        let mut rest = Vec::new();
        output.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty());
    }

    #[test]
    fn what_cannot_be_started_says_why() {
        let missing = InteractiveChild::start(Path::new("no-such-program-anywhere"), &[]);
        assert!(matches!(missing, Err(SpawnError::NotFound { .. })));
        let folder = InteractiveChild::start(Path::new("/"), &[]);
        assert!(matches!(folder, Err(SpawnError::NotExecutable { .. })));
    }
}
