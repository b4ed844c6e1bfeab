// comparison_json.c -- several profiles as one JSON document, each as profile_json.c writes it.
#include "profiler/files/profile_json.h"
#include "profiler/files/profile_json_parts.h"

Status profile_write_json_each(const Profile *const profiles[], int n, const char *command,
                               JsonWriter *json) {
    const ProfileTraining none = {.absent = "networks are compared, not trained"};
    json_writer_begin_object(json);
    member_text(json, "schema", "ridgepoint.comparison/v1");
    json_created(json);
    member_text(json, "command", command);
    json_writer_begin_array(json_writer_key(json, "models"));
    for (int i = 0; i < n; i++) json_document(json, profiles[i], &none, command);
    json_writer_end_array(json);
    json_writer_end_object(json);
    if (!error_pending()) return json_writer_close(json);
    json_writer_discard(json);
    return error_status();
}
