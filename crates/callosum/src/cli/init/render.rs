//! Output of `init` for a person: a line for the files, one for each client's settings, and the
//! clients that were left out.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::init::render`].

use callosum_app::client_settings::plugin;
use callosum_app::init::render::LeftOutOutput;
use callosum_executor::client::Client;
use callosum_executor::discover::{Speaks, find_in_path};

use super::InitArgs;
use crate::cli::context::Context;

/// The installed clients that `init` can do nothing for, unless a person named others or none.
pub(super) fn left_out(context: &Context, args: &InitArgs, is_wanted: bool) -> Vec<LeftOutOutput> {
    if !is_wanted || !args.clients.is_empty() {
        return Vec::new();
    }
    let path = context.environment.get("PATH").unwrap_or_default();
    let found = find_in_path(&context.disk, path).into_iter();
    let clients = found.filter_map(|found| match found.known.speaks {
        Speaks::Dialect(dialect) => Client::of(dialect),
        _ => None,
    });
    clients
        .filter(|client| {
            client.hooks.is_none() && plugin(context, client, args.scope.into()).is_none()
        })
        .map(|client| LeftOutOutput {
            client: client.program.to_owned(),
            why: "it has no hook before a tool runs".to_owned(),
        })
        .collect()
}
