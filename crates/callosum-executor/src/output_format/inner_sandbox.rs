//! A client's own sandbox within ours, where it cannot start.
//!
//! Each command of its model would fail there by itself, and its output would not mention that: it
//! would answer blindly. So if we confine the files, the client's own sandbox is switched off.
//! Deliberately not here: which client has one, which is [`Client`]'s data.

use std::ffi::OsString;

use crate::client::Client;
use callosum_sandbox::Reached;

/// Replaces the sandbox option in its command by the one that switches it off.
///
/// A command without that option stays as it is, and so does one whose files are not confined.
pub(super) fn leave_to_us(client: &Client, reached: Option<&Reached>, arguments: &mut [OsString]) {
    let Some(sandbox) = client.inner_sandbox else {
        return;
    };
    let are_held = |reached: &Reached| reached.layers.namespaces || reached.layers.landlock;
    if !reached.is_some_and(are_held) {
        return;
    }
    let mut is_value = false;
    for argument in arguments {
        if is_value {
            *argument = sandbox.off.into();
        }
        is_value = sandbox.options.iter().any(|option| argument == option);
        let mut options = sandbox.options.iter();
        let joined = options.find(|option| begins_with(argument, &format!("{option}=")));
        if let Some(option) = joined {
            *argument = format!("{option}={}", sandbox.off).into();
        }
    }
}

fn begins_with(argument: &OsString, beginning: &str) -> bool {
    argument
        .as_encoded_bytes()
        .starts_with(beginning.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_format::Dialect;
    use callosum_sandbox::{Policy, System, decide};

    fn left(dialect: Dialect, command: &str, reached: Option<&Reached>) -> String {
        let mut arguments: Vec<OsString> = command.split(' ').map(Into::into).collect();
        leave_to_us(Client::of(dialect).unwrap(), reached, &mut arguments);
        let words: Vec<_> = arguments
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }

    /// CAL-SEC-1, CAL-EXE-2: a sandbox within ours is switched off, and one without ours is not.
    #[test]
    fn a_sandbox_is_left_to_us_where_files_are_held() {
        let system = System {
            namespaces: Ok(()),
            landlock: Ok(7),
            system_calls: Ok(()),
        };
        let held = decide(Policy::BestEffort, &[], &system).unwrap();
        let off = decide(Policy::Off, &[], &system).unwrap();
        let written = "exec --json --sandbox read-only -";
        let result = |reached| left(Dialect::Codex, written, reached);
        assert_eq!(
            result(Some(&held)),
            "exec --json --sandbox danger-full-access -"
        );
        assert_eq!(result(Some(&off)), written);
        assert_eq!(result(None), written);
        let short = left(Dialect::Codex, "exec -s workspace-write", Some(&held));
        assert_eq!(short, "exec -s danger-full-access");
        let joined = left(Dialect::Codex, "exec --sandbox=read-only", Some(&held));
        assert_eq!(joined, "exec --sandbox=danger-full-access");
        let other = left(Dialect::Gemini, "--sandbox read-only", Some(&held));
        assert_eq!(other, "--sandbox read-only");
    }
}
