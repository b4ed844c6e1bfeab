// system.h -- what the system says of this process and its machine. Not here: what a result was
// measured on (base/environment.h).
#ifndef PROFILER_BASE_SYSTEM_H
#define PROFILER_BASE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

// Processor time of all threads of this process, in seconds, those that ended included.
double system_processor_seconds(void);

// Processor time of the calling thread alone.
double system_thread_seconds(void);

// Seconds that all threads of this process waited for a core which others had. NaN: Linux does not
// say.
double system_waiting_seconds(void);

// Page faults of this process so far that were served from memory; and what one takes, with giving
// the page back: measured now, in less than a millisecond. NaN: it cannot be.
int64_t system_page_faults(void);
double system_fault_seconds(void);

// The line "key:   123 kB" of a file in /proc, in bytes; -1 where there is none.
int64_t system_bytes(const char *file, const char *key);

// Whether the machine has so many bytes free, and an eighth for rounding. Linux would grant more,
// and end the process that uses it.
bool system_has_memory(int64_t bytes);

#endif
