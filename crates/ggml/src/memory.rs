//! The host's memory: what the kernel calls available, within the limits of the control groups that hold the process.

use std::fs;
use std::path::{Path, PathBuf};

use crate::device::DeviceMemory;

/// Limits at or above this are the kernel's way to say none.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// Free and total memory of the host for this process, or `None` where the system does not tell.
pub(crate) fn host_memory() -> Option<DeviceMemory> {
    host_memory_under(Path::new("/"))
}

fn host_memory_under(root: &Path) -> Option<DeviceMemory> {
    let meminfo = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let machine = parse_meminfo(&meminfo)?;
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits =
        group_folders(root, &groups).into_iter().filter_map(|(folder, version)| group_memory(&folder, version));
    Some(limits.fold(machine, |memory, group| DeviceMemory {
        free_bytes: memory.free_bytes.min(group.free_bytes),
        total_bytes: memory.total_bytes.min(group.total_bytes),
    }))
}

fn parse_meminfo(text: &str) -> Option<DeviceMemory> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(DeviceMemory { free_bytes: field("MemAvailable")?, total_bytes: field("MemTotal")? })
}

/// The two generations of control groups name their files differently.
#[derive(Clone, Copy)]
enum Version {
    V1,
    V2,
}

/// The folders of the process's memory group and all groups around it.
fn group_folders(root: &Path, groups: &str) -> Vec<(PathBuf, Version)> {
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (mount, version) = match controllers {
            "" => ("sys/fs/cgroup", Version::V2),
            _ if controllers.split(',').any(|name| name == "memory") => ("sys/fs/cgroup/memory", Version::V1),
            _ => continue,
        };
        // In a container the path may be the host's, which is not there; the mount itself is the container's group.
        let path = Path::new(path.trim_start_matches('/'));
        folders.extend(path.ancestors().map(|group| (root.join(mount).join(group), version)));
    }
    folders
}

fn group_memory(folder: &Path, version: Version) -> Option<DeviceMemory> {
    let (limit, usage, cache) = match version {
        Version::V1 => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        Version::V2 => ("memory.max", "memory.current", "inactive_file"),
    };
    let number = |file: &str| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
    let total_bytes = number(limit).filter(|&bytes| bytes < NO_LIMIT_BYTES)?;
    // Cached files count as used and are given up when memory is needed.
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(cache)?.strip_prefix(' ')?.trim().parse::<u64>().ok());
    let used_bytes = number(usage)?.saturating_sub(cached.unwrap_or(0));
    Some(DeviceMemory { free_bytes: total_bytes.saturating_sub(used_bytes), total_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       24000 kB\nMemFree:         1000 kB\nMemAvailable:   20000 kB\n";

    /// A file system with the given files under a temporary folder.
    fn check(files: &[(&str, &str)], free_bytes: u64, total_bytes: u64) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().chain(&[("proc/meminfo", MEMINFO)]) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        assert_eq!(host_memory_under(root.path()), Some(DeviceMemory { free_bytes, total_bytes }));
    }

    #[test]
    fn available_memory_counts_without_groups() {
        check(&[], 20000 << 10, 24000 << 10);
    }

    #[test]
    fn the_narrowest_group_limits() {
        let files = [
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/memory.max", "8192000\n"),
            ("sys/fs/cgroup/outer/memory.current", "6000000\n"),
            ("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 1000000\n"),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
            ("sys/fs/cgroup/outer/inner/memory.current", "5000000\n"),
        ];
        check(&files, 8192000 - 5000000, 8192000);
    }

    #[test]
    fn the_first_generation_is_read_too() {
        let files = [
            ("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n0::/\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4096000\n"),
            ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4097000\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n"),
        ];
        check(&files, 0, 4096000);
    }

    #[test]
    fn a_containers_own_group_is_the_mount() {
        let files = [
            ("proc/self/cgroup", "0::/../somewhere/on/the/host\n"),
            ("sys/fs/cgroup/memory.max", "2048000\n"),
            ("sys/fs/cgroup/memory.current", "48000\n"),
        ];
        check(&files, 2000000, 2048000);
    }
}
