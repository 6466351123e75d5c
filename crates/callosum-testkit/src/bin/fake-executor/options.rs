//! The options, read from the command line.

use std::path::PathBuf;

use callosum_host::Disk;

use crate::behaviour::Behaviour;

/// Options of the command line.
pub(crate) struct Options {
    pub(crate) behaviour: Behaviour,
    pub(crate) prompt: Option<String>,
    pub(crate) always: bool,
    pub(crate) leak: Option<String>,
    fail_times: Option<(u64, PathBuf)>,
}

impl Options {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            behaviour: Behaviour::Echo,
            prompt: None,
            always: false,
            leak: None,
            fail_times: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
            let behaviour = match word.as_str() {
                "-p" => {
                    options.prompt = Some(value()?);
                    continue;
                }
                "--always" => {
                    options.always = true;
                    continue;
                }
                "--leak" => {
                    options.leak = Some(value()?);
                    continue;
                }
                "--fail-times" => {
                    options.fail_times = Some((number(&value()?)?, value()?.into()));
                    continue;
                }
                "--crash" => Behaviour::Crash(u8::try_from(number(&value()?)?).unwrap_or(u8::MAX)),
                "--abort" => Behaviour::Abort,
                "--silent" => Behaviour::Silent,
                "--slow" => Behaviour::Slow(number(&value()?)?),
                "--chatty" => Behaviour::Chatty(number(&value()?)?),
                "--empty" => Behaviour::Empty,
                "--garbage" => Behaviour::Garbage,
                "--invalid-utf8" => Behaviour::InvalidUtf8,
                "--huge" => Behaviour::Huge(number(&value()?)?),
                "--error-status" => Behaviour::ErrorStatus,
                "--wrong-checksum" => Behaviour::WrongChecksum,
                "--malformed-checksum" => Behaviour::MalformedChecksum,
                "--no-checksum" => Behaviour::NoChecksum,
                "--long" => Behaviour::Long,
                "--always-long" => Behaviour::AlwaysLong,
                "--env" => Behaviour::Env,
                "--context" => Behaviour::Context,
                "--litter" => Behaviour::Litter,
                "--grandchild" => Behaviour::Grandchild,
                "--hold" => Behaviour::Hold,
                other => return Err(format!("unknown option `{other}`")),
            };
            options.behaviour = behaviour;
        }
        if options.fail_times.is_some() && options.behaviour == Behaviour::Echo {
            options.behaviour = Behaviour::Crash(1);
        }
        Ok(options)
    }

    /// Whether to misbehave this time; counts, if the number of failures is limited.
    pub(crate) fn count_failure(&self) -> Result<bool, String> {
        let Some((times, file)) = &self.fail_times else {
            return Ok(true);
        };
        let disk = Disk::real();
        let before = disk
            .read_if_there(file)
            .map_err(|error| error.to_string())?;
        let count = before.map_or(0, |bytes| bytes.len() as u64);
        if count >= *times {
            return Ok(false);
        }
        // One byte a failure, so that a person can read the count off the file's size.
        disk.replace(file, &vec![b'x'; count as usize + 1], 0o644)
            .map_err(|error| error.to_string())?;
        Ok(true)
    }
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("`{word}` is no number"))
}
