// machine_write.c -- writes ceilings into a file of their own or into a profile. Not here: reading
// them (machine_read.c).
#include "profiler/machine/machine_parts.h"

#include <math.h>

#include "profiler/base/json_writer.h"
#include "tensor/given.h"

static void write_rate_if_there(JsonWriter *json, const char *key, double rate) {
    if (rate > 0.0) member_real(json, key, rate);
}

static void write_rates(JsonWriter *json, const MachineRates *rates) {
    write_rate_if_there(json, "fill_bytes_per_second", rates->fill);
    write_rate_if_there(json, "store_bytes_per_second", rates->store);
    write_rate_if_there(json, "move_bytes_per_second", rates->move);
}

// Writes one thread's values, if they were measured separately.
static void write_alone(JsonWriter *json, const MachineLevel *level) {
    bool own_bytes = level->bytes_alone > 0 && level->bytes_alone != level->bytes;
    if (!own_bytes && !(level->rates[TEAM_ONE].fill > 0.0)) return;
    json_writer_begin_object(json_writer_key(json, "one_thread"));
    if (level->bytes_alone > 0) member_integer(json, "bytes", level->bytes_alone);
    write_rates(json, &level->rates[TEAM_ONE]);
    json_writer_end_object(json);
}

void machine_write_raise(JsonWriter *json, const MachineRaise *raise) {
    if (!(raise->by > 0.0)) return;
    member_real(json, "raised", raise->by);
    member_text(json, "raised_by", raise->op);
}

void machine_write_levels(JsonWriter *json, const Machine *machine) {
    json_writer_begin_array(json_writer_key(json, "levels"));
    for (int i = 0; i < machine->n_levels; i++) {
        const MachineLevel *level = &machine->levels[i];
        json_writer_begin_record(json);
        member_text(json, "name", level->name);
        member_integer_if(json, level->bytes < INT64_MAX, "bytes", level->bytes);
        member_real(json, "bytes_per_second", level->bytes_per_second);
        member_real(json, "ridge", machine_ridge(machine, i));
        write_rate_if_there(json, "now", level->now);
        machine_write_raise(json, &level->raise);
        write_rates(json, &level->rates[TEAM_ALL]);
        write_alone(json, level);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    write_rate_if_there(json, "one_thread_flops_per_second", machine->peak_alone);
    write_rate_if_there(json, "root_seconds", machine->root_seconds);
    write_rate_if_there(json, "division_seconds", machine->division_seconds);
}

static void write_rate(JsonWriter *json, const char *key, double rate) {
    member_real(json, key, rate > 0.0 ? rate : (double)NAN); // null if a file did not give it
}

void machine_write_device(JsonWriter *json, const Machine *machine) {
    if (!machine->device[0]) return;
    member_text(json, "device", machine->device);
    write_rate(json, "call_seconds", machine->call_seconds);
    write_rate(json, "host_to_device_bytes_per_second", machine->from_host_bytes_per_second);
    write_rate(json, "device_to_host_bytes_per_second", machine->to_host_bytes_per_second);
}

Status machine_write(const Machine *machine, const char *path) {
    if (!GIVEN(machine)) return STATUS_INVALID_ARGUMENT;
    JsonWriter *json = json_file_open(path);
    if (!json) return error_status();
    json_writer_begin_object(json);
    member_text(json, "schema", MACHINE_SCHEMA);
    member_text(json, "fingerprint", machine->fingerprint);
    member_integer_if(json, machine->threads > 0, "threads", machine->threads);
    member_text(json, "source", machine->measured ? "measured" : "given");
    member_real(json, "peak_flops_per_second", machine->peak_flops_per_second);
    machine_write_levels(json, machine);
    member_real(json, "dispatch_seconds", machine->dispatch_seconds);
    member_real(json, "wake_seconds", machine->wake_seconds);
    member_real(json, "spin_seconds", machine->spin_seconds);
    if (machine->memory_bytes > 0) member_integer(json, "memory_bytes", machine->memory_bytes);
    if (machine->low_profiles > 0) {
        member_integer(json, "low_profiles", machine->low_profiles);
        member_integer(json, "low_since", machine->low_since);
    }
    machine_write_device(json, machine);
    json_writer_end_object(json);
    return json_writer_close(json);
}
