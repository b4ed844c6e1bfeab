// fuzz_machine.c -- random bytes for the reader of machine files: for any input it returns ceilings
// that verdicts can use, or there is one message.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/machine/machine.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/json_mutator.h"

static void check_machine(const Machine *machine) {
    promise(machine->n_levels >= 1 && machine->n_levels <= MACHINE_MAX_LEVELS);
    promise(memchr(machine->fingerprint, '\0', sizeof machine->fingerprint) != NULL);
    promise(machine->threads >= 0);
    promise(machine->dispatch_seconds >= 0.0 && isfinite(machine->dispatch_seconds));
    promise(machine->wake_seconds >= 0.0 && machine->spin_seconds >= 0.0);
    promise(memchr(machine->device, '\0', sizeof machine->device) != NULL);
    promise(machine->call_seconds >= 0.0 && isfinite(machine->call_seconds));
    promise(machine->from_host_bytes_per_second >= 0.0 &&
            isfinite(machine->from_host_bytes_per_second));
    promise(machine->to_host_bytes_per_second >= 0.0 &&
            isfinite(machine->to_host_bytes_per_second));
    int64_t before = 0;
    for (int i = 0; i < machine->n_levels; i++) {
        const MachineLevel *level = &machine->levels[i];
        promise(level->name[0] && memchr(level->name, '\0', sizeof level->name) != NULL);
        promise(level->bytes > before);
        promise(machine_ridge(machine, i) > 0.0 && isfinite(machine_ridge(machine, i)));
        before = level->bytes;
    }
    promise(before == INT64_MAX);
    promise(machine_level(machine, TEAM_ALL, UINT64_MAX) == machine->n_levels - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    Machine machine;
    Status status = machine_parse((const char *)bytes, size, "input", &machine);
    if (status == STATUS_OK) {
        check_machine(&machine);
    } else {
        promise(status == STATUS_FORMAT && machine.n_levels == 0);
        promise_error(status);
    }
    promise_clean();
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return json_mutate(bytes, size, most, seed);
}
