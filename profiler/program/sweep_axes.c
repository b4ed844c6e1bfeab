// sweep_axes.c -- the table of axes that --sweep may vary, and the conversion of values to flags.
#include "profiler/program/sweep_axes.h"

#include <stdio.h>
#include <string.h>

#include "tensor/memory.h"

enum { MLP = PROGRAM_MLP, MODEL = PROGRAM_MODEL, BOTH = MLP | MODEL };

typedef enum AxisKind {
    AXIS_FLAG,   // --name=value
    AXIS_SIZES,  // --name=value with sizes separated by '-', as 784-512-10
    AXIS_HIDDEN, // --layers; the first and the last size stay
    AXIS_SWITCH, // yes or no
    AXIS_NONE,   // --name=value, or "none" for no flag
    AXIS_MODEL,  // replaces the typed network
} AxisKind;

static const struct {
    const char *name;
    AxisKind kind;
    unsigned programs;
    bool learns, alone; // changes what is learnt; changes nothing else
    const char *what;
} keys[] = {
    {"batch", AXIS_FLAG, BOTH, false, false, "1,8,64"},
    {"threads", AXIS_FLAG, BOTH, false, false, "1,2"},
    {"accumulate", AXIS_FLAG, BOTH, false, false, "1,4: batches in a step"},
    {"layers", AXIS_SIZES, MLP, false, false, "784-512-10,784-10"},
    {"hidden", AXIS_HIDDEN, MLP, false, false, "128,512-256: between the first and the last layer"},
    {"activation", AXIS_FLAG, MLP, false, false, "relu,gelu"},
    {"fuse", AXIS_SWITCH, BOTH, false, false, "no,yes"},
    {"model", AXIS_MODEL, MODEL, false, false,
     "resnet18,mobilenet_v2: in the place of the one named"},
    {"image", AXIS_FLAG, MODEL, false, false, "192,224"},
    {"tokens", AXIS_FLAG, MODEL, false, false, "64,256"},
    {"recompute", AXIS_NONE, MODEL, false, false, "none,layer?.*"},
    {"dtype", AXIS_FLAG, BOTH, false, false, "fp32,bf16 (with --device meta)"},
    {"optimizer", AXIS_FLAG, BOTH, true, false, "sgd,adam"},
    {"lr", AXIS_FLAG, BOTH, true, true, "0.1,0.01"},
    {"schedule", AXIS_FLAG, BOTH, true, true, "constant,cosine"},
    {"seed", AXIS_FLAG, BOTH, true, true, "1,2,3"},
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

static int key_of(const char *text, size_t length) {
    for (int i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == length && strncmp(keys[i].name, text, length) == 0) return i;
    return -1;
}

const char *sweep_axis_name(int i, const ProgramLine *line, const char **what) {
    for (int k = 0; k < KEYS; k++) {
        if (!(keys[k].programs & line->program) || i-- > 0) continue;
        *what = keys[k].what;
        return keys[k].name;
    }
    return NULL;
}

bool sweep_axis_learns(const char *text, bool *alone) {
    int key = key_of(text, strcspn(text, "="));
    *alone = key >= 0 && keys[key].alone;
    return key >= 0 && keys[key].learns;
}

// ---- reading -----------------------------------------------------------------------------------
static Status refuse(const char *text, const char *what) {
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--sweep %.60s: %s. HINT: --sweep batch=1,8,64; --help sweep lists what there "
                     "is",
                     text, what);
}

static Status add_value(const char *text, AxisKind kind, const char *value, size_t length,
                        SweepAxis *axis) {
    if (length == 0) return refuse(text, "an empty value");
    if (length >= SWEEP_TEXT) return refuse(text, "too long a value");
    if (axis->n == SWEEP_VALUES) return refuse(text, "more than 64 values");
    char *kept = axis->values[axis->n];
    memcpy(kept, value, length);
    kept[length] = '\0';
    if (kind == AXIS_SWITCH && strcmp(kept, "yes") != 0 && strcmp(kept, "no") != 0)
        return refuse(text, "expected yes or no");
    if (kind != AXIS_MODEL && strpbrk(kept, " \t\n")) return refuse(text, "a blank in a value");
    if (kind == AXIS_MODEL && (strncmp(kept, "--", 2) == 0 || strstr(kept, " --")))
        return refuse(text, "expected networks, without flags");
    for (int v = 0; v < axis->n; v++)
        if (strcmp(axis->values[v], kept) == 0) return refuse(text, "one value twice");
    axis->n++;
    return STATUS_OK;
}

Status sweep_axis_parse(const char *text, const ProgramLine *line, SweepAxis *axis) {
    size_t length = strcspn(text, "=");
    int key = key_of(text, length);
    *axis = (SweepAxis){0};
    if (!text[length]) return refuse(text, "expected AXIS=VALUE,VALUE");
    if (key < 0 || !(keys[key].programs & line->program)) return refuse(text, "unknown axis");
    snprintf(axis->name, sizeof(axis->name), "%s", keys[key].name);
    for (const char *value = text + length + 1;; value += length + 1) {
        length = strcspn(value, ",");
        if (add_value(text, keys[key].kind, value, length, axis)) return error_status();
        if (!value[length]) return STATUS_OK;
    }
}

Status sweep_axes_take(const Options *options, Sweep *sweep) {
    for (int i = 0; i < options->n_sweeps; i++) {
        SweepAxis *axis = &sweep->axes[i];
        if (sweep_axis_parse(options->sweeps[i], options->line, axis)) return error_status();
        if (sweep_axis(sweep, axis->name) >= 0)
            return refuse(options->sweeps[i], "this axis was given before");
        sweep->n_axes++;
    }
    const char *both = "sizes of layers are those of --sweep layers, too; leave out one";
    if (sweep_axis(sweep, "hidden") >= 0 && sweep_axis(sweep, "layers") >= 0)
        return refuse("hidden", both);
    if (sweep_axis(sweep, "fuse") >= 0 && (options->fuse || options->no_fuse))
        return refuse("fuse", "--fuse or --no-fuse was given, too; leave out one");
    return sweep_begin(sweep);
}

// ---- flags -------------------------------------------------------------------------------------
static void dashes_to_commas(char *text) {
    for (; *text; text++)
        if (*text == '-') *text = ',';
}

// Appends " --name=value" or the like, or nothing.
static void add_flag(const Options *options, const SweepAxis *axis, const char *value, char *words,
                     size_t size) {
    size_t used = strlen(words);
    char *end = words + used;
    int key = key_of(axis->name, strlen(axis->name));
    bool mlp = options->line->program == PROGRAM_MLP, yes = strcmp(value, "yes") == 0;
    size -= used;
    switch (keys[key].kind) {
    case AXIS_FLAG:
        snprintf(end, size, " --%s=%s", axis->name, value);
        break;
    case AXIS_SIZES:
        snprintf(end, size, " --%s=%s", axis->name, value);
        dashes_to_commas(end + 3);
        break;
    case AXIS_HIDDEN:
        snprintf(end, size, " --layers=%lld,%s,%lld", (long long)options->layers[0], value,
                 (long long)options->layers[options->n_layers - 1]);
        dashes_to_commas(end + 3);
        break;
    case AXIS_SWITCH:
        snprintf(end, size, "%s", yes ? " --fuse" : mlp ? " --no-fuse" : "");
        break;
    case AXIS_NONE:
        if (strcmp(value, "none") != 0) snprintf(end, size, " --%s=%s", axis->name, value);
        break;
    case AXIS_MODEL:
        break;
    }
}

char *sweep_point_words(const Options *options, const Sweep *sweep, int64_t point) {
    size_t size = SWEEP_AXES * (SWEEP_TEXT + 64);
    char *words = memory_new(size);
    int at[SWEEP_AXES], model = sweep_axis(sweep, "model");
    if (!words) return NULL;
    sweep_place(sweep, point, at);
    if (model >= 0) snprintf(words, size, "%s", sweep->axes[model].values[at[model]]);
    for (int a = 0; a < sweep->n_axes; a++)
        add_flag(options, &sweep->axes[a], sweep->axes[a].values[at[a]], words, size);
    if (model < 0 && words[0]) memmove(words, words + 1, strlen(words)); // the first blank
    return words;
}
