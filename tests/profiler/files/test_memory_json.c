// test_memory_json.c -- memory over one step as a document: read back and added up again; and the
// state of the allocator at its end.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/report/memory_curve.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/report/profile_kinds.h"

enum { NETS = 24 };

// ---- the document ----------------------------------------------------------------------------
static json_t *document_of(const Profile *profile) {
    char path[] = "/tmp/memory-XXXXXX";
    json_error_t error;
    close(mkstemp(path));
    ck_assert_int_eq(memory_write_json(profile, path), STATUS_OK);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(document != NULL, "%s", error.text);
    unlink(path);
    return document;
}

static json_int_t integer(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s is no integer", key);
    return json_integer_value(value);
}

static void check_use(json_t *object, const MemoryUse *use) {
    json_int_t sum = 0;
    for (int c = 0; c < MEM_COUNT; c++) {
        char key[32];
        snprintf(key, sizeof key, "%s_bytes", memory_category_name((MemoryCategory)c));
        sum += integer(object, key);
        ck_assert_int_eq(integer(object, key), use->category[c]);
    }
    ck_assert_int_eq(integer(object, "total_bytes"), sum);
}

static json_int_t sum_of(json_t *document, const char *list, const char *key) {
    json_int_t sum = 0;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(document, list), i, item) sum += integer(item, key);
    return sum;
}

static void check_optimizers(json_t *document, const Profile *profile) {
    json_t *optimizers = json_object_get(document, "optimizers"), *item;
    size_t i;
    int in_use = 0;
    if (profile->kind != PROFILE_TRAINING) {
        ck_assert(json_is_null(optimizers) && json_object_get(document, "optimizers_reason"));
        return;
    }
    ck_assert_int_eq(json_array_size(optimizers), OPTIMIZER_COUNT);
    json_array_foreach(optimizers, i, item) {
        if (!json_is_true(json_object_get(item, "in_use"))) continue;
        in_use++;
        ck_assert_int_eq(integer(item, "peak_bytes"), profile->measured.peak.total);
    }
    ck_assert_int_eq(in_use, 1);
}

START_TEST(a_document_adds_up) {
    Profile profile = profile_random(_i, (ProfileKind)(_i % PROFILE_KINDS));
    json_t *document = document_of(&profile), *points = json_object_get(document, "points");
    json_t *state = json_object_get(document, "state");
    ck_assert_str_eq(json_string_value(json_object_get(document, "schema")),
                     "ridgepoint.memory/v1");
    ck_assert_int_eq(json_array_size(points), (size_t)profile.n_ops + 1);
    for (int64_t i = 0; i < profile.n_ops; i++) {
        json_t *point = json_array_get(points, (size_t)i);
        const ProfileOp *op = &profile.ops[i];
        const char *layer = json_string_value(json_object_get(point, "layer"));
        ck_assert_str_eq(json_string_value(json_object_get(point, "op")), op->record.op->name);
        ck_assert_str_eq(layer, profile.layers[op->layer].path);
        ck_assert_int_le(integer(point, "total_bytes"), profile.measured.peak.total);
    }
    check_use(json_object_get(document, "start"), &profile.measured.start);
    check_use(json_array_get(points, (size_t)integer(document, "peak")), &profile.measured.peak);
    ck_assert_int_eq(sum_of(document, "shares", "bytes"), integer(document, "peak_bytes"));
    ck_assert_int_eq(sum_of(document, "saved", "saved_bytes"), integer(document, "saved_bytes"));
    ck_assert_int_eq(integer(document, "saved_bytes"), profile.measured.saved_bytes);
    ck_assert_int_eq(integer(document, "resident_bytes"), profile.measured.start.total);
    ck_assert_int_eq(integer(state, "reserved_bytes"), integer(state, "requested_bytes") +
                                                           integer(state, "rounding_bytes") +
                                                           integer(state, "cached_bytes"));
    ck_assert_int_eq(integer(state, "unaccounted_bytes"), 0);
    check_optimizers(document, &profile);
    json_decref(document);
    profile_free(&profile);
}
END_TEST

// ---- the state -------------------------------------------------------------------------------
static double fragmentation_of(const int64_t *bytes, int n) {
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < n; i++) sum += (double)bytes[i];
    for (int i = 0; i < n; i++) squares += (double)bytes[i] * (double)bytes[i];
    return 1.0 - squares / (sum * sum);
}

START_TEST(the_state_adds_up_and_tells_scattered_blocks_from_one) {
    static const int64_t sizes[] = {64, 128, 4096, 128}; // exact, without rounding
    Storage *storages[4];
    setenv("RIDGEPOINT_ALLOC", _i ? "raw" : "", 1);
    Context *own = context_new();
    context_push(own);
    MemoryState state = memory_state_now();
    ck_assert(state.reserved_bytes == 0 && state.fragmentation == 0.0 && !own->ledger);
    Storage *odd = storage_new(device_cpu(), 100, MEM_DATA);
    Storage *meta = storage_new(device_meta(), 1000, MEM_DATA);
    for (int i = 0; i < 4; i++) storages[i] = storage_new(device_cpu(), sizes[i], MEM_DATA);
    for (int i = 0, bytes = 0; i < 4; i++) {
        storage_release(storages[i]);
        bytes += (int)sizes[i];
        state = memory_state_now();
        int blocks = _i ? 0 : i + 1;
        ck_assert_int_eq(state.free_blocks, blocks);
        ck_assert_int_eq(state.cached_bytes, _i ? 0 : bytes);
        ck_assert_int_eq(ledger_free_blocks(own->ledger).bytes, state.cached_bytes);
        ck_assert_int_eq(state.largest_free_bytes, _i ? 0 : i < 1 ? 64 : i < 2 ? 128 : 4096);
        ck_assert_int_eq(state.requested_bytes, 100 + 4416 - bytes);
        ck_assert_int_eq(state.rounding_bytes, _i ? 0 : 28);
        ck_assert_int_eq(state.unaccounted_bytes, 0);
        ck_assert_int_eq(state.reserved_bytes,
                         state.requested_bytes + state.rounding_bytes + state.cached_bytes);
        double wanted = blocks > 1 ? fragmentation_of(sizes, blocks) : 0.0;
        ck_assert_double_eq_tol(state.fragmentation, wanted, 1e-12);
    }
    storage_release(odd);
    storage_release(meta);
    context_free(own);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_document_adds_up, NETS},
        {the_state_adds_up_and_tells_scattered_blocks_from_one, 2},
        {NULL, 0},
    };
    return harness_main("memory_json", tests);
}
