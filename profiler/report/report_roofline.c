// report_roofline.c -- the roofline of the terminal report: ceilings, and the layers' places on a
// logarithmic axis of intensity, with the ridge between waiting for memory and for arithmetic. A
// legend follows, because several layers may share a letter.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "profiler/report/report_table.h"

enum { AXIS_WIDTH = 76, AXIS_FROM = -1, AXIS_TO = 3 }; // powers of ten, in FLOP/B
enum { MARK_ROWS = 5, MOST_KINDS = 40, FEW_LAYERS = 16 };

static int column_of(double intensity) {
    double at = (log10(intensity) - AXIS_FROM) / (AXIS_TO - AXIS_FROM);
    return (int)lround(fmin(fmax(at, 0.0), 1.0) * (AXIS_WIDTH - 1));
}

// The level with most of the step's memory time: its ridge is drawn.
static int drawn_level(const Profile *profile) {
    return profile->totals[REPORT_STEP].roofline.level;
}

// Writes the whole text, or nothing if there is no room.
static bool put(char line[AXIS_WIDTH + 1], int at, const char *text) {
    int length = (int)strlen(text);
    for (int i = at; i < at + length; i++)
        if (i < 0 || i >= AXIS_WIDTH || line[i] != ' ') return false;
    memcpy(line + at, text, (size_t)length);
    return true;
}

// ---- marks -------------------------------------------------------------------------------------
typedef struct Kind { // a group of layers that share a letter
    char name[32], letter;
    int layers;
} Kind;

typedef struct Kinds {
    Kind kinds[MOST_KINDS];
    int n;
    bool few; // few layers: each one with parameters is its own kind
} Kinds;

static double intensity_of(const ProfileLayer *layer) {
    return profile_intensity(layer->phase[REPORT_STEP].cost);
}

static bool is_free(const Kinds *kinds, char letter) {
    for (int k = 0; k < kinds->n; k++)
        if (kinds->kinds[k].letter == letter) return false;
    return isalnum((unsigned char)letter) != 0;
}

// The name's last digit, if any ("fc1"); else its first unused character; else any.
static char free_letter(const Kinds *kinds, const char *name) {
    static const char any[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length = strlen(name);
    char last = length > 0 ? name[length - 1] : ' ';
    if (kinds->few && isdigit((unsigned char)last) && is_free(kinds, last)) return last;
    const char *from[] = {name, any};
    for (int i = 0; i < 2; i++)
        for (const char *c = from[i]; *c; c++)
            if (is_free(kinds, *c)) return *c;
    return '?';
}

// The optimizer and the loss are named as in the table.
static Text kind_name(const Profile *profile, const Kinds *kinds, const ProfileLayer *layer) {
    Text name = profile_layer_title(profile, layer);
    bool own = (kinds->few && layer->parameters > 0) || strcmp(name.s, layer->path) != 0;
    return own || !layer->type[0] ? text_fit_middle(name.s, 31) : text_fit(layer->type, 31);
}

static Kind *find_kind(const Profile *profile, Kinds *kinds, const ProfileLayer *layer) {
    Text name = kind_name(profile, kinds, layer);
    for (int k = 0; k < kinds->n; k++)
        if (strcmp(kinds->kinds[k].name, name.s) == 0) return &kinds->kinds[k];
    if (kinds->n == MOST_KINDS) return &kinds->kinds[MOST_KINDS - 1];
    Kind *kind = &kinds->kinds[kinds->n];
    snprintf(kind->name, sizeof(kind->name), "%.31s", name.s);
    kind->letter = free_letter(kinds, kind->name);
    kind->layers = 0;
    kinds->n++;
    return kind;
}

// Stacks each column's letters, each once, upwards from the axis. If there are too many, "+" is on
// top.
static void pile_up(const Profile *profile, Kinds *kinds, char rows[MARK_ROWS][AXIS_WIDTH]) {
    memset(rows, ' ', (size_t)MARK_ROWS * AXIS_WIDTH);
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        if (!(intensity_of(layer) > 0.0)) continue;
        Kind *kind = find_kind(profile, kinds, layer);
        int column = column_of(intensity_of(layer)), row = 0;
        kind->layers++;
        while (row < MARK_ROWS && rows[row][column] != ' ' && rows[row][column] != kind->letter)
            row++;
        rows[row < MARK_ROWS ? row : MARK_ROWS - 1][column] = row < MARK_ROWS ? kind->letter : '+';
    }
}

// Prints the legend in the order of the layers: "c Conv2d (20)".
static void print_kinds(const Kinds *kinds, FILE *file) {
    int column = 0;
    for (int k = 0; k < kinds->n; k++) {
        const Kind *kind = &kinds->kinds[k];
        char text[64];
        int width = snprintf(text, sizeof(text), kind->layers > 1 ? "  %c %s (%d)" : "  %c %s",
                             kind->letter, kind->name, kind->layers);
        bool fits = column + width <= AXIS_WIDTH + 2;
        fprintf(file, "%s%s", fits ? "" : "\n", text);
        column = fits ? column + width : width;
    }
    if (kinds->n > 0) fprintf(file, "\n");
}

static void print_marks(const Profile *profile, Kinds *kinds, FILE *file) {
    char rows[MARK_ROWS][AXIS_WIDTH];
    pile_up(profile, kinds, rows);
    for (int row = MARK_ROWS - 1; row >= 0; row--) {
        int end = AXIS_WIDTH;
        while (end > 0 && rows[row][end - 1] == ' ') end--;
        if (end > 0) fprintf(file, "  %.*s\n", end, rows[row]);
    }
}

// ---- the axis ----------------------------------------------------------------------------------
// Prints under the axis: its ends, the ridge below its mark, and the meaning of both sides.
static void print_legend(int ridge, FILE *file) {
    static const char mark[] = "^ ridge", below[] = "waits for memory";
    enum { MARK = sizeof(mark) - 1, BELOW = sizeof(below) - 1 };
    char line[AXIS_WIDTH + 1];
    memset(line, ' ', AXIS_WIDTH);
    line[AXIS_WIDTH] = '\0';
    bool flush = ridge + MARK > AXIS_WIDTH;
    put(line, flush ? ridge + 1 - MARK : ridge, flush ? "ridge ^" : mark);
    put(line, AXIS_WIDTH - 5, " 1000");
    put(line, 0, ridge < 12 ? "0.1 " : "0.1 FLOP/B ");
    if (ridge >= 12 + BELOW + 1) put(line, ridge - BELOW - 1, below);
    if (!put(line, ridge + MARK + 2, "waits for arithmetic "))
        put(line, ridge + MARK + 2, "for arithmetic ");
    int end = AXIS_WIDTH;
    while (end > 0 && line[end - 1] == ' ') end--;
    fprintf(file, "  %.*s\n", end, line);
}

// A card's name gets a line of its own.
static void print_source(const Machine *machine, FILE *file) {
    if (!machine->measured)
        fprintf(file, "\nROOFLINE  as given: ");
    else if (machine->device[0])
        fprintf(file, "\nROOFLINE  measured on %s:\n  ", text_fit(machine->device, 50).s);
    else
        fprintf(file, "\nROOFLINE  best seen here: ");
}

// Prints current memory rates: a bad moment is not a bad kernel. Level 0 is private to a core.
static void print_now(const Machine *machine, FILE *file) {
    const char *before = "  memory just now, of the best seen here: ";
    for (int i = 1; i < machine->n_levels; i++) {
        if (!(machine->levels[i].now > 0.0)) continue;
        fprintf(file, "%s%.7s %s", before, machine->levels[i].name,
                text_percent(machine->levels[i].now).s);
        before = ", ";
    }
    if (before[0] == ',') fprintf(file, "\n");
}

static void print_raise(const char *what, const MachineRaise *raise, FILE *file) {
    if (raise->by > 0.0)
        fprintf(file, "  %.7s raised %s by %s, which was faster than the loops\n", what,
                text_percent(raise->by).s, text_plain(raise->op).s);
}

void report_print_roofline(const Profile *profile, FILE *file) {
    if (!profile->has_machine) return;
    const Machine *machine = &profile->machine;
    int level = drawn_level(profile);
    double ridge = machine_ridge(machine, level);
    print_source(machine, file);
    fprintf(file, "%s, %s (%s) -> ridge %s FLOP/B\n",
            text_rate(machine->peak_flops_per_second, "FLOP/s").s,
            text_rate(machine->levels[level].bytes_per_second, "B/s").s,
            machine->levels[level].name, text_number(ridge).s);
    char axis[AXIS_WIDTH + 1];
    memset(axis, '-', AXIS_WIDTH);
    axis[AXIS_WIDTH] = '\0';
    for (int power = AXIS_FROM; power <= AXIS_TO; power++) axis[column_of(pow(10.0, power))] = '+';
    axis[column_of(ridge)] = '^';
    Kinds kinds = {.few = profile->n_layers <= FEW_LAYERS};
    print_marks(profile, &kinds, file);
    fprintf(file, "  %s\n", axis);
    print_legend(column_of(ridge), file);
    print_kinds(&kinds, file);
    print_now(machine, file);
    print_raise("peak", &machine->raise, file);
    for (int i = 0; i < machine->n_levels; i++)
        print_raise(machine->levels[i].name, &machine->levels[i].raise, file);
}
