//! Opens this machine's mesh, and tells whether it exists.
//!
//! Start with [`is_begun`], which creates nothing; [`open`] creates the mesh and names it after the machine.

use std::path::Path;

use callosum_host::{Clock, Disk, DiskError, Ids, machine};

use crate::{Mesh, MeshError};

/// Whether the folder has a mesh. Creates nothing.
pub fn is_begun(disk: &Disk, folder: &Path) -> Result<bool, DiskError> {
    disk.exists(&folder.join("origin"))
}

/// Opens the mesh in a folder, and creates it if there is none.
pub fn open(disk: &Disk, clock: &Clock, ids: &Ids, folder: &Path) -> Result<Mesh, MeshError> {
    let name = machine::name().unwrap_or_else(|| "unknown".to_owned());
    Mesh::open(disk, clock, ids, folder, &name)
}
