//! Functions of all the languages by what they do, under the last part of their name.

/// Functions that run a string, by the last part of their name.
pub(super) const RUN: &[&str] = &[
    "system",
    "popen",
    "popen2",
    "popen3",
    "open2",
    "open3",
    "getoutput",
    "getstatusoutput",
    "check_output",
    "check_call",
    "call",
    "run",
    "Popen",
    "exec",
    "execSync",
    "spawn",
    "spawnSync",
    "execFile",
    "execFileSync",
    "shell_exec",
    "passthru",
    "proc_open",
    "execl",
    "execlp",
    "execv",
    "execvp",
    "execve",
    "execle",
    "execvpe",
    "posix_spawnp",
    "spawnl",
    "spawnlp",
    "spawnv",
    "spawnvp",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "capture2",
    "capture2e",
    "capture3",
    "execute",
    "qx",
    "%x",
    "sh",
    "script",
    "system2",
    "shell",
    "posix_spawn",
    "startfile",
    "command",
    "Command",
    "cmd",
    "$",
    "shell-command",
    "call-process",
    "getline",
    "execa",
    "execaSync",
    "execaCommand",
    "cputs",
    "eval",
];

/// Functions that give a statement to a database.
pub(super) const ASKS: &[&str] = &[
    "execute",
    "executescript",
    "exec",
    "query",
    "run",
    "raw",
    "unsafe",
    "$executeRawUnsafe",
    "$queryRawUnsafe",
];

/// Functions that open one.
pub(super) const OPENS: &[&str] = &[
    "connect",
    "create_engine",
    "Database",
    "DatabaseSync",
    "Client",
    "Pool",
];

/// Functions that delete what they are given.
pub(super) const DELETE: &[&str] = &[
    "rmtree",
    "remove_tree",
    "rm_rf",
    "rm_r",
    "rmSync",
    "rimraf",
    "rimrafSync",
    "deleteDir",
    "removeSync",
    "remove_dir_all",
    "emptyDirSync",
    "remove_entry_secure",
    "deltree",
    "remove_dir",
    "delete-directory",
    "delete-tree",
    "del_dir_r",
];

/// Functions that delete one file or an empty folder.
pub(super) const DELETE_ONE: &[&str] = &[
    "unlink",
    "unlinkSync",
    "rmdir",
    "rmdirSync",
    "remove",
    "removedirs",
    "delete",
    "rm",
    "rm_f",
    "delete-file",
];

/// Functions that write what their first argument names.
pub(super) const WRITE: &[&str] = &[
    "writeFileSync",
    "writeFile",
    "appendFileSync",
    "appendFile",
    "file_put_contents",
    "createWriteStream",
    "truncateSync",
    "truncate",
    "write_text",
    "write_bytes",
    "outputFileSync",
    "writeTextFileSync",
    "writeTextFile",
];

/// Functions that copy their first argument to their last, by all of their name or its last part.
pub(super) const COPY: &[&str] = &[
    "shutil.copy",
    "shutil.copy2",
    "shutil.copyfile",
    "shutil.copytree",
    "copyfile",
    "copytree",
    "copyFile",
    "copyFileSync",
    "cpSync",
    "copySync",
    "FileUtils.cp",
    "FileUtils.cp_r",
];

/// Functions that move it there.
pub(super) const MOVE: &[&str] = &[
    "os.rename",
    "os.renames",
    "os.replace",
    "shutil.move",
    "fs.rename",
    "renameSync",
    "moveSync",
    "FileUtils.mv",
    "File.rename",
    "rename",
];

/// Functions that make their last argument a link to the first.
pub(super) const LINK: &[&str] = &[
    "symlink",
    "symlinkSync",
    "os.link",
    "linkSync",
    "ln_s",
    "ln_sf",
];
