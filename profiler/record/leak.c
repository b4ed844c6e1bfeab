// leak.c -- live bytes per step, the line through them, and a table of storages requested and not
// yet freed. Recording allocates nothing.
#include "profiler/record/leak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/given.h"
#include "tensor/memory.h"

// Slots of the table; a power of two. At most three quarters are used, so that searches stay short.
enum { SLOT_BITS = 15, SLOTS = 1 << SLOT_BITS, MOST_KEPT = SLOTS / 4 * 3 };
enum { LEAST_STEPS = 3, MOST_STEPS = 1 << 30 };

typedef struct Kept {       // a storage requested since the start, and alive
    const Storage *storage; // compared, never dereferenced; NULL: free slot
    int64_t bytes;
    int site;
    MemoryCategory category;
} Kept;

struct LeakTest {
    Observer observer; // first
    SiteReader reader;
    const Context *context; // watched; NULL before the first start
    bool running;
    int64_t *live; // bytes at the end of each step
    int64_t steps, most_steps;
    Kept *kept; // SLOTS entries: open addressing with linear probing
    int n_kept;
    int64_t missed;
};

// ---- the table -------------------------------------------------------------------------------
static int next_slot(int slot) { return (slot + 1) & (SLOTS - 1); }
static int slots_between(int from, int to) { return (to - from) & (SLOTS - 1); }

static int home_slot(const Storage *storage) { // Fibonacci hashing: the upper bits are well mixed
    return (int)((uint64_t)(uintptr_t)storage * 0x9E3779B97F4A7C15u >> (64 - SLOT_BITS));
}

// The slot of the storage, or the free slot for it.
static int find(const LeakTest *test, const Storage *storage) {
    int slot = home_slot(storage);
    while (test->kept[slot].storage && test->kept[slot].storage != storage) slot = next_slot(slot);
    return slot;
}

static void remember(LeakTest *test, const Storage *storage) {
    Kept *kept = &test->kept[find(test, storage)];
    // If the slot is taken, the storage was freed unseen while another context was current.
    if (!kept->storage && test->n_kept == MOST_KEPT) {
        test->missed++;
        return;
    }
    if (!kept->storage) test->n_kept++;
    *kept = (Kept){storage, storage->bytes, storage->site, storage->category};
}

// Closes the gap, so that no search ends too early: later entries move up unless their home lies
// behind the gap.
static void forget(LeakTest *test, const Storage *storage) {
    int gap = find(test, storage);
    if (!test->kept[gap].storage) return; // from before the start, or missed
    test->n_kept--;
    for (int i = next_slot(gap); test->kept[i].storage; i = next_slot(i)) {
        int home = home_slot(test->kept[i].storage);
        if (slots_between(home, i) < slots_between(gap, i)) continue;
        test->kept[gap] = test->kept[i];
        gap = i;
    }
    test->kept[gap].storage = NULL;
}

static void watch(Observer *observer, const Storage *storage, int64_t delta) {
    LeakTest *test = (LeakTest *)observer;
    if (delta > 0) remember(test, storage);
    if (delta < 0) forget(test, storage);
}

// ---- recording -------------------------------------------------------------------------------
LeakTest *leak_new(int64_t most_steps) {
    if (most_steps < LEAST_STEPS || most_steps > MOST_STEPS) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "leak test: of %lld steps. HINT: at least %d make a line, and 2^30 are kept",
                  (long long)most_steps, LEAST_STEPS);
        return NULL;
    }
    LeakTest *test = memory_new(sizeof(LeakTest));
    if (!test) return NULL;
    test->observer.storage = watch;
    test->most_steps = most_steps;
    test->live = memory_new((size_t)most_steps * sizeof(int64_t));
    test->kept = test->live ? memory_new(SLOTS * sizeof(Kept)) : NULL;
    if (test->kept) return test;
    leak_free(test);
    return NULL;
}

void leak_free(LeakTest *test) {
    if (!test) return;
    leak_stop(test);
    site_reader_remove(&test->reader);
    memory_free(test->live);
    memory_free(test->kept);
    memory_free(test);
}

void leak_start(LeakTest *test) {
    if (!test) return; // leak_new has reported the reason
    leak_stop(test);
    memset(test->kept, 0, SLOTS * sizeof(Kept));
    test->n_kept = 0;
    test->steps = test->missed = 0;
    test->context = context_current();
    test->running = true;
    site_reader_add(&test->reader);
    observer_add(&test->observer);
}

void leak_step(LeakTest *test) {
    if (!test || !test->running || test->steps == test->most_steps) return;
    const Ledger *ledger = test->context->ledger;
    test->live[test->steps++] = ledger ? ledger->live.total : 0;
}

void leak_stop(LeakTest *test) {
    if (!test || !test->running) return;
    observer_remove(&test->observer);
    test->running = false;
}

// ---- the line --------------------------------------------------------------------------------
// The 97.5 % quantile of Student's t: exact for few degrees of freedom, then Cornish and Fisher's
// expansion around the normal's (Abramowitz and Stegun 26.7.5), accurate to a millionth.
static double student_quantile(int64_t freedom) {
    static const double small[] = {12.7062047, 4.30265273, 3.18244631, 2.77644511,
                                   2.57058184, 2.44691185, 2.36462425, 2.30600414,
                                   2.26215716, 2.22813885, 2.20098516, 2.17881283};
    static const double expansion[] = {1.95996398, 2.37227123, 2.82249862, 2.55584968, 1.58953405};
    if (freedom <= (int64_t)(sizeof(small) / sizeof(small[0]))) return small[freedom - 1];
    double sum = 0.0;
    for (int i = sizeof(expansion) / sizeof(expansion[0]); i-- > 0;)
        sum = sum / (double)freedom + expansion[i];
    return sum;
}

// Height of a step's end above the straight line from the first to the last, whose slope is a whole
// number. Exact, so that equal rises leave 0 everywhere.
static double above(const LeakTest *test, int64_t slope, int64_t step) {
    return (double)(test->live[step] - test->live[0] - slope * step);
}

static void fit_line(const LeakTest *test, LeakReport *report) {
    int64_t n = test->steps, whole = (test->live[n - 1] - test->live[0]) / (n - 1);
    double count = (double)n, centre = 0.5 * (count - 1.0), mean = 0.0;
    for (int64_t i = 0; i < n; i++) mean += above(test, whole, i) / count;
    double squares = count * (count * count - 1.0) / 12.0, products = 0.0, rest = 0.0;
    for (int64_t i = 0; i < n; i++)
        products += ((double)i - centre) * (above(test, whole, i) - mean);
    double slope = products / squares;
    for (int64_t i = 0; i < n; i++) {
        double off = above(test, whole, i) - mean - slope * ((double)i - centre);
        rest += off * off;
    }
    double half = student_quantile(n - 2) * sqrt(rest / (count - 2.0) / squares);
    report->bytes_per_step = (double)whole + slope;
    report->low = report->bytes_per_step - half;
    report->high = report->bytes_per_step + half;
}

static int64_t least_of_third(const LeakTest *test, int third) {
    int64_t begin = test->steps * third / 3, end = test->steps * (third + 1) / 3;
    int64_t least = test->live[begin];
    for (int64_t i = begin + 1; i < end; i++)
        if (test->live[i] < least) least = test->live[i];
    return least;
}

static bool goes_on(const LeakTest *test) {
    int64_t middle = least_of_third(test, 1);
    return least_of_third(test, 0) < middle && middle < least_of_third(test, 2);
}

// ---- who -------------------------------------------------------------------------------------
static int by_site(const void *left, const void *right) {
    const Kept *a = left, *b = right;
    if (a->site != b->site) return a->site < b->site ? -1 : 1;
    return (a->category > b->category) - (a->category < b->category);
}

// Inserts a site by size; smaller ones move down, and the last may fall out.
static void add_site(LeakReport *report, const LeakSite *site) {
    int at = report->n_sites < LEAK_MOST_SITES ? report->n_sites++ : LEAK_MOST_SITES;
    for (; at > 0 && report->sites[at - 1].bytes < site->bytes; at--)
        if (at < LEAK_MOST_SITES) report->sites[at] = report->sites[at - 1];
    if (at < LEAK_MOST_SITES) report->sites[at] = *site;
}

static void add_sites(const LeakTest *test, const Kept *kept, LeakReport *report) {
    for (int i = 0; i < test->n_kept;) {
        const Kept *first = &kept[i];
        LeakSite site = {.category = first->category};
        site_path(test->context, first->site, site.path, sizeof(site.path));
        for (; i < test->n_kept && by_site(first, &kept[i]) == 0; i++) {
            site.bytes += kept[i].bytes;
            site.storages++;
        }
        report->kept_bytes += site.bytes;
        add_site(report, &site);
    }
}

Status leak_report(const LeakTest *test, LeakReport *report) {
    if (!GIVEN(report)) return STATUS_INVALID_ARGUMENT;
    *report = (LeakReport){0};
    if (!test) return error_set(STATUS_INVALID_ARGUMENT, "leak test: there is none (NULL)");
    *report = (LeakReport){.steps = test->steps, .missed = test->missed};
    if (test->steps < LEAST_STEPS)
        return error_set(STATUS_STATE,
                         "leak test: %lld steps have ended, and a line takes %d. HINT: call "
                         "leak_step at each step's end",
                         (long long)test->steps, LEAST_STEPS);
    Kept *kept = memory_new((size_t)test->n_kept * sizeof(Kept));
    if (!kept) return STATUS_OUT_OF_MEMORY;
    int n = 0;
    for (int i = 0; i < SLOTS; i++)
        if (test->kept[i].storage) kept[n++] = test->kept[i];
    qsort(kept, (size_t)n, sizeof(Kept), by_site);
    add_sites(test, kept, report);
    memory_free(kept);
    fit_line(test, report);
    report->leaks = report->low > 0.0 && goes_on(test);
    return STATUS_OK;
}
