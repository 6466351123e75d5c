//! [`FakeClient`]: a coding agent that answers as a recorded one did.
//!
//! A script in the folder of programs that a test wants to be found. It prints its version and its
//! options when asked, wants a prompt, and writes the output that the test gave it.

use std::path::Path;

use callosum_host::Disk;

use crate::TestEnv;

/// A coding agent on order.
#[derive(Clone, Debug)]
pub struct FakeClient {
    /// Its name in `PATH`.
    pub program: &'static str,
    /// Its answer to `--version`.
    pub version: &'static str,
    /// Its answer to `--help`.
    pub help: &'static str,
    /// Its standard output, once it has read its prompt.
    pub output: Vec<u8>,
    /// Its standard error.
    pub error: &'static str,
    /// Its exit code.
    pub code: i32,
}

impl FakeClient {
    /// Installs it where `callosum` finds it, over an earlier one of its name.
    ///
    /// It does not speak the Agent Client Protocol. It exits with 90 if it gets no prompt on
    /// standard input, and with 91 if an argument names a JSON file that does not exist.
    pub fn install(&self, env: &TestEnv) {
        let folder = env.programs();
        let write = |name: &Path, content: &[u8], mode: u32| {
            Disk::real()
                .replace(&folder.join(name), content, mode)
                .expect("a program can be written");
        };
        let kept = |what: &str| folder.join(format!("{}.{what}", self.program));
        write(&kept("version"), self.version.as_bytes(), 0o644);
        write(&kept("help"), self.help.as_bytes(), 0o644);
        write(&kept("output"), &self.output, 0o644);
        write(&kept("error"), self.error.as_bytes(), 0o644);
        let script = format!(
            "#!/bin/sh\n\
             case \"$*\" in\n\
             *--version*) exec cat '{version}';;\n\
             *--help*) exec cat '{help}';;\n\
             *--acp*|acp*) echo 'unknown argument: acp' >&2; exit 64;;\n\
             esac\n\
             for argument; do\n\
             case \"$argument\" in *.json) [ -s \"$argument\" ] || exit 91;; esac\n\
             done\n\
             [ \"$(wc -c)\" -gt 0 ] || exit 90\n\
             cat '{output}'\n\
             cat '{error}' >&2\n\
             exit {code}\n",
            version = kept("version").display(),
            help = kept("help").display(),
            output = kept("output").display(),
            error = kept("error").display(),
            code = self.code,
        );
        write(Path::new(self.program), script.as_bytes(), 0o755);
    }
}
