//! Paths, and the places that they lead to.

use super::{PathClass, place};
use crate::{analyze::value::MAYBE, facts::Facts};

fn classify(text: &str) -> PathClass {
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
        ("/tmp", PathClass::Vital),
        ("/tmp/*", PathClass::Vital),
        ("..", PathClass::Vital),
        ("/tmp/t/home/*", PathClass::Vital),
        ("/tmp/t/home/.ssh", PathClass::Vital),
        ("/tmp/t/home/notes", PathClass::Outside),
        ("/tmp/t/home/scratch/x", PathClass::Free),
        ("/tmp/t/home/.cache/x", PathClass::Free),
        ("/tmp/t/home/p/target", PathClass::Inside),
        ("/tmp/other", PathClass::Free),
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
fn a_working_folder_is_not_always_a_project() {
    let within = |root: &str, git: Option<&str>| Facts {
        cwd: Some(root.to_owned()),
        home: Some("/home/u".to_owned()),
        root: Some(root.to_owned()),
        git_dir: git.map(str::to_owned),
        ..Facts::default()
    };
    for (root, text, expected) in [
        ("/", "etc", PathClass::Vital),
        ("/", "/etc/hosts", PathClass::System),
        ("/", "*", PathClass::Vital),
        ("/", "/home/u/.ssh", PathClass::Vital),
        ("/", "/home/u/src", PathClass::Outside),
        ("/etc", "hosts", PathClass::System),
        ("/usr/local", "bin", PathClass::System),
        ("/var/lib", "docker", PathClass::System),
        ("/home/u", ".ssh", PathClass::Vital),
        ("/home/u", ".ssh/id_ed25519", PathClass::Outside),
        ("/home/u", "notes.txt", PathClass::Inside),
        ("/home/u", "*", PathClass::Vital),
        ("/home", "u/src", PathClass::Outside),
        ("/usr/src/app", "a.rs", PathClass::Inside),
        ("/opt/app", "a.rs", PathClass::Inside),
        ("/var/www/html", "a.php", PathClass::Inside),
        ("/srv/app", "a.rs", PathClass::Inside),
        ("/home/u/p", "a.rs", PathClass::Inside),
    ] {
        let facts = within(root, None);
        assert_eq!(
            place(text, facts.cwd.as_deref(), &facts),
            expected,
            "{root}: {text}"
        );
    }
    let facts = within("/etc/nginx", Some("/etc/nginx/.git"));
    assert_eq!(
        place("a.conf", facts.cwd.as_deref(), &facts),
        PathClass::Inside
    );
}

/// CAKE-SHIM-1: a folder that the client was given is as a whole what the project is; of what is deleted in
/// it there is no snapshot.
#[test]
fn a_given_folder_is_protected_like_a_project() {
    let facts = Facts {
        given: vec!["/home/u/common".to_owned(), "/tmp/given".to_owned()],
        ..Facts::of_a_project()
    };
    for (text, expected) in [
        ("/home/u/common", PathClass::Project),
        ("../common/", PathClass::Project),
        ("/home/u/common/*", PathClass::Everything),
        ("/home/u/common/.git", PathClass::Git),
        ("/home/u/common/.git/config", PathClass::Git),
        ("/home/u/common/a", PathClass::Outside),
        ("/home/u/common-2", PathClass::Outside),
        ("/tmp/given", PathClass::Free),
        ("/tmp/given/.git", PathClass::Free),
    ] {
        let at = facts.cwd.as_deref();
        assert_eq!(place(text, at, &facts), expected, "{text}");
    }
}

/// CAKE-SHIM-1: a path is judged by its target, not by its spelling.
#[test]
fn paths_are_classified_by_their_target() {
    for (text, expected) in [
        ("/", PathClass::Vital),
        ("//", PathClass::Vital),
        ("/*", PathClass::Vital),
        ("/./", PathClass::Vital),
        ("/usr/..", PathClass::Vital),
        ("/etc", PathClass::Vital),
        ("/etc/passwd", PathClass::System),
        ("/home/u", PathClass::Vital),
        ("/home/u/*", PathClass::Vital),
        ("..", PathClass::Vital),
        ("../..", PathClass::Vital),
        (".", PathClass::Project),
        ("*", PathClass::Everything),
        ("./*", PathClass::Everything),
        ("target", PathClass::Inside),
        ("/home/u/p/target", PathClass::Inside),
        ("target/*", PathClass::Inside),
        ("../other", PathClass::Outside),
        ("/home/u/.ssh", PathClass::Vital),
        ("/tmp/x", PathClass::Free),
        ("/tmp/../etc", PathClass::Vital),
        ("!(keep|.git)", PathClass::Everything),
        ("[a-z]*", PathClass::Everything),
        ("./[!k]*", PathClass::Everything),
        ("[[:alpha:]]*", PathClass::Everything),
        ("*/", PathClass::Everything),
        ("^src", PathClass::Everything),
        ("dist/^keep", PathClass::Inside),
        ("dist/!(keep)", PathClass::Inside),
        ("[0-9]*", PathClass::Inside),
        ("[ab]*", PathClass::Inside),
        ("[a-z].rs", PathClass::Inside),
        (".git", PathClass::Git),
        (".git/config", PathClass::Git),
        (".gitignore", PathClass::Inside),
        (".jj/repo", PathClass::Git),
        (".hg", PathClass::Git),
        (".hgignore", PathClass::Inside),
        ("/dev/sda", PathClass::Device),
        ("/dev/null", PathClass::Sink),
        ("/dev/shm/x", PathClass::Free),
    ] {
        assert_eq!(classify(text), expected, "{text}");
    }
    assert_eq!(classify(&format!("{MAYBE}*")), PathClass::Everything);
    assert_eq!(classify(&format!("{MAYBE}*.log")), PathClass::Unknown);
    assert_eq!(classify(&format!("{MAYBE}/")), PathClass::MaybeVital);
    assert_eq!(classify(&format!("{MAYBE}/*")), PathClass::MaybeVital);
    assert_eq!(classify(&format!("/home/u/{MAYBE}")), PathClass::MaybeVital);
    assert_eq!(classify(&format!("{MAYBE}")), PathClass::Unknown);
    assert_eq!(
        classify(&format!("{MAYBE}/node_modules")),
        PathClass::Unknown
    );
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
        assert_eq!(classify(path), PathClass::Free, "{path}");
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
        assert_eq!(classify(path), PathClass::System, "{path}");
    }
    assert_eq!(classify("/run/*.pid"), PathClass::System);
}
