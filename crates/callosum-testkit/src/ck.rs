//! [`FakeCk`]: `ck`, as a script that answers as the real one was seen to.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use crate::env::TestEnv;

/// Replaces `ck` at the path at which the program looks for it.
///
/// It answers `--version` in every form, and writes down each other call: a line for each argument,
/// then one for each variable of its environment.
#[derive(Debug)]
pub struct FakeCk;

impl FakeCk {
    /// It never answers.
    pub const HANGS: &str = "exec sleep 1000";

    /// Finds nothing, with the output of version 0.8.1.
    pub const FINDS_NOTHING: &str = "echo 'No matches found' >&2; exit 1";

    /// Installs it; `does` is its action when it is called, as a shell script.
    ///
    /// Panics if it cannot be written.
    pub fn lay(env: &TestEnv, does: &str) {
        let place = Self::place(env);
        let heard = Self::heard_file(env);
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'ck 0.8.1'; exit 0; fi\n\
             {{ for word in \"$@\"; do printf '%s\\n' \"$word\"; done; env; }} >> '{}'\n{does}\n",
            heard.display()
        );
        env.write(&place, script);
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755))
            .expect("a file that was just written has permissions");
    }

    /// Returns a script that prints these hits, each a path with its first and last line, best
    /// first, in the form that version 0.8.1 prints with `--hybrid --jsonl --no-snippet`.
    pub fn finds(hits: &[(&str, u32, u32)]) -> String {
        let lines = hits.iter().zip(1_u32..).map(|((path, first, last), rank)| {
            let score = 1.0 / f64::from(60 + rank);
            format!(
                "{{\"path\":\"{path}\",\"span\":{{\"byte_start\":0,\"byte_end\":1,\"line_start\":{first},\
                 \"line_end\":{last}}},\"language\":null,\"score\":{score}}}\n"
            )
        });
        let lines: String = lines.collect();
        format!("cat <<'END'\n{lines}END")
    }

    /// Returns its path: next to the user's configuration.
    pub fn place(env: &TestEnv) -> PathBuf {
        env.configuration().with_file_name("ck")
    }

    /// Returns the calls since it was first installed; empty if there was none.
    pub fn heard(env: &TestEnv) -> String {
        let file = Self::heard_file(env);
        if file.exists() {
            env.read(file)
        } else {
            String::new()
        }
    }

    fn heard_file(env: &TestEnv) -> PathBuf {
        env.folder().join("ck-heard")
    }
}
