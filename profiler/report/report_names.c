// report_names.c -- what reports call layers and bounds: whole, or to fit a column.
#include <ctype.h>
#include <string.h>

#include "profiler/report/report_table.h"

enum { BOUND_WIDTH = 11 };

Text report_layer_name(const Profile *profile, const ProfileLayer *layer) {
    Text name = {""};
    if (strcmp(layer->path, "(model)") == 0 && profile->optimizer[0])
        snprintf(name.s, sizeof(name.s), strlen(profile->optimizer) > 5 ? "%s" : "%s update",
                 profile->optimizer);
    else if (strcmp(layer->path, "loss") == 0 && strcmp(layer->type, "CrossEntropy") == 0)
        snprintf(name.s, sizeof(name.s), "CE loss");
    else
        name = text_plain(layer->path);
    return name;
}

void report_layer_names(const Profile *profile, char *names, size_t size) {
    size_t used = 0;
    snprintf(names, size, "none");
    for (int i = 0; i < profile->n_layers; i++) {
        Text name = report_layer_name(profile, &profile->layers[i]);
        bool fits = used + strlen(name.s) + sizeof(", , ...") <= size;
        used += (size_t)snprintf(names + used, size - used, "%s%s", i ? ", " : "",
                                 fits ? name.s : "...");
        if (!fits) break;
    }
}

void report_explain_flag(const char *path, int longest, char *text, size_t size) {
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

Text report_bound(const Machine *machine, const Roofline *roofline) {
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

// The containers' names of a path, the outermost first, each to its first letter and what is not a
// letter, until it fits: "layer1.0.conv1" to "l1.0.conv1". What is then too long loses its begin.
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
    return text_fit_end(text.s, width);
}

// Of a shape, what a layer makes of it: features, or an image's channels.
static long long width_of(const Shape *shape) {
    return (long long)shape->dims[shape->ndim == 4 ? 1 : shape->ndim - 1];
}

Text report_layer_label(const Profile *profile, const ProfileLayer *layer, int width) {
    char label[200];
    Text name = report_layer_name(profile, layer);
    bool sized = layer->parameters > 0 && layer->input.ndim > 0 && layer->output.ndim > 0;
    if (sized)
        snprintf(label, sizeof(label), "%s %lld->%lld", name.s, width_of(&layer->input),
                 width_of(&layer->output));
    // A size that was cut would read as another.
    bool fits = sized && text_width(label) <= width;
    return fits ? text_plain(label) : short_path(name.s, width);
}
