//! Users of the server: what each machine may do, and what becomes of one whose credentials are revoked.

use crate::{
    machine::{Machine, check_logs, sync_all},
    nats_server::NatsServer,
};

/// Users of a server, as `docs/fleet.md` has them.
pub(crate) fn users(machines: &[&str]) -> String {
    let users: String = machines.iter().map(|machine| user(machine)).collect();
    format!("authorization {{ users = [\n{users}] }}")
}

fn user(machine: &str) -> String {
    format!(
        r#"
  {{ user: "ana-{machine}", password: "pw-{machine}", permissions: {{
    publish: {{ allow: [
      "callosum.team.events.ana.{machine}.>",
      "$KV.callosum_team.task.*", "$KV.callosum_team.clock", "$KV.callosum_team.machine.ana.{machine}",
      "$JS.API.INFO",
      "$JS.API.STREAM.INFO.callosum_team", "$JS.API.STREAM.INFO.KV_callosum_team",
      "$JS.API.STREAM.CREATE.callosum_team", "$JS.API.STREAM.CREATE.KV_callosum_team",
      "$JS.API.STREAM.MSG.GET.callosum_team", "$JS.API.STREAM.MSG.GET.KV_callosum_team",
      "$JS.API.CONSUMER.*.callosum_team.ana_{machine}", "$JS.API.CONSUMER.MSG.NEXT.callosum_team.ana_{machine}",
      "$JS.ACK.callosum_team.ana_{machine}.>" ] }}
    subscribe: {{ allow: ["_INBOX_ana_{machine}.>"] }} }} }}
"#
    )
}

pub(crate) fn creds(machine: &Machine, user: &str) -> String {
    let file = machine.env.home().join("creds");
    std::fs::write(&file, format!("ana-{user}:pw-{user}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, mode).unwrap();
    format!("creds_file = \"{}\"", file.display())
}

fn with_creds(name: &'static str, server: &NatsServer) -> Machine {
    let machine = Machine::new(name, server, "");
    let more = creds(&machine, name);
    machine.configure(&server.address(), &more);
    machine
}

/// CALC-FUT-1: the permissions of the documentation are enough, and a revoked credential stops at once.
#[test]
fn a_revoked_credential_stops_at_once() {
    let mut server = NatsServer::with(&users(&["one", "two"]));
    let (one, two) = (with_creds("one", &server), with_creds("two", &server));
    for machine in [&one, &two] {
        machine.run(&["mesh", "fleet", "join"]).success();
    }
    one.add("t", "work");
    one.add("u", "more work");
    sync_all(&[&one, &two]);
    two.claim("t").success();
    let doctor = one.run(&["mesh", "fleet", "doctor", "--json"]).success();
    assert_eq!(doctor.json()["ok"], true, "{}", doctor.stdout);
    server.reload(&users(&["one"]));
    let refused = (0..100).find_map(|_| {
        let synced = two.run(&["mesh", "fleet", "sync"]);
        std::thread::sleep(std::time::Duration::from_millis(50));
        (synced.code != 0).then_some(synced)
    });
    let refused = refused.expect("a revoked credential is refused");
    assert!(
        refused.stderr.contains("refuses this machine"),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("pw-two"), "{}", refused.stderr);
    assert_eq!(two.status()["refused"], true);
    let claim = two.claim("u").ended_with(3);
    assert!(
        claim.stderr.contains("refuses this machine"),
        "{}",
        claim.stderr
    );
    // The others go on.
    one.claim("u").success();
    one.sync();
    check_logs(&[&one, &two]);
}

/// CALC-FUT-1: two people: a machine cannot send in the name of another.
#[test]
fn a_machine_does_not_send_in_the_name_of_another() {
    let server = NatsServer::with(&users(&["one", "two"]));
    let one = with_creds("one", &server);
    one.run(&["mesh", "fleet", "join"]).success();
    // The credentials of the second machine, under the name of the third.
    let eve = Machine::new("three", &server, "");
    let more = creds(&eve, "two");
    eve.configure(&server.address(), &more);
    let refused = eve.run(&["mesh", "fleet", "join"]);
    assert_ne!(refused.code, 0, "{}", refused.stdout);
    let wrong = Machine::new("two", &server, "");
    let more = creds(&wrong, "nobody");
    wrong.configure(&server.address(), &more);
    let refused = wrong.run(&["mesh", "fleet", "join"]).ended_with(3);
    assert!(
        refused.stderr.contains("refuses this machine"),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("pw-nobody"), "{}", refused.stderr);
}
