//! From the errors of a session's files to what failed, why, and one hint to paste.

use callosum_session::evidence::{EvidenceStatus, QuoteError};
use callosum_session::{DecideError, SessionError};

use crate::{CommandError, Exit};

/// Explains why a session's files cannot be used.
pub fn explain(error: &SessionError) -> CommandError {
    match error {
        SessionError::NoBead { .. } => {
            CommandError::from_error(Exit::No, error).hint("callosum bead ready")
        }
        SessionError::Newer { .. } => CommandError::from_error(Exit::Environment, error)
            .hint("use the newer callosum to finish it"),
        SessionError::Bead { .. } => CommandError::from_error(Exit::Environment, error)
            .hint("nothing was changed; fix the file by hand"),
        SessionError::UnreadBead {
            file, is_encoded, ..
        } => {
            let error = CommandError::from_error(Exit::Environment, error);
            error.hint(if *is_encoded {
                format!("iconv -f latin1 -t utf-8 {file} -o {file}.new && mv {file}.new {file}")
            } else {
                format!(
                    "fix {file} by hand, or restore what git last committed: callosum session heal"
                )
            })
        }
        SessionError::Busy(_) => CommandError::from_error(Exit::Environment, error)
            .hint("nothing was written; run the same command again"),
        SessionError::Unwritable(_) => CommandError::from_error(Exit::Environment, error)
            .hint("reading still works: callosum session recover"),
        SessionError::NotFile { file } => CommandError::from_error(Exit::Environment, error)
            .hint(format!("mv {file} {file}.aside && callosum session heal")),
        SessionError::Foreign { file, .. } => CommandError::from_error(Exit::Environment, error)
            .hint(format!(
                "iconv -f utf-16 -t utf-8 {file} -o {file}.new && mv {file}.new {file}"
            )),
        SessionError::TooLarge { file } => CommandError::from_error(Exit::Environment, error).hint(
            format!("move the old file aside: mv {file} {file}.old && callosum session heal"),
        ),
        _ => CommandError::from_error(Exit::Environment, error),
    }
}

/// Explains why a decision was not made.
pub fn undecided(error: &DecideError) -> CommandError {
    match error {
        DecideError::Session(error) => explain(error),
        DecideError::NoDecision { .. } => CommandError::from_error(Exit::No, error)
            .hint("list decisions with their times: callosum session recover --level 2"),
        DecideError::Quote(QuoteError::NotUnique { .. }) => {
            CommandError::from_error(Exit::No, error)
                .hint("nothing was written; cite lines whose text occurs only there")
        }
        DecideError::Quote(QuoteError::Standing {
            standing: EvidenceStatus::MissingFile,
            ..
        }) => CommandError::from_error(Exit::No, error).hint(
            "nothing was written; give a path from the project's root, such as src/main.rs:12",
        ),
        DecideError::Quote(QuoteError::NoSuchLines { .. } | QuoteError::Blank { .. }) => {
            CommandError::from_error(Exit::No, error)
                .hint("nothing was written; cite lines of the file that have text")
        }
        DecideError::Quote(_) => CommandError::from_error(Exit::No, error)
            .hint("nothing was written; cite lines of a text file of this project"),
        DecideError::Empty | DecideError::LongTitle => CommandError::from_error(Exit::Usage, error),
    }
}
