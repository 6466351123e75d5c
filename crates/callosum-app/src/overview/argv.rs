//! The commands that act on an item of an overview, as arguments for `callosum`.

use callosum_guard::Permission;

use super::OverviewCommandOutput;

/// Returns a command with its effect in a word.
pub(super) fn command(name: &str, argv: &[&str]) -> OverviewCommandOutput {
    OverviewCommandOutput {
        name: name.to_owned(),
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
    }
}

/// Returns the command that permits a command line once; `None` if no permission means exactly that line.
///
/// A permission is one plain command, in which `*` means any text: of a line with a pipe, an expansion or a `*`, a permission
/// would not apply or would permit more than the person saw.
pub(super) fn allow_once(line: &str) -> Option<OverviewCommandOutput> {
    let is_exact = !line.contains('*') && Permission::parse(line).is_ok();
    is_exact.then(|| command("allow-once", &["guard", "allow", "--once", "--", line]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-MET-1: a person is offered a permission for exactly the command that they see, or none.
    #[test]
    fn a_permission_is_offered_for_one_plain_command() {
        let offered = allow_once("git push --force origin main").unwrap();
        assert_eq!(
            offered.argv,
            [
                "guard",
                "allow",
                "--once",
                "--",
                "git push --force origin main"
            ]
        );
        for line in ["rm -rf *", "a && b", "a | b", "echo $X", "a > b", "", "'"] {
            assert_eq!(allow_once(line), None, "{line}");
        }
    }
}
