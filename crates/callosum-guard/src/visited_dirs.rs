//! [`visited`]: the folders that a command goes to, for drivers that look whether they exist.
//!
//! Nothing is looked up here: a shell that cannot go to a folder stays where it is, and goes on.

use crate::analyze::Analysis;

/// Returns the folders that shells go to, each once.
pub(crate) fn visited(analysis: &Analysis) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    for folder in &analysis.entered {
        if !folders.contains(folder) {
            folders.push(folder.clone());
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use crate::{CommandAnalysis, Facts};

    fn entered(command: &str, facts: &Facts) -> Vec<String> {
        CommandAnalysis::of(command, facts).visited_dirs()
    }

    /// CAKE-SHIM-1: a shell's folders are known as far as its words are, and those that need not
    /// exist are left out.
    #[test]
    fn the_folders_that_a_shell_goes_to_are_known() {
        let mut facts = Facts::of_a_project();
        for (command, expected) in [
            ("cd a; ls", &["/home/u/p/a"][..]),
            ("pushd 'a b' && cd c", &["/home/u/p/a b", "/home/u/p/a b/c"]),
            (
                "cd \"$PWD/a\"; cd ~/b; cd -- /c",
                &["/home/u/p/a", "/home/u/b", "/c"],
            ),
            (
                "bash -c 'cd a; ls'; (cd b)",
                &["/home/u/p/a", "/home/u/p/b"],
            ),
            ("cd a || { echo no; }; ls", &["/home/u/p/a"]),
            ("cd a || (exit 1); ls", &["/home/u/p/a"]),
            (
                "echo set -e; cd a; echo b; cd b",
                &["/home/u/p/a", "/home/u/p/a/b"],
            ),
            ("set +o errexit; cd a; ls", &["/home/u/p/a"]),
            ("set else; cd a; ls", &["/home/u/p/a"]),
            ("fish -c 'cd a; ls'", &["/home/u/p/a"]),
            ("pwsh -c 'Set-Location a; ls'", &["/home/u/p/a"]),
            ("cd \"$X\"; ls", &[]),
            ("cd a || exit 1; ls", &[]),
            ("cd a && ls || { echo no; exit 1; }; ls", &[]),
            ("set -euo pipefail; cd a; ls", &[]),
            ("set -o errexit; cd a", &[]),
            ("set -u -eo pipefail; cd a", &[]),
            ("bash -eu -c 'cd a; ls'", &[]),
            ("mkdir -p made/x; cd made/x", &[]),
            ("git clone https://example.org/a/made && cd made/src", &[]),
            ("ssh host 'cd a; ls'", &[]),
        ] {
            assert_eq!(entered(command, &facts), expected, "{command}");
        }
        facts.missing = vec!["/home/u/p/a".to_owned()];
        assert_eq!(entered("cd a; cd b", &facts), ["/home/u/p/b"]);
        assert_eq!(
            entered("cd a || mkdir a && cd a; cd b", &facts),
            ["/home/u/p/a/b"]
        );
    }
}
