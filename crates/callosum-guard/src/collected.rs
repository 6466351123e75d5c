//! [`collected`]: the paths that a command moves or copies several things to, for the caller to look up.
//!
//! The verdict depends on whether a folder exists there. The caller answers with [`Facts::folders`].

use crate::{analyze, facts::Facts};

/// Words without which no command moves or copies several things one after the other.
const REPEAT: [&str; 7] = [
    "for ", "while ", "until ", "xargs", "-exec", "parallel", "-x ",
];

/// Returns the absolute paths that a command line moves or copies several things to, one after the other, and that it
/// does not make a folder of before. Each is listed once.
///
/// Pure. Costs as much as [`decide`](crate::decide) without its rules, and next to nothing for a command without a loop.
pub fn collected(command: &str, facts: &Facts) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    if !REPEAT.iter().any(|word| command.contains(word)) {
        return paths;
    }
    let calls = analyze::unwrap(&command.replace('\0', ""), facts).calls;
    for path in calls.into_iter().filter_map(|call| call.collects) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::collected;
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: files that are moved into a folder that exists stay several files.
    #[test]
    fn a_folder_that_exists_may_take_several_files() {
        let command = "cd data && for f in *.csv; do mv \"$f\" archive; done";
        let mut facts = Facts::of_a_project();
        let decided = |facts: &Facts| decide(command, facts, &Policy::default()).decision;
        assert_eq!(collected(command, &facts), ["/home/u/p/data/archive"]);
        assert_eq!(decided(&facts), Decision::Ask);
        facts.folders = collected(command, &facts);
        assert_eq!(decided(&facts), Decision::Allow);
        assert_eq!(collected("mv a b", &facts), [""; 0]);
    }
}
