// profile_words.c -- names for a profile's layers, kinds and bounds, and the certainty of its
// times.
#include <ctype.h>
#include <string.h>

#include "profiler/measure/profile_words.h"

enum { BOUND_WIDTH = 11 };

bool profile_is_outside(const ProfileLayer *layer) {
    return strcmp(layer->path, "(model)") == 0 && !layer->type[0];
}

Text profile_layer_title(const Profile *profile, const ProfileLayer *layer) {
    Text name = {""};
    bool updates = layer->phase[REPORT_FORWARD].ops == 0 && layer->phase[REPORT_BACKWARD].ops == 0;
    if (profile_is_outside(layer) && profile->optimizer[0] && updates)
        snprintf(name.s, sizeof(name.s), strlen(profile->optimizer) > 5 ? "%s" : "%s update",
                 profile->optimizer);
    else if (strcmp(layer->path, "loss") == 0 && strcmp(layer->type, "CrossEntropy") == 0)
        snprintf(name.s, sizeof(name.s), "CE loss");
    else
        name = text_plain(layer->path);
    return name;
}

void profile_layer_titles(const Profile *profile, char *names, size_t size) {
    size_t used = 0;
    snprintf(names, size, "none");
    for (int i = 0; i < profile->n_layers; i++) {
        Text name = profile_layer_title(profile, &profile->layers[i]);
        bool fits = used + strlen(name.s) + sizeof(", , ...") <= size;
        used += (size_t)snprintf(names + used, size - used, "%s%s", i ? ", " : "",
                                 fits ? name.s : "...");
        if (!fits) break;
    }
}

void profile_explain_flag(const char *path, int longest, char *text, size_t size) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    static const char quoted[] = "()<>|&;$!#~ +,/:=@%{}^";
    char pattern[sizeof(((ProfileLayer *)0)->path) + 2];
    int n = 0;
    bool is_plain = (int)strlen(path) <= longest && path[0] != '-';
    for (int i = 0; path[i] && n < longest; i++) {
        bool fits = strchr(plain, path[i]) != NULL;
        is_plain = is_plain && fits;
        if (fits || strchr(quoted, path[i]))
            pattern[n++] = path[i];
        else if (n == 0 || pattern[n - 1] != '*')
            pattern[n++] = '*';
    }
    if ((int)strlen(path) > longest && pattern[n - 1] != '*') pattern[n++] = '*';
    pattern[n] = '\0';
    snprintf(text, size, is_plain ? "--explain %s" : "--explain '%s'", pattern);
}

Text profile_bound_text(const Machine *machine, const Roofline *roofline) {
    Text text = {""};
    if (!roofline->judged && !(roofline->roof_seconds > 0.0)) return text;
    bool memory = roofline->bound == BOUND_MEMORY;
    char near[ROOFLINE_NEAR_TEXT];
    roofline_near_text(roofline, near);
    if (strcmp(near, "near the ridge") == 0) return text_plain("near ridge");
    snprintf(text.s, sizeof(text.s), "%s%s%s", bound_name(roofline->bound), memory ? " " : "",
             memory ? machine->levels[roofline->level].name : "");
    return text_fit(text.s, BOUND_WIDTH);
}

// Removes text[0, n).
static void remove_start(char *text, size_t n) { memmove(text, text + n, strlen(text + n) + 1); }

// Shortens a path until it fits. Container names become their first letter and non-letters,
// outermost first: "layer1.0.conv1" to "l1.0.conv1". Then stars go, and the outer containers but
// the last: "t.h.*.a.c_attn" to "a.c_attn". If it is still too long, its middle is cut.
static Text short_path(const char *path, int width) {
    Text text = text_plain(path);
    char *at = text.s, *dot;
    while (text_width(text.s) > width && (dot = strchr(at, '.'))) {
        char *end = at + 1;
        for (char *from = end; from < dot; from++)
            if (!isalpha((unsigned char)*from)) *end++ = *from;
        memmove(end, dot, strlen(dot) + 1);
        at = end + 1;
    }
    while (text_width(text.s) > width && (at = strstr(text.s, "*."))) remove_start(at, 2);
    while (text_width(text.s) > width && (dot = strchr(text.s, '.')) && strchr(dot + 1, '.'))
        remove_start(text.s, (size_t)(dot + 1 - text.s));
    return text_fit_middle(text.s, width);
}

// The width of a shape: features, or an image's channels.
static long long width_of(const Shape *shape) {
    return (long long)shape->dims[shape->ndim == 4 ? 1 : shape->ndim - 1];
}

Text profile_layer_label(const Profile *profile, const ProfileLayer *layer, int width) {
    char label[200];
    Text name = profile_layer_title(profile, layer);
    bool sized = layer->parameters > 0 && layer->input.ndim > 0 && layer->output.ndim > 0;
    if (sized)
        snprintf(label, sizeof(label), "%s %lld->%lld", name.s, width_of(&layer->input),
                 width_of(&layer->output));
    // A truncated size would be misread, so sizes are left out instead.
    bool fits = sized && text_width(label) <= width;
    return fits ? text_plain(label) : short_path(name.s, width);
}

const char *profile_kind_name(ProfileKind kind) {
    static const char *const names[] = {[PROFILE_TRAINING] = "training",
                                        [PROFILE_BACKWARD] = "backward",
                                        [PROFILE_INFERENCE] = "inference"};
    return names[kind];
}

// ---- sure -------------------------------------------------------------------------------------
const ProfileLayer *profile_past_its_roof(const Profile *profile) {
    const ProfileLayer *farthest = NULL;
    for (int i = 0; i < profile->n_layers; i++) {
        const Roofline *roofline = &profile->layers[i].phase[REPORT_STEP].roofline;
        if (roofline_is_past(roofline) &&
            (!farthest ||
             roofline->roof_fraction > farthest->phase[REPORT_STEP].roofline.roof_fraction))
            farthest = &profile->layers[i];
    }
    return farthest;
}

bool profile_is_busy(const Profile *profile) {
    const double least = 0.2;
    return profile->others_share >= least; // not NaN
}

bool profile_is_noise(const Profile *profile) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    const LatencyStatistics *s = &step->statistics;
    return step->count > 0 && (!s->ci95_reached || s->iqr > 0.1 * s->median ||
                               profile->unattributed_seconds < -0.05 * s->median);
}
