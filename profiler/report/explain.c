// explain.c -- --explain: which layers are meant. How one is told is explain_layer.c's, an op
// explain_op.c's, the whole step explain_totals.c's.
#include "profiler/report/explain.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "profiler/report/explain_parts.h"
#include "profiler/report/report_table.h"

// ---- which layers ----------------------------------------------------------------------------
static bool fold(const char *text, char folded[256]) {
    size_t size = strlen(text);
    if (size >= 256) return false;
    for (size_t i = 0; i <= size; i++) folded[i] = (char)tolower((unsigned char)text[i]);
    return true;
}

// In whichever case: the report says "Adam update", and few would type it so.
static bool matches(const char *pattern, const char *name) {
    char a[256], b[256];
    return fold(pattern, a) && fold(name, b) && fnmatch(a, b, 0) == 0;
}

static bool is_meant(const Profile *profile, const ProfileLayer *layer, const char *pattern) {
    return matches(pattern, layer->path) || matches(pattern, report_layer_name(profile, layer).s);
}

static Status refuse(const Profile *profile, const char *pattern) {
    char names[256] = "";
    size_t used = 0;
    for (int i = 0; i < profile->n_layers && used < sizeof(names); i++) {
        Text name = report_layer_name(profile, &profile->layers[i]);
        bool room = used + strlen(name.s) + 8 < sizeof(names);
        int n = snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                         room ? name.s : "...");
        if (!room) break;
        used += (size_t)n;
    }
    return error_set(STATUS_INVALID_ARGUMENT,
                     "explain: no layer is called %.60s. HINT: there %s %s; \"*\" stands for any "
                     "letters",
                     pattern, profile->n_layers == 1 ? "is" : "are",
                     profile->n_layers ? names : "none");
}

// ---- the whole -------------------------------------------------------------------------------
static void print_heading(const Profile *profile, FILE *file) {
    static const char *const kinds[] = {"training step", "forward and backward", "inference"};
    flow_line(file, NULL, "%s%s%s of %s sample%s%s%s, explained", profile->model,
              profile->model[0] ? ", " : "", kinds[profile->kind], text_count(profile->batch).s,
              profile->batch == 1 ? "" : "s", profile->optimizer[0] ? ", " : "",
              profile->optimizer);
    if (profile->totals[REPORT_STEP].latency.count == 0)
        flow_line(file, NULL,
                  "Nothing ran on the %s device: counts and memory are as on any other; there are "
                  "no times.",
                  profile->device);
}

Status explain_print(const Profile *profile, const char *pattern, FILE *file) {
    bool any = !pattern;
    for (int i = 0; pattern && i < profile->n_layers; i++)
        any = any || is_meant(profile, &profile->layers[i], pattern);
    if (!any) return refuse(profile, pattern);
    print_heading(profile, file);
    for (int i = 0; i < profile->n_layers; i++)
        if (!pattern)
            explain_layer_briefly(profile, i, file);
        else if (is_meant(profile, &profile->layers[i], pattern))
            explain_layer(profile, i, file);
    if (!pattern) explain_totals(profile, file);
    return STATUS_OK;
}
