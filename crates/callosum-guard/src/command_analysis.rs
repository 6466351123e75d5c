//! [`CommandAnalysis`]: a command line, interpreted once, and each question that drivers ask about it.
//!
//! Start with [`CommandAnalysis::of`]. Reading a line as its shell would is most of the cost of a decision, so a hook makes
//! one analysis and asks it for the verdict (in `decide`), the files that change and the folders that it visits.

use std::sync::Arc;

use crate::{
    analyze::{self, Analysis},
    changed_files::{self, Touched},
    collected,
    facts::Facts,
    git_questions::{self, Questions},
    git_writes::{self, GitWrite},
    rule::KNOWN_PROGRAMS,
    visited_dirs,
};

/// A command line as a shell would run it where these facts hold.
#[derive(Clone, Debug)]
pub struct CommandAnalysis {
    /// The line without NUL characters, which a shell leaves out.
    text: String,
    facts: Facts,
    analysis: Arc<Analysis>,
}

impl CommandAnalysis {
    /// Interprets a command line.
    ///
    /// Pure. Takes some microseconds for a usual command; work is bounded for any text.
    pub fn of(command: &str, facts: &Facts) -> Self {
        let text = command.replace('\0', "");
        let analysis = Arc::new(analyze::unwrap(&text, facts, KNOWN_PROGRAMS));
        Self {
            text,
            facts: facts.clone(),
            analysis,
        }
    }

    /// Returns the same line where other facts hold. Interprets it again only if they change what the line runs.
    #[must_use]
    pub fn over(mut self, facts: Facts) -> Self {
        // These two are about files that the commands find, and have no part in which commands run.
        let known = Facts {
            git: facts.git.clone(),
            absent: facts.absent.clone(),
            ..self.facts
        };
        if known != facts {
            self.analysis = Arc::new(analyze::unwrap(&self.text, &facts, KNOWN_PROGRAMS));
        }
        Self { facts, ..self }
    }

    /// Returns the facts that hold.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether this is the analysis of this line.
    pub fn is_of(&self, command: &str) -> bool {
        self.text == command
    }

    /// Returns what a driver should find out before the guard stops this line.
    pub fn questions(&self) -> Questions {
        git_questions::questions(&self.analysis, &self.facts)
    }

    /// Returns the folders that the line's shells go to by `cd` and its like, each once: absolute paths, as far as they
    /// are known.
    ///
    /// Left out are those that something before may have made, and those behind which nothing runs if they are not
    /// there (`cd x || exit`, `set -e`). A folder that the facts list as missing is not entered, so that what follows is
    /// seen from elsewhere.
    pub fn visited_dirs(&self) -> Vec<String> {
        visited_dirs::visited(&self.analysis)
    }

    /// Returns the absolute paths that the line moves or copies several things to, one after the other, and that it does
    /// not make a folder of before. Each is listed once.
    pub fn collected(&self) -> Vec<String> {
        collected::collected(&self.analysis)
    }

    /// Returns the paths that the commands of the line would change, as far as they are known: at most 256.
    ///
    /// `text_of` returns the text of a file that one of them takes for a patch, by its absolute path.
    pub fn changed_files(&self, text_of: &dyn Fn(&str) -> Option<String>) -> Vec<Touched> {
        changed_files::changed(&self.analysis, &self.facts, text_of)
    }

    /// Returns where the commands of the line would have git write files of a tree.
    pub fn git_writes(&self) -> Vec<GitWrite> {
        git_writes::written(&self.analysis, &self.facts)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn analysis(&self) -> &Analysis {
        &self.analysis
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::CommandAnalysis;
    use crate::{Facts, git_state::GitState};

    /// CAKE-SHIM-1: a look at repositories does not cost another interpretation, and a folder that is missing does.
    #[test]
    fn facts_that_change_no_command_keep_the_interpretation() {
        let facts = Facts::of_a_project();
        let first = CommandAnalysis::of("cd sub; git reset --hard", &facts);
        let mut looked = facts.clone();
        looked
            .git
            .insert("/home/u/p".to_owned(), GitState::default());
        looked.absent.push("/home/u/p/x".to_owned());
        let second = first.clone().over(looked.clone());
        assert!(Arc::ptr_eq(&first.analysis, &second.analysis));
        assert_eq!(second.facts(), &looked);

        let missing = Facts {
            missing: vec!["/home/u/p/sub".to_owned()],
            ..looked
        };
        let third = second.over(missing);
        assert!(!Arc::ptr_eq(&first.analysis, &third.analysis));
        assert_eq!(third.visited_dirs(), [""; 0]);
    }
}
