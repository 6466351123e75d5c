//! Paths, and the places that they lead to.

use super::{Place, place};
use crate::{analyze::value::MAYBE, facts::Facts};

fn of(text: &str) -> Place {
    let facts = Facts::of_a_project();
    place(text, facts.cwd.as_deref(), &facts)
}

/// CAKE-SHIM-1: a home or a project among temporary folders is no less a home or a project.
#[test]
fn what_lies_among_temporary_folders_may_be_vital() {
    let facts = Facts {
        cwd: Some("/tmp/t/home/p".to_owned()),
        home: Some("/tmp/t/home".to_owned()),
        root: Some("/tmp/t/home/p".to_owned()),
        free: vec!["/tmp".to_owned(), "/tmp/t/home/scratch".to_owned()],
        ..Facts::default()
    };
    for (text, expected) in [
        ("/tmp", Place::Vital),
        ("/tmp/*", Place::Vital),
        ("..", Place::Vital),
        ("/tmp/t/home/*", Place::Vital),
        ("/tmp/t/home/.ssh", Place::Vital),
        ("/tmp/t/home/notes", Place::Outside),
        ("/tmp/t/home/scratch/x", Place::Free),
        ("/tmp/t/home/.cache/x", Place::Free),
        ("/tmp/t/home/p/target", Place::Inside),
        ("/tmp/other", Place::Free),
    ] {
        assert_eq!(
            place(text, facts.cwd.as_deref(), &facts),
            expected,
            "{text}"
        );
    }
}

/// CAKE-SHIM-1: a folder of the system or the home does not become a project by being begun in.
#[test]
fn where_somebody_begins_is_not_always_a_project() {
    let within = |root: &str, git: Option<&str>| Facts {
        cwd: Some(root.to_owned()),
        home: Some("/home/u".to_owned()),
        root: Some(root.to_owned()),
        git_dir: git.map(str::to_owned),
        ..Facts::default()
    };
    for (root, text, expected) in [
        ("/", "etc", Place::Vital),
        ("/", "/etc/hosts", Place::System),
        ("/", "*", Place::Vital),
        ("/", "/home/u/.ssh", Place::Vital),
        ("/", "/home/u/src", Place::Outside),
        ("/etc", "hosts", Place::System),
        ("/usr/local", "bin", Place::System),
        ("/var/lib", "docker", Place::System),
        ("/home/u", ".ssh", Place::Vital),
        ("/home/u", ".ssh/id_ed25519", Place::Outside),
        ("/home/u", "notes.txt", Place::Inside),
        ("/home/u", "*", Place::Vital),
        ("/home", "u/src", Place::Outside),
        ("/usr/src/app", "a.rs", Place::Inside),
        ("/opt/app", "a.rs", Place::Inside),
        ("/var/www/html", "a.php", Place::Inside),
        ("/srv/app", "a.rs", Place::Inside),
        ("/home/u/p", "a.rs", Place::Inside),
    ] {
        let facts = within(root, None);
        assert_eq!(
            place(text, facts.cwd.as_deref(), &facts),
            expected,
            "{root}: {text}"
        );
    }
    let facts = within("/etc/nginx", Some("/etc/nginx/.git"));
    assert_eq!(place("a.conf", facts.cwd.as_deref(), &facts), Place::Inside);
}

/// CAKE-SHIM-1: a folder that the client was given is as a whole what the project is; of what is deleted in
/// it there is no snapshot.
#[test]
fn what_was_given_is_no_less_somebodys_work() {
    let facts = Facts {
        given: vec!["/home/u/common".to_owned(), "/tmp/given".to_owned()],
        ..Facts::of_a_project()
    };
    for (text, expected) in [
        ("/home/u/common", Place::Project),
        ("../common/", Place::Project),
        ("/home/u/common/*", Place::Everything),
        ("/home/u/common/.git", Place::Git),
        ("/home/u/common/.git/config", Place::Git),
        ("/home/u/common/a", Place::Outside),
        ("/home/u/common-2", Place::Outside),
        ("/tmp/given", Place::Free),
        ("/tmp/given/.git", Place::Free),
    ] {
        let at = facts.cwd.as_deref();
        assert_eq!(place(text, at, &facts), expected, "{text}");
    }
}

/// CAKE-SHIM-1: a path is judged by where it leads, not by how it is spelled.
#[test]
fn paths_are_told_apart_by_where_they_lead() {
    for (text, expected) in [
        ("/", Place::Vital),
        ("//", Place::Vital),
        ("/*", Place::Vital),
        ("/./", Place::Vital),
        ("/usr/..", Place::Vital),
        ("/etc", Place::Vital),
        ("/etc/passwd", Place::System),
        ("/home/u", Place::Vital),
        ("/home/u/*", Place::Vital),
        ("..", Place::Vital),
        ("../..", Place::Vital),
        (".", Place::Project),
        ("*", Place::Everything),
        ("./*", Place::Everything),
        ("target", Place::Inside),
        ("/home/u/p/target", Place::Inside),
        ("target/*", Place::Inside),
        ("../other", Place::Outside),
        ("/home/u/.ssh", Place::Vital),
        ("/tmp/x", Place::Free),
        ("/tmp/../etc", Place::Vital),
        ("!(keep|.git)", Place::Everything),
        ("[a-z]*", Place::Everything),
        ("./[!k]*", Place::Everything),
        ("[[:alpha:]]*", Place::Everything),
        ("*/", Place::Everything),
        ("^src", Place::Everything),
        ("dist/^keep", Place::Inside),
        ("dist/!(keep)", Place::Inside),
        ("[0-9]*", Place::Inside),
        ("[ab]*", Place::Inside),
        ("[a-z].rs", Place::Inside),
        (".git", Place::Git),
        (".git/config", Place::Git),
        (".gitignore", Place::Inside),
        (".jj/repo", Place::Git),
        (".hg", Place::Git),
        (".hgignore", Place::Inside),
        ("/dev/sda", Place::Device),
        ("/dev/null", Place::Sink),
        ("/dev/shm/x", Place::Free),
    ] {
        assert_eq!(of(text), expected, "{text}");
    }
    assert_eq!(of(&format!("{MAYBE}*")), Place::Everything);
    assert_eq!(of(&format!("{MAYBE}*.log")), Place::Unknown);
    assert_eq!(of(&format!("{MAYBE}/")), Place::MaybeVital);
    assert_eq!(of(&format!("{MAYBE}/*")), Place::MaybeVital);
    assert_eq!(of(&format!("/home/u/{MAYBE}")), Place::MaybeVital);
    assert_eq!(of(&format!("{MAYBE}")), Place::Unknown);
    assert_eq!(of(&format!("{MAYBE}/node_modules")), Place::Unknown);
}

/// CAKE-SHIM-1: a file that a service makes again at each start is free, and what the machine is reached by is not.
#[test]
fn numbers_and_sockets_of_services_are_free() {
    for path in [
        "/run/app/app.pid",
        "/run/nginx.pid",
        "/var/run/app.sock",
        "/run/user/1000/app.socket",
        "/var/run/app/app.lock",
    ] {
        assert_eq!(of(path), Place::Free, "{path}");
    }
    for path in [
        "/run/app",
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private.sock",
        "/run/containerd/containerd.sock",
        "/run/app/state.db",
        "/run/*/app.pid",
    ] {
        assert_eq!(of(path), Place::System, "{path}");
    }
    assert_eq!(of("/run/*.pid"), Place::System);
}
