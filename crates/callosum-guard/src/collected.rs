//! [`collected`]: the paths that a command moves or copies several things to, for the caller to look up.
//!
//! The verdict depends on whether a folder exists there. The caller answers with [`Facts::folders`](crate::Facts::folders).

use crate::analyze::Analysis;

/// Returns the paths that several things are moved or copied to, each once.
pub(crate) fn collected(analysis: &Analysis) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in analysis
        .calls
        .iter()
        .filter_map(|call| call.collects.as_ref())
    {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use crate::{CommandAnalysis, Decision, Facts, Policy, decide};

    fn collected(command: &str, facts: &Facts) -> Vec<String> {
        CommandAnalysis::of(command, facts).collected()
    }

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
