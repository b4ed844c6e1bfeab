// test_conventions_tables.c -- the tables of profiler/CONVENTIONS.md other than that of ops:
// networks, other tools, optimizers, percentiles, and the keys of profile_mlp's document.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/models/models.h"
#include "profiler/advice/advice_tried.h"
#include "profiler/base/text.h"
#include "profiler/files/profile_json.h"
#include "profiler/report/memory_curve.h"
#include "profiler/report/preset.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/work_folder.h"
#include "tests/profiler/conventions_page.h"

static PageTable table; // too large for a stack

// ---- networks ---------------------------------------------------------------------------------
static void hold_network(Layer *model, Shape input, const char *name) {
    const PageRow *row = page_row(&table, name);
    char ratio[20];
    LayerCost cost;
    Tensor *x = tensor_new(input, DTYPE_FLOAT32);
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    uint64_t forward = cost.phase[PHASE_FORWARD].macs, backward = 0;
    for (int p = PHASE_BACKWARD; p <= PHASE_BACKWARD_WEIGHT; p++) backward += cost.phase[p].macs;
    snprintf(ratio, sizeof ratio, "%.3f", (double)backward / (double)forward);
    ck_assert_str_eq(row->cells[1], text_count(layer_parameter_count(model)).s);
    ck_assert_str_eq(row->cells[2], text_count((int64_t)forward).s);
    ck_assert_str_eq(row->cells[3], text_count((int64_t)(2 * backward)).s);
    ck_assert_str_eq(row->cells[4], ratio);
    tensor_free(x);
    layer_free(model);
}

START_TEST(networks_cost_what_the_page_says) {
    context_set_device(device_meta());
    page_read(&table, "models");
    ck_assert_int_eq(table.n, 7);
    hold_network(mlp_new((int64_t[]){784, 512, 10}, 3, mlp_defaults()), SHAPE(1, 784),
                 "MLP 784-512-10");
    hold_network(lenet5_new(10), SHAPE(1, 1, 32, 32), "LeNet-5");
    hold_network(alexnet_new(1000), SHAPE(1, 3, 224, 224), "AlexNet");
    hold_network(vgg_new(16, false, 1000), SHAPE(1, 3, 224, 224), "VGG-16");
    ResNetOptions resnet = resnet_defaults();
    hold_network(resnet_new(resnet), SHAPE(1, 3, 224, 224), "ResNet-18");
    resnet = (ResNetOptions){{3, 4, 6, 3}, true, 1, 64, 1000};
    hold_network(resnet_new(resnet), SHAPE(1, 3, 224, 224), "ResNet-50");
    hold_network(mobilenet_v2_new(1.0f, 1000), SHAPE(1, 3, 224, 224), "MobileNetV2");
}
END_TEST

// ---- other tables -----------------------------------------------------------------------------
START_TEST(other_tools_count_as_the_page_says) {
    page_read(&table, "presets");
    ck_assert_int_eq(table.n, PRESET_COUNT);
    for (int p = 0; p < PRESET_COUNT; p++) {
        char name[40];
        snprintf(name, sizeof name, "`%s`", preset_name((Preset)p));
        ck_assert_str_eq(page_row(&table, name)->cells[1], preset_rule((Preset)p));
    }
}
END_TEST

START_TEST(optimizers_keep_what_the_page_says) {
    context_set_device(device_meta());
    Net small = {.sizes = {4, 3}, .n_sizes = 2, .batch = 2, .options = mlp_defaults()},
        large = small;
    large.sizes[1] = 300;
    Profile one = net_profile(&small, 1), other = net_profile(&large, 1);
    page_read(&table, "optimizers");
    ck_assert_int_eq(table.n, OPTIMIZER_COUNT);
    for (int k = 0; k < OPTIMIZER_COUNT; k++) { // the difference leaves out sizes that are fixed
        OptimizerKind kind = (OptimizerKind)k;
        int64_t more = memory_optimizer_bytes(&other, kind) - memory_optimizer_bytes(&one, kind);
        int64_t bytes = more / (other.parameters - one.parameters);
        ck_assert_int_eq(more, bytes * (other.parameters - one.parameters));
        for (int r = 0; r < table.n; r++)
            if (strcmp(table.rows[r].cells[0], optimizer_name(kind)) == 0) {
                ck_assert_str_eq(table.rows[r].cells[1], text_count(bytes).s);
                table.rows[r].used = true;
            }
    }
    for (int r = 0; r < table.n; r++)
        ck_assert_msg(table.rows[r].used, "%s", table.rows[r].cells[0]);
    profile_free(&one);
    profile_free(&other);
}
END_TEST

START_TEST(percentiles_take_as_many_samples_as_the_page_says) {
    page_read(&table, "percentiles");
    for (int r = 0; r < table.n; r++) {
        int64_t needed = statistics_samples_needed(atof(table.rows[r].cells[0] + 1));
        ck_assert_str_eq(table.rows[r].cells[1], text_count(needed).s);
    }
}
END_TEST

// ---- keys -------------------------------------------------------------------------------------
enum { MOST_KEYS = 400 };
typedef struct Keys {
    const char *names[MOST_KEYS]; // in documents that stay alive
    int count;
} Keys;

static bool keys_have(const Keys *keys, const char *name, size_t length) {
    for (int i = 0; i < keys->count; i++)
        if (strlen(keys->names[i]) == length && memcmp(keys->names[i], name, length) == 0)
            return true;
    return false;
}

static void collect(Keys *keys, json_t *value) {
    const char *key;
    json_t *member;
    size_t i;
    json_array_foreach(value, i, member) collect(keys, member);
    json_object_foreach(value, key, member) {
        size_t length = strlen(key);
        bool reason = length > 7 && strcmp(key + length - 7, "_reason") == 0;
        if (!reason && !keys_have(keys, key, length)) {
            ck_assert_int_lt(keys->count, MOST_KEYS);
            keys->names[keys->count++] = key;
        }
        collect(keys, member);
    }
}

static bool page_has_key(const char *key) {
    for (int r = 0; r < table.n; r++)
        if (page_cell_names(table.rows[r].cells[1], key)) return true;
    return false;
}

// A document with advice, whatever the machine is doing, with a trial, whatever its result, and
// with a ceiling that an op beat.
static json_t *tried_new(void) {
    char path[64];
    Net net = {.sizes = {8, 4}, .n_sizes = 2, .batch = 2, .options = mlp_defaults()};
    Profile profile = net_profile(&net, 3);
    LatencyStatistics *step = &profile.totals[REPORT_STEP].latency.statistics;
    *step = (LatencyStatistics){.n = 20, .median = step->median, .ci95_reached = true};
    profile.unattributed_seconds = 0.0;
    profile.probes[PROBE_LARGER_BATCH] = (Probe){.rounds = 9, .low = 2.0, .high = 2.1};
    profile.has_machine = true;
    profile.machine = (Machine){.measured = true, .peak_flops_per_second = 1e9, .n_levels = 1};
    profile.machine.levels[0] =
        (MachineLevel){.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e9, .now = 0.9};
    profile.machine.levels[0].raise = (MachineRaise){0.1, "fc1"};
    profile.trials = memory_new(sizeof(Trials));
    profile.trials->n = 1;
    work_folder_begin();
    snprintf(path, sizeof path, "%s/tried.json", work_folder);
    ProfileTraining training = {.absent = "none"};
    ck_assert(!profile_write_json(&profile, &training, "it", json_file_open(path)));
    json_t *document = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(document);
    work_folder_end();
    profile_free(&profile);
    return document;
}

START_TEST(documents_have_the_keys_that_the_page_explains) {
    static Keys keys;
    json_t *trained = document_new("--layers 784,8,10 --batch 16 --epochs 1 --steps 2");
    json_t *counted = document_new("--layers 8,4 --device meta");
    json_t *marked = document_of("profile_model", "mnist-cnn --device meta --recompute features");
    json_t *written = document_of("profile_model", "llama-2-7b --generate 2 --device meta");
    json_t *known = document_of("profile_model", "lenet5 --device meta --peaks a100-fp32");
    json_t *again = document_new("--layers 8,4 --epochs 0 --runs 2 --iterations 6");
    json_t *tried = tried_new();
    collect(&keys, marked);
    collect(&keys, known);
    collect(&keys, again);
    collect(&keys, tried);
    collect(&keys, trained);
    collect(&keys, written);
    collect(&keys, counted);
    page_read(&table, "keys");
    for (int i = 0; i < keys.count; i++)
        ck_assert_msg(page_has_key(keys.names[i]), "the page does not explain key %s",
                      keys.names[i]);
    for (int r = 0; r < table.n; r++)
        for (const char *at = strchr(table.rows[r].cells[1], '`'); at; at = strchr(at, '`')) {
            size_t length = strcspn(++at, "`");
            ck_assert_msg(keys_have(&keys, at, length), "no document has key %.*s", (int)length,
                          at);
            at += length + 1;
        }
    json_decref(known);
    json_decref(tried);
    json_decref(again);
    json_decref(trained);
    json_decref(written);
    json_decref(counted);
    json_decref(marked);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {networks_cost_what_the_page_says, 0},
        {other_tools_count_as_the_page_says, 0},
        {optimizers_keep_what_the_page_says, 0},
        {percentiles_take_as_many_samples_as_the_page_says, 0},
        {documents_have_the_keys_that_the_page_explains, 0},
        {NULL, 0},
    };
    return harness_main("conventions_tables", tests);
}
