//! The table `mesh.fleet`: what is read, and what is refused.

use super::*;
use crate::test_dir::TestDir;

/// A table that can be used.
const GOOD: &str = "[mesh.fleet]\nservers = [\"tls://nats.example.com:4222\"]\nworkspace = \"team\"\n\
user = \"ana\"\nmachine = \"laptop\"\nrepositories = [\"github.com/acme/*\"]\ncreds_env = \"CREDS\"\n";

fn read_at(ground: &TestDir, text: &str) -> Result<Option<FleetSetting>, String> {
    let homes = ground.homes();
    let disk = Disk::real();
    disk.create_dir_all(homes.user_config.parent().unwrap())
        .unwrap();
    disk.replace(&homes.user_config, text.as_bytes(), 0o600)
        .unwrap();
    let environment = [("CREDS", "ana-laptop:hunter2")].into_iter().collect();
    FleetSetting::read(&disk, &homes, &environment).map_err(|error| error.to_string())
}

fn read(text: &str) -> Result<Option<FleetSetting>, String> {
    read_at(&TestDir::new(), text)
}

/// CALC-FUT-1: without the table nothing leaves this machine.
#[test]
fn a_fleet_has_servers_a_workspace_and_credentials() {
    assert_eq!(read("[mesh]\nleases = \"warn\"\n"), Ok(None));
    let setting = read(GOOD).unwrap().unwrap();
    assert_eq!((&*setting.user, &*setting.machine), ("ana", "laptop"));
    let expected = Credentials::Password("ana-laptop".to_owned(), "hunter2".to_owned());
    assert!(setting.credentials == Some(expected));
    assert!(!format!("{setting:?}").contains("hunter2"));
}

/// A workspace is kept by as many servers as a majority can be of.
#[test]
fn a_workspace_has_an_odd_number_of_replicas() {
    assert_eq!(read(GOOD).unwrap().unwrap().replicas, 1);
    let with = |replicas: &str| read(&format!("{GOOD}replicas = {replicas}\n"));
    assert_eq!(with("3").unwrap().unwrap().replicas, 3);
    for wrong in ["0", "2", "-1", "7", "\"3\""] {
        let shown = with(wrong).unwrap_err();
        let expected = format!("`mesh.fleet.replicas` is {wrong} (allowed: 1, 3 or 5");
        assert!(shown.contains(&expected), "{shown}");
    }
}

/// TLS is required beyond this machine, and an address holds no password.
#[test]
fn only_a_server_on_this_machine_needs_no_tls_and_no_credentials() {
    for (servers, is_good) in [
        ("nats://127.0.0.1:4222", true),
        ("nats://[::1]:4222", true),
        ("nats://localhost", true),
        ("tls://nats.example.com", true),
        ("nats://nats.example.com", false),
        ("nats://127.0.0.1.example.com", false),
        ("ws://127.0.0.1:4222", false),
        ("nats://127.0.0.1:4222@evil.example", false),
        ("tls://ana:hunter2@nats.example.com", false),
    ] {
        let text = GOOD.replace("tls://nats.example.com:4222", servers);
        let read = read(&text);
        assert_eq!(read.is_ok(), is_good, "{servers}: {read:?}");
        let shown = read.err().unwrap_or_default();
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let bare = |text: &str| text.replace("creds_env = \"CREDS\"\n", "");
    assert!(read(&bare(GOOD)).unwrap_err().contains("creds_file"));
    let local = GOOD.replace("tls://nats.example.com:4222", "nats://127.0.0.1:1");
    assert!(read(&bare(&local)).unwrap().unwrap().credentials.is_none());
}

#[test]
fn each_fault_is_named_with_its_key_and_what_is_allowed() {
    for (found, instead, words) in [
        (
            "\"team\"",
            "\"My Team\"",
            "`mesh.fleet.workspace` is \"My Team\" (allowed: 1 to 32",
        ),
        ("\"ana\"", "1", "`mesh.fleet.user` is 1 (allowed"),
        ("user = \"ana\"\n", "", "`mesh.fleet.user` is missing"),
        (
            "[\"github.com/acme/*\"]",
            "[]",
            "`mesh.fleet.repositories` is []",
        ),
        ("\"CREDS\"", "\"NONE\"", "$NONE, which is not set"),
        ("creds_env", "creds", "unknown key `mesh.fleet.creds`"),
        ("\"CREDS\"", "\"a:b\"", "not a name of a variable"),
    ] {
        let error = read(&GOOD.replace(found, instead)).unwrap_err();
        assert!(error.contains(words), "{found}: {error}");
        assert!(error.contains("config.toml"), "{error}");
    }
}

#[test]
fn a_file_with_credentials_is_its_users_alone() {
    let ground = TestDir::new();
    let disk = Disk::real();
    let file = ground.homes().user_config.with_file_name("creds");
    let text = format!("creds_file = \"{}\"", file.display());
    let text = GOOD.replace("creds_env = \"CREDS\"", &text);
    assert!(
        read_at(&ground, &text)
            .unwrap_err()
            .contains("does not exist")
    );
    disk.replace(&file, b"ana-laptop:pw\n", 0o644).unwrap();
    assert!(read_at(&ground, &text).unwrap_err().contains("chmod 600"));
    disk.replace(&file, b"ana-laptop:pw\n", 0o600).unwrap();
    let setting = read_at(&ground, &text).unwrap().unwrap();
    let expected = Credentials::Password("ana-laptop".to_owned(), "pw".to_owned());
    assert!(setting.credentials == Some(expected));
}
