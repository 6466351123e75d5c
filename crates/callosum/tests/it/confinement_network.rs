//! The way out of a confined executor's network, and that there is no other.

#![cfg(target_os = "linux")]

use std::{
    net::{Ipv4Addr, TcpListener},
    os::unix::net::UnixListener,
};

use serde_json::Value;

use crate::confinement::{delegate, is_held, project, reached, records, summary};

/// CAL-SEC-1: nothing of the network is there that nobody named, nor a socket with a path.
#[test]
fn no_network_is_reached_that_nobody_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let env = project(
        &format!(
            r#"
tried("loopback", lambda: socket.create_connection(("127.0.0.1", {port}), 5))
tried("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))
def local():
    socket.socket(socket.AF_UNIX).connect(os.path.expanduser("~/socket"))
tried("path", local)
def abstract():
    socket.socket(socket.AF_UNIX).connect("\0callosum-test-{port}")
tried("abstract", abstract)
tried("raw", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
tried("name", lambda: socket.getaddrinfo("example.org", 80))
"#
        ),
        &[],
    );
    let _local = UnixListener::bind(env.home().join("socket")).unwrap();
    let found = summary(&env);
    if !is_held(&env) {
        return;
    }
    for closed in [
        "loopback: ConnectionRefusedError",
        "udp: OSError 101",
        "path: PermissionError",
        "abstract: PermissionError",
        "raw: PermissionError",
        "name: gaierror",
    ] {
        assert!(found.contains(closed), "{closed}: {found}");
    }
    assert!(
        records(&env, "decision")
            .iter()
            .all(|told| told["details"]["host"].is_null())
    );
}

/// CAL-SEC-1: a host that the entry names is reached, under its own port and by way of the proxy, any
/// other is not, and each connection is on the record with its bytes.
#[test]
fn a_named_host_is_reached_and_every_connection_told() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (port, other) = (
        listener.local_addr().unwrap().port(),
        other.local_addr().unwrap().port(),
    );
    let env = project(
        &format!(
            r#"
def direct():
    with socket.create_connection(("127.0.0.1", {port}), 10) as s:
        s.sendall(b"hello")
        return s.recv(5).decode()
tried("direct", direct)
tried("tunnel", lambda: tunnel("127.0.0.1:{port}"))
tried("other", lambda: tunnel("127.0.0.1:{other}"))
tried("named", lambda: tunnel("example.org:443"))
with socket.create_connection(tuple(os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")), 60) as s:
    s.sendall(b"hello\r\n\r\n")
    s.recv(100)
"#
        ),
        &["--allow-net", &format!("127.0.0.1:{port}")],
    );
    let serving = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = [0; 5];
            stream.read_exact(&mut heard).unwrap();
            assert_eq!(&heard, b"hello");
            stream.write_all(b"world").unwrap();
        }
    });
    let output = delegate(&env).success();
    let spawned = output.json();
    let found = spawned["summary"].as_str().unwrap();
    if !is_held(&env) {
        return;
    }
    let unasked = "executor probe sent the proxy a request that is not for a connection: the request names no host\n";
    assert!(output.stderr.contains(unasked), "{}", output.stderr);
    let told = "the sandbox blocked executor probe from example.org:443: the entry does not name it under \
                `network`; to allow it, register it with `--allow-net example.org:443`\n";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    assert_eq!(
        found,
        "direct: world; tunnel: world; other: HTTP/1.1 403 Forbidden; named: HTTP/1.1 403 Forbidden"
    );
    serving.join().unwrap();
    assert_eq!(reached(&env)["hosts"][0], format!("127.0.0.1:{port}"));
    let told: Vec<Value> = records(&env, "decision")
        .into_iter()
        .filter(|told| told["details"]["host"].is_string())
        .collect();
    let count = |status: &str| told.iter().filter(|told| told["status"] == status).count();
    assert_eq!(
        (count("connected"), count("connection_denied")),
        (2, 3),
        "{told:?}"
    );
    for one in told.iter().filter(|told| told["status"] == "connected") {
        assert_eq!(one["details"]["bytes_sent"], 5, "{one}");
        assert_eq!(one["details"]["bytes_received"], 5, "{one}");
    }
}

/// CAL-ERR-2: what an executor's host streams is its life, though it writes nothing itself until all of it is there.
#[test]
fn what_a_named_host_streams_counts_as_life() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let env = project(
        &format!(
            r#"
def streamed():
    with socket.create_connection(("127.0.0.1", {port}), 60) as s:
        return sum(iter(lambda: len(s.recv(100)), 0))
tried("streamed", streamed)
"#
        ),
        &[
            "--allow-net",
            &format!("127.0.0.1:{port}"),
            "--idle-timeout",
            "10s",
        ],
    );
    let streaming = std::thread::spawn(move || {
        use std::io::Write as _;
        let (mut stream, _) = listener.accept().unwrap();
        for _ in 0..25 {
            std::thread::sleep(std::time::Duration::from_millis(450));
            stream.write_all(b"x").unwrap();
        }
    });
    let output = delegate(&env);
    let spawned = &records(&env, "spawn")[0]["details"]["confinement"];
    if spawned["level"] != "full" {
        return;
    }
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(output.json()["summary"], "streamed: 25");
    streaming.join().unwrap();
}

/// CAL-SEC-1: where this machine gets out by way of a proxy, so does an executor, which sees neither its
/// place nor its password; what the entry does not name is not asked of it.
#[test]
fn a_proxy_of_the_machines_own_is_gone_through() {
    use std::io::{Read as _, Write as _};
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let env = project(
        r#"
tried("named", lambda: tunnel("models.example:443"))
tried("other", lambda: tunnel("evil.example:443"))
tried("secret", lambda: any("sesame" in value for value in os.environ.values()))
"#,
        &["--allow-net", "models.example:443"],
    );
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            heard.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 200 fine\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 5]).unwrap();
        stream.write_all(b"world").unwrap();
        String::from_utf8(heard).unwrap()
    });
    let run = env
        .callosum()
        .env("HTTPS_PROXY", format!("http://u:sesame@127.0.0.1:{port}"))
        .arguments(["delegate", "x", "--executor", "probe", "--json"])
        .run();
    assert_eq!(run.code, 0, "{}", run.stderr);
    if !is_held(&env) {
        return;
    }
    let found = "named: world; other: HTTP/1.1 403 Forbidden; secret: False";
    assert_eq!(run.json()["summary"], found);
    let heard = serving.join().unwrap();
    assert!(heard.starts_with("CONNECT models.example:443 "), "{heard}");
}
