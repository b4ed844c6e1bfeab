// options_given.c -- finds the given flags, by name or by their kinds in the table, for the checks
// that options fit together. Not here: those checks (options_fit.c, options_several.c).
#include <string.h>

#include "profiler/program/options_table.h"

static bool is_given(const Options *options, const Flag *flag) {
    const void *at = (const char *)options + flag->offset;
    if (!options->given[flag - options_flags]) return false;
    if (flag->take == take_length) return ((const Length *)at)->count > 0;
    return !(flag->is & FLAG_FROM_LEAST) || *(const int64_t *)at > flag->least;
}

const Flag *options_flag(const Options *options, const char *name) {
    for (int i = 0; i < options_flag_count; i++)
        if (options_flags[i].programs & options->line->program &&
            strcmp(options_flags[i].name, name) == 0)
            return &options_flags[i];
    return NULL;
}

bool options_has(const Options *options, const char *name) {
    const Flag *flag = options_flag(options, name);
    return flag && is_given(options, flag);
}

// The table covers all uses of a flag; for --svg and --output, the value decides.
static unsigned what_it_is(const Options *options, const Flag *flag) {
    bool counted = flag->take == take_svg && !options_draw(options, ~(1U << PAGE_MEMORY));
    bool folder = flag->take == take_output && !options->output;
    return counted || folder ? flag->is & ~(unsigned)FLAG_RUNS : flag->is;
}

static unsigned what_it_is_not_with(const Options *options, const Flag *flag) {
    bool swept = flag->take == take_svg && !options_draw(options, ~(1U << PAGE_SWEEP));
    return swept ? flag->not_with & ~(unsigned)NOT_SWEPT : flag->not_with;
}

const char *options_first(const Options *options, unsigned is, unsigned not_with) {
    for (int i = 0; i < options_flag_count; i++) {
        const Flag *flag = &options_flags[i];
        bool fits = what_it_is(options, flag) & is || what_it_is_not_with(options, flag) & not_with;
        if (fits && is_given(options, flag)) return flag->name;
    }
    return NULL;
}

bool options_have_needs(const Options *options) {
    for (int i = 0; i < options_flag_count; i++) {
        const Flag *flag = &options_flags[i];
        if (!flag->needs || !is_given(options, flag) || options_has(options, flag->needs)) continue;
        const char *argument = options_flag(options, flag->needs)->argument;
        return options_refuse(options, "--%s needs --%s%s%s", flag->name, flag->needs,
                              argument ? " " : "", argument ? argument : "");
    }
    return true;
}
