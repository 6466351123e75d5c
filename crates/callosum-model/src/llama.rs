//! [`LlamaModel`]: a model file that llama.cpp's `llama-server` loads, on a port of this machine.
//!
//! [`LlamaServer`] is the process: it starts when the model is first asked, and ends when it is dropped. It is asked like
//! any server with OpenAI's interface. Which file and which program are the caller's to say.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use callosum_executor::{
    handshake::wait_until_ready, registry::Executor, runner::ExecutionEnvironment,
};
use callosum_host::{
    Disk,
    process::{self, Cancel, Launch},
};
use callosum_redact::secrets;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    executor::ExecutorModel,
    provider::{Delta, Limits, ModelError, ModelProvider, Place, Reply, Request},
};

/// Longest time that loading a model may take.
const LOADS_WITHIN: Duration = Duration::from_mins(10);

/// Bytes that are kept of the end of its log.
const LAST_WORDS: usize = 4 * 1024;

/// Most bytes of its standard output; it logs on standard error.
const MOST_OUTPUT: usize = 64 << 20;

/// Variables that the server gets in addition to `PATH` and `HOME`, by their beginnings: its own, and those of graphics cards.
const PASSED: [&str; 7] = [
    "LLAMA_",
    "GGML_",
    "CUDA_",
    "HIP_",
    "ROCR_",
    "VK_",
    "LD_LIBRARY_PATH",
];

/// Error of a server that does not start.
#[derive(Debug, Error)]
pub enum LlamaError {
    /// There is no model file.
    #[error("there is no model file {}", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// There is no program.
    #[error("there is no program `{}`: install llama.cpp, or set CALLOSUM_LLAMA_SERVER to its path", program.display())]
    NoProgram {
        /// The program.
        program: PathBuf,
    },
    /// No port is free, or there is no thread for it.
    #[error("cannot start `llama-server`")]
    System(#[from] io::Error),
    /// It ended before its model was loaded.
    #[error("`llama-server` ended before its model was loaded{}", because(last))]
    Ended {
        /// The end of its log, masked.
        last: String,
    },
    /// It did not become ready.
    #[error("`llama-server` is not ready: {why}")]
    NotReady {
        /// The reason.
        why: String,
    },
}

fn because(last: &str) -> String {
    let last = last.trim().lines().last().unwrap_or_default();
    match last {
        "" => String::new(),
        last => format!(": {last}"),
    }
}

/// A command for `executor run llama-server`, which becomes this server and ends together with its parent.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LlamaCommand {
    /// The program.
    pub program: PathBuf,
    /// The model file.
    pub model: PathBuf,
    /// The port on loopback.
    pub port: u16,
}

impl LlamaCommand {
    /// Returns the arguments of the program.
    pub fn arguments(&self) -> Vec<std::ffi::OsString> {
        vec![
            "--model".into(),
            self.model.clone().into(),
            "--host".into(),
            "127.0.0.1".into(),
            "--port".into(),
            self.port.to_string().into(),
        ]
    }
}

/// A `llama-server` that starts when it is needed, and ends when this is dropped.
#[derive(Debug)]
pub struct LlamaServer {
    program: PathBuf,
    model: PathBuf,
    running: Mutex<Option<Running>>,
}

/// A process that was started.
#[derive(Debug)]
struct Running {
    endpoint: String,
    cancel: Cancel,
    /// Asked for when the process has ended.
    ended: Cancel,
    thread: Option<JoinHandle<String>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl LlamaServer {
    /// Returns the server of a model file. Starts nothing.
    pub fn new(program: PathBuf, model: PathBuf) -> Self {
        Self {
            program,
            model,
            running: Mutex::default(),
        }
    }

    /// Returns the address of the server, which is started and has loaded its model.
    ///
    /// Costs the time of loading at the first call: seconds to minutes.
    fn endpoint(&self, surroundings: &ExecutionEnvironment) -> Result<String, LlamaError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = running
            .as_ref()
            .filter(|server| !server.ended.is_cancelled())
        {
            return Ok(server.endpoint.clone());
        }
        *running = None;
        let mut server = self.start(surroundings)?;
        let executor = Executor::http("llama-server", &server.endpoint, "local");
        // The wait ends when the process ends, and when the caller cancels.
        let mut around = surroundings.clone();
        let gone = Cancel::new()?;
        around.cancel = gone.clone();
        let (over, ended) = (Cancel::new()?, server.ended.clone());
        let ready = thread::scope(|scope| {
            let mut causes = [&surroundings.cancel, &ended].into_iter();
            let started = causes.try_for_each(|cause| {
                let (over, gone) = (over.clone(), gone.clone());
                let pass_on = move || {
                    if cause.wait_here_or(&over).is_ok() && cause.is_cancelled() {
                        gone.cancel();
                    }
                };
                thread::Builder::new()
                    .spawn_scoped(scope, pass_on)
                    .map(drop)
            });
            let ready = started.map(|()| wait_until_ready(&executor, &around, LOADS_WITHIN));
            // Or the threads would wait for ever.
            over.cancel();
            ready
        })?;
        if let Err(fault) = ready {
            if ended.is_cancelled() {
                let last = server.thread.take().map(JoinHandle::join);
                let last = last.and_then(Result::ok).unwrap_or_default();
                return Err(LlamaError::Ended { last });
            }
            let why = fault.to_string();
            return Err(LlamaError::NotReady { why });
        }
        let endpoint = server.endpoint.clone();
        *running = Some(server);
        Ok(endpoint)
    }

    fn start(&self, surroundings: &ExecutionEnvironment) -> Result<Running, LlamaError> {
        let disk = &surroundings.disk;
        let is_file = |path: &Path| disk.stat(path).is_ok_and(|found| found.is_some());
        if !is_file(&self.model) {
            let path = self.model.clone();
            return Err(LlamaError::NoFile { path });
        }
        let program =
            found(disk, &self.program, surroundings).ok_or_else(|| LlamaError::NoProgram {
                program: self.program.clone(),
            })?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let command = LlamaCommand {
            program,
            model: self.model.clone(),
            port,
        };
        let passes = |name: &std::ffi::OsStr| {
            let name = name.to_str().unwrap_or_default();
            ["PATH", "HOME"].contains(&name) || PASSED.iter().any(|begin| name.starts_with(begin))
        };
        let environment = surroundings.environment.iter();
        let launch = Launch {
            program: surroundings.self_program.clone(),
            arguments: ["executor", "run", "llama-server"].map(Into::into).into(),
            folder: PathBuf::from("/"),
            environment: environment
                .filter(|(name, _)| passes(name))
                .cloned()
                .collect(),
            input: serde_json::to_vec(&command).map_err(io::Error::other)?,
            limits: process::Limits {
                quiet: None,
                total: None,
                output_bytes: MOST_OUTPUT,
                error_bytes: LAST_WORDS,
            },
        };
        let (cancel, ended) = (Cancel::new()?, Cancel::new()?);
        let (stop, end) = (cancel.clone(), ended.clone());
        let thread = thread::Builder::new().spawn(move || {
            let last = match process::run(&launch, &stop, &mut |_, _| {}) {
                Ok(run) => secrets::mask(&String::from_utf8_lossy(&run.error)).text,
                Err(error) => error.to_string(),
            };
            end.cancel();
            last
        })?;
        Ok(Running {
            endpoint: format!("http://127.0.0.1:{port}"),
            cancel,
            ended,
            thread: Some(thread),
        })
    }
}

/// Finds a program: a path, or a name in the absolute folders of `PATH`.
fn found(disk: &Disk, program: &Path, surroundings: &ExecutionEnvironment) -> Option<PathBuf> {
    let is_there = |path: &Path| disk.stat(path).is_ok_and(|found| found.is_some());
    if program.components().count() > 1 {
        return is_there(program).then(|| program.to_owned());
    }
    let mut variables = surroundings.environment.iter();
    let (_, folders) = variables.find(|(name, _)| name == "PATH")?;
    std::env::split_paths(folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| is_there(path))
}

/// A model file, asked through its server.
#[derive(Debug)]
pub struct LlamaModel {
    id: String,
    server: Arc<LlamaServer>,
    surroundings: ExecutionEnvironment,
}

impl LlamaModel {
    /// Returns a server's model under an id.
    pub fn new(id: &str, server: Arc<LlamaServer>, surroundings: ExecutionEnvironment) -> Self {
        Self {
            id: id.to_owned(),
            server,
            surroundings,
        }
    }
}

impl ModelProvider for LlamaModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn place(&self) -> Place {
        Place::Local
    }

    fn infer(
        &self,
        request: &Request,
        limits: Limits,
        cancel: &Cancel,
        sink: &mut dyn FnMut(Delta<'_>),
    ) -> Result<Reply, ModelError> {
        let mut surroundings = self.surroundings.clone();
        surroundings.cancel = cancel.clone();
        sink(Delta::Progress("loads the model"));
        let endpoint = self.server.endpoint(&surroundings).map_err(|error| {
            if cancel.is_cancelled() {
                return ModelError::Canceled {
                    model: self.id.clone(),
                };
            }
            ModelError::Failed {
                why: format!("`{}` cannot be asked: {error}", self.id),
                tokens: 0,
                may_pass: false,
            }
        })?;
        let executor = Executor::http(&self.id, &endpoint, "local");
        ExecutorModel::new(executor, self.surroundings.clone()).infer(request, limits, cancel, sink)
    }
}
