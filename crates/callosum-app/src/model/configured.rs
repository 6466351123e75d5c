//! The models of the user's configuration, opened when they are asked.
//!
//! A model on a server is asked like an executor of the registry: by a confined process that gets the prompt alone.
//! Start with [`provider`]. A token is read when the model is asked, and only that process gets it.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use callosum_config::{Environment, ModelKind, ModelSetting, ModelSettings, TokenPlace};
use callosum_executor::registry::{Executor, Status};
use callosum_host::Disk;
use callosum_model::{ExecutorModel, LlamaModel, LlamaServer, ModelProvider, ScriptedModel};

use crate::context::Context;
use crate::{CommandError, Exit, shell_word};

/// The variable that gives a token of a file to the process that asks.
const TOKEN: &str = "CALLOSUM_MODEL_TOKEN";

/// Longest script, in bytes.
const LONGEST_SCRIPT: u64 = 16 << 20;

/// Longest file of a token, in bytes.
const LONGEST_TOKEN: u64 = 4096;

/// Returns what the user's configuration says of models. Costs one read of the file per process.
pub fn settings(context: &Context) -> Result<&ModelSettings, CommandError> {
    let known = &context.models.settings;
    if let Some(settings) = known.get() {
        return Ok(settings);
    }
    let path = &context.project.homes.user_config;
    let loaded = ModelSettings::load(&context.disk, path)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error).hint(edit(path)))?;
    let loaded = loaded.with_model_file(&context.environment, &context.folder);
    Ok(known.get_or_init(|| loaded))
}

/// Returns the configured model of a name, ready to be asked; `None` if the configuration has none.
///
/// # Errors
/// The configuration cannot be used, or a file or variable that it names cannot.
pub fn provider(
    context: &Context,
    name: &str,
) -> Result<Option<Arc<dyn ModelProvider>>, CommandError> {
    let Some(setting) = settings(context)?.get(name) else {
        return Ok(None);
    };
    if let ModelKind::Stub { script } = &setting.kind {
        return scripted(context, name, script).map(Some);
    }
    let mut surroundings = context.surroundings()?;
    if let ModelKind::File { model, program } = &setting.kind {
        let server = context.models.llama.get_or_init(|| {
            let server = LlamaServer::new(program.clone(), model.clone());
            Arc::new(server)
        });
        let model = LlamaModel::new(name, Arc::clone(server), surroundings);
        return Ok(Some(Arc::new(model)));
    }
    let mut help = format!("check `models.{name}.url` in {}", place(context));
    if let ModelKind::RemoteArbiter { token, .. } = &setting.kind {
        let key = format!("models.{name}");
        let (token, of) = read_token(&context.disk, &context.environment, token)
            .map_err(|why| unusable(context, &format!("`{key}.{why}")))?;
        surroundings.environment.retain(|(name, _)| name != TOKEN);
        surroundings
            .environment
            .push((TOKEN.into(), OsString::from(token)));
        help = format!("check `{key}.url` and `{key}.{of}` in {}", place(context));
    }
    let model = ExecutorModel::new(executor(setting), surroundings).with_help(help);
    Ok(Some(Arc::new(model)))
}

/// Returns the entry by which a configured model is asked. It is in no registry.
pub fn executor(setting: &ModelSetting) -> Executor {
    let mut executor = match &setting.kind {
        ModelKind::Stub { .. } => Executor::http(&setting.name, "http://127.0.0.1", "script"),
        ModelKind::File { .. } => Executor::http(&setting.name, "http://127.0.0.1", "local"),
        ModelKind::Local {
            url,
            model,
            context_tokens,
        } => Executor {
            context_tokens: *context_tokens,
            ..Executor::http(&setting.name, url, model)
        },
        ModelKind::RemoteArbiter { url, model, .. } => Executor {
            protocol: Some("callosum".to_owned()),
            api_key_env: Some(TOKEN.to_owned()),
            ..Executor::http(&setting.name, url, model)
        },
    };
    executor.status = Status::Active;
    if let Some(tier) = setting.trust_tier {
        executor.extra.insert("trust_tier".to_owned(), tier.into());
    }
    executor
}

/// Reads a token, and returns it with the key that names its place. The error begins with that key.
pub fn read_token(
    disk: &Disk,
    environment: &Environment,
    place: &TokenPlace,
) -> Result<(String, &'static str), String> {
    let (text, key, shown) = match place {
        TokenPlace::Variable(name) => {
            let value = environment.get(name);
            let Some(value) = value.and_then(|value| value.to_str()) else {
                return Err(format!(
                    "token_env` is \"{name}\", a variable that is not set (allowed: a variable that holds the token)"
                ));
            };
            (value.to_owned(), "token_env", format!("${name}"))
        }
        TokenPlace::File(path) => {
            let shown = path.display().to_string();
            let text = bounded(disk, path, LONGEST_TOKEN)
                .map_err(|why| format!("token_file` is \"{shown}\": {why}"))?;
            (text, "token_file", shown)
        }
    };
    let token = text.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!(
            "{key}`: {shown} does not hold a token (allowed: one line of visible ASCII characters)"
        ));
    }
    Ok((token.to_owned(), key))
}

fn scripted(
    context: &Context,
    name: &str,
    script: &Path,
) -> Result<Arc<dyn ModelProvider>, CommandError> {
    let scripts = context.models.scripts.lock();
    let mut scripts = scripts.unwrap_or_else(PoisonError::into_inner);
    if let Some(model) = scripts.get(name) {
        return Ok(Arc::clone(model) as Arc<dyn ModelProvider>);
    }
    let shown = script.display();
    let broken = |why: &dyn std::fmt::Display| {
        unusable(
            context,
            &format!("`models.{name}.script` is \"{shown}\": {why}"),
        )
    };
    let text = bounded(&context.disk, script, LONGEST_SCRIPT).map_err(|why| broken(&why))?;
    let is_toml = script.extension().is_some_and(|ending| ending == "toml");
    let model = if is_toml {
        ScriptedModel::read_toml(name, &text)
    } else {
        ScriptedModel::read_lines(name, &text)
    };
    let model = Arc::new(model.map_err(|error| broken(&error))?);
    scripts.insert(name.to_owned(), Arc::clone(&model));
    Ok(model)
}

/// Reads a text file that is not too long.
fn bounded(disk: &Disk, path: &Path, most: u64) -> Result<String, String> {
    let found = disk.stat(path).map_err(|error| error.to_string())?;
    match found {
        None => return Err("there is no such file".to_owned()),
        Some(found) if found.len > most => {
            return Err(format!(
                "it has {} bytes (allowed: up to {most})",
                found.len
            ));
        }
        Some(_) => {}
    }
    let bytes = disk.read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn unusable(context: &Context, what: &str) -> CommandError {
    let path = &context.project.homes.user_config;
    CommandError::new(Exit::Environment, format!("{}: {what}", path.display())).hint(edit(path))
}

fn place(context: &Context) -> String {
    context.project.homes.user_config.display().to_string()
}

fn edit(path: &Path) -> String {
    format!("${{EDITOR:-vi}} {}", shell_word(&path.to_string_lossy()))
}
