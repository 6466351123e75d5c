//! Compares a registration with the entry of the same name that this machine has.
//!
//! Options that are absent keep their values, as long as the entry starts the same program. Another program inherits no grant, and
//! takes none away unasked: it is refused until the command line has every bound of the entry, or `--replace`.

use callosum_executor::client::Client;
use callosum_executor::discover::Known;
use callosum_executor::registry::Executor;
use callosum_executor::template::Template;

use crate::executor::register::add;
use crate::executor::register_command::{bounds, worded};

/// Options that an entry has at most one value of.
pub const SINGLE: [&str; 6] = [
    "--api-key-env",
    "--argument",
    "--context-tokens",
    "--idle-timeout",
    "--timeout",
    "--sandbox",
];

/// Whether a bound means anything for what an entry starts or asks; a line that names it is refused otherwise.
pub fn can_have(executor: &Executor, option: &str) -> bool {
    match option {
        "--api-key-env" => executor.is_remote(),
        "--argument" => executor.tool.is_some(),
        "--context-tokens" => executor.model.is_some(),
        _ => true,
    }
}

/// Whether an entry has a value for an option of `register`.
pub fn has(executor: &Executor, option: &str) -> bool {
    bounds(executor).iter().any(|(named, _)| *named == option)
}

/// Returns what an entry starts or asks.
pub fn starts(executor: &Executor) -> [Option<&str>; 6] {
    [
        Some(executor.kind.as_str()),
        Some(&executor.command_template),
        executor.endpoint.as_deref(),
        executor.model.as_deref(),
        executor.tool.as_deref(),
        executor.protocol.as_deref(),
    ]
}

/// Whether two entries start the same coding agent; their options may differ.
pub fn is_same_client(one: &Executor, other: &Executor) -> bool {
    let client = |executor: &Executor| {
        let template = Template::parse_for_client(&executor.command_template).ok()?;
        let client = Client::of(executor.dialect()?)?;
        Some((client.program, template.program().to_owned()))
    };
    client(one).is_some_and(|client_of_one| client(other) == Some(client_of_one))
}

/// An entry with the bounds of another where it has none of its own, and with the lists of both.
pub fn with_bounds_of(mut fresh: Executor, standing: &Executor) -> Executor {
    let other = standing.clone();
    if can_have(&fresh, "--api-key-env") {
        fresh.api_key_env = fresh.api_key_env.or(other.api_key_env);
    }
    if can_have(&fresh, "--argument") {
        fresh.argument = fresh.argument.or(other.argument);
    }
    if can_have(&fresh, "--context-tokens") {
        fresh.context_tokens = fresh.context_tokens.or(other.context_tokens);
    }
    fresh.quiet_ms = fresh.quiet_ms.or(other.quiet_ms);
    fresh.total_ms = fresh.total_ms.or(other.total_ms);
    fresh.confinement = fresh.confinement.or(other.confinement);
    add(&mut fresh.pass_environment, &other.pass_environment);
    add(&mut fresh.readable, &other.readable);
    add(&mut fresh.writable, &other.writable);
    add(&mut fresh.network, &other.network);
    let own = std::mem::replace(&mut fresh.extra, other.extra);
    fresh.extra.extend(own);
    fresh
}

/// The bounds of an entry that another has not.
pub fn left_of(standing: &Executor, other: &Executor) -> Vec<(&'static str, String)> {
    let others = bounds(other);
    let mut left = bounds(standing);
    left.retain(|bound| !others.contains(bound));
    left
}

/// Returns a notice about bounds that stay although they were not given.
pub fn noted(standing: &Executor, renewed: &Executor, given: &Executor) -> Vec<String> {
    let now = bounds(renewed);
    let mut kept = left_of(standing, given);
    kept.retain(|bound| now.contains(bound));
    let notice = (!kept.is_empty()).then(|| {
        format!(
            "kept from the entry of {}: {} (--replace starts from scratch)",
            standing.id,
            worded(&kept)
        )
    });
    notice.into_iter().collect()
}

/// Returns a notice about the command of a program that Callosum knows and would start in another
/// way.
pub fn other_command(standing: &Executor) -> Option<String> {
    let known = Known::named(&standing.id)?.entry();
    (known.command_template != standing.command_template).then(|| {
        format!(
            "kept from the entry of {}: its command `{}`; --replace uses the built-in one: `{}`",
            standing.id, standing.command_template, known.command_template
        )
    })
}
