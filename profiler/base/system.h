// system.h -- figures from the operating system about this process and its machine. Not here: the
// environment of a result (base/environment.h).
#ifndef PROFILER_BASE_SYSTEM_H
#define PROFILER_BASE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

// Processor time of all threads of this process, including those that ended, in seconds.
double system_processor_seconds(void);

// Processor time of the calling thread alone.
double system_thread_seconds(void);

// Seconds that all threads of this process waited for cores busy with other work. NaN: Linux does
// not report it.
double system_waiting_seconds(void);

// Number of this process's page faults so far served from memory; and the seconds of one fault and
// of giving its page back, measured now in under a millisecond. NaN: it cannot be measured.
int64_t system_page_faults(void);
double system_fault_seconds(void);

// Reads the line "key:   123 kB" of a file in /proc, in bytes; -1 if there is none.
int64_t system_bytes(const char *file, const char *key);

// True if the machine has `bytes` bytes free, plus an eighth for rounding. Linux would grant more,
// and then kill the process that uses it.
bool system_has_memory(int64_t bytes);

#endif
