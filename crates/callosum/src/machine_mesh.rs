//! The mesh of this machine, for whoever is not sure that there is one: [`is_begun`], and [`open`] under the machine's name.

use std::path::Path;

use callosum_host::{Clock, Disk, DiskError, Ids, machine};
use callosum_mesh::{Mesh, MeshError};

/// Whether there is a mesh in this folder. Makes none.
pub(crate) fn is_begun(disk: &Disk, folder: &Path) -> Result<bool, DiskError> {
    disk.exists(&folder.join("origin"))
}

/// Opens the mesh in this folder, which is made where there is none.
pub(crate) fn open(
    disk: &Disk,
    clock: &Clock,
    ids: &Ids,
    folder: &Path,
) -> Result<Mesh, MeshError> {
    let name = machine::name().unwrap_or_else(|| "unknown".to_owned());
    Mesh::open(disk, clock, ids, folder, &name)
}
