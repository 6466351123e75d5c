//! [`Server`]: answers to requests.

use std::{path::PathBuf, sync::Arc, time::Duration};

use callosum_host::process::Cancel;
use callosum_redact::quote::neutral;
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ProgressToken, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch},
    task,
    time::timeout,
};

use super::{
    caller::caller,
    resources::{self, ResourceFault},
    tools::{self, Tool},
    working_dir,
};
use callosum_app::context::{Context, Invocation, ProgressSink};
use callosum_app::report::Reporter;
use callosum_app::{CommandError, Exit};
use callosum_config::Environment;

/// Description of the whole server for models.
const INSTRUCTIONS: &str = "Memory and delegation for this repository. Call `recover` when a \
    session begins, `find` before reading many files, `decide` for each decision with the places \
    that support it, and `delegate` for analyses whose details you do not need in your context. \
    `task`, `message`, `discovery` and `lease` reach the other agents on this machine, also from \
    a sandbox. `budget` is the maximum number of tokens of an answer.";

/// Calls of a kind that run at once; more wait.
const AT_ONCE: u32 = 4;

/// Time that a client may take to list its roots.
const ROOTS_WITHIN: Duration = Duration::from_secs(10);

/// Answers requests.
pub(super) struct Server {
    environment: Environment,
    /// The folder that the command line names.
    directory: Option<PathBuf>,
    /// Receives warnings of the tools.
    report: Arc<dyn Reporter>,
    named: Mutex<Named>,
    room: Room,
}

/// The folder that the client names.
enum Named {
    /// It is to be asked.
    Unasked,
    /// This one; none where it has no roots.
    Known(Option<PathBuf>),
}

/// Limits of concurrent calls. Calls that ask others have a limit of their own, so that they keep
/// no other call waiting.
#[derive(Clone)]
pub(super) struct Room {
    quick: Arc<Semaphore>,
    long: Arc<Semaphore>,
}

impl Room {
    /// Waits until nothing runs any more.
    pub(super) async fn emptied(&self) {
        // Neither is ever closed.
        drop(self.quick.acquire_many(AT_ONCE).await);
        drop(self.long.acquire_many(AT_ONCE).await);
    }

    async fn place(&self, tool: &Tool) -> Option<OwnedSemaphorePermit> {
        let kind = if tool.asks_others() {
            &self.long
        } else {
            &self.quick
        };
        Arc::clone(kind).acquire_owned().await.ok()
    }
}

impl Server {
    pub(super) fn new(
        environment: Environment,
        directory: Option<PathBuf>,
        report: Arc<dyn Reporter>,
    ) -> Self {
        let room = || Arc::new(Semaphore::new(AT_ONCE as usize));
        Self {
            environment,
            directory,
            report,
            named: Mutex::new(Named::Unasked),
            room: Room {
                quick: room(),
                long: room(),
            },
        }
    }

    pub(super) fn room(&self) -> Room {
        self.room.clone()
    }

    /// The folder that is meant: the command line's, else the client's; else the one that this process
    /// was started in.
    async fn folder(&self, context: &RequestContext<RoleServer>) -> Option<PathBuf> {
        if self.directory.is_some() {
            return self.directory.clone();
        }
        let mut named = self.named.lock().await;
        if let Named::Known(folder) = &*named {
            return folder.clone();
        }
        let folder = roots(context).await;
        *named = Named::Known(folder.clone());
        folder
    }

    /// Reads something of the project that is meant.
    async fn in_project<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        read: impl FnOnce(&Context) -> Result<T, ResourceFault> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let internal = |error: &dyn std::fmt::Display| {
            ErrorData::internal_error(neutral(&error.to_string()), None)
        };
        let cancel = Cancel::new().map_err(|error| internal(&error))?;
        let info = context.client_info();
        let name = info.as_ref().map(|info| info.name.as_str());
        let asked = Invocation {
            by: caller(name, &context.meta, &self.environment),
            telling: None,
            cancel,
        };
        let folder = self.folder(context).await;
        let environment = self.environment.clone();
        let report = Arc::clone(&self.report);
        let place = Arc::clone(&self.room.quick).acquire_owned().await.ok();
        let work = task::spawn_blocking(move || {
            let _place = place;
            let project = Context::gather_for(environment, folder.as_deref(), report, asked);
            project
                .map_err(ResourceFault::from)
                .and_then(|it| read(&it))
        });
        let done = work.await.map_err(|error| internal(&error))?;
        done.map_err(|fault| match fault {
            ResourceFault::Unknown(what) => ErrorData::resource_not_found(neutral(&what), None),
            ResourceFault::Failed(error) => internal(&error),
        })
    }

    /// Calls a tool, and waits for it even if its client no longer does.
    async fn called(
        &self,
        tool: &'static Tool,
        arguments: Value,
        context: RequestContext<RoleServer>,
    ) -> Result<String, CommandError> {
        let cancel = Cancel::new().map_err(|error| {
            CommandError::because(Exit::Environment, "nothing can be cancelled", &error)
        })?;
        let info = context.client_info();
        let name = info.as_ref().map(|info| info.name.as_str());
        let by = caller(name, &context.meta, &self.environment);
        let folder = self.folder(&context).await;
        let environment = self.environment.clone();
        let (lines, telling) = match context.meta.get_progress_token() {
            Some(token) => {
                let (say, lines) = watch::channel(String::new());
                let telling: ProgressSink = Arc::new(move |line| drop(say.send(neutral(line))));
                (Some((lines, token)), Some(telling))
            }
            None => (None, None),
        };
        let asked = Invocation {
            by,
            telling,
            cancel: cancel.clone(),
        };
        let place = tokio::select! {
            place = self.room.place(tool) => place,
            () = context.ct.cancelled() => None,
        };
        let Some(place) = place else {
            return Err(CommandError::new(Exit::Interrupted, "cancelled"));
        };
        let report = Arc::clone(&self.report);
        let work = task::spawn_blocking(move || {
            let _place = place;
            let context = Context::gather_for(environment, folder.as_deref(), report, asked)?;
            context.warn_of_waiting();
            tool.call(&context, arguments)
        });
        tokio::pin!(work);
        let telling = async {
            if let Some((lines, token)) = lines {
                tell(lines, &token, &context.peer).await;
            }
            std::future::pending::<()>().await;
        };
        let done = tokio::select! {
            done = &mut work => done,
            () = context.ct.cancelled() => {
                cancel.cancel();
                work.await
            }
            () = telling => return Err(CommandError::new(Exit::Internal, "nothing was done")),
        };
        done.unwrap_or_else(|error| Err(CommandError::internal(error)))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("callosum", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::listed()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name) else {
            let names: Vec<&str> = tools::ALL.iter().map(|tool| tool.name).collect();
            let what = format!(
                "there is no tool `{}` (allowed: {})",
                request.name.escape_debug(),
                names.join(", ")
            );
            return Err(ErrorData::invalid_params(what, None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let outcome = self.called(tool, arguments, context).await;
        // Tools quote what others wrote; this holds for what they missed, such as errors.
        let of = |text: String| vec![ContentBlock::text(neutral(&text))];
        let result = match outcome {
            Ok(text) => CallToolResult::success(of(text)),
            Err(error) => CallToolResult::error(of(error.to_string())),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.in_project(&context, move |project| {
            resources::listed(project, cursor.as_deref())
        })
        .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.in_project(&context, move |project| {
            resources::read(project, &request.uri).map(Into::into)
        })
        .await
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        *self.named.lock().await = Named::Unasked;
    }
}

/// Returns the folder that a client names as its root, if it has roots and may be asked: with the
/// newer lifecycle no client is.
#[expect(
    deprecated,
    reason = "clients of the older lifecycle have no other way to name their folder"
)]
async fn roots(context: &RequestContext<RoleServer>) -> Option<PathBuf> {
    context.peer.peer_info()?.capabilities.roots.as_ref()?;
    // One that does not answer works where it started us.
    let roots = timeout(ROOTS_WITHIN, context.peer.list_roots())
        .await
        .ok()?
        .ok()?;
    working_dir::folder(roots.roots.iter().map(|root| root.uri.as_str()))
}

/// Sends progress to the client until there is no more. A slow client only gets the latest line.
async fn tell(mut lines: watch::Receiver<String>, token: &ProgressToken, peer: &Peer<RoleServer>) {
    let mut step = 0.0;
    while lines.changed().await.is_ok() {
        step += 1.0;
        let line = lines.borrow_and_update().clone();
        let progress = ProgressNotificationParam::new(token.clone(), step).with_message(line);
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
    }
}
