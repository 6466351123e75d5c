//! Arguments and output of `callosum executor register`.
//!
//! The use case is [`callosum_app::executor::register`].

use std::time::Duration;

use callosum_app::executor::check::{enter, keep_tools};
use callosum_app::executor::default_executor::StepsBack;
use callosum_app::executor::register::{
    acp_command, add, capability_of, host, policy, tell_next, variable,
};
use callosum_app::executor::register_command::registration_line;
use callosum_app::executor_pool::Roster;
use callosum_app::time_span::{any_span, milliseconds};
use callosum_app::{CommandError, Exit, open_ledger};
use callosum_executor::discover::Known;
use callosum_executor::handshake::Handshake;
use callosum_executor::http::Endpoint;
use callosum_executor::output_format::Dialect;
use callosum_executor::registry::{EMBEDDED_ID, Executor, Kind};
use callosum_executor::runner::passes;
use callosum_executor::template::Template;
use callosum_executor::transport::Transport;
use callosum_sandbox::{DeniedPath, Policy};
use clap::{ArgGroup, Args};

use super::check::{CheckOutput, shake_hands};
use super::reregister::renewed;
use crate::cli::context::Context;

/// Register an executor and run its handshake
///
/// This also trusts the executor on this machine. If the name is already registered, options that
/// you leave out keep their values.
///
/// The command template is split into words as a shell would, but no shell ever runs it. `{prompt}`
/// is replaced with the prompt, and `{self}` with this program. A template without `{prompt}` gets
/// the request as JSON on standard input. A coding agent that Callosum knows gets the request as
/// text. Its template may contain `{schema}`, the JSON Schema of an answer, or `{schema_file}`, a
/// file with that schema.
///
/// A model server needs its URL and a model. An MCP server (Model Context Protocol) needs its
/// command or URL, and the tool that takes the prompt. If no tool takes a prompt, use
/// `--protocol mcp`: only plans then call its tools.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("reached").args(["command", "endpoint"])))]
#[command(after_long_help = "\
Examples:
  $ callosum executor register mine --command 'python3 tools/answer.py'
  $ callosum executor register claude
  $ callosum executor register claude --pass-env ANTHROPIC_API_KEY
  $ callosum executor register mine --command 'python3 tools/answer.py' --allow-write target/
  $ callosum executor register ollama --protocol text --allow-net 127.0.0.1:11434
  $ callosum executor register reader --command 'reader-mcp' --tool ask
  $ callosum executor register pages --command 'pages-mcp' --protocol mcp
  $ callosum executor register wiki --endpoint http://127.0.0.1:9000/mcp --tool ask
  $ callosum executor register local --endpoint http://127.0.0.1:8080 --model qwen3")]
pub(crate) struct RegisterArgs {
    /// Name of the executor: letters, digits, `.`, `_` and `-`
    name: String,
    /// Command that starts it; optional for a program that Callosum knows
    #[arg(long, value_name = "TEMPLATE")]
    pub(super) command: Option<String>,
    /// URL of a model server (http://127.0.0.1:11434) or of an MCP server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(super) endpoint: Option<String>,
    /// Model to ask
    ///
    /// For a hosted provider, include its name: anthropic::claude-opus-5-5.
    #[arg(long, value_name = "NAME", group = "asked", conflicts_with = "command")]
    pub(super) model: Option<String>,
    /// Environment variable with the API key; the key itself is never stored
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub(super) api_key_env: Option<String>,
    /// Tool of the MCP server that takes the prompt
    #[arg(long, value_name = "NAME", requires = "reached", group = "asked")]
    pub(super) tool: Option<String>,
    /// Argument of the tool that takes the prompt, if its schema is ambiguous
    #[arg(long, value_name = "NAME", requires = "tool")]
    pub(super) argument: Option<String>,
    /// Context window in tokens, prompt and answer together [default: 16384]
    #[arg(long, value_name = "N", requires = "model", value_parser = clap::value_parser!(u64).range(1024..))]
    context_tokens: Option<u64>,
    /// Protocol or output format, if it does not use Callosum's own protocol
    ///
    /// A program: claude, codex, gemini, opencode, qwen or text. A model server: openai or ollama.
    /// A hosted provider: hosted. An agent that speaks the Agent Client Protocol: acp. An MCP
    /// server without a tool that takes a prompt: mcp.
    #[arg(long, value_name = "NAME")]
    pub(super) protocol: Option<String>,
    /// End it after this time without output, such as 90s [default: executor_timeout_ms]
    #[arg(long, value_name = "DURATION", value_parser = any_span)]
    idle_timeout: Option<Duration>,
    /// End it after this time in total, such as 15m [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = any_span)]
    timeout: Option<Duration>,
    /// Pass on this environment variable, or all with this prefix (OLLAMA_*)
    ///
    /// A variable whose name sounds like a secret is passed on only under its full name. May be
    /// repeated.
    #[arg(long, value_name = "NAME", value_parser = variable)]
    pass_env: Vec<String>,
    /// Sandbox policy: required, best-effort or off [default: best-effort]
    #[arg(long, value_name = "POLICY", value_parser = policy)]
    sandbox: Option<Policy>,
    /// Allow it to read PATH besides the project and the system (may be repeated)
    ///
    /// `~/` is your home folder.
    #[arg(long, value_name = "PATH")]
    allow_read: Vec<String>,
    /// Allow it to write PATH (may be repeated)
    ///
    /// A PATH that ends with `/` is a folder, and is created if it is missing.
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<String>,
    /// Allow it to connect to this host (may be repeated)
    ///
    /// In the sandbox, it has no other network access.
    #[arg(long, value_name = "HOST:PORT", value_parser = host)]
    allow_net: Vec<String>,
    /// Replace an existing entry of this name, and keep nothing of it
    #[arg(long)]
    replace: bool,
}

impl RegisterArgs {
    /// Whether they have one of the options that say what is started, or is asked.
    pub(super) fn gives(&self, option: &str) -> bool {
        let given = match option {
            "--command" => &self.command,
            "--endpoint" => &self.endpoint,
            "--model" => &self.model,
            "--tool" => &self.tool,
            "--protocol" => &self.protocol,
            _ => return false,
        };
        given.is_some()
    }

    /// Whether they say what is started, or is asked.
    pub(super) fn say_what_is_started(&self) -> bool {
        let started = [&self.command, &self.endpoint, &self.model];
        let named = [&self.tool, &self.protocol];
        started.into_iter().chain(named).any(Option::is_some)
    }
}

/// Says which variables that are set here a beginning does not cover, for they sound like secrets.
fn tell_held_back(context: &Context, args: &RegisterArgs, executor: &Executor) {
    let begins = |name: &str| {
        let mut listed = args.pass_env.iter();
        listed.any(|listed| {
            let beginning = listed.strip_suffix('*');
            beginning.is_some_and(|beginning| name.starts_with(beginning))
        })
    };
    let names = context.environment.iter();
    for name in names.filter_map(|(name, _)| name.to_str()) {
        if begins(name) && !passes(name, &executor.pass_environment) {
            context.report.hint(&format!(
                "{name} is set here and looks like a secret, which is only passed if you give its full \
                 name: --pass-env {name}"
            ));
        }
    }
}

pub(super) fn run(context: &mut Context, args: &RegisterArgs) -> Result<(), CommandError> {
    let (handshake, output, steps_back) = register(context, args)?;
    let helps = output.hint.clone();
    if let Some(steps_back) = steps_back {
        steps_back.apply(context);
    }
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&output.as_text())?;
        if handshake.passed() {
            tell_next(context, &args.name)?;
        }
    }
    match handshake.fault() {
        None => Ok(()),
        Some((step, fault)) => Err(CommandError::because(
            Exit::No,
            format!(
                "`{}` is registered but inactive: its handshake failed at {step}",
                args.name
            ),
            fault,
        )
        .hint(helps.unwrap_or_else(|| format!("callosum executor check {}", args.name)))),
    }
}

/// Enters the executor, and says besides what keeps the default executor what it was.
fn register(
    context: &Context,
    args: &RegisterArgs,
) -> Result<(Handshake, CheckOutput, Option<StepsBack>), CommandError> {
    Executor::check_id(&args.name)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    capability_of(&args.name)?;
    let mut roster = Roster::load(context)?;
    let standing = roster.registry().get(&args.name);
    let standing = standing.filter(|standing| !args.replace && roster.is_of_here(standing));
    let (executor, notes) = match standing {
        Some(standing) if !args.say_what_is_started() => {
            renewed(args, roster.startable(&standing.id)?)?
        }
        Some(standing) => renewed(args, standing)?,
        None => (entry(args)?, Vec::new()),
    };
    executor
        .check()
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    if executor.id == EMBEDDED_ID {
        let what = format!("cannot register `{EMBEDDED_ID}`: it is built into Callosum");
        return Err(CommandError::new(Exit::Usage, what));
    }
    refuse_withheld(context, args, &executor)?;
    let is_new = roster.registry().get(&args.name).is_none();
    let steps_back = is_new
        .then(|| StepsBack::behind_default(&roster, &executor))
        .flatten();
    let ledger = open_ledger::open(context)?;
    for note in notes {
        context.report.say(&note);
    }
    roster.trust(&executor)?;
    let (handshake, executor, output) = shake_hands(context, executor)?;
    tell_held_back(context, args, &executor);
    roster.put(&executor);
    keep_tools(context, &executor, &handshake)?;
    enter(context, &ledger, executor, "registered")?;
    Ok((handshake, output, steps_back))
}

/// Rejects write grants that the sandbox never allows, and reports which of the rest stay
/// read-only.
fn refuse_withheld(
    context: &Context,
    args: &RegisterArgs,
    executor: &Executor,
) -> Result<(), CommandError> {
    if executor.confinement == Some(Policy::Off) {
        return Ok(());
    }
    if let Some(outside) = context.leads_outside(&executor.wishes()) {
        let mut there = executor.clone();
        for place in there.readable.iter_mut().chain(&mut there.writable) {
            if *place == outside.wish {
                *place = outside.target.display().to_string();
            }
        }
        let what = format!(
            "{outside}: only a path that begins with `~/` or `/` may be outside the project"
        );
        return Err(CommandError::new(Exit::Usage, what).hint(registration_line(&there)));
    }
    let wishes = args.allow_write.iter();
    for wish in wishes.filter(|wish| !executor.keeps(wish)) {
        match context.withheld(wish) {
            None => {}
            Some(DeniedPath::All) => {
                let what = format!(
                    "the sandbox never allows writing to `{wish}`: git, coding agents or Callosum read \
                     instructions there, so the executor could control programs outside the sandbox"
                );
                let mut without = executor.clone();
                without.writable.retain(|other| other != wish);
                return Err(CommandError::new(Exit::Usage, what).hint(registration_line(&without)));
            }
            Some(DeniedPath::Part) => {
                let what = format!(
                    "`{wish}` is writable except for files from which git, coding agents, editors, shells \
                     and Callosum read instructions: in a project .git, CLAUDE.md, AGENTS.md, .claude, \
                     .mcp.json, .vscode, .envrc, loa-grimoire, .cal* and the like, in the home folder also \
                     .gitconfig, .ssh and startup files; if a task creates such a file in a subfolder, it \
                     is protected from the next task on"
                );
                context.report.warn(&what, None);
            }
        }
    }
    Ok(())
}

/// The entry that the arguments ask for.
pub(super) fn entry(args: &RegisterArgs) -> Result<Executor, CommandError> {
    if args.model.is_some() && args.protocol.as_deref() == Some(Transport::Hosted.as_str()) {
        return provider(args);
    }
    check_asked(args)?;
    if let Some(endpoint) = &args.endpoint {
        return server(args, endpoint);
    }
    if args.model.is_some() {
        let what = "--model needs --endpoint or --protocol hosted";
        return Err(CommandError::new(Exit::Usage, what));
    }
    let known = Known::named(&args.name);
    let mut executor = match (&args.command, known) {
        (Some(template), _) => Executor::cli(&args.name, template),
        (None, Some(known)) if args.protocol.as_deref() == Some(Transport::Acp.as_str()) => {
            Executor::cli(&args.name, acp_command(known)?)
        }
        (None, Some(known)) => Known::entry(known),
        (None, None) => {
            let what = format!("`{}` is not a known program", args.name);
            let hint = format!(
                "callosum executor register {} --command TEMPLATE",
                args.name
            );
            return Err(CommandError::new(Exit::Usage, what).hint(hint));
        }
    };
    if args.tool.is_some() || is_of_tools(args) {
        executor.kind = Kind::Mcp;
        executor.tool.clone_from(&args.tool);
        executor.argument.clone_from(&args.argument);
    }
    if let Some(protocol) = &args.protocol {
        executor.protocol = Some(protocol.clone());
        if executor.dialect().is_none() && Transport::of(&executor).is_none() {
            let dialects = Dialect::ALL.iter().map(|known| known.as_str());
            let others = [Transport::Acp.as_str(), Transport::Mcp.as_str()];
            let known: Vec<&str> = dialects.chain(others).collect();
            let what = format!(
                "unknown protocol `{protocol}` (allowed: {})",
                known.join(", ")
            );
            executor.protocol = Some(Dialect::Text.as_str().to_owned());
            return Err(CommandError::new(Exit::Usage, what).hint(registration_line(&executor)));
        }
    }
    let template = if executor.dialect().is_some() {
        Template::parse_for_client(&executor.command_template)
    } else {
        Template::parse(&executor.command_template)
    };
    template.map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    Ok(bounded(executor, args))
}

/// Whether the registration is of a tool server, of any tools.
fn is_of_tools(args: &RegisterArgs) -> bool {
    args.protocol.as_deref() == Some(Transport::Mcp.as_str())
}

/// Rejects a server without a model or tool, and server options without a server.
fn check_asked(args: &RegisterArgs) -> Result<(), CommandError> {
    let name = &args.name;
    let asked = args.model.is_some() || args.tool.is_some() || is_of_tools(args);
    if let Some(endpoint) = args.endpoint.as_ref().filter(|_| !asked) {
        let what = format!("--endpoint {endpoint} needs --model, --tool or --protocol mcp");
        let hint = format!("callosum executor register {name} --endpoint {endpoint} --model NAME");
        return Err(CommandError::new(Exit::Usage, what).hint(hint));
    }
    if args.api_key_env.is_some() && args.endpoint.is_none() {
        let what = "an API key needs a server: --endpoint, or --protocol hosted with --model";
        return Err(CommandError::new(Exit::Usage, what));
    }
    if is_of_tools(args) && args.endpoint.is_none() && args.command.is_none() {
        let what = format!("the MCP server `{name}` needs --command or --endpoint");
        let hint = format!("callosum executor register {name} --protocol mcp --command TEMPLATE");
        return Err(CommandError::new(Exit::Usage, what).hint(hint));
    }
    Ok(())
}

fn server(args: &RegisterArgs, endpoint: &str) -> Result<Executor, CommandError> {
    Endpoint::parse(endpoint, args.api_key_env.is_some())
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    let mut executor = if let Some(tool) = &args.tool {
        Executor::remote_tool(&args.name, endpoint, tool)
    } else if is_of_tools(args) {
        Executor::remote_tools(&args.name, endpoint)
    } else {
        let model = args.model.as_deref().unwrap_or_default();
        let mut executor = Executor::http(&args.name, endpoint, model);
        executor.protocol = Some("openai".to_owned());
        executor
    };
    if args.protocol.is_some() {
        executor.protocol.clone_from(&args.protocol);
    }
    executor.argument.clone_from(&args.argument);
    executor.api_key_env.clone_from(&args.api_key_env);
    executor.context_tokens = args.context_tokens;
    if Transport::of(&executor).is_none() {
        let what = format!(
            "unknown server protocol `{}` (allowed: openai, ollama, mcp)",
            executor.protocol.take().unwrap_or_default()
        );
        return Err(CommandError::new(Exit::Usage, what).hint(registration_line(&executor)));
    }
    Ok(bounded(executor, args))
}

/// Returns a model of a hosted provider, at its usual endpoint unless one is named.
fn provider(args: &RegisterArgs) -> Result<Executor, CommandError> {
    let model = args.model.as_deref().unwrap_or_default();
    if !Transport::Hosted.is_built_in() {
        let what = "this build does not support hosted providers";
        let hint = "cargo build --release --features hosted";
        return Err(CommandError::new(Exit::Usage, what).hint(hint));
    }
    if args.api_key_env.is_none() {
        let what = "a hosted provider needs an API key, but no variable for it is given";
        let (provider, _) = model.split_once("::").unwrap_or((&args.name, ""));
        let mut named = Executor::hosted(&args.name, model);
        named.api_key_env = Some(format!("{}_API_KEY", provider.to_ascii_uppercase()));
        return Err(CommandError::new(Exit::Usage, what).hint(registration_line(&named)));
    }
    if let Some(endpoint) = &args.endpoint {
        Endpoint::parse(endpoint, true)
            .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    }
    let mut executor = Executor::hosted(&args.name, model);
    executor.endpoint.clone_from(&args.endpoint);
    executor.api_key_env.clone_from(&args.api_key_env);
    executor.context_tokens = args.context_tokens;
    Ok(bounded(executor, args))
}

/// Returns an entry with the bounds that the arguments name, in addition to those that it has.
pub(super) fn bounded(mut executor: Executor, args: &RegisterArgs) -> Executor {
    executor.quiet_ms = args.idle_timeout.map(milliseconds).or(executor.quiet_ms);
    executor.total_ms = args.timeout.map(milliseconds).or(executor.total_ms);
    add(&mut executor.pass_environment, &args.pass_env);
    executor.grant_needs();
    executor.confinement = args.sandbox.or(executor.confinement);
    add(&mut executor.readable, &args.allow_read);
    add(&mut executor.writable, &args.allow_write);
    add(&mut executor.network, &args.allow_net);
    executor
}

#[cfg(test)]
mod tests {
    use callosum_sandbox::Policy;
    use clap::Parser;

    use callosum_app::executor::register_command::registration_line;
    use callosum_executor::registry::Executor;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        register: RegisterArgs,
    }

    /// Returns the entry that a registration line makes.
    fn registered(line: &str) -> Executor {
        let words = shlex::split(line).unwrap();
        let args = Line::try_parse_from(&words[2..]).unwrap_or_else(|error| panic!("{error}"));
        entry(&args.register).unwrap_or_else(|_| panic!("{line}"))
    }

    /// CAL-EXE-1: a line registers what it was made of.
    #[test]
    fn a_line_registers_the_entry_that_it_words() {
        for options in [
            "claude",
            "codex --idle-timeout 9ms --allow-read ~/x/",
            r#"py --command "python3 -c 'print(1)'""#,
            "py --command 'x y' --timeout 5s --allow-write target/ --pass-env A",
            "agent --command 'an-agent' --protocol acp --allow-net a:1",
            "reader --command 'reader-mcp' --tool ask --argument q",
            "wiki --endpoint http://127.0.0.1:9000/mcp --tool ask",
            "o --endpoint http://127.0.0.1:1 --model m --protocol ollama",
            "l --endpoint http://127.0.0.1:1 --model 'm x' --context-tokens 2048",
        ] {
            let line = format!("callosum executor register {options}");
            let entry = registered(&line);
            let worded = registration_line(&entry);
            assert_eq!(registered(&worded), entry, "{line}\n{worded}");
        }
        let mut bounded = registered("callosum executor register py --command x");
        bounded.confinement = Some(Policy::Off);
        assert_eq!(registered(&registration_line(&bounded)), bounded);
    }
}
