//! Settings files that are registered in, changed by others, and left as they were.

use callosum_executor::output_format::Dialect;
use proptest::prelude::*;

use super::*;

struct Ground {
    folder: tempfile::TempDir,
    registrar: Registrar,
    top: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let top = disk.canonicalize(folder.path()).unwrap();
        disk.create_dir_all(&top.join("project")).unwrap();
        let registrar = Registrar::new(disk, top.join("machine/hooks"), top.join("project"));
        Self {
            folder,
            registrar,
            top,
        }
    }

    fn place(&self, scope: Scope) -> SettingsFile {
        let client = Client::of(Dialect::Claude).unwrap();
        let own = self.top.join("home/.claude");
        self.registrar.place(client, scope, &own).unwrap()
    }

    fn register(&self, place: &SettingsFile) -> Change {
        let command = "/opt/callosum hook claude";
        let registered = self.registrar.register(place, command, ApplyMode::Write);
        registered.unwrap()
    }

    fn unregister(&self, place: &SettingsFile) -> Change {
        self.registrar.unregister(place, ApplyMode::Write).unwrap()
    }

    fn write(place: &SettingsFile, text: &str) {
        let disk = Disk::real();
        disk.create_dir_all(place.path.parent().unwrap()).unwrap();
        disk.replace(&place.path, text.as_bytes(), 0o644).unwrap();
    }

    fn text(place: &SettingsFile) -> Option<String> {
        let bytes = Disk::real().read_if_there(&place.path).unwrap();
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    }
}

/// CAKE-ADP-1: settings are byte-identical afterwards, however often they were registered.
#[test]
fn settings_are_afterwards_what_they_were() {
    let ground = Ground::new();
    let odd = "{ // mine\n\t\"a\" :1,\n \"hooks\":{ \"PreToolUse\":[ ] } }";
    for (scope, before) in [
        (Scope::User, None),
        (Scope::User, Some(odd)),
        (Scope::Project, None),
        (Scope::Project, Some(odd)),
    ] {
        let place = ground.place(scope);
        if let Some(before) = before {
            Ground::write(&place, before);
        }
        assert_eq!(ground.register(&place), Change::Registered);
        assert_eq!(ground.register(&place), Change::Unchanged);
        // Another place of the program, and back.
        let moved = "/usr/bin/callosum hook claude";
        ground
            .registrar
            .register(&place, moved, ApplyMode::Write)
            .unwrap();
        let commands = ground.registrar.commands(&place).unwrap();
        assert_eq!(commands, [format!("{moved} pre-tool-use")]);
        assert_eq!(ground.unregister(&place), Change::Restored);
        assert_eq!(Ground::text(&place).as_deref(), before);
        assert_eq!(ground.unregister(&place), Change::Absent);
        if before.is_none() {
            let folder = place.path.parent().unwrap();
            assert!(!Disk::real().exists(folder).unwrap());
        }
    }
    let left = Disk::real().list_dir(&ground.top.join("machine/hooks"));
    assert_eq!(left.unwrap(), []);
}

/// Settings as people and programs lay them out: their own hooks next to ours, keys in any order,
/// comments, tabs, CRLF, a byte order mark, with and without a line feed at the end.
fn laid_out() -> impl Strategy<Value = String> {
    let foreign = prop_oneof![
        Just("{ \"type\": \"command\", \"command\": \"other-guard\" }"),
        Just("{\"command\":\"sh -c 'callosum hook'\",\"type\":\"command\",\"timeout\":5}"),
    ];
    let group = (foreign, any::<bool>()).prop_map(|(handler, has_matcher)| {
        let matcher = if has_matcher {
            "\"matcher\": \"Bash|Edit\", "
        } else {
            ""
        };
        format!("{{ {matcher}\"hooks\": [ {handler} ] }}")
    });
    let groups = prop::collection::vec(group, 0..3);
    let event = prop_oneof![Just("PreToolUse"), Just("Stop"), Just("PostToolUse")];
    let hooks = prop::collection::vec((event, groups), 0..3).prop_map(|events| {
        let mut seen = std::collections::BTreeMap::new();
        seen.extend(events);
        let events = seen
            .into_iter()
            .map(|(event, groups)| format!("~~\"{event}\" : [~~~{}~~]", groups.join(",~~~")));
        format!("\"hooks\": {{~{}~}}", events.collect::<Vec<_>>().join(",~"))
    });
    let key = prop_oneof![
        Just("\"model\" :\"opus\"".to_owned()),
        Just("\"permissions\": {\"allow\": [\"Bash(ls:*)\" , \"é\\u00e9\"]}".to_owned()),
        Just("\"n\": 1.50e3".to_owned()),
        Just("\"a\": [1,2 ,3]".to_owned()),
    ];
    let keys = prop::collection::btree_set(key, 0..4);
    let comment = prop_oneof![Just(""), Just("// mine\n"), Just("/* why not */")];
    let blank = prop_oneof![
        Just(""),
        Just("\n"),
        Just("\n  "),
        Just("\n\t"),
        Just("\r\n    ")
    ];
    let end = prop_oneof![Just(""), Just("\n"), Just("\r\n"), Just("\n\n")];
    (hooks, any::<[bool; 3]>(), keys, comment, blank, end).prop_map(
        |(hooks, [has_hooks, is_first, has_mark], keys, comment, blank, end)| {
            let mut parts: Vec<String> = keys.into_iter().collect();
            let at = if is_first { 0 } else { parts.len() };
            if has_hooks {
                parts.insert(at, hooks);
            }
            let mark = if has_mark { "\u{feff}" } else { "" };
            let inner = parts.join(",~");
            let text = format!("{mark}{{~{comment}{inner}~}}{end}");
            text.replace('~', blank)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// CAKE-ADP-1: settings in any layout are restored to the byte; and while our entry is in them,
    /// everything else stays.
    #[test]
    fn settings_of_any_layout_are_afterwards_what_they_were(before in laid_out()) {
        let ground = Ground::new();
        let place = ground.place(Scope::User);
        Ground::write(&place, &before);
        prop_assert_eq!(ground.register(&place), Change::Registered);
        let during = Ground::text(&place).unwrap();
        for foreign in ["other-guard", "sh -c 'callosum hook'", "1.50e3", "é\\u00e9", "why not"] {
            let count = |text: &str| text.matches(foreign).count();
            prop_assert_eq!(count(&during), count(&before), "{}", during);
        }
        prop_assert_eq!(ground.unregister(&place), Change::Restored);
        prop_assert_eq!(Ground::text(&place).unwrap(), before);
    }

    /// CAKE-ADP-1: after removal, only a concurrent edit by another program is left.
    #[test]
    fn settings_of_any_layout_that_were_edited_hold_the_edit_alone(before in laid_out()) {
        let ground = Ground::new();
        let place = ground.place(Scope::User);
        for (from, to) in [("1.50e3", "2"), ("why not", "so"), ("other-guard", "x y")] {
            Ground::write(&place, &before);
            ground.register(&place);
            let during = Ground::text(&place).unwrap();
            Ground::write(&place, &during.replace(from, to));
            ground.unregister(&place);
            prop_assert_eq!(Ground::text(&place).unwrap(), before.replace(from, to));
        }
    }
}

#[test]
fn what_was_changed_meanwhile_stays() {
    let ground = Ground::new();
    let place = ground.place(Scope::User);
    Ground::write(&place, "{\n  \"a\": 1\n}\n");
    ground.register(&place);
    let text = Ground::text(&place).unwrap();
    Ground::write(&place, &text.replace("\"a\": 1", "\"a\": 2"));
    assert_eq!(ground.unregister(&place), Change::Removed);
    assert_eq!(Ground::text(&place).unwrap(), "{\n  \"a\": 2\n}\n");
}

/// LOA-HOOK-1: with either gate before a clear, an edit stays alone, to the byte.
#[test]
fn what_was_changed_meanwhile_stays_where_a_clear_is_gated() {
    for asked in [
        ClearGate::Plugin("/opt/callosum".to_owned()),
        ClearGate::Shadow,
    ] {
        let ground = Ground::new();
        let registrar = ground.registrar.clone().with_gate(asked);
        let place = ground.place(Scope::User);
        let before = "{ // mine\n\t\"a\" :1,\n \"hooks\":{ \"Stop\":[ ] } }";
        Ground::write(&place, before);
        let command = "/opt/callosum hook claude";
        registrar
            .register(&place, command, ApplyMode::Write)
            .unwrap();
        let text = Ground::text(&place).unwrap();
        Ground::write(&place, &text.replace("// mine", "// yours"));
        assert_eq!(ground.unregister(&place), Change::Removed);
        let after = Ground::text(&place).unwrap();
        assert_eq!(after, before.replace("mine", "yours"));
    }
}

#[test]
fn telling_what_would_be_done_writes_nothing() {
    let ground = Ground::new();
    let place = ground.place(Scope::User);
    let change = ground
        .registrar
        .register(&place, "x", ApplyMode::Tell)
        .unwrap();
    assert_eq!(change, Change::Registered);
    assert_eq!(Disk::real().list_dir(&ground.top).unwrap().len(), 1);
}

#[test]
fn a_users_link_is_written_through_and_a_projects_is_not() {
    let ground = Ground::new();
    let disk = Disk::real();
    let target = ground.top.join("dotfiles.json");
    disk.replace(&target, b"{}", 0o644).unwrap();
    for scope in [Scope::User, Scope::Project] {
        let place = ground.place(scope);
        disk.create_dir_all(place.path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&target, &place.path).unwrap();
        let registered = ground.registrar.register(&place, "x", ApplyMode::Write);
        match scope {
            Scope::User => {
                assert_eq!(registered.unwrap(), Change::Registered);
                assert_eq!(ground.unregister(&place), Change::Restored);
                assert!(ground.registrar.is_link(&place.path).unwrap());
            }
            Scope::Project => {
                assert!(matches!(registered, Err(RegisterError::LeadsOut { .. })));
            }
        }
        assert_eq!(disk.read(&target).unwrap(), b"{}");
    }
    assert!(ground.folder.path().exists());
}

/// A killed writer leaves a file next to the settings and one in the memory: the next run of either
/// kind removes them, and nothing that only looks like them.
#[test]
fn what_a_killed_process_left_goes_with_the_next_run() {
    let ground = Ground::new();
    let disk = Disk::real();
    let place = ground.place(Scope::User);
    let folder = place.path.parent().unwrap();
    let left = || {
        let memory = &ground.registrar.memory.folder;
        let settings = place.path.file_name().unwrap().to_str().unwrap();
        [
            folder.join(format!(".{settings}.1-0.tmp")),
            memory.join(".x.before.1-0.tmp"),
        ]
    };
    let others = folder.join(".other.json.1-0.tmp");
    let leave = || {
        for path in left().iter().chain([&others]) {
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(path, b"half", 0o600).unwrap();
        }
    };
    let is_left = || left().map(|path| disk.exists(&path).unwrap());
    leave();
    ground.register(&place);
    assert_eq!(is_left(), [false, false]);
    leave();
    ground.unregister(&place);
    assert_eq!(is_left(), [false, false]);
    assert!(disk.exists(&others).unwrap());
}

/// A link of the user's that leads nowhere is no matter of a project.
#[test]
fn a_users_broken_link_is_reported() {
    let ground = Ground::new();
    let place = ground.place(Scope::User);
    let disk = Disk::real();
    disk.create_dir_all(place.path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/no/such/file", &place.path).unwrap();
    let refused = ground
        .registrar
        .register(&place, "x", ApplyMode::Write)
        .unwrap_err();
    assert!(
        matches!(refused, RegisterError::LeadsNowhere { .. }),
        "{refused}"
    );
    assert!(
        refused
            .hint()
            .unwrap()
            .contains("the file that it points to")
    );
}

#[test]
fn another_projects_settings_are_remembered() {
    let ground = Ground::new();
    let place = ground.place(Scope::Project);
    ground.register(&place);
    let all = ground.registrar.remembered(&[]).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].path, place.path);
    assert_eq!(ground.registrar.remembered(&[place]).unwrap(), []);
}
