//! Routes of the page: which view or action a path means, and who gets an answer.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    extract::{Form as Posted, Path, Query, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::Response,
    routing::{get, post},
};
use callosum_daemon::Sender;
use callosum_redact::terminal_escape::harmless;
use serde_json::json;

use crate::{
    access::{self, Refused},
    assets,
    command::CommandFailure,
    form::Form,
    listing::escaped,
    live, outcome,
    project::Project,
    response,
    site::{Notice, Shared},
    views::{self, Answer, View, layout},
    visit::Visit,
};

type Pairs = Vec<(String, String)>;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(home))
        .route("/login", post(login))
        .route(
            "/health",
            get(async || response::json(StatusCode::OK, &json!({ "healthy": true }))),
        )
        .route("/assets/{name}", get(asset))
        .route("/p/{project}/live", get(changes))
        .route("/p/{project}/{view}", get(view))
        .route("/p/{project}/{view}/{action}", post(act))
        .fallback(async || {
            response::refusal(
                StatusCode::NOT_FOUND,
                "there is no such page; the first one is /",
            )
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared)
}

/// Answers only requests of this page and of programs of this user.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let proxy = shared.setting.proxy.as_ref();
    let sender = request.extensions().get::<Sender>().copied();
    let is_other_user = sender.is_some_and(|sender| sender.is_other_user);
    let (method, headers) = (request.method(), request.headers());
    let checked = access::check(proxy, is_other_user, method, request.uri(), headers);
    let is_write = !matches!(*method, Method::GET | Method::HEAD);
    if checked.is_ok()
        && is_write
        && let Some(ends) = sender.and_then(|sender| sender.ends)
    {
        // An action of the page counts as a person's, so an agent that posts its forms would be one.
        let agent = in_thread(&shared, move |shared| shared.setting.machine.agent_at(ends)).await;
        match agent {
            Ok(None) => {}
            Ok(Some(agent)) => {
                let words = format!("{agent} cannot act as a person: use the command line");
                return response::refusal(StatusCode::FORBIDDEN, &words);
            }
            Err(_) => return busy(),
        }
    }
    match checked {
        Ok(()) => next.run(request).await,
        // Without the token, only the form that takes it is shown.
        Err(Refused::NoToken) if request.uri().path() == "/login" => next.run(request).await,
        Err(Refused::NoToken) if request.method() == Method::GET => {
            response::page(StatusCode::UNAUTHORIZED, layout::login())
        }
        Err(refused) => response::refusal(StatusCode::FORBIDDEN, refused.as_str()),
    }
}

/// Takes the token of a proxy, and keeps it in a cookie.
async fn login(State(shared): State<Arc<Shared>>, Posted(pairs): Posted<Pairs>) -> Response {
    let form = Form::new(pairs);
    let given = form.optional("token").ok().flatten().unwrap_or_default();
    let Some(proxy) = &shared.setting.proxy else {
        return response::see_other("/");
    };
    if !crate::form_token::is_same(&proxy.token, given) {
        return response::page(StatusCode::UNAUTHORIZED, layout::login());
    }
    let cookie = format!(
        "{}={given}; Path=/; Secure; HttpOnly; SameSite=Strict",
        access::COOKIE
    );
    let mut answer = response::see_other("/");
    match HeaderValue::from_str(&cookie) {
        Ok(cookie) => {
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
            answer
        }
        Err(_) => response::refusal(
            StatusCode::BAD_REQUEST,
            "the token has characters that a cookie cannot hold",
        ),
    }
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = assets::ASSETS.iter().find(|asset| asset.name == name) else {
        return response::refusal(StatusCode::NOT_FOUND, "there is no such file");
    };
    let tag = format!("\"{}\"", assets::version());
    let is_kept = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|kept| kept.as_bytes() == tag.as_bytes());
    let mut answer = if is_kept {
        response::of(StatusCode::NOT_MODIFIED, asset.kind, "")
    } else {
        response::of(StatusCode::OK, asset.kind, asset.content)
    };
    let headers = answer.headers_mut();
    // A hash is hexadecimal.
    headers.insert(
        header::ETAG,
        HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"\"")),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// Leads to the first project.
async fn home(State(shared): State<Arc<Shared>>) -> Response {
    let projects = in_thread(&shared, |shared| shared.projects()).await;
    match projects.as_deref() {
        Ok([project, ..]) => response::see_other(&format!("/p/{}/now", project.id)),
        Ok([]) => response::page(StatusCode::OK, layout::without_projects()),
        Err(_) => busy(),
    }
}

async fn changes(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    match project(&shared, &id).await {
        Ok(project) => live::answer(&shared, project),
        Err(refusal) => refusal,
    }
}

/// Answers with a view: HTML, or JSON if the request accepts only that.
async fn view(
    State(shared): State<Arc<Shared>>,
    Path((id, name)): Path<(String, String)>,
    Query(query): Query<Pairs>,
    headers: HeaderMap,
) -> Response {
    let (name, is_json) = match name.strip_suffix(".json") {
        Some(name) => (name.to_owned(), true),
        None => (name, false),
    };
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|accepts| accepts.to_str().ok());
    let is_json = is_json || accepts == Some("application/json");
    let Some(view) = views::named(&name) else {
        return response::refusal(StatusCode::NOT_FOUND, "there is no such view");
    };
    let project = match project(&shared, &id).await {
        Ok(project) => project,
        Err(refusal) => return refusal,
    };
    let Ok(_permit) = Arc::clone(&shared.commands).acquire_owned().await else {
        return busy();
    };
    let made = in_thread(&shared, move |shared| {
        made(shared, view, project, query, is_json)
    })
    .await;
    made.unwrap_or_else(|_| busy())
}

/// Runs the commands of a view and renders it.
fn made(
    shared: &Arc<Shared>,
    view: &'static View,
    project: Project,
    query: Pairs,
    is_json: bool,
) -> Response {
    let visit = Visit::new(Arc::clone(shared), project, view.name, query);
    let answer = (view.show)(&visit);
    let Answer { html, json } = match answer {
        Ok(answer) => answer,
        Err(failure) if is_json => {
            let value = json!({ "error": { "message": failure.message, "hint": failure.hint } });
            return response::json(StatusCode::BAD_GATEWAY, &value);
        }
        Err(failure) => {
            visit.report(failure);
            Answer::default()
        }
    };
    if is_json {
        let faults: Vec<_> = visit
            .faults()
            .into_iter()
            .map(|fault| fault.message)
            .collect();
        return response::json(StatusCode::OK, &json!({ "view": json, "faults": faults }));
    }
    let notice = visit.param("notice").and_then(|key| shared.notice(key));
    match layout::Layout::new(&visit, view, html, notice).render() {
        Ok(html) => response::page(StatusCode::OK, html),
        Err(error) => response::refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

/// Runs the command that a form means.
///
/// A browser without scripts is sent back to the view, with the result above it. A script gets JSON.
async fn act(
    State(shared): State<Arc<Shared>>,
    Path((id, name, action)): Path<(String, String, String)>,
    headers: HeaderMap,
    Posted(pairs): Posted<Pairs>,
) -> Response {
    let form = Form::new(pairs);
    let token = form.optional("token").ok().flatten().unwrap_or_default();
    if !shared.setting.token.is(token) {
        let words =
            "the form is from another page or another machine; load the page again and repeat";
        return response::refusal(StatusCode::FORBIDDEN, words);
    }
    let Some(view) = views::named(&name) else {
        return response::refusal(StatusCode::NOT_FOUND, "there is no such view");
    };
    let project = match project(&shared, &id).await {
        Ok(project) => project,
        Err(refusal) => return refusal,
    };
    let back = form
        .optional("back")
        .ok()
        .flatten()
        .and_then(|back| own_path(back, &project));
    let back = back.unwrap_or_else(|| format!("/p/{}/{}", project.id, view.name));
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|accepts| accepts.to_str().ok());
    let is_script = accepts == Some("application/json");
    let Ok(_permit) = Arc::clone(&shared.commands).acquire_owned().await else {
        return busy();
    };
    let done = in_thread(&shared, move |shared| {
        let command =
            (view.act)(&action, &form).map_err(|error| CommandFailure::new(error.to_string()))?;
        let printed = shared.setting.program.run(&project.root, &command)?;
        Ok(outcome::notice(&command, &printed))
    });
    let mut notice = match done.await {
        Ok(Ok(notice)) => notice,
        Ok(Err(CommandFailure { message, hint, .. })) => Notice {
            is_done: false,
            message,
            hint,
        },
        Err(_) => return busy(),
    };
    // Both repeat what a form sent.
    notice.message = harmless(&notice.message);
    notice.hint = notice.hint.map(|hint| harmless(&hint));
    if is_script {
        let status = if notice.is_done {
            StatusCode::OK
        } else {
            StatusCode::CONFLICT
        };
        return response::json(status, &json!(notice));
    }
    let mark = if back.contains('?') { '&' } else { '?' };
    let key = shared.leave(notice);
    response::see_other(&format!("{back}{mark}notice={}", escaped(&key)))
}

/// Returns a path of this project that a form names, without an earlier notice.
fn own_path(back: &str, project: &Project) -> Option<String> {
    let is_own = back.starts_with(&format!("/p/{}/", project.id));
    let is_plain = back.bytes().all(|byte| byte.is_ascii_graphic());
    let (path, query) = back.split_once('?').unwrap_or((back, ""));
    let kept: Vec<_> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("notice="))
        .collect();
    let path = if kept.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", kept.join("&"))
    };
    (is_own && is_plain).then_some(path)
}

/// Returns the project of this id, or the refusal.
async fn project(shared: &Arc<Shared>, id: &str) -> Result<Project, Response> {
    let projects = in_thread(shared, |shared| shared.projects())
        .await
        .map_err(|_| busy())?;
    let found = projects.into_iter().find(|project| project.id == id);
    found.ok_or_else(|| {
        let words = "this project is not known on this machine any more; the others are at /";
        response::refusal(StatusCode::NOT_FOUND, words)
    })
}

/// Runs something that waits for files or processes.
async fn in_thread<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Arc<Shared>) -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    let own = Arc::clone(shared);
    let done = tokio::task::spawn_blocking(move || work(&own)).await;
    done.inspect_err(|error| tracing::error!(%error, "a view of the page failed"))
}

fn busy() -> Response {
    response::refusal(
        StatusCode::SERVICE_UNAVAILABLE,
        "the page cannot answer now; try again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_back_only_to_its_own_project() {
        let project = Project::new("/home/ana/shop".into());
        let id = &project.id;
        let own = format!("/p/{id}/tasks?q=a&notice=x&page=2");
        assert_eq!(
            own_path(&own, &project),
            Some(format!("/p/{id}/tasks?q=a&page=2"))
        );
        for wrong in [
            "https://evil.example/",
            "//evil.example/",
            "/p/other/tasks",
            "/",
            &format!("/p/{id}/a\r\nx: y"),
        ] {
            assert_eq!(own_path(wrong, &project), None, "{wrong}");
        }
    }
}
