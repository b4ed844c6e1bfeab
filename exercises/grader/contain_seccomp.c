// contain_seccomp.c -- the system calls of a worker, by a list: what the loader, the C library and
// arithmetic need. Any other ends the process with SIGSYS. For x86-64 and 64-bit ARM.
#include "exercises/grader/contain_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { ARCHITECTURE = AUDIT_ARCH_X86_64, FOREIGN_CALL = 0x40000000 }; // from there on: x32's
#elif defined(__aarch64__)
enum { ARCHITECTURE = AUDIT_ARCH_AARCH64, FOREIGN_CALL = 0x40000000 };
#else
enum { ARCHITECTURE = 0, FOREIGN_CALL = 0 };
#endif

static const int allowed[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_lseek,
    SYS_pread64,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_getdents64,
    SYS_getcwd,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_exit,
    SYS_exit_group,
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_futex,
    SYS_getrandom,
    SYS_sched_getaffinity,
    SYS_sched_yield,
    SYS_sysinfo,
    SYS_uname,
    SYS_getrusage,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_getpid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
#if defined(__x86_64__)
    SYS_arch_prctl,
    SYS_access,
    SYS_readlink,
    SYS_stat,
    SYS_lstat,
    SYS_time,
    SYS_pause,
#endif
};

// Refused, and known to be taken for an answer: glibc then falls back, or does without.
static const struct {
    int call, error;
} refused[] = {
    {SYS_clone3, ENOSYS}, // its flags lie in memory, where no filter sees them
    {SYS_ioctl, ENOTTY},        {SYS_fcntl, EINVAL}, {SYS_get_mempolicy, EPERM},
    {SYS_set_mempolicy, EPERM}, {SYS_mbind, EPERM},  {SYS_membarrier, EPERM},
#if defined(__x86_64__)
    {SYS_open, ENOSYS},
#endif
};

// ---- the filter --------------------------------------------------------------------------------
enum { MOST_STEPS = 256 };

typedef struct Filter {
    struct sock_filter steps[MOST_STEPS];
    unsigned short count;
} Filter;

static void add(Filter *filter, struct sock_filter step) {
    if (filter->count < MOST_STEPS) filter->steps[filter->count++] = step;
}

static void load(Filter *filter, size_t offset) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void end_with(Filter *filter, unsigned verdict) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

// The next `steps` are passed over unless what was loaded is `value`.
static void only_if(Filter *filter, unsigned value, unsigned char steps) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, steps));
}

// Passed over where one of `bits` is set.
static void only_without(Filter *filter, unsigned bits, unsigned char steps) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, steps, 0));
}

static size_t argument(int index, int half) { // little endian, both of them
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

// Reading files only; threads are refused softly, processes are not.
static void add_special(Filter *filter) {
    only_if(filter, SYS_openat, 4);
    load(filter, argument(2, 0));
    only_without(filter, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), 1);
    end_with(filter, SECCOMP_RET_ALLOW);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
    only_if(filter, SYS_clone, 4);
    load(filter, argument(0, 0));
    only_without(filter, CLONE_THREAD, 1);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
    end_with(filter, SECCOMP_RET_ERRNO | EAGAIN);
}

static void build(Filter *filter, const char *program) {
    add_begin(filter);
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        only_if(filter, (unsigned)allowed[i], 1);
        end_with(filter, SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        only_if(filter, (unsigned)refused[i].call, 1);
        end_with(filter, SECCOMP_RET_ERRNO | (unsigned)refused[i].error);
    }
    add_special(filter);
    // Limits may be read, not set. Signals to ourselves, as abort sends. And the one execve of this
    // path, known by its address: after it, nothing of the program knows that address.
    add_call_with(filter, SYS_prlimit64, 2, 0);
    add_call_with(filter, SYS_tgkill, 0, (uint64_t)getpid());
    add_call_with(filter, SYS_execve, 0, (uint64_t)(uintptr_t)program);
    end_with(filter, SECCOMP_RET_KILL_PROCESS);
}

int seccomp_enter(const char *program) {
    if (ARCHITECTURE == 0) return ENOSYS;
    Filter filter = {.count = 0};
    build(&filter, program);
    if (filter.count == MOST_STEPS) return E2BIG;
    struct sock_fprog loaded = {.len = filter.count, .filter = filter.steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loaded) != 0) return errno;
    return 0;
}
