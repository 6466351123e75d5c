//! Functions of compiled languages by what they do, under the last part of their name.

/// Functions that give their string to a shell.
pub(super) const SHELL: [&str; 16] = [
    "system",
    "_system",
    "_wsystem",
    "popen",
    "_popen",
    "wordexp",
    "callCommand",
    "executeShell",
    "execShellCmd",
    "execCmd",
    "execCmdEx",
    "spawnShell",
    "pipeShell",
    "shell",
    "readCreateProcess",
    "startProcess",
];

/// Functions that run the words which they are given.
pub(super) const RUN: [&str; 27] = [
    "execl",
    "execlp",
    "execle",
    "execv",
    "execvp",
    "execvpe",
    "execve",
    "posix_spawn",
    "posix_spawnp",
    "Command",
    "CommandContext",
    "ProcessBuilder",
    "exec",
    "Exec",
    "ForkExec",
    "StartProcess",
    "Start",
    "callProcess",
    "readProcess",
    "rawSystem",
    "spawnProcess",
    "execute",
    "spawn",
    "run",
    "runSync",
    "ProcessStartInfo",
    "proc",
];

/// Functions that delete a folder with all that is in it.
pub(super) const DELETE: [&str; 18] = [
    "remove_dir_all",
    "RemoveAll",
    "remove_all",
    "deleteRecursively",
    "removeItem",
    "trashItem",
    "deleteTree",
    "deleteDirectory",
    "cleanDirectory",
    "removeDirectoryRecursive",
    "removePathForcibly",
    "rmdirRecurse",
    "removeDir",
    "rm_rf",
    "rm_r",
    "rmtree",
    "removeRecursively",
    "deleteSync",
];

/// The same, by more of their name.
pub(super) const DELETE_WHOLE: [&str; 4] = [
    "Directory.Delete",
    "IO.Directory.Delete",
    "os.walkDirRm",
    "FileUtils.forceDelete",
];

/// Functions that delete a file or an empty folder.
pub(super) const DELETE_ONE: [&str; 18] = [
    "unlink",
    "unlinkat",
    "_unlink",
    "rmdir",
    "remove",
    "remove_file",
    "remove_dir",
    "Remove",
    "Unlink",
    "delete",
    "deleteIfExists",
    "Delete",
    "deleteFile",
    "removeFile",
    "DeleteFile",
    "removeDirectory",
    "deleteOnExit",
    "deleteFileAbsolute",
];

/// Functions that go through a folder and all below it.
pub(super) const WALK: [&str; 12] = [
    "nftw",
    "ftw",
    "fts_open",
    "Walk",
    "WalkDir",
    "walk",
    "walkFileTree",
    "walkTopDown",
    "walkBottomUp",
    "walkDirRec",
    "recursive_directory_iterator",
    "EnumerateFiles",
];

/// Functions that write their first string, or empty it, by the end of their name.
pub(super) const WRITE: [&str; 15] = [
    "fs::write",
    "File::create",
    "os.WriteFile",
    "ioutil.WriteFile",
    "os.Create",
    "os.Truncate",
    "Files.write",
    "Files.writeString",
    "FileWriter",
    "FileOutputStream",
    "File.WriteAllText",
    "File.WriteAllBytes",
    "ofstream",
    "writeText",
    "writeFile",
];

/// Functions that copy or move their first string to their last, with the command that does.
pub(super) const MOVE: [(&str, &str); 9] = [
    ("fs::copy", "cp"),
    ("File.Copy", "cp"),
    ("Files.copy", "cp"),
    ("copyItem", "cp"),
    ("fs::rename", "mv"),
    ("os.Rename", "mv"),
    ("Files.move", "mv"),
    ("File.Move", "mv"),
    ("Directory.Move", "mv"),
];

/// Options by which a git library resets and discards changes, by the end of their names.
pub(super) const HARD: [&str; 4] = [
    "HardReset",
    "ResetType::Hard",
    "GIT_RESET_HARD",
    "ResetMode.Hard",
];
