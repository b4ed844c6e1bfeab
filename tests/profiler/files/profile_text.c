// profile_text.c -- profiles a small net, and writes the profile as text.
#include "tests/profiler/files/profile_text.h"

#include "profiler/files/profile_json.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/work_folder.h"

Profile profile_small(void) {
    Net net = {.sizes = {20, 30, 10}, .n_sizes = 3, .batch = 4, .options = mlp_defaults()};
    net.optimizer = OPTIMIZER_ADAM;
    return net_profile(&net, 4);
}

char *profile_text_new(const Profile *profile) {
    char path[64];
    work_folder_begin();
    snprintf(path, sizeof path, "%s/profile.json", work_folder);
    ProfileTraining training = {.absent = "none"};
    JsonWriter *json = json_file_open(path);
    ck_assert_int_eq(profile_write_json(profile, &training, "it", json), STATUS_OK);
    json_t *document = json_load_file(path, 0, NULL);
    char *text = json_dumps(document, 0);
    json_decref(document);
    work_folder_end();
    return text;
}
