// sweep_print.c -- prints the table, the plot and the fits of a sweep.
#include "profiler/compare/sweep.h"

#include <math.h>
#include <string.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"

enum { PLOT_COLUMNS = 66, PLOT_ROWS = 12, LABEL = 10, AXIS = 11, NARROW_AXIS = 9, MOST_FITS = 4 };

void sweep_name(const Sweep *sweep, int64_t point, char name[SWEEP_NAME]) {
    int at[SWEEP_AXES], used = 0;
    sweep_place(sweep, point, at);
    name[0] = '\0';
    for (int a = 0; a < sweep->n_axes; a++)
        used += snprintf(name + used, (size_t)(SWEEP_NAME - used), "%s%s %s", a ? ", " : "",
                         sweep->axes[a].name, sweep->axes[a].values[at[a]]);
}

// The letter of a point in the table and in the plot.
static char letter_of(int64_t point) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return point < (int64_t)sizeof(letters) - 1 ? letters[point] : '+';
}

// ---- cells -------------------------------------------------------------------------------------
static Text percent(double share, int decimals) {
    Text text = {"-"};
    if (!isnan(share)) snprintf(text.s, sizeof(text.s), "%.*f%%", decimals, 100.0 * share);
    return text;
}

static Text step_cell(const SweepPoint *point) { return text_duration(point->seconds); }
static Text spread_cell(const SweepPoint *point) {
    double half = 0.5 * (point->high - point->low) / point->seconds;
    return point->high > 0.0 ? text_percent(half) : (Text){"-"};
}
static Text rate_cell(const SweepPoint *point) {
    return text_short_count((int64_t)(point->units_per_second + 0.5));
}
static Text peak_cell(const SweepPoint *point) { return text_bytes_si(point->peak_bytes); }
static Text flops_cell(const SweepPoint *point) { return text_short_count(point->total_flops); }
static Text loss_cell(const SweepPoint *point) {
    Text text = {"diverged"};
    if (!isnan(point->loss))
        snprintf(text.s, sizeof(text.s), point->loss < 1e4 ? "%.4f" : "%.2e", point->loss);
    return text;
}
static Text accuracy_cell(const SweepPoint *point) { return percent(point->accuracy, 2); }
static Text per_second_cell(const SweepPoint *point) {
    return percent(point->accuracy / point->train_seconds, 1);
}
static Text target_cell(const SweepPoint *point) { return text_duration(point->target_seconds); }

// Columns after the axes; `axes`: most axes that leave room for the column.
static const struct {
    const char *heading; // NULL: a rate's
    int width, axes, axes_of_training;
    bool timed; // only for points that ran
    Text (*cell)(const SweepPoint *point);
} columns[] = {
    {"step", 9, 4, 1, true, step_cell},         {"+-", 5, 2, 0, true, spread_cell},
    {NULL, 12, 4, 0, true, rate_cell},          {"peak", 9, 4, 1, false, peak_cell},
    {"FLOP", 9, 2, 0, false, flops_cell},       {"loss", 9, 0, 4, true, loss_cell},
    {"accuracy", 9, 0, 4, true, accuracy_cell}, {"acc./s", 8, 0, 3, true, per_second_cell},
    {"to target", 10, 0, 4, true, target_cell},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static bool is_timed(const Sweep *sweep) {
    for (int64_t i = 0; i < sweep->n; i++)
        if (sweep->points[i].seconds > 0.0) return true;
    return false;
}

static bool is_shown(const Sweep *sweep, int column, bool timed) {
    int most = sweep->learns ? columns[column].axes_of_training : columns[column].axes;
    return sweep->n_axes <= most && (timed || !columns[column].timed);
}

// ---- the table ---------------------------------------------------------------------------------
static const char *chosen_word(const Sweep *sweep) {
    bool limited = sweep->limits.seconds > 0.0 || sweep->limits.bytes > 0;
    return sweep->learns || limited ? "best" : "knee";
}

static Text mark_of(const Sweep *sweep, int64_t i) {
    static const char *const states[] = {[SWEEP_OPEN] = "open", [SWEEP_FAILED] = "failed"};
    const SweepPoint *point = &sweep->points[i];
    const char *word = point->state != SWEEP_MEASURED ? states[point->state]
                       : i == sweep->chosen           ? chosen_word(sweep)
                       : point->over                  ? "over"
                                                      : "";
    Text text;
    snprintf(text.s, sizeof(text.s), "%s%s%s", point->pareto ? "*" : "",
             point->pareto && word[0] ? " " : "", word);
    return text;
}

static void add_row(const Sweep *sweep, bool timed, const Table *table, int64_t i) {
    const SweepPoint *point = &sweep->points[i];
    const char letter[] = {letter_of(i), '\0'};
    TableCells cells = {letter};
    Text texts[COLUMNS], mark = mark_of(sweep, i);
    int at[SWEEP_AXES], c = 1;
    sweep_place(sweep, i, at);
    for (int a = 0; a < sweep->n_axes; a++) cells[c++] = sweep->axes[a].values[at[a]];
    for (int k = 0; k < COLUMNS; k++) {
        if (!is_shown(sweep, k, timed)) continue;
        texts[k] = point->state == SWEEP_MEASURED ? columns[k].cell(point) : (Text){""};
        cells[c++] = texts[k].s;
    }
    cells[c] = mark.s;
    table_add(table, cells);
}

static void print_table(const Sweep *sweep, bool timed, FILE *file) {
    char rate[32];
    Table table = {.headings = {""}, .widths = {1}, .indent = 2};
    int c = 1;
    snprintf(table.title, sizeof(table.title), "SWEEP  %lld point%s%s", (long long)sweep->n,
             sweep->n == 1 ? "" : "s", sweep->learns ? ", each profiled and trained" : "");
    snprintf(rate, sizeof(rate), "%.20s/s", sweep->unit);
    for (int a = 0; a < sweep->n_axes; a++, c++) {
        table.headings[c] = sweep->axes[a].name;
        table.widths[c] = sweep->n_axes > 2 ? NARROW_AXIS : AXIS;
        table.kinds[c] = TABLE_PATH;
    }
    for (int k = 0; k < COLUMNS; k++) {
        if (!is_shown(sweep, k, timed)) continue;
        table.headings[c] = columns[k].heading ? columns[k].heading : rate;
        table.widths[c++] = columns[k].width;
    }
    table.headings[c] = "";
    table.kinds[c] = TABLE_WORD;
    table.widths[c] = 7;
    table_begin(&table, file);
    for (int64_t i = 0; i < sweep->n; i++) add_row(sweep, timed, &table, i);
}

// Explains the marks.
static void say_training(const Sweep *sweep, char *line, size_t size) {
    char target[90] = "";
    if (!isnan(sweep->target))
        snprintf(target, sizeof(target), "; target: a loss of %.4f, which half of them reached",
                 sweep->target);
    snprintf(line, size,
             "* no other is at least as good in time to train, %s and memory; best: the %s%s",
             sweep->by_accuracy ? "accuracy" : "loss",
             sweep->by_accuracy ? "most accurate" : "lowest loss", target);
}

static void say_steps(const Sweep *sweep, char *line, size_t size) {
    bool limited = sweep->limits.seconds > 0.0 || sweep->limits.bytes > 0;
    if (sweep_mixes_units(sweep))
        snprintf(
            line, size,
            "* no other is at least as good in latency and memory; %s: the shortest step; what "
            "counts in different units has no throughput to compare",
            limited ? "best" : "knee");
    else
        snprintf(line, size, "* no other is at least as good in latency, throughput and memory; %s",
                 limited ? "best: the most throughput within the limits"
                         : "knee: the most throughput for its latency; --max-latency and "
                           "--max-memory ask for the best within them");
}

static void print_marks(const Sweep *sweep, bool timed, FILE *file) {
    char line[600];
    int64_t over = 0, open = 0;
    for (int64_t i = 0; i < sweep->n; i++) {
        over += sweep->points[i].over;
        open += sweep->points[i].state == SWEEP_OPEN;
    }
    if (sweep->learns)
        say_training(sweep, line, sizeof(line));
    else
        say_steps(sweep, line, sizeof(line));
    if (timed) text_print_wrapped(line, "  ", "  ", file);
    if (over > 0)
        text_print_wrapped(over + open < sweep->n || open > 0
                               ? "over: beyond --max-latency or --max-memory"
                               : "over: beyond --max-latency or --max-memory, as all are",
                           "  ", "  ", file);
}

// ---- the plot ----------------------------------------------------------------------------------
typedef struct Span { // in logarithms
    double from, to;
} Span;

static void widen(Span *span, double value) {
    span->from = fmin(span->from, log(value));
    span->to = fmax(span->to, log(value));
}

static int place_in(const Span *span, double value, int cells) {
    double width = span->to - span->from;
    return width > 0.0 ? (int)lround((log(value) - span->from) / width * (cells - 1)) : 0;
}

static Text worth_text(const Sweep *sweep, double value) {
    Text text;
    if (!sweep->learns) return text_short_count((int64_t)(value + 0.5));
    snprintf(text.s, sizeof(text.s), "%.3f", value);
    return text;
}

static void print_rows(const Sweep *sweep, char cells[PLOT_ROWS][PLOT_COLUMNS], const Span *y,
                       FILE *file) {
    for (int row = PLOT_ROWS - 1; row >= 0; row--) {
        int length = PLOT_COLUMNS;
        while (length > 0 && cells[row][length - 1] == ' ') length--;
        bool end = row == 0 || row == PLOT_ROWS - 1;
        double value = exp(row ? y->to : y->from);
        fprintf(file, "%*s %c%.*s\n", LABEL - 1, end ? worth_text(sweep, value).s : "",
                end ? '+' : '|', length, cells[row]);
    }
}

static void print_picture(const Sweep *sweep, FILE *file) {
    char cells[PLOT_ROWS][PLOT_COLUMNS];
    Span x = {HUGE_VAL, -HUGE_VAL}, y = x;
    double takes, gives;
    memset(cells, ' ', sizeof(cells));
    for (int64_t i = 0; i < sweep->n; i++) {
        if (!sweep_trade(sweep, i, &takes, &gives)) continue;
        widen(&x, takes);
        widen(&y, gives);
    }
    if (!(x.to - x.from > 1e-6) || !(y.to - y.from > 1e-6)) return; // nothing to see
    for (int64_t i = sweep->n - 1; i >= 0; i--)                     // earlier points on top
        if (sweep_trade(sweep, i, &takes, &gives))
            cells[place_in(&y, gives, PLOT_ROWS)][place_in(&x, takes, PLOT_COLUMNS)] = letter_of(i);
    fprintf(file, "\n  %s%s\n",
            !sweep->learns       ? sweep->unit
            : sweep->by_accuracy ? "accuracy"
                                 : "loss",
            sweep->learns ? "" : "/s");
    print_rows(sweep, cells, &y, file);
    Text from = text_duration(exp(x.from)), to = text_duration(exp(x.to));
    fprintf(file, "%*s+%s%*s%*s\n", LABEL, "", from.s, (int)(PLOT_COLUMNS / 2 - strlen(from.s) + 4),
            sweep->learns ? "to train" : "a step", PLOT_COLUMNS / 2 - 4, to.s);
}

// ---- latency of a batch ------------------------------------------------------------------------
static void print_fits(const Sweep *sweep, FILE *file) {
    int axis = sweep_axis(sweep, "batch"), at[SWEEP_AXES], told = 0;
    for (int64_t i = 0; axis >= 0 && i < sweep->n && told < MOST_FITS; i++) {
        SweepFit fit;
        char line[800], others[SWEEP_NAME] = "";
        sweep_place(sweep, i, at);
        if (at[axis] != 0 || !sweep_fit(sweep, axis, i, &fit)) continue;
        for (int a = 0; a < sweep->n_axes; a++) {
            size_t used = strlen(others);
            if (a != axis)
                snprintf(others + used, sizeof(others) - used, "%s%s %.24s", used ? ", " : " at ",
                         sweep->axes[a].name, sweep->axes[a].values[at[a]]);
        }
        snprintf(line, sizeof(line),
                 "a step takes %s + %s x batch%.120s from batch %lld on, within %s where each is "
                 "foretold from the others; batch %lld would take %s",
                 text_duration(fit.fixed).s, text_duration(fit.each).s, others, (long long)fit.from,
                 text_percent(fmax(fit.error, 0.01)).s, (long long)fit.batch,
                 text_duration(fit.seconds).s);
        if (told++ == 0) fputc('\n', file);
        text_print_wrapped(line, "  ", "    ", file);
    }
}

void sweep_print(const Sweep *sweep, FILE *file) {
    bool timed = is_timed(sweep);
    print_table(sweep, timed, file);
    print_marks(sweep, timed, file);
    if (!timed) return;
    print_picture(sweep, file);
    print_fits(sweep, file);
}
