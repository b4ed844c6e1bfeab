// program_generate.c -- the answer to --generate: seconds, counts and bytes of the first token and
// of those after it. Not here: measuring them (profiler/measure/generation.c).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/program/program.h"
#include "tensor/memory.h"

// Prints the percentiles that have enough samples: ", p90 3.1 ms".
static void print_percentiles(const Latency *latency) {
    static const double wanted[] = {90.0, 99.0, 99.9};
    for (int i = 0; i < 3; i++) {
        double value;
        bool enough;
        int64_t missing;
        if (statistics_percentile(latency->samples, latency->count, wanted[i], &value, &enough,
                                  &missing)) {
            error_clear(); // not worth failing for
            return;
        }
        if (enough) printf(", p%g %s", wanted[i], text_duration(value).s);
    }
}

static void print_times(const char *what, const Latency *latency, double per_second,
                        const char *unit) {
    if (latency->count == 0) return;
    const LatencyStatistics *s = &latency->statistics;
    printf("  %-14s %8s  %s %s\n", what, text_duration(s->median).s,
           per_second < 99.5 ? text_number(per_second).s
                             : text_short_count((int64_t)(per_second + 0.5)).s,
           unit);
    printf("    median of %s, IQR %s", text_count(s->n).s,
           s->n > 1 ? text_duration(s->iqr).s : "-");
    print_percentiles(latency);
    printf("\n");
}

static void print_counts(const Program *program, const char *what, const ProfilePhase *phase) {
    if (phase->ops == 0) return;
    uint64_t bytes = phase->cost.bytes_read + phase->cost.bytes_written;
    printf("  %-14s %8s FLOPs (%s MACs), %s, %s FLOP/B\n", what,
           text_short_count((int64_t)op_cost_total_flops(phase->cost)).s,
           text_short_count((int64_t)phase->cost.macs).s, text_bytes_si((int64_t)bytes).s,
           text_number(profile_intensity(phase->cost)).s);
    if (!(phase->roofline.roof_seconds > 0.0)) return;
    char text[ROOFLINE_TEXT];
    RooflineInput input =
        roofline_input(phase->cost, &phase->traffic, phase->ops, latency_median(&phase->latency));
    roofline_evidence(&program->machine, &input, &phase->roofline, text);
    text_print_wrapped(text, "    ", "    ", stdout);
}

static void print_all(const Program *program, const Generation *g) {
    char how[40] = "always the likeliest";
    if (g->temperature > 0.0f)
        snprintf(how, sizeof(how), "at temperature %g", (double)g->temperature);
    printf("GENERATION  %s token%s behind a prompt of %s, %s\n", text_count(g->tokens).s,
           g->tokens == 1 ? "" : "s", text_count(g->prompt).s, how);
    if (g->first.latency.count == 0) printf("  counted only: nothing ran\n");
    print_times("first token", &g->first.latency,
                (double)g->prompt / latency_median(&g->first.latency), "tokens of the prompt/s");
    print_times("each after it", &g->token.latency, generation_rate(g), "tokens/s");
    printf("  %-14s %8s  %s B for each of %s positions\n", "cache", text_bytes_si(g->cache_bytes).s,
           text_count(g->cache_bytes_per_token).s,
           text_count(g->cache_bytes / g->cache_bytes_per_token).s);
    char place[48];
    snprintf(place, sizeof(place), "token %.32s", text_count(g->position + 1).s);
    print_counts(program, "first token", &g->first);
    print_counts(program, place, &g->token);
}

// Arbitrary ids, like those of the profile's batch.
static int64_t *prompt_new(const Program *program, int64_t given) {
    int64_t *ids = memory_new((size_t)given * sizeof(int64_t));
    for (int64_t i = 0; ids && i < given; i++) ids[i] = i % program->subject.vocabulary;
    return ids;
}

Status program_generate(Program *program) {
    const Options *options = program->options;
    Profile *profile = &program->profile;
    int64_t given = program->subject.sample.dims[0];
    profile->generation = memory_new(sizeof(Generation));
    int64_t *prompt = profile->generation ? prompt_new(program, given) : NULL;
    GenerationOptions how = generation_defaults();
    if (!isnan(options->temperature)) how.temperature = (float)options->temperature;
    how.machine = program->machine.n_levels > 0 ? &program->machine : NULL;
    progress_say(program, "writing tokens, again and again");
    Status status = prompt ? profile_generation(program->model, prompt, given, options->generate,
                                                how, profile->generation)
                           : error_status();
    progress_clear(program);
    memory_free(prompt);
    if (!status) {
        print_all(program, profile->generation);
        return STATUS_OK;
    }
    generation_free(profile->generation);
    memory_free(profile->generation);
    profile->generation = NULL;
    return status;
}
