// fuzz_machine.c -- random bytes for the reader of machine files: whatever comes, it answers with
// ceilings that can be judged by, or with one message.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/machine/machine.h"
#include "tests/fuzz/fuzzer.h"

static void promise(bool kept) {
    if (!kept) abort();
}

static void check_machine(const Machine *machine) {
    promise(machine->n_levels >= 1 && machine->n_levels <= MACHINE_MAX_LEVELS);
    promise(memchr(machine->fingerprint, '\0', sizeof machine->fingerprint) != NULL);
    promise(machine->threads >= 0);
    promise(machine->dispatch_seconds >= 0.0 && isfinite(machine->dispatch_seconds));
    promise(machine->wake_seconds >= 0.0 && machine->spin_seconds >= 0.0);
    promise(machine->cores_had >= 0.0 && machine->cores_had <= 1.0);
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
        promise(!error_pending());
        check_machine(&machine);
    } else {
        promise(status == STATUS_FORMAT && error_status() == status);
        promise(strstr(error_message(), "HINT") != NULL && machine.n_levels == 0);
    }
    error_clear();
    return 0;
}

size_t fuzzer_seed(int index, uint8_t bytes[FUZZER_MAX_INPUT]) {
    static const char *const seeds[] = {
        "{\"peak_flops_per_second\": 1e11, \"levels\": [{\"name\": \"DRAM\", "
        "\"bytes_per_second\": 2e10}]}",
        "{\"schema\": \"ridgepoint.machine/v1\", \"fingerprint\": \"CPU \\u00e9\", \"threads\": 2, "
        "\"source\": \"measured\", \"peak_flops_per_second\": 333e9, \"levels\": [{\"name\": "
        "\"L1\", \"bytes\": 98304, \"bytes_per_second\": 6e11, \"ridge\": 0.5}, {\"name\": \"L2\", "
        "\"bytes\": 2e6, \"bytes_per_second\": 3e11}, {\"name\": \"DRAM\", \"bytes\": null, "
        "\"bytes_per_second\": 3e10}], \"dispatch_seconds\": 4e-8, \"wake_seconds\": 5e-5, "
        "\"spin_seconds\": 1e-7, \"cores_had\": 1}",
        "{\"peak_flops_per_second\": 5e13, \"device\": \"NVIDIA H200\", \"levels\": [{\"name\": "
        "\"L2\", \"bytes\": 52428800, \"bytes_per_second\": 9e12}, {\"name\": \"DRAM\", "
        "\"bytes_per_second\": 4e12, \"fill_bytes_per_second\": 4e12, \"move_bytes_per_second\": "
        "5e12, \"one_thread\": {\"bytes\": "
        "64, \"move_bytes_per_second\": 1e12}}], \"root_seconds\": 1e-10, \"division_seconds\": "
        "1e-10, \"dispatch_seconds\": 2e-6, \"call_seconds\": 3e-6, "
        "\"host_to_device_bytes_per_second\": 1e10, \"device_to_host_bytes_per_second\": 1e10}"};
    if (index >= (int)(sizeof seeds / sizeof seeds[0])) return 0;
    memcpy(bytes, seeds[index], strlen(seeds[index]));
    return strlen(seeds[index]);
}
