// explain.c -- --explain: selects the layers. Not here: the text on a layer (explain_layer.c), on
// an op (explain_op.c), on the whole step (explain_totals.c).
#include "profiler/explain/explain.h"

#include <fnmatch.h>

#include "profiler/explain/explain_parts.h"
#include "profiler/report/report_table.h"
#include "tensor/given.h"

// ---- selection -------------------------------------------------------------------------------
// Ignores case: the report says "Adam update", but few would type it so.
static bool is_meant(const Profile *profile, const ProfileLayer *layer, const char *pattern) {
    return fnmatch(pattern, layer->path, FNM_CASEFOLD) == 0 ||
           fnmatch(pattern, profile_layer_title(profile, layer).s, FNM_CASEFOLD) == 0;
}

static Status refuse(const Profile *profile, const char *pattern) {
    char names[256];
    profile_layer_titles(profile, names, sizeof(names));
    return error_set(STATUS_INVALID_ARGUMENT,
                     "explain: no layer is called %s. HINT: there %s %s; \"*\" stands for any "
                     "letters",
                     text_fit(pattern, 60).s, profile->n_layers == 1 ? "is" : "are", names);
}

// ---- all together ----------------------------------------------------------------------------
static void print_heading(const Profile *profile, FILE *file) {
    int64_t samples = profile->batch * profile->accumulate;
    static const char *const kinds[] = {"training step", "forward and backward", "inference"};
    flow_line(file, NULL, "%s%s%s of %s sample%s%s%s, explained", profile->model,
              profile->model[0] ? ", " : "", kinds[profile->kind], text_count(samples).s,
              samples == 1 ? "" : "s", profile->optimizer[0] ? ", " : "", profile->optimizer);
    bool plain = profile->precision == PRECISION_FLOAT32;
    if (profile->totals[REPORT_STEP].latency.count == 0)
        flow_line(
            file, NULL,
            "Nothing ran on the %s device: counts %s as on any other%s%s; there are no times.",
            profile->device, plain ? "and memory are" : "are", plain ? "" : ", bytes those of ",
            plain ? "" : precision_brief(profile->precision));
}

Status explain_print(const Profile *profile, const char *pattern, FILE *file) {
    if (!GIVEN(profile) || !GIVEN(file)) return STATUS_INVALID_ARGUMENT;
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
