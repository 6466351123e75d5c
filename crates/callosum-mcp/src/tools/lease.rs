//! `lease`: leases of agents on files.

use std::path::Path;

use callosum_mesh::board::Command;
use callosum_redact::quote::{self, NOTICE};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, needed, read, schema};
use crate::output_budget;
use callosum_app::context::Context;
use callosum_app::mesh::lease::{LeaseOutput, absolute, listed};
use callosum_app::mesh::{asking, open};
use callosum_app::{CommandError, Exit};

pub(super) const TOOL: Tool = Tool {
    name: "lease",
    about: "Advisory locks on files: list, take or release.",
    effect: Effect::Adds,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    r#do: Deed,
    path: Option<String>,
    why: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Deed {
    List,
    Take,
    Release,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let Arguments {
        r#do: deed,
        path,
        why,
    } = read(arguments)?;
    let file = || {
        let path = needed(path.clone(), "path", "the file")?;
        absolute(context, Path::new(&path))
    };
    match deed {
        Deed::List => {
            let leases = listed(context, |_| true)?;
            if leases.is_empty() {
                return Ok("no leases\n".to_owned());
            }
            let leases: Vec<String> = leases.iter().map(text_of).collect();
            let text = output_budget::fitted(&leases, output_budget::USUAL, "leases");
            Ok(format!("{NOTICE}{text}"))
        }
        Deed::Take => {
            let path = file()?;
            let order = Command::Lease {
                path: path.clone(),
                why,
                anyway: false,
            };
            open::given(context, order, &asking(context))?;
            let taken = listed(context, |lease| lease.path == path)?;
            let taken: String = taken.iter().map(text_of).collect();
            Ok(format!("{NOTICE}{taken}"))
        }
        Deed::Release => {
            let path = file()?;
            let order = Command::Unlease {
                path: path.clone(),
                anyway: false,
                token: None,
            };
            if open::given(context, order, &asking(context))?.is_empty() {
                let what = format!("no one has a lease on {}", quote::inline(&path));
                return Err(CommandError::new(Exit::No, what));
            }
            Ok(format!("{} is free\n", quote::one_line(&path)))
        }
    }
}

/// A lease as a model reads it: what others wrote is in quotes.
fn text_of(lease: &LeaseOutput) -> String {
    let session = lease.session_id.as_deref().map(quote::inline);
    let session = session.map(|session| format!(" in session {session}"));
    let why = lease.why.as_deref().map(quote::inline);
    let why = why.map(|why| format!(": {why}"));
    format!(
        "{} {}{} until {}{}\n",
        quote::inline(&lease.path),
        lease.by,
        session.unwrap_or_default(),
        lease.until,
        why.unwrap_or_default()
    )
}
