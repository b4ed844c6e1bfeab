// filter.c -- the lists of system calls, and the small programs (BPF) that the kernel runs for each
// call. A call that is in no list ends a worker with SIGSYS; a compiler may make it.
#include "exercises/support/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { ARCHITECTURE = AUDIT_ARCH_X86_64, FOREIGN_CALL = 0x40000000 }; // from there on: x32
#elif defined(__aarch64__)
enum { ARCHITECTURE = AUDIT_ARCH_AARCH64, FOREIGN_CALL = 0x40000000 };
#else
enum { ARCHITECTURE = 0, FOREIGN_CALL = 0 };
#endif

// clang-format off
// Calls while a worker starts: by the loader, the C library, and a student's constructors.
static const int for_start[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_close, SYS_fstat, SYS_newfstatat, SYS_statx,
    SYS_lseek, SYS_pread64, SYS_readlinkat, SYS_faccessat, SYS_faccessat2, SYS_getcwd, SYS_mmap,
    SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_exit, SYS_exit_group,
    SYS_set_tid_address, SYS_set_robust_list, SYS_rseq, SYS_futex, SYS_getrandom,
    SYS_sched_getaffinity, SYS_sched_yield, SYS_sysinfo, SYS_uname, SYS_clock_gettime,
    SYS_clock_getres, SYS_gettimeofday, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_restart_syscall, SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid,
    SYS_getegid, SYS_seccomp,
};

// Calls while it runs a student's function: open files stay open, and nothing else can be opened.
// qsort asks for the size of memory, the engine for the number of processors; abort sets and sends
// its signal.
static const int for_run[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_fstat, SYS_munmap, SYS_mremap, SYS_madvise,
    SYS_brk, SYS_futex, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_sysinfo,
    SYS_getrandom, SYS_sched_yield, SYS_sched_getaffinity, SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_restart_syscall, SYS_getpid, SYS_gettid, SYS_exit, SYS_exit_group,
};

// Calls that some kernels' Landlock lets pass. A compiler needs none of them; the linker makes its
// output executable (chmod), and accepts a refusal. We end a compiler by its session and group;
// io_uring makes calls that no filter sees; shared memory and queues would outlive the compiler.
static const int compiler_refused[] = {
    SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
    SYS_pidfd_send_signal, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_setsid, SYS_setpgid, SYS_unshare, SYS_setns, SYS_mount, SYS_socket, SYS_socketpair,
    SYS_io_uring_setup, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_add_key,
    SYS_request_key, SYS_keyctl, SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open, SYS_truncate,
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr,
    SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_utimensat,
    SYS_setpriority, SYS_ioprio_set, SYS_sched_setaffinity, SYS_sched_setscheduler,
    SYS_sched_setparam, SYS_sched_setattr, SYS_migrate_pages, SYS_move_pages,
};

// Old calls that only x86-64 has.
#if defined(__x86_64__)
static const int old_for_start[] = {
    SYS_arch_prctl, SYS_access, SYS_readlink, SYS_stat, SYS_lstat, SYS_time,
};
static const int old_for_run[] = {SYS_time};
static const int old_compiler_refused[] = {
    SYS_chmod, SYS_chown, SYS_lchown, SYS_creat, SYS_utime, SYS_utimes, SYS_futimesat,
};
#else
static const int old_for_start[] = {SYS_read}, old_for_run[] = {SYS_read};
static const int old_compiler_refused[] = {SYS_kill};
#endif
// clang-format on
// For older headers; these numbers are the same on all processors.
enum { CALL_OPENAT2 = 437, CALL_PIDFD_GETFD = 438, FIRST_UNKNOWN = 451 };

typedef struct Refusal { // a call, and an error that its callers can handle
    int call, error;
} Refusal;

static const Refusal start_refuses[] = {
    {SYS_clone3, ENOSYS}, // its flags are in memory, where no filter sees them
    {SYS_ioctl, ENOTTY},        {SYS_fcntl, EINVAL}, {SYS_get_mempolicy, EPERM},
    {SYS_set_mempolicy, EPERM}, {SYS_mbind, EPERM},  {SYS_membarrier, EPERM},
#if defined(__x86_64__)
    {SYS_open, ENOSYS},
#endif
};

static const Refusal run_refuses[] = {
    {SYS_openat, EACCES}, // the engine can do without facts about the machine
    {SYS_ioctl, ENOTTY},     {SYS_lseek, ESPIPE}, {SYS_newfstatat, ENOSYS},
    {SYS_mprotect, EPERM},   {SYS_fcntl, EINVAL}, {SYS_get_mempolicy, EPERM},
    {SYS_membarrier, EPERM}, {SYS_dup, EMFILE}, // perror can do without it
};

// ---- steps -------------------------------------------------------------------------------------
static void add(Filter *filter, struct sock_filter step) {
    if (filter->count < FILTER_MOST) filter->steps[filter->count++] = step;
}

static void load(Filter *filter, size_t offset) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void end_with(Filter *filter, unsigned verdict) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

// Skips the next `steps` instructions unless the loaded word is `value`.
static void only_if(Filter *filter, unsigned value, unsigned char steps) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, steps));
}

// Skips them if one of `bits` is set (only_without), or if none is set (only_with).
static void only_without(Filter *filter, unsigned bits, unsigned char steps) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, steps, 0));
}
static void only_with(Filter *filter, unsigned bits, unsigned char steps) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, steps));
}

static size_t argument(int index, int half) { // both processors are little endian
    return offsetof(struct seccomp_data, args) + 8 * (size_t)index + 4 * (size_t)half;
}

static void add_begin(Filter *filter) {
    load(filter, offsetof(struct seccomp_data, arch));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_CALL, 0, 1));
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
}

static void allow_all(Filter *filter, const int *calls, size_t count) {
    for (size_t i = 0; i < count; i++) {
        only_if(filter, (unsigned)calls[i], 1);
        end_with(filter, SECCOMP_RET_ALLOW);
    }
}

static void refuse(Filter *filter, int call, int error) {
    only_if(filter, (unsigned)call, 1);
    end_with(filter, SECCOMP_RET_ERRNO | (unsigned)error);
}

static void refuse_each(Filter *filter, const int *calls, size_t count) {
    for (size_t i = 0; i < count; i++) refuse(filter, calls[i], EPERM);
}

static void refuse_all(Filter *filter, const Refusal *refusals, size_t count) {
    for (size_t i = 0; i < count; i++) refuse(filter, refusals[i].call, refusals[i].error);
}

// Allows a call whose argument has this value, of 64 bits; any other value ends the process.
static void add_call_with(Filter *filter, int call, int index, uint64_t value) {
    only_if(filter, (unsigned)call, 6);
    load(filter, argument(index, 0));
    only_if(filter, (unsigned)value, 3);
    load(filter, argument(index, 1));
    only_if(filter, (unsigned)(value >> 32), 1);
    end_with(filter, SECCOMP_RET_ALLOW);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
}

// Allows abort's signal to the process itself, to no other. In bubblewrap its id differs, and it is
// alone.
static void add_abort(Filter *filter, bool alone) {
    only_if(filter, SYS_tgkill, 6);
    load(filter, argument(alone ? 2 : 0, 0));
    only_if(filter, alone ? SIGABRT : (unsigned)getpid(), 3);
    load(filter, argument(2, 0));
    only_if(filter, SIGABRT, 1);
    end_with(filter, SECCOMP_RET_ALLOW);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
}

// Refuses a thread with an error, so that a library continues without it.
static void add_thread(Filter *filter) {
    only_if(filter, SYS_clone, 4);
    load(filter, argument(0, 0));
    only_without(filter, CLONE_THREAD, 1);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
    end_with(filter, SECCOMP_RET_ERRNO | EAGAIN);
}

// ---- the filters -------------------------------------------------------------------------------
#define ALLOW(list) allow_all(filter, list, sizeof list / sizeof list[0])
#define REFUSE(list) refuse_all(filter, list, sizeof list / sizeof list[0])

static void make_start(const char *program, Filter *filter) {
    ALLOW(for_start);
    ALLOW(old_for_start);
    REFUSE(start_refuses);
    only_if(filter, SYS_openat, 4); // open files only for reading
    load(filter, argument(2, 0));
    only_without(filter, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), 1);
    end_with(filter, SECCOMP_RET_ALLOW);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
    add_thread(filter);
    add_call_with(filter, SYS_prlimit64, 2, 0); // read limits, not set them
    add_abort(filter, !program);
    // Only one execve of this path, recognised by its address, which the new program does not know.
    static const int of_bubblewrap[] = {SYS_execve, SYS_wait4}; // bubblewrap waits under this, too
    if (program)
        add_call_with(filter, SYS_execve, 0, (uint64_t)(uintptr_t)program);
    else
        ALLOW(of_bubblewrap);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
}

static void make_run(Filter *filter) {
    ALLOW(for_run);
    ALLOW(old_for_run);
    REFUSE(run_refuses);
    only_if(filter, SYS_mmap, 4); // memory, not a file
    load(filter, argument(3, 0));
    only_with(filter, MAP_ANONYMOUS, 1);
    end_with(filter, SECCOMP_RET_ALLOW);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
    add_abort(filter, false);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
}

// Refuses to truncate files opened for reading, which Landlock checks only from version 3 on.
static void add_truncation(Filter *filter, int call, int flags) {
    only_if(filter, (unsigned)call, 5);
    load(filter, argument(flags, 0));
    only_with(filter, O_TRUNC, 2);
    only_without(filter, O_WRONLY | O_RDWR, 1);
    end_with(filter, SECCOMP_RET_ERRNO | EPERM);
    end_with(filter, SECCOMP_RET_ALLOW);
}

static void make_compiler(Filter *filter) {
    refuse_each(filter, compiler_refused, sizeof compiler_refused / sizeof compiler_refused[0]);
    refuse_each(filter, old_compiler_refused,
                sizeof old_compiler_refused / sizeof old_compiler_refused[0]);
    only_if(filter, SYS_clone, 4); // processes, but no new namespaces
    load(filter, argument(0, 0));
    only_without(filter, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET, 1);
    end_with(filter, SECCOMP_RET_ALLOW);
    end_with(filter, SECCOMP_RET_ERRNO | EPERM);
    refuse(filter, SYS_clone3, ENOSYS);
    refuse(filter, CALL_OPENAT2, ENOSYS); // its flags are in memory, too
    refuse(filter, CALL_PIDFD_GETFD, EPERM);
    add_truncation(filter, SYS_openat, 2);
#if defined(__x86_64__)
    add_truncation(filter, SYS_open, 1);
#endif
    only_if(filter, SYS_prlimit64, 4); // only its own limits
    load(filter, argument(0, 0));
    only_if(filter, 0, 1);
    end_with(filter, SECCOMP_RET_ALLOW);
    end_with(filter, SECCOMP_RET_ERRNO | EPERM);
    // Calls of later kernels (new ways to change modes and times, 452 and on) do not exist here.
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1));
    end_with(filter, SECCOMP_RET_ERRNO | ENOSYS);
    end_with(filter, SECCOMP_RET_ALLOW);
}

int filter_make(FilterKind kind, const char *program, Filter *filter) {
    if (ARCHITECTURE == 0) return ENOSYS;
    filter->count = 0;
    add_begin(filter);
    if (kind == FILTER_COMPILER) make_compiler(filter);
    if (kind == FILTER_START) make_start(program, filter);
    if (kind == FILTER_RUN) make_run(filter);
    return filter->count == FILTER_MOST ? E2BIG : 0;
}

int filter_enter(const Filter *filter) {
    struct sock_fprog loaded = {.len = filter->count,
                                .filter = (struct sock_filter *)(uintptr_t)filter->steps};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loaded) != 0) return errno;
    return 0;
}
