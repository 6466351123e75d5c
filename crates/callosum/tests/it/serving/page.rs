//! The page of the daemon: who gets an answer, what a form may do, and how a browser finds it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    os::unix::fs::MetadataExt as _,
    os::unix::process::CommandExt as _,
    time::Duration,
};

use callosum_testkit::{Schema, TestEnv};

use super::daemon::{Answer, Daemon, ask};

/// A daemon that serves the page alone, in a repository.
fn daemon(env: &TestEnv) -> Daemon<'_> {
    let off = ["--events", "off", "--bus", "off", "--metrics", "off"];
    Daemon::with(env, &[&off[..], &["--page", "127.0.0.1:0"]].concat())
}

/// A project that git knows.
fn repository() -> TestEnv {
    let env = TestEnv::new();
    std::fs::create_dir(env.project().join(".git")).unwrap();
    env
}

/// The path of the page's first view.
fn first_view(daemon: &Daemon<'_>) -> String {
    let home = daemon.get("page", "/").with(303);
    home.headers["location"].clone()
}

/// The secret of the forms.
fn token(daemon: &Daemon<'_>) -> String {
    let health = first_view(daemon).replace("/now", "/health");
    let page = daemon.get("page", &health).with(200).body;
    let (_, rest) = page.split_once("data-token=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// Posts a form with these headers.
fn post(daemon: &Daemon<'_>, path: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    ask(daemon.at("page"), &request)
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

/// The headers of a browser that posts a form of the page.
fn own_headers(daemon: &Daemon<'_>) -> String {
    let host = daemon.at("page");
    format!("Host: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n{FORM}")
}

/// CALC-L1-1: a view is a page for people and JSON for scripts, and the page loads nothing from elsewhere.
#[test]
fn a_view_is_html_and_json_and_confined() {
    let env = repository();
    let daemon = daemon(&env);
    let health = first_view(&daemon).replace("/now", "/health");
    let page = daemon.get("page", &health).with(200);
    assert!(page.body.contains("<h1>Health</h1>"), "{page:?}");
    let policy = &page.headers["content-security-policy"];
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
    for header in [
        "cross-origin-opener-policy",
        "x-content-type-options",
        "x-frame-options",
    ] {
        assert!(page.headers.contains_key(header), "{header}: {page:?}");
    }
    assert!(
        !page.headers.contains_key("access-control-allow-origin"),
        "{page:?}"
    );
    let elsewhere =
        page.body.matches("src=\"").count() - page.body.matches("src=\"/assets/").count();
    assert_eq!(elsewhere, 0, "{}", page.body);
    let json = daemon
        .get("page", &format!("{health}.json"))
        .with(200)
        .json();
    assert!(
        json["view"]["checks"]["total"].as_u64().unwrap() > 5,
        "{json}"
    );
    let style = daemon.get("page", "/assets/page.css").with(200);
    let tag = &style.headers["etag"];
    let again = format!(
        "GET /assets/page.css HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\nConnection: close\r\n\r\n"
    );
    ask(daemon.at("page"), &again).with(304);
    daemon.get("page", "/assets/../Cargo.toml").with(404);
    daemon.get("page", "/p/000000000000/now").with(404);
}

/// CALC-SEC-1: other pages, rebound names and WebSockets get no answer from the page.
#[test]
fn no_other_page_reads_or_writes() {
    let env = repository();
    let daemon = daemon(&env);
    let view = first_view(&daemon);
    for stranger in [
        "Host: localhost\r\nOrigin: https://evil.example\r\n",
        "Host: localhost\r\nOrigin: http://localhost:1\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: localhost\r\nSec-Fetch-Site: same-site\r\n",
        "Host: evil.example\r\n",
        "Host: evil.example:8421\r\nOrigin: http://evil.example:8421\r\nSec-Fetch-Site: same-origin\r\n",
    ] {
        for path in [view.as_str(), "/", "/assets/page.js", "/health"] {
            let get = format!("GET {path} HTTP/1.1\r\n{stranger}Connection: close\r\n\r\n");
            ask(daemon.at("page"), &get).with(403);
        }
        post(
            &daemon,
            &format!("{view}/x"),
            &format!("{stranger}{FORM}"),
            "a=b",
        )
        .with(403);
    }
    let upgrade = format!(
        "GET {view} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nConnection: upgrade, close\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    assert_ne!(ask(daemon.at("page"), &upgrade).status, 101);
}

/// CALC-SEC-1: a form counts only from the page itself: with its secret, as a form, and not from an agent.
#[test]
fn a_form_counts_only_from_the_page() {
    let env = repository();
    let daemon = daemon(&env);
    let action = first_view(&daemon).replace("/now", "/health/none");
    let own = own_headers(&daemon);
    let token = token(&daemon);
    let right = format!("token={token}");
    // The page has no such action: it was read, and answered by the view.
    let answer = post(
        &daemon,
        &action,
        &format!("{own}Accept: application/json\r\n"),
        &right,
    );
    assert!(answer.with(409).body.contains("no action `none`"));
    // A browser without scripts is led back, with the result.
    let led_back = post(&daemon, &action, &own, &right).with(303);
    let place = &led_back.headers["location"];
    assert!(
        daemon
            .get("page", place)
            .with(200)
            .body
            .contains("no action `none`")
    );
    for body in [
        "",
        "token=",
        "token=0",
        &format!("token={token}&token={token}"),
    ] {
        post(&daemon, &action, &own, body).with(403);
    }
    let host = daemon.at("page");
    post(&daemon, &action, &format!("Host: {host}\r\n{FORM}"), &right).with(403);
    for kind in [
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/json",
    ] {
        let headers = own.replace("application/x-www-form-urlencoded", kind);
        post(&daemon, &action, &headers, &right).with(415);
    }
    // An agent that reads the secret from the page is still no person.
    let length = right.len();
    let (address, port) = host.rsplit_once(':').unwrap();
    let escaped = own.replace("\r\n", "\\r\\n");
    let script = format!(
        "exec 3<>/dev/tcp/{address}/{port}; printf 'POST {action} HTTP/1.1\\r\\n{escaped}Content-Length: {length}\\r\\n\
         Connection: close\\r\\n\\r\\n{right}' >&3; cat <&3"
    );
    let as_agent = |is_agent: bool| {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &script]).env_remove("CLAUDECODE");
        if is_agent {
            shell.env("CLAUDECODE", "1");
        }
        String::from_utf8(shell.output().unwrap().stdout).unwrap()
    };
    assert!(
        as_agent(true).contains("claude-code cannot act as a person"),
        "{}",
        as_agent(true)
    );
    assert!(
        as_agent(false).starts_with("HTTP/1.1 303"),
        "{}",
        as_agent(false)
    );
}

/// CALC-SEC-1: another user of the machine sees nothing, except as the proxy that the configuration names.
#[test]
fn another_user_is_answered_only_as_the_proxy() {
    if std::fs::metadata(TestEnv::new().folder()).unwrap().uid() != 0 {
        // Only the superuser can become another user.
        return;
    }
    let env = repository();
    let setting = "[page]\nhost = \"agents.example.com\"\ntoken_env = \"PAGE_TOKEN\"\n";
    std::fs::create_dir_all(env.configuration().parent().unwrap()).unwrap();
    std::fs::write(env.configuration(), setting).unwrap();
    let refused = env
        .run(["serve", "--detach", "--page", "127.0.0.1:0"])
        .ended_with(3);
    assert!(
        refused.stderr.contains("PAGE_TOKEN, which is not set"),
        "{}",
        refused.stderr
    );
    let token = "0123456789abcdef";
    let serve = [
        "serve",
        "--detach",
        "--json",
        "--events",
        "off",
        "--bus",
        "off",
        "--metrics",
        "off",
        "--page",
        "127.0.0.1:0",
    ];
    let started = env
        .callosum()
        .env("PAGE_TOKEN", token)
        .arguments(serve)
        .run();
    let daemon = Daemon::of(&env, started.success().json());
    let view = first_view(&daemon);
    let (host, port) = daemon.at("page").rsplit_once(':').unwrap();
    let asked = |headers: &str| {
        let script = format!(
            "exec 3<>/dev/tcp/{host}/{port}; printf 'GET {view} HTTP/1.1\\r\\n{headers}Connection: close\\r\\n\\r\\n' >&3; head -1 <&3"
        );
        let mut shell = std::process::Command::new("bash");
        let output = shell.args(["-c", &script]).uid(65534).gid(65534).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    for (headers, status) in [
        ("Host: localhost\\r\\n".to_owned(), 403),
        ("Host: agents.example.com\\r\\n".to_owned(), 403),
        (
            "Host: agents.example.com\\r\\nX-Forwarded-Proto: https\\r\\n".to_owned(),
            401,
        ),
        (
            format!(
                "Host: agents.example.com\\r\\nX-Forwarded-Proto: https\\r\\nCookie: callosum_page={token}\\r\\n"
            ),
            200,
        ),
    ] {
        let answer = asked(&headers);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{headers}: {answer}"
        );
    }
}

/// CALC-L1-1: an open page hears what changed, finds a restarted daemon by the same secret, and hears that it ends.
#[test]
fn an_open_page_lives_through_a_restart() {
    let env = repository();
    let first = daemon(&env);
    let before = token(&first);
    let live = first_view(&first).replace("/now", "/live");
    let mut stream = TcpStream::connect(first.at("page")).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(90)))
        .unwrap();
    write!(stream, "GET {live} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "event: ready"));
    env.run([
        "mesh",
        "task",
        "add",
        "Look at the page",
        "--as",
        "claude",
        "--to",
        "codex",
    ])
    .success();
    assert!(lines.any(|line| line.contains("data: mesh")));
    env.run(["serve", "stop"]).success();
    // The stream ends, so that the browser begins to look for the daemon.
    assert_eq!(lines.filter(|line| line.contains("changed")).count(), 0);
    drop(first);
    let second = daemon(&env);
    assert_eq!(token(&second), before);
}

/// CALC-L1-1: a project whose folder was deleted is gone from the page, and its address says so.
#[test]
fn a_deleted_project_is_not_shown() {
    let env = repository();
    let daemon = daemon(&env);
    let view = first_view(&daemon);
    let folder = env.project();
    std::fs::remove_dir_all(&folder).unwrap();
    let gone = daemon.get("page", &view).with(404);
    assert!(
        gone.body.contains("not known on this machine any more"),
        "{gone:?}"
    );
    daemon.get("page", "/").with(200);
    std::fs::create_dir(folder).unwrap();
}

/// CALC-L1-1: `callosum open` starts the daemon if none is running, and prints the address of the view.
#[test]
fn open_prints_the_address_of_the_page() {
    let env = repository();
    let opened = |words: &[&str]| {
        let run = env
            .callosum()
            .env("CALLOSUM_PAGE", "127.0.0.1:0")
            .env("CALLOSUM_EVENTS", "off");
        let run = run
            .env("CALLOSUM_BUS", "off")
            .env("CALLOSUM_METRICS", "off");
        run.arguments(words).run()
    };
    let first = opened(&["open", "--print", "--json", "--view", "tasks"])
        .success()
        .json();
    let status = env.run(["serve", "status", "--json"]).success().json();
    let daemon = Daemon::of(&env, status["serving"].clone());
    assert_eq!(Schema::published("output-open").fault(&first), None);
    assert_eq!(first["started"], true, "{first}");
    assert_eq!(first["opened"], false, "{first}");
    let address = first["address"].as_str().unwrap();
    let path = address
        .strip_prefix(&format!("http://{}", daemon.at("page")))
        .unwrap();
    assert!(path.ends_with("/tasks"), "{path}");
    daemon.get("page", path).with(200);
    let second = opened(&["open"]).success();
    assert_eq!(second.stdout.trim_end(), address.replace("/tasks", "/now"));
    let wrong = opened(&["open", "--view", "nothing"]).ended_with(2);
    assert!(
        wrong.stderr.contains("allowed: now, tasks"),
        "{}",
        wrong.stderr
    );
    let elsewhere = env.run(["serve", "--page", "0.0.0.0:8421"]).ended_with(2);
    assert!(
        elsewhere.stderr.contains("not on loopback"),
        "{}",
        elsewhere.stderr
    );
}

/// CALC-SEC-1: `config check` reports a table `page` that the daemon refuses; a token that only this shell lacks is a
/// warning of `doctor`.
#[test]
fn a_table_of_the_page_that_cannot_be_used_is_reported_before_the_daemon_starts() {
    let env = repository();
    let text = "[page]\nhost = \"https://a/\"\ntoken_env = \"PAGE_TOKEN\"\n";
    env.write(env.configuration(), text);
    let out = env.run(["config", "check"]).ended_with(1).stderr;
    assert!(out.contains("`page.host` is `https://a/`"), "{out}");
    let text = "[page]\nhost = \"agents.example.com\"\ntoken_env = \"PAGE_TOKEN\"\n";
    env.write(env.configuration(), text);
    env.run(["config", "check"]).success();
    let out = env.run(["doctor"]).stdout;
    assert!(out.contains("page: $PAGE_TOKEN is not set here"), "{out}");
}
