//! The gate before a clear: a plugin of ours, in a folder of the machine's home, and its name in the
//! text of Claude Code's settings.
//!
//! Claude Code tells no hook of its settings before it clears a context. A plugin's module is asked,
//! and may refuse; settings that name a folder of plugins, and one of them as wanted, load it without
//! a further step. Everything else in the settings stays, byte for byte.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use jsonc_parser::cst::{CstInputValue, CstObject};
use serde_json::json;

use super::hook_entry::{Entered, Made, SettingsError, not, parse, printed, remove};

/// Name of the plugin folders in the settings.
const FOLDERS: &str = "extraKnownMarketplaces";

/// Name of the enabled plugins in the settings.
const WANTED: &str = "enabledPlugins";

/// Our folder of plugins, and the plugin in it.
const FOLDER: &str = "callosum";
const PLUGIN: &str = "callosum@callosum";

/// Returns the settings with the gate in them, whose files are in `folder`; `None` if it is there
/// already. A person who has switched it off is not overruled.
pub(super) fn enter(text: &str, folder: &Path) -> Result<Option<Entered>, SettingsError> {
    let Some(folder) = folder.to_str() else {
        return Ok(None);
    };
    let root = parse(text)?;
    let settings = root
        .object_value_or_create()
        .ok_or(SettingsError::NotAnObject)?;
    let text_of = |text: &str| CstInputValue::String(text.to_owned());
    let source = CstInputValue::Object(vec![
        ("source".to_owned(), text_of("directory")),
        ("path".to_owned(), text_of(folder)),
    ]);
    let place = CstInputValue::Object(vec![("source".to_owned(), source)]);
    let mut made = Made::default();
    let mut is_changed = false;
    if named_folder(&settings).as_deref() != Some(folder) {
        let folders = listed(&settings, FOLDERS, &mut made)?;
        remove(&folders, FOLDER);
        folders.append(FOLDER, place);
        is_changed = true;
    }
    let wanted = listed(&settings, WANTED, &mut made)?;
    if wanted.get(PLUGIN).is_none() {
        wanted.append(PLUGIN, CstInputValue::Bool(true));
        is_changed = true;
    }
    let text = printed(text, &root);
    Ok(is_changed.then_some(Entered { text, made }))
}

/// Returns the settings without the gate; `None` if there is none. Empty containers are removed
/// too, if they are among `made`.
pub(super) fn take_out(text: &str, made: &Made) -> Result<Option<String>, SettingsError> {
    let root = parse(text)?;
    let Some(settings) = root.object_value() else {
        return Ok(None);
    };
    let mut is_there = false;
    for (list, ours) in [(FOLDERS, FOLDER), (WANTED, PLUGIN)] {
        let Some(entries) = settings.object_value(list) else {
            continue;
        };
        is_there |= entries.get(ours).is_some();
        remove(&entries, ours);
        if entries.properties().is_empty() && made.keys.iter().any(|key| key == list) {
            remove(&settings, list);
        }
    }
    Ok(is_there.then(|| printed(text, &root)))
}

/// Whether the settings name the gate, and a person has not switched it off.
pub(super) fn is_wanted(text: &str) -> Result<bool, SettingsError> {
    let root = parse(text)?;
    let settings = root.object_value();
    let wanted = settings.as_ref().and_then(|all| all.object_value(WANTED));
    let wanted = wanted.and_then(|wanted| wanted.get(PLUGIN)?.value());
    let is_on = wanted.is_some_and(|value| value.as_boolean_lit().is_some_and(|on| on.value()));
    Ok(is_on && settings.as_ref().and_then(named_folder).is_some())
}

fn named_folder(settings: &CstObject) -> Option<String> {
    let ours = settings.object_value(FOLDERS)?.object_value(FOLDER)?;
    let path = ours.object_value("source")?.get("path")?.value()?;
    path.as_string_lit()?.decoded_value().ok()
}

fn listed(settings: &CstObject, key: &str, made: &mut Made) -> Result<CstObject, SettingsError> {
    if settings.get(key).is_none() {
        made.keys.push(key.to_owned());
    }
    settings
        .object_value_or_create(key)
        .ok_or_else(|| not(key, "an object"))
}

/// Writes the plugin's files; `program` is asked before a clear.
pub(super) fn write(disk: &Disk, folder: &Path, program: &str) -> Result<(), DiskError> {
    for (name, content) in files(folder, program) {
        if let Some(folder) = name.parent() {
            disk.create_dir_all(folder)?;
        }
        if disk.read_if_there(&name)?.as_deref() != Some(content.as_bytes()) {
            disk.replace(&name, content.as_bytes(), 0o644)?;
        }
    }
    Ok(())
}

/// Returns the program that the plugin's files call; `None` if they are missing, or name none.
pub(super) fn program(disk: &Disk, folder: &Path) -> Result<Option<PathBuf>, DiskError> {
    let [.., (module, _)] = files(folder, "");
    let Some(text) = disk.read_if_there(&module)? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&text);
    let named = text.lines().find_map(|line| line.strip_prefix(NAMES));
    let named = named.and_then(|named| serde_json::from_str::<PathBuf>(named).ok());
    Ok(named)
}

/// Removes the plugin's files, and the folders that hold nothing else.
pub(super) fn remove_files(disk: &Disk, folder: &Path) -> Result<(), DiskError> {
    for (name, _) in files(folder, "") {
        disk.remove_file(&name)?;
        let folders = name.ancestors().skip(1);
        for emptied in folders.take_while(|above| above.starts_with(folder)) {
            // One that others put something into stays, and those above it.
            if disk.remove_dir(emptied).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// Takes our folder of plugins out of the list that Claude Code keeps of those it knows, in its own folder. One of the same
/// name that is not ours stays.
pub(super) fn forget(disk: &Disk, own: &Path, folder: &Path) -> Result<(), DiskError> {
    let list = own.join("plugins/known_marketplaces.json");
    let Some(bytes) = disk.read_if_there(&list)? else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(&bytes);
    // What cannot be read is Claude Code's to complain of.
    let Ok(root) = parse(&text) else {
        return Ok(());
    };
    let known = root.object_value();
    let ours = known.as_ref().and_then(|known| {
        let place = known.object_value(FOLDER)?.object_value("source")?;
        let path = place.get("path")?.value()?.as_string_lit()?;
        path.decoded_value().ok()
    });
    if let Some(known) = known.filter(|_| ours.as_deref().map(Path::new) == Some(folder)) {
        remove(&known, FOLDER);
        disk.rewrite(&list, printed(&text, &root).as_bytes(), 0o600)?;
    }
    Ok(())
}

fn files(folder: &Path, program: &str) -> [(PathBuf, String); 4] {
    let plugin = folder.join(FOLDER);
    [
        (
            folder.join(".claude-plugin/marketplace.json"),
            marketplace(),
        ),
        (plugin.join(".claude-plugin/plugin.json"), manifest()),
        (plugin.join("hooks/hooks.json"), modules()),
        (plugin.join("hooks/register.ts"), module(program)),
    ]
}

const ABOUT: &str = "Blocks /clear while decisions lack evidence";

fn marketplace() -> String {
    let plugin = json!({"name": FOLDER, "source": format!("./{FOLDER}"), "description": ABOUT});
    let all = json!({"name": FOLDER, "owner": {"name": FOLDER}, "plugins": [plugin]});
    format!("{all:#}\n")
}

fn manifest() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let plugin = json!({"name": FOLDER, "version": version, "description": ABOUT});
    format!("{plugin:#}\n")
}

fn modules() -> String {
    format!("{:#}\n", json!({"modules": ["./register.ts"]}))
}

/// The text before the program in the module.
const NAMES: &str = "const callosum = ";

/// Returns the module. It refuses on any error, and explains how to remove it.
fn module(program: &str) -> String {
    let program = serde_json::Value::from(program);
    format!(
        r"import type {{ Register }} from 'claude-code'

{NAMES}{program}

export const register: Register = on => {{
  on('command.run', {{ command: 'clear' }}, async ($, e, next) => {{
    const asked = await $.process.run([callosum, 'hook', 'claude', 'pre-clear'])
    return asked.exitCode === 0 ? next(e) : {{ text: 'Not cleared. ' + asked.stderr.trim() }}
  }}).catch(($, e, next) =>
    next.called
      ? next(e)
      : {{ text: 'Not cleared: ' + callosum + ' does not answer. `claude plugin disable {PLUGIN}` removes its gate.' }},
  )
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-HOOK-1: the gate is put in and taken out, and all else stays.
    #[test]
    fn the_gate_is_put_in_and_taken_out() {
        for before in [
            "{}",
            "{\n  // mine\n  \"enabledPlugins\": {\n    \"other@x\": true\n  },\n  \"a\": 1\n}\n",
            "{\n  \"extraKnownMarketplaces\": {}\n}\n",
        ] {
            let Entered { text, made } = enter(before, Path::new("/g")).unwrap().unwrap();
            assert!(is_wanted(&text).unwrap(), "{text}");
            assert_eq!(enter(&text, Path::new("/g")).unwrap(), None);
            let moved = enter(&text, Path::new("/h")).unwrap().unwrap().text;
            assert_eq!(moved.matches("/h").count(), 1, "{moved}");
            let after = take_out(&text, &made).unwrap().unwrap();
            let value = |text: &str| parse(text).unwrap().to_serde_value();
            assert_eq!(value(&after), value(before));
            assert_eq!(take_out(&after, &made).unwrap(), None);
        }
        let off = "{\"enabledPlugins\": {\"callosum@callosum\": false}}";
        let text = enter(off, Path::new("/g")).unwrap().unwrap().text;
        assert!(!is_wanted(&text).unwrap(), "{text}");
        assert!(enter("{\"enabledPlugins\": 7}", Path::new("/g")).is_err());
    }

    #[test]
    fn the_module_names_the_program_at_any_path() {
        let module = module("/my 'tools\"/callosum");
        assert!(module.contains("const callosum = \"/my 'tools\\\"/callosum\"\n"));
        assert!(module.contains("'hook', 'claude', 'pre-clear'"));
    }

    /// CAKE-ADP-1: the list that Claude Code keeps loses our folder of plugins and no other.
    #[test]
    fn the_list_of_known_folders_loses_ours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, own) = (Disk::real(), folder.path());
        let list = own.join("plugins/known_marketplaces.json");
        disk.create_dir_all(&own.join("plugins")).unwrap();
        let entry = |path: &str| json!({"source": {"source": "directory", "path": path}, "installLocation": path});
        forget(&disk, own, Path::new("/g")).unwrap();
        for (path, stays) in [("/g", false), ("/elsewhere", true)] {
            let text = json!({"other": entry("/o"), "callosum": entry(path)}).to_string();
            disk.replace(&list, text.as_bytes(), 0o600).unwrap();
            forget(&disk, own, Path::new("/g")).unwrap();
            let left: serde_json::Value =
                serde_json::from_slice(&disk.read(&list).unwrap()).unwrap();
            assert_eq!(left.get("callosum").is_some(), stays, "{left}");
            assert_eq!(left["other"], entry("/o"));
        }
        disk.replace(&list, b"{ broken", 0o600).unwrap();
        forget(&disk, own, Path::new("/g")).unwrap();
        assert_eq!(disk.read(&list).unwrap(), b"{ broken");
    }
}
