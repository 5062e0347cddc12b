"""The only module that knows Landlock, seccomp, namespaces, capabilities and bubblewrap."""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

if sys.platform != "win32":
    import resource

CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN = 1 << 2, 1 << 21
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, _INSTRUCTION_BYTES = 22, 2, 8
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 8, 36, 38
BOX, HOME = "/webbench/box", "/webbench/work"
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_CAPABILITY_VERSION = 0x20080522
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = (0x00000080, CLONE_NEWNS, 0x02000000, 0x04000000, 0x08000000, 0x10000000, CLONE_NEWPID, 0x40000000)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_LIBSECCOMP = "libseccomp.so.2"
_LIBC = ctypes.CDLL(None, use_errno=True)

_DENIED = """
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd pidfd_open
    pidfd_send_signal perf_event_open bpf userfaultfd add_key request_key keyctl io_uring_setup io_uring_enter
    io_uring_register mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen fsconfig fsmount
    fspick mount_setattr open_by_handle_at name_to_handle_at reboot kexec_load kexec_file_load init_module
    finit_module delete_module swapon swapoff acct quotactl quotactl_fd settimeofday clock_settime clock_adjtime
    adjtimex sethostname setdomainname iopl ioperm personality vhangup nfsservctl lookup_dcookie syslog bind
    connect memfd_create memfd_secret shmget shmat msgget semget mq_open mknod mknodat fanotify_init seccomp
"""
_OTHER_PROCESS = (
    "prlimit64",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "migrate_pages",
    "move_pages",
)
_OTHER_PRIORITY = ("setpriority", "ioprio_set")


def _call(name: str, *arguments: object) -> int:
    result: int = getattr(_LIBC, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Move the calling process into new namespaces; raise OSError where that is refused."""
    _call("unshare", flags)


def join_namespace(descriptor: int, kind: int) -> None:
    """Join the namespace of type `kind` that `descriptor` refers to."""
    _call("setns", descriptor, kind)


def mount_tmpfs(target: str, size: int, inodes: int) -> None:
    """Mount a memory file system of at most `size` bytes and `inodes` files on `target`."""
    options = f"size={size},nr_inodes={inodes},mode=0700"
    _call("mount", b"webbench", target.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options.encode())


def bind_folder(source: str, target: str) -> None:
    """Show the folder `source`, with what is mounted below it, at `target` too."""
    _call("mount", source.encode(), target.encode(), None, MS_BIND | MS_REC, None)


def keep_mounts_private() -> None:
    """Stop mounts made here from appearing in other mount namespaces."""
    _call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)


def detach(target: str) -> None:
    """Take `target` and all that is mounted below it out of the view."""
    _call("umount2", target.encode(), MNT_DETACH)


def set_process_flag(option: int, value: int) -> None:
    """Set a process flag (prctl)."""
    _call("prctl", option, value, 0, 0, 0)


def set_capabilities(mask: int) -> None:
    """Reduce the effective and permitted capabilities to `mask`; clear the inheritable ones."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    data = (ctypes.c_uint32 * 6)(mask & 0xFFFFFFFF, mask & 0xFFFFFFFF, 0, mask >> 32, mask >> 32, 0)
    _call("capset", header, data)


def become(uid: int, capabilities: int) -> None:
    """Turn root into the user and group `uid`, keeping no capabilities but `capabilities`."""
    set_process_flag(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    set_capabilities(capabilities)


def has_capability(mask: int) -> bool:
    """Return whether the calling process may use the capabilities in `mask`."""
    header, data = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    _call("capget", header, data)
    return (data[1] | data[4] << 32) & mask == mask


def rehearse(uid: int | None) -> None:
    """Do once what a zygote does for each app in its namespaces; raise OSError where that is refused."""
    if uid is not None:
        become(uid, CAP_SYS_ADMIN)
    mount_tmpfs(BOX, 1 << 20, 64)
    unshare(CLONE_NEWPID | CLONE_NEWNS)
    keep_mounts_private()
    detach("/proc")
    child = os.fork()
    if child == 0:
        os._exit(0 if os.getpid() == 1 else 1)
    if os.waitpid(child, 0)[1]:
        raise OSError(errno.EPERM, "no pid namespace")


def set_limits(limits: Mapping[str, float]) -> None:
    """Apply the resource limits of a `Limits` object, never above the hard limits found."""
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        bounded = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
        resource.setrlimit(kind, (bounded, bounded))


def landlock_abi() -> int:
    """Return the kernel's Landlock ABI version; 0 without Landlock (or leave to use it) or its binding."""
    if importlib.util.find_spec("landlockpy") is None:
        return 0
    import landlockpy

    try:
        return landlockpy.abi_version()
    except OSError:
        return 0


def load_landlock() -> None:
    """Import the Landlock binding ahead of the forks that use it."""
    importlib.import_module("landlockpy")


def seccomp_works() -> bool:
    """Return whether the libseccomp binding and the system library are both there."""
    if importlib.util.find_spec("pyseccomp") is None:
        return False
    try:
        ctypes.CDLL(_LIBSECCOMP)
    except OSError:
        return False
    return True


def wall_off_files(readable: Iterable[str], writable: Iterable[str], programs: Iterable[str]) -> None:
    """Let this process use nothing but the given files, no TCP or UDP, and no outsider by signal or socket.

    `programs` may be executed as well as read. Paths that do not exist are skipped. Rights that the
    kernel's Landlock version does not know stay open, so the caller checks the version first.
    """
    from landlockpy import AccessFS, Ruleset, Scope

    read_file, read = AccessFS.READ_FILE, AccessFS.READ_FILE | AccessFS.READ_DIR
    write = (
        read
        | AccessFS.WRITE_FILE
        | AccessFS.TRUNCATE
        | AccessFS.REFER
        | AccessFS.REMOVE_FILE
        | AccessFS.REMOVE_DIR
        | AccessFS.MAKE_REG
        | AccessFS.MAKE_DIR
        | AccessFS.MAKE_SYM
    )
    with Ruleset(scoped=Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL) as rules:
        for path in filter(os.path.exists, readable):
            rules.allow_path(path, read if os.path.isdir(path) else read_file)
        for path in filter(os.path.exists, programs):
            rules.allow_path(path, (read if os.path.isdir(path) else read_file) | AccessFS.EXECUTE)
        for path in writable:
            rules.allow_path(path, write)
        for path in filter(os.path.exists, DEVICES):
            rules.allow_path(path, AccessFS.READ_FILE | AccessFS.WRITE_FILE)
        rules.restrict()


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


@dataclass(frozen=True, slots=True)
class SystemCallFilter:
    """A filter compiled once, so that each app only has to load it."""

    program: bytes

    def load(self) -> None:
        """Apply the filter to this process, which must have given up new privileges."""
        program = _Program(len(self.program) // _INSTRUCTION_BYTES, self.program)
        _call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)


def system_call_filter(*, allow_subprocess: bool) -> SystemCallFilter:
    """Build the filter that denies new sockets, new processes, other processes and kernel administration.

    A denied call fails with EPERM (sockets: EACCES), as it would for lack of a right, so apps see an
    ordinary OSError. `clone3` is absent (ENOSYS): its flags cannot be inspected, and C libraries fall back.
    """
    seccomp = _pyseccomp()
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    denied = seccomp.ERRNO(errno.EPERM)

    def deny(name: str, *conditions: object) -> None:
        rules.add_rule(denied, name, *conditions)

    for name in _known(_DENIED.split()):
        deny(name)
    rules.add_rule(seccomp.ERRNO(errno.EACCES), "socket")
    for name in _known(_OTHER_PROCESS):
        deny(name, seccomp.Arg(0, seccomp.NE, 0))
    for name in _OTHER_PRIORITY:
        deny(name, seccomp.Arg(1, seccomp.NE, 0))
    for request in (_TIOCSTI, _TIOCLINUX):
        deny("ioctl", seccomp.Arg(1, seccomp.EQ, request))
    for flag in _CLONE_NAMESPACES:
        deny("clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    if not allow_subprocess:
        deny("clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, 0))
        for name in _known(("fork", "vfork", "execve", "execveat")):
            deny(name)
    with open(os.memfd_create("filter"), "w+b") as program:
        rules.export_bpf(program)
        program.seek(0)
        return SystemCallFilter(program.read())


def _pyseccomp() -> ModuleType:
    """Import pyseccomp without its search for libraries, which runs the linker and a C compiler."""
    if "pyseccomp" in sys.modules:
        return sys.modules["pyseccomp"]
    search = ctypes.util.find_library
    ctypes.util.find_library = lambda name: {"c": None, "seccomp": _LIBSECCOMP}[name]
    try:
        return importlib.import_module("pyseccomp")
    finally:
        ctypes.util.find_library = search


def _known(names: Sequence[str]) -> list[str]:
    """Return those system calls that this architecture has."""
    seccomp = _pyseccomp()
    return [name for name in names if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) >= 0]


def bubblewrap(readable: Sequence[str], *, user_namespace: bool) -> list[str]:
    """Return the bubblewrap command line before the program to run.

    The view holds the system's libraries, `readable`, a private /proc, four devices, and three empty
    folders: BOX (for the zygote's mounts), HOME and /tmp. Without `user_namespace` it needs root, and
    leaves the zygote the right to change its uid.
    """
    command = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--new-session", "--hostname", "webbench", "--cap-drop", "ALL"]
    command += ["--cap-add", "CAP_SYS_ADMIN"]
    if user_namespace:
        command += ["--unshare-user"]
    else:
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            command += ["--cap-add", capability]
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            command += ["--symlink", os.readlink(folder), folder]
        else:
            command += ["--ro-bind-try", folder, folder]
    shown = _outermost([path for path in readable if not _below_any(path, SYSTEM_FOLDERS)])
    for folder in [*_parents([*shown, *DEVICES, BOX, HOME]), BOX, HOME, "/tmp"]:
        command += ["--perms", "0755", "--dir", folder]
    for path in shown:
        command += ["--ro-bind-try", path, path]
    command += ["--proc", "/proc"]
    for device in DEVICES:
        command += ["--dev-bind", device, device]
    return [*command, "--remount-ro", "/", "--"]


def _below_any(path: str, folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the sorted `paths` without those that lie below another of them."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not _below_any(path, kept):
            kept.append(path)
    return kept


def _parents(paths: Iterable[str]) -> list[str]:
    """Return all folders above `paths`, outermost first; an unprivileged user must be able to pass them."""
    return sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/"})


def shown_below_tmp(readable: Iterable[str]) -> list[str]:
    """Return those of the shown paths that an empty /tmp would hide."""
    return [path for path in _outermost(readable) if path.startswith("/tmp/")]
