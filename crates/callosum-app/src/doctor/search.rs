//! Other search back ends of `find`, in addition to its own index.

use callosum_redact::terminal_escape::on_one_line;
use callosum_search::Model;

use crate::ck::Ck;
use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::{CommandError, Exit, find, shell_word};

/// Says what is asked. Without any of it things are found all the same.
pub fn check(context: &Context, checks: &mut Checks) {
    const NAME: &str = "search";
    let homes = &context.project.homes;
    let model = Model::open(&context.disk, &homes.model());
    let model = match &model {
        Ok(Some(_)) => "word model",
        Ok(None) => "no word model",
        Err(error) => {
            let found = CommandError::from_error(Exit::No, error).one_line();
            let model = shell_word(&homes.model().display().to_string());
            let hint = format!("mv {model} {model}.other");
            checks.add(NAME, Outcome::Warning, found, Some(&hint));
            "unusable word model"
        }
    };
    let ck = find::configured_ck(context);
    let version = ck.and_then(|ck| ck.as_ref().map(Ck::version).transpose());
    match version {
        Ok(None) => checks.add(NAME, Outcome::Ok, format!("{model}, no ck"), None),
        Ok(Some(version)) => {
            let found = format!("{model}, {}", on_one_line(&version));
            checks.add(NAME, Outcome::Ok, found, None);
        }
        Err(error) => {
            let reason = CommandError::from_error(Exit::No, &error).one_line();
            let found = format!("{model}, ck does not work: {reason}");
            let ck = shell_word(&homes.ck().display().to_string());
            let hint = format!("mv {ck} {ck}.other");
            checks.add(NAME, Outcome::Warning, found, Some(&hint));
        }
    }
}
