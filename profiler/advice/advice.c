// advice.c -- applies every rule, ranks their advice, and prints the best. Not here: the rules
// (advice_rules.c, advice_batch.c), the predicted ranges (advice_range.c).
#include "profiler/advice/advice.h"

#include <math.h>
#include <string.h>

#include "profiler/advice/advice_rules.h"
#include "profiler/base/text.h"
#include "tensor/given.h"

static AdviceRule *const rules[] = {
    advice_larger_batch, advice_optimizer,     advice_fusing,
    advice_fewer_layers, advice_far_from_roof, advice_data,
    advice_threads,      advice_at_roof,       advice_recompute,
};
enum { RULES = sizeof(rules) / sizeof(rules[0]) };

// Order: advice worth it first, then by seconds (advice without seconds last), then by bytes.
static bool goes_before(const Advice *a, const Advice *b) {
    if (a->worth != b->worth) return a->worth;
    double saved_a = isnan(a->seconds) ? -1.0 : a->seconds;
    double saved_b = isnan(b->seconds) ? -1.0 : b->seconds;
    return saved_a != saved_b ? saved_a > saved_b : a->bytes > b->bytes;
}

int advice_find(const Profile *profile, Advice advice[ADVICE_MOST]) {
    if (!GIVEN(profile) || !GIVEN(advice)) return 0;
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    if (advice_known(step) == 0.0) return 0;
    Advice found[RULES];
    int n = 0;
    for (int r = 0; r < RULES; r++) {
        Advice next = {.gain_low = (double)NAN, .gain_high = (double)NAN};
        if (!rules[r](profile, step, &next)) continue;
        int at = n++;
        for (; at > 0 && goes_before(&next, &found[at - 1]); at--) found[at] = found[at - 1];
        found[at] = next;
    }
    if (n > ADVICE_MOST) n = ADVICE_MOST;
    memcpy(advice, found, (size_t)n * sizeof(Advice));
    return n;
}

// ---- the section -------------------------------------------------------------------------------
enum { INDENT = 5, CHECK_COLUMN = 55, MOST_LINES = 4, MOST_REFUSED = 2 };

// Prints the check in its column, or at the end of the line after a long text.
static void print_line(const Advice *advice, int number, FILE *file) {
    char mark[16] = "-";
    if (advice->worth) snprintf(mark, sizeof(mark), "%d", number);
    Text check = text_fit(advice->check, TEXT_COLUMNS - CHECK_COLUMN);
    Text text = text_fit(advice->text, TEXT_COLUMNS - INDENT - 1 - text_width(check.s));
    int gap = CHECK_COLUMN - INDENT - text_width(text.s);
    fprintf(file, "  %-3s%s%*s%s\n", mark, text.s, gap > 1 ? gap : 1, "", check.s);
}

void advice_print(const Profile *profile, FILE *file) {
    if (!GIVEN(profile) || !GIVEN(file)) return;
    Advice advice[ADVICE_MOST];
    int n = advice_find(profile, advice), worth = 0;
    if (n == 0) return;
    while (worth < n && advice[worth].worth) worth++;
    int refused = n - worth < MOST_REFUSED ? n - worth : MOST_REFUSED;
    if (worth + refused > MOST_LINES && refused > 1) refused = 1; // at least one is shown
    int most = MOST_LINES - refused;
    fprintf(file, "\n%-*s%s\n", CHECK_COLUMN, "WHAT WOULD HELP (predicted; --try measures it)",
            "check it with");
    for (int i = 0; i < worth && i < most; i++) print_line(&advice[i], i + 1, file);
    for (int i = worth; i < worth + refused; i++) print_line(&advice[i], 0, file);
}
