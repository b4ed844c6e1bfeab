// report_rows.c -- chooses the layers with rows in the report's table, and sums their figures.
#include <ctype.h>
#include <string.h>

#include "profiler/report/report_table.h"

// ---- alike -------------------------------------------------------------------------------------
// True if paths differ only in numeric names, as blocks have: "h.0.mlp.c_fc" and "h.11.mlp.c_fc".
static bool same_pattern(const char *a, const char *b) {
    bool begins = true; // at the start of a name
    while (*a || *b) {
        size_t m = begins ? strspn(a, "0123456789") : 0, n = begins ? strspn(b, "0123456789") : 0;
        bool numbers = m > 0 && n > 0 && strchr(".", a[m]) && strchr(".", b[n]);
        if (!numbers && *a != *b) return false;
        begins = !numbers && *a == '.';
        a += numbers ? m : 1;
        b += numbers ? n : 1;
    }
    return true;
}

// True if the layers of that pattern share a row: only if all have one type.
static bool stands_together(const Profile *profile, const ProfileLayer *layer) {
    for (int i = 0; i < profile->n_layers; i++)
        if (strcmp(profile->layers[i].type, layer->type) != 0 &&
            same_pattern(profile->layers[i].path, layer->path))
            return false;
    return true;
}

// ---- sums --------------------------------------------------------------------------------------
static void add_phase(ProfilePhase *sum, const ProfilePhase *phase) {
    cost_add(&sum->cost, phase->cost);
    sum->ops += phase->ops;
    sum->roofline.roof_seconds += phase->roofline.roof_seconds;
    sum->terms.roofs += phase->terms.roofs;
    sum->roofline.judged = sum->roofline.judged || phase->roofline.judged;
    if (phase->latency.count == 0) return;
    sum->latency.count = 1;
    sum->latency.statistics.median += phase->latency.statistics.median;
}

static void add_layer(const Profile *profile, ReportRow *row, const ProfileLayer *layer,
                      int before) {
    Text bound = profile_bound_text(&profile->machine, &layer->phase[REPORT_STEP].roofline);
    for (int p = 0; p < REPORT_COUNT; p++) add_phase(&row->phase[p], &layer->phase[p]);
    if (before == 0)
        row->bound = bound;
    else if (strcmp(row->bound.s, bound.s) != 0)
        row->bound = (Text){""};
    row->saved_bytes += layer->saved_bytes;
    row->seconds += profile_layer_seconds(layer);
}

static void finish_row(ReportRow *row) {
    Roofline *roofline = &row->phase[REPORT_STEP].roofline;
    roofline->roof_fraction = roofline->roof_seconds / row->seconds;
}

// ---- choice ------------------------------------------------------------------------------------
typedef struct Group {
    const ProfileLayer *first;
    double weight; // seconds, or if nothing ran best seconds, or FLOP
    bool together; // includes all layers of its pattern
} Group;

static double weight_of(const Profile *profile, const ProfileLayer *layer) {
    bool timed = profile->totals[REPORT_STEP].latency.count > 0;
    const ProfilePhase *step = &layer->phase[REPORT_STEP];
    if (timed) return profile_layer_seconds(layer);
    return profile->has_machine ? step->terms.roofs : (double)op_cost_total_flops(step->cost);
}

static bool belongs(const Group *group, const ProfileLayer *layer) {
    return layer == group->first ||
           (group->together && same_pattern(group->first->path, layer->path));
}

// The group that starts with this layer; first NULL: it belongs to an earlier one.
static Group group_of(const Profile *profile, const ProfileLayer *layer) {
    Group group = {.first = layer, .together = stands_together(profile, layer)};
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *other = &profile->layers[i];
        if (!belongs(&group, other)) continue;
        if (other < layer) return (Group){.first = NULL};
        group.weight += weight_of(profile, other);
    }
    return group;
}

// Adds a group to the heaviest ones, in the order of first layers. True if one was dropped.
static bool keep_group(Group *kept, int *n, Group group) {
    bool full = *n == REPORT_MOST_ROWS - 1;
    int lightest = 0;
    for (int i = 1; i < *n; i++)
        if (kept[i].weight <= kept[lightest].weight) lightest = i;
    if (full && group.weight <= kept[lightest].weight) return true;
    if (full) {
        memmove(&kept[lightest], &kept[lightest + 1], (size_t)(*n - 1 - lightest) * sizeof(Group));
        --*n;
    }
    kept[(*n)++] = group;
    return full;
}

// The first group that contains the layer; n: none.
static int find_group(const Group *groups, int n, const ProfileLayer *layer) {
    int i = 0;
    while (i < n && !belongs(&groups[i], layer)) i++;
    return i;
}

// group_of compares all layers, so a network of a hundred blocks calls it only for the first block.
static int choose_groups(const Profile *profile, Group kept[REPORT_MOST_ROWS]) {
    int n = 0;
    bool many = profile->n_layers > REPORT_MOST_ROWS;
    for (int i = 0; i < profile->n_layers; i++) {
        Group own = {.first = &profile->layers[i]};
        if (!many)
            kept[n++] = own;
        else if (find_group(kept, n, own.first) == n && (own = group_of(profile, own.first)).first)
            keep_group(kept, &n, own);
    }
    return n;
}

// ---- rows --------------------------------------------------------------------------------------
// Replaces numeric names by stars: "transformer.h.*.mlp.c_fc".
static void star_path(const char *path, char *text, size_t size) {
    size_t used = 0;
    for (bool begins = true; *path && used + 1 < size;) {
        size_t digits = begins ? strspn(path, "0123456789") : 0;
        bool number = digits > 0 && strchr(".", path[digits]);
        begins = !number && *path == '.';
        text[used++] = number ? '*' : *path;
        path += number ? digits : 1;
    }
    text[used] = '\0';
}

static Text label_of(const Profile *profile, const Group *group, int layers, int width) {
    ProfileLayer named = *group->first;
    char count[16] = "";
    if (layers > 1) star_path(group->first->path, named.path, sizeof(named.path));
    if (layers > 1) snprintf(count, sizeof(count), " x%d", layers);
    Text label = profile_layer_label(profile, &named, width - (int)strlen(count)), whole;
    snprintf(whole.s, sizeof(whole.s), "%.112s%s", label.s, count);
    return whole;
}

int report_rows(const Profile *profile, int width, ReportRow rows[REPORT_MOST_ROWS]) {
    Group groups[REPORT_MOST_ROWS];
    int counts[REPORT_MOST_ROWS] = {0}, n = choose_groups(profile, groups), others = 0;
    int64_t parameters[REPORT_MOST_ROWS] = {0};
    memset(rows, 0, REPORT_MOST_ROWS * sizeof(rows[0]));
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        int row = find_group(groups, n, layer);
        others += row == n;
        add_layer(profile, &rows[row], layer, counts[row]++);
        parameters[row] += layer->parameters;
    }
    for (int r = 0; r < n + (others > 0); r++) {
        if (r < n)
            rows[r].label = label_of(profile, &groups[r], counts[r], width);
        else
            snprintf(rows[r].label.s, sizeof(rows[r].label.s), "%d others", others);
        bool layer = r == n || !profile_is_outside(groups[r].first);
        if (layer) rows[r].parameters = text_short_count(parameters[r]);
        finish_row(&rows[r]);
    }
    return n + (others > 0);
}
