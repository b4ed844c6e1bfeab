// profile_file.c -- writes profile_json.h's document for programs without a JSON writer.
#include "profiler/files/profile_file.h"

#include "profiler/files/profile_json.h"
#include "tensor/given.h"

Status profile_write_file(const Profile *profile, const char *command, const char *path) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    const ProfileTraining none = {.absent = "not a part of this profile"};
    JsonWriter *json = json_file_open(path);
    if (!json) return error_status();
    return profile_write_json(profile, &none, command, json);
}
