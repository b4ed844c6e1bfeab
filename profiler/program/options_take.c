// options_take.c -- parses the argument of each flag. Not here: the table of flags
// (options_table.c), checks that they fit together (options_fit.c).
#include "profiler/program/options_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/base/text.h"
#include "profiler/machine/machine_known.h"
#include "profiler/program/sweep_axes.h"

static bool refuse(const Options *options, const Flag *flag, const char *text,
                   const char *expected) {
    return options_refuse(options, "--%s %s: expected %s", flag->name, text, expected);
}

// The index of the text among the flag's values; below 0, after an error line, if it is none.
static int value_at(const Options *options, const Flag *flag, const char *text) {
    char names[600] = "";
    const char *value;
    for (int i = 0; (value = flag->value(i)); i++) {
        if (strcasecmp(value, text) == 0) return i;
        size_t used = strlen(names);
        const char *between = i == 0 ? "" : flag->value(i + 1) ? ", " : " or ";
        snprintf(names + used, sizeof(names) - used, "%s%s", between, value);
    }
    refuse(options, flag, text, names);
    return -1;
}

bool take_name(Options *options, const Flag *flag, const char *text) {
    int at = value_at(options, flag, text);
    if (at >= 0) *(const char **)(void *)((char *)options + flag->offset) = flag->value(at);
    return at >= 0;
}

bool take_choice(Options *options, const Flag *flag, const char *text) {
    int at = value_at(options, flag, text);
    memcpy((char *)options + flag->offset, &at, sizeof at); // an enumeration
    return at >= 0;
}

static bool whole_number(const char *text, char **end, int64_t *value) {
    errno = 0;
    *value = strtoll(text, end, 10);
    return *end != text && errno == 0;
}

bool take_count(Options *options, const Flag *flag, const char *text) {
    char *end, expected[80];
    int64_t value;
    if (whole_number(text, &end, &value) && !*end && value >= flag->least && value <= flag->most) {
        *(int64_t *)(void *)((char *)options + flag->offset) = value;
        return true;
    }
    snprintf(expected, sizeof(expected), "a whole number from %lld to %lld", (long long)flag->least,
             (long long)flag->most);
    return refuse(options, flag, text, expected);
}

bool take_layers(Options *options, const Flag *flag, const char *text) {
    int n = 0;
    const char *at = text;
    for (;;) {
        char *end;
        int64_t size;
        if (n == OPTIONS_MAX_LAYERS) return refuse(options, flag, text, "at most 64 sizes");
        if (!whole_number(at, &end, &size) || size < 1 || size > INT32_MAX)
            return refuse(options, flag, text,
                          "sizes of at least 1 with commas between, as 784,512,10");
        options->layers[n++] = size;
        if (!*end) break;
        if (*end != ',')
            return refuse(options, flag, text, "sizes with commas between, as 784,512,10");
        at = end + 1;
    }
    options->n_layers = n;
    return n >= 2 || refuse(options, flag, text, "an input and an output size, as 784,10");
}

// The first value is "none".
bool take_activation(Options *options, const Flag *flag, const char *text) {
    int at = value_at(options, flag, text);
    options->activation = at > 0 ? op_activation_at(at - 1) : NULL;
    return at >= 0;
}

bool take_learning_rate(Options *options, const Flag *flag, const char *text) {
    char *end;
    double value = strtod(text, &end);
    bool usable = (float)value > 0.0f && isfinite((float)value); // the steps use it as a float
    if (end == text || *end || !usable)
        return refuse(options, flag, text, "a number above 0 that a float can hold, as 0.001");
    options->rate.base = value;
    return true;
}

bool take_schedule(Options *options, const Flag *flag, const char *text) {
    int at = value_at(options, flag, text);
    options->rate.kind = (ScheduleKind)at;
    options->rate.has_kind = true;
    return at >= 0;
}

bool take_undecided(Options *options, const Flag *flag, const char *text) {
    int at = value_at(options, flag, text);
    options->undecided_fails = at == 1;
    return at >= 0;
}

// "200" steps, or "2ep"
bool take_length(Options *options, const Flag *flag, const char *text) {
    Length *length = (Length *)(void *)((char *)options + flag->offset);
    char *end;
    bool good = whole_number(text, &end, &length->count);
    length->epochs = good && strcmp(end, "ep") == 0;
    good = good && length->count >= 1 && length->count <= INT32_MAX;
    return (good && (!*end || length->epochs)) ||
           refuse(options, flag, text, "steps, as 200, or epochs, as 2ep");
}

bool take_factor(Options *options, const Flag *flag, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0.0 && value <= 1.0))
        return refuse(options, flag, text, "a number from 0 to 1, as 0.1");
    options->rate.factor = value;
    return true;
}

bool take_prune(Options *options, const Flag *flag, const char *text) {
    char *end;
    options->prune = strtod(text, &end);
    bool share = end != text && !*end && options->prune >= 0.0 && options->prune <= 1.0;
    return share || refuse(options, flag, text, "a share from 0 to 1, as 0.5");
}

bool take_temperature(Options *options, const Flag *flag, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0.0) || !isfinite((float)value))
        return refuse(options, flag, text, "a number from 0 on, as 0.8; 0: always the likeliest");
    options->temperature = value;
    return true;
}

bool take_prompt(Options *options, const Flag *flag, const char *text) {
    options->prompt = text;
    return text[0] || refuse(options, flag, text, "what the text begins with");
}

// "224", or "224x320": height and width
bool take_image(Options *options, const Flag *flag, const char *text) {
    char *end;
    int64_t *side = options->image;
    bool good = whole_number(text, &end, &side[0]);
    side[1] = side[0];
    if (good && *end == 'x') good = whole_number(end + 1, &end, &side[1]);
    for (int i = 0; i < 2; i++) good = good && side[i] >= 1 && side[i] <= 1 << 16;
    return (good && !*end) || refuse(options, flag, text, "a side, as 224, or HEIGHTxWIDTH");
}

bool take_freeze(Options *options, const Flag *flag, const char *text) {
    if (!text[0]) return refuse(options, flag, text, "a layer or pattern, as 'features.*'");
    if (options->n_freeze == OPTIONS_MAX_FREEZE)
        return refuse(options, flag, text, "at most 16 patterns");
    options->freeze[options->n_freeze++] = text;
    return true;
}

bool take_text(Options *options, const Flag *flag, const char *text) {
    *(const char **)(void *)((char *)options + flag->offset) = text;
    return true;
}
bool take_read(Options *options, const Flag *flag, const char *text) {
    return take_text(options, flag, strcmp(text, "-") == 0 ? "/dev/stdin" : text);
}
// "FILE" is for the roofline; or "memory=FILE". Without a word before '=', all is the file's name.
bool take_svg(Options *options, const Flag *flag, const char *text) {
    size_t length = strcspn(text, "=/.");
    char kind[64];
    int drawing = PAGE_ROOFLINE;
    const char *path = length > 0 && text[length] == '=' ? text + length + 1 : text;
    snprintf(kind, sizeof(kind), "%.*s", (int)length, text);
    if (path != text) drawing = value_at(options, flag, kind);
    if (drawing < 0) return false;
    options->svg[drawing] = path;
    return path[0] || refuse(options, flag, text, "a file, as memory=FILE");
}
bool take_against(Options *options, const Flag *flag, const char *text) {
    options->against = text;
    return text[strspn(text, " ")] ||
           refuse(options, flag, text, "flags, as '--batch 128', or a network");
}
// A folder for all files. For profile_model, any other text is a file for the network's output.
bool take_output(Options *options, const Flag *flag, const char *text) {
    struct stat about;
    size_t length = strlen(text);
    bool folder = options->line->program == PROGRAM_MLP ||
                  (length > 0 && text[length - 1] == '/') ||
                  (stat(text, &about) == 0 && S_ISDIR(about.st_mode));
    *(folder ? &options->folder : &options->output) = text;
    bool is_name = text[0] && !(folder && strcmp(text, "-") == 0);
    return is_name || refuse(options, flag, text, "a folder, for all files at once");
}
// Repeated flags add their limits.
bool take_threshold(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    if (!threshold_parse(text, &options->thresholds)) return true;
    options_refuse(options, "%s", error_message());
    error_clear();
    return false;
}
bool take_sweep(Options *options, const Flag *flag, const char *text) {
    SweepAxis axis;
    if (options->n_sweeps == SWEEP_AXES) return refuse(options, flag, text, "at most 4 axes");
    options->sweeps[options->n_sweeps++] = text;
    if (!sweep_axis_parse(text, options->line, &axis)) return true;
    options_refuse(options, "%s", error_message());
    error_clear();
    return false;
}
// Its file was read before all other flags (options_file.c), unless help is asked for.
bool take_config(Options *options, const Flag *flag, const char *text) {
    return !options->config || strcmp(options->config, text) == 0 ||
           refuse(options, flag, text, "one file only");
}
static const char *peak_name(const void *flag, int i) { return ((const Flag *)flag)->value(i); }

// "none" means no verdicts. Names of machines ignore case, unless a file has that name.
bool take_peaks(Options *options, const Flag *flag, const char *text) {
    const char *name, *nearest = nearest_name(text, peak_name, flag);
    options->no_peaks = strcasecmp(text, "none") == 0 && access(text, F_OK) != 0;
    options->peaks = NULL;
    if (options->no_peaks) return true;
    take_read(options, flag, text);
    if (access(options->peaks, F_OK) == 0) return true;
    for (int i = 1; (name = flag->value(i)); i++)
        if (strcasecmp(text, name) == 0) options->peaks = name;
    if (nearest && !machine_known(options->peaks) && !strpbrk(text, "./"))
        return options_refuse(options, "--peaks %s: no such machine or file; did you mean %s?",
                              text, nearest);
    return true;
}
bool take_switch(Options *options, const Flag *flag, const char *text) {
    (void)text;
    *(bool *)(void *)((char *)options + flag->offset) = true;
    return true;
}

// The last one of --train and --inference counts.
bool take_kind(Options *options, const Flag *flag, const char *text) {
    (void)text;
    options->train = strcmp(flag->name, "train") == 0;
    options->inference = !options->train;
    return true;
}

bool take_help(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    options->help = true;
    options->topic = text;
    return true;
}

bool take_explain(Options *options, const Flag *flag, const char *text) {
    if (text && !text[0]) return refuse(options, flag, text, "a LAYER or pattern, as fc1 or 'fc*'");
    options->explain_layer = text;
    options->explain = true;
    return true;
}

bool take_by(Options *options, const Flag *flag, const char *text) {
    int at = value_at(options, flag, text);
    options->view.by = (ViewBy)at;
    options->has_view = true;
    return at >= 0;
}

bool take_top(Options *options, const Flag *flag, const char *text) {
    options->has_view = true;
    return take_count(options, flag, text);
}

bool take_layer(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    options->view.layer = text;
    options->has_view = true;
    return true;
}

bool take_preset(Options *options, const Flag *flag, const char *text) {
    int at = value_at(options, flag, text);
    options->preset = (Preset)at;
    options->has_preset = true;
    return at >= 0;
}

typedef struct UnitOfText {
    const char *name; // NULL past the last
    double value;
} UnitOfText;

// Reads a number above 0 and a unit, as in "500MB"; returns 0 if it is not one.
static double read_amount(const char *text, const UnitOfText *units) {
    char *unit;
    double value = strtod(text, &unit);
    if (unit == text || !(value > 0.0)) return 0.0;
    while (*unit == ' ') unit++;
    while (units->name && strcasecmp(unit, units->name) != 0) units++;
    return units->name ? value * units->value : 0.0;
}

bool take_size(Options *options, const Flag *flag, const char *text) {
    static const UnitOfText units[] = {{"", 1},         {"B", 1},         {"kB", 1e3},
                                       {"MB", 1e6},     {"GB", 1e9},      {"TB", 1e12},
                                       {"KiB", 1024},   {"MiB", 1048576}, {"GiB", 0x1p30},
                                       {"TiB", 0x1p40}, {NULL, 0}};
    double bytes = read_amount(text, units);
    if (!(bytes >= 1.0 && bytes <= 0x1p60)) // the range of budget.h
        return refuse(options, flag, text, "a size as 500MB, 1.5GiB or 4096");
    *(int64_t *)(void *)((char *)options + flag->offset) = (int64_t)bytes;
    return true;
}

bool take_time(Options *options, const Flag *flag, const char *text) {
    static const UnitOfText units[] = {{"", 1},     {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                                       {"min", 60}, {"h", 3600},  {NULL, 0}};
    double *seconds = (double *)(void *)((char *)options + flag->offset);
    *seconds = read_amount(text, units);
    return (*seconds > 0.0 && *seconds <= 1e6) ||
           refuse(options, flag, text, "a time as 500ms, 30s or 2min");
}

bool take_time_limit(Options *options, const Flag *flag, const char *text) {
    return take_time(options, flag, text) &&
           (options->time_limit >= 1e-3 || refuse(options, flag, text, "a time from 1ms on"));
}
