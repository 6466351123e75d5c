//! The proxy over loopback: requests inside, what reaches a server outside, and reports.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use super::{
    connection::{Connection, Connections, Verdict},
    resolver::Names,
    server::Shared,
};
use crate::Whitelisted;

/// A server that hears all there is, answers `world`, and gives back what it heard.
fn server() -> (SocketAddr, thread::JoinHandle<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let heard = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).unwrap();
        stream.write_all(b"world").unwrap();
        heard
    });
    (address, heard)
}

/// Sends a request; returns the answer and the report.
fn ask(named: &[String], names: &[(&str, Ipv4Addr)], asked: &str) -> (String, Connection) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (inner, _) = listener.accept().unwrap();
    let connections = Connections::default();
    let begun = connections.pulse().last();
    let names: BTreeMap<_, _> = names
        .iter()
        .map(|(name, address)| ((*name).to_owned(), vec![(*address).into()]))
        .collect();
    let shared = Arc::new(Shared::new(
        named
            .iter()
            .map(|text| Whitelisted::parse(text).unwrap())
            .collect(),
        Names::Listed(names),
        None,
        connections.clone(),
    ));
    let (number, live) = shared.begin(inner).unwrap();
    let serving = thread::spawn(move || {
        shared.serve(&live, None);
        shared.end(number);
        // A connection that is ended twice is reported once.
        shared.end(number);
    });
    client.write_all(asked.as_bytes()).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    serving.join().unwrap();
    let mut report = connections.take();
    assert_eq!(report.len(), 1, "{report:?}");
    let report = report.remove(0);
    // What a host sends is life, and nothing else is.
    let lives = connections.pulse().last() > begun;
    assert_eq!(lives, report.received > 0, "{report:?}");
    (answer, report)
}

fn reason(connection: &Connection) -> String {
    assert!(
        matches!(connection.verdict, Verdict::Denied(_)),
        "{connection:?}"
    );
    connection.verdict.reason().unwrap().to_owned()
}

/// CAL-SEC-1: a named host is reached, and both ways are counted.
#[test]
fn a_tunnel_to_a_named_host_carries_both_ways() {
    let (address, heard) = server();
    let port = address.port();
    let named = [format!("models.example:{port}"), address.to_string()];
    let names = [("models.example", Ipv4Addr::LOCALHOST)];
    let asked = format!("CONNECT models.example:{port} HTTP/1.1\r\n\r\nhello");
    let (answer, report) = ask(&named, &names, &asked);
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nworld");
    assert_eq!(heard.join().unwrap(), "hello");
    assert_eq!(
        (report.host.as_str(), report.port),
        ("models.example", port)
    );
    assert_eq!(report.verdict, Verdict::Allowed);
    assert_eq!((report.sent, report.received), (5, 5));
}

#[test]
fn a_request_without_encryption_is_rewritten_for_its_server() {
    let (address, heard) = server();
    let asked = format!("GET http://{address}/x HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let (answer, report) = ask(&[address.to_string()], &[], &asked);
    assert_eq!(answer, "world");
    let heard = heard.join().unwrap();
    assert!(heard.starts_with("GET /x HTTP/1.1\r\nHost: "), "{heard}");
    assert_eq!((report.sent, report.received), (heard.len() as u64, 5));
}

/// CAL-SEC-1: a host that the entry does not name is refused before any lookup.
#[test]
fn a_host_that_is_not_named_is_refused_and_reported() {
    let (answer, report) = ask(
        &["a.example:443".to_owned()],
        &[],
        "CONNECT evil.example:443 HTTP/1.1\r\n\r\n",
    );
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(
        answer.ends_with("does not name it under `network`\n"),
        "{answer}"
    );
    assert_eq!(report.host, "evil.example");
    assert!(reason(&report).contains("does not name it"));
}

/// CAL-SEC-1: a name that leads into this machine is no way into it.
#[test]
fn a_name_that_leads_inside_is_refused() {
    let (address, _) = server();
    let port = address.port();
    for named in ["*".to_owned(), format!("models.example:{port}")] {
        let (_, report) = ask(
            &[named],
            &[("models.example", Ipv4Addr::LOCALHOST)],
            &format!("CONNECT models.example:{port} HTTP/1.1\r\n\r\n"),
        );
        assert!(reason(&report).contains("127.0.0.1, which is not public"));
    }
    let bare = format!("CONNECT {address} HTTP/1.1\r\n\r\n");
    let (_, report) = ask(&["*".to_owned()], &[], &bare);
    assert!(reason(&report).contains("must be listed explicitly"));
}

#[test]
fn invalid_requests_and_unreachable_hosts_are_reported() {
    let nonsense = [
        "SSH-2.0-x\r\n\r\n".to_owned(),
        "CONNECT a".to_owned(),
        "x".repeat(16 * 1024),
    ];
    for asked in nonsense {
        let (answer, report) = ask(&["*".to_owned()], &[], &asked);
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        assert_eq!(reason(&report), "the request names no host");
    }
    let (answer, report) = ask(
        &["*".to_owned()],
        &[],
        "CONNECT nowhere.example:443 HTTP/1.1\r\n\r\n",
    );
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway"), "{answer}");
    assert!(matches!(report.verdict, Verdict::Failed(_)), "{report:?}");
}
