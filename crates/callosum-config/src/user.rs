//! [`user_faults`]: faults in the user's own `config.toml`, found by any of its readers.

use callosum_host::Disk;
use toml::Table;

use super::{
    Environment, FleetSetting, FleetSettingError, Homes, MeshSettings, MeshSettingsError,
    ModelSettings, ModelSettingsError, PageSetting, PageSettingError, SinkSetting,
};

/// The tables that are known.
const KNOWN: [&str; 5] = ["arbiter", "mesh", "models", "page", "sinks"];

/// Returns what is wrong with the user's own configuration, each with the file, the key, the value and what it may be;
/// nothing where there is no such file.
pub fn user_faults(disk: &Disk, homes: &Homes, environment: &Environment) -> Vec<String> {
    let sinks = SinkSetting::read_all(disk, homes, environment).err();
    let mesh = match MeshSettings::load(disk, &homes.user_config) {
        // Reported already, in fewer words and without the content.
        Err(MeshSettingsError::NotToml { .. } | MeshSettingsError::Disk(_)) if sinks.is_some() => {
            None
        }
        loaded => loaded.err(),
    };
    let models = match ModelSettings::load(disk, &homes.user_config) {
        // Reported above.
        Err(ModelSettingsError::NotToml { .. } | ModelSettingsError::Disk(_))
            if sinks.is_some() =>
        {
            None
        }
        loaded => loaded.err(),
    };
    let page = match PageSetting::read(disk, homes, environment) {
        // Reported above.
        Err(PageSettingError::Form { .. } | PageSettingError::Disk(_)) if sinks.is_some() => None,
        // The daemon may have the variable, while this shell has not.
        Err(PageSettingError::Unset { .. }) => None,
        read => read.err(),
    };
    let fleet = match FleetSetting::read(disk, homes, environment) {
        // Reported above.
        Err(FleetSettingError::NotToml { .. } | FleetSettingError::Disk(_)) if sinks.is_some() => {
            None
        }
        // The daemon may have the variable, while this shell has not.
        Err(FleetSettingError::Unset { .. }) => None,
        read => read.err(),
    };
    let mesh = mesh.map(|error| error.to_string());
    let fleet = fleet.map(|error| error.to_string());
    let models = models.map(|error| error.to_string());
    let sinks = sinks.map(|error| error.to_string());
    let page = page.map(|error| error.to_string());
    let known = mesh
        .into_iter()
        .chain(fleet)
        .chain(models)
        .chain(page)
        .chain(sinks);
    known.chain(unknown(disk, homes)).collect()
}

/// The unknown keys. Their values are not shown: one may be an address.
fn unknown(disk: &Disk, homes: &Homes) -> Vec<String> {
    let path = &homes.user_config;
    // The file's readers report that it cannot be read.
    let bytes = disk.read_if_there(path).ok().flatten();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let table: Option<Table> = text.and_then(|text| text.parse().ok());
    let keys = table.unwrap_or_default();
    let unknown = keys.keys().filter(|key| !KNOWN.contains(&key.as_str()));
    let unknown = unknown.map(|key| {
        let allowed = KNOWN.join(", ");
        format!(
            "{}: unknown key `{}` (allowed: {allowed})",
            path.display(),
            key.escape_debug()
        )
    });
    unknown.collect()
}
