// options_help.c -- prints --help: a first page, from the table that parses the flags, and the
// topics.
#include <stdio.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/machine/machine_known.h"
#include "profiler/machine/roofline.h"
#include "profiler/program/options_table.h"
#include "profiler/program/sweep_axes.h"

static void print_flag(const Flag *flag) {
    char left[40];
    const char short_form[] = {'-', flag->letter, ',', ' ', '\0'};
    snprintf(left, sizeof(left), "%s--%s%s%s", flag->letter ? short_form : "", flag->name,
             flag->argument ? " " : "", flag->argument ? flag->argument : "");
    printf("  %-22s %s\n", left, flag->help);
}

// Prints at most 24 lines, to fit a terminal.
static void print_first_page(const ProgramLine *line) {
    for (int i = 0; i < 3; i++) printf("./%s %s\n", line->name, line->examples[i]);
    printf("\n%s\n\n", line->about);
    for (int i = 0; i < options_flag_count; i++)
        if (options_flags[i].first_page && options_flags[i].programs & line->program)
            print_flag(&options_flags[i]);
    printf("\nMore: --help TOPIC, of");
    for (int t = 0; t < flag_topic_count; t++) printf(" %s,", flag_topics[t].name);
    printf(" all;\n  numbers: counts, roofline; %speaks, sweep, thresholds, status\n",
           line->program == PROGRAM_MLP ? "activations, " : "");
}

const char options_exit_text[] =
    "Exit status\n\n"
    "0  done\n"
    "1  the answer is no: the training diverged, prediction and execution differ, a\n"
    "   budget holds no sample, --strict found what is not counted, or a --threshold\n"
    "   does not hold (of --compare and --against alone: 5 % slower)\n"
    "2  wrong usage\n"
    "3  a file or device could not be used\n"
    "130, 143  SIGINT or SIGTERM ended it between two steps: report and files have\n"
    "   what there was; a second one ends it at once\n";

static void print_topic(const ProgramLine *line, int topic) {
    printf("%s\n", flag_topics[topic].heading);
    for (int i = 0; i < options_flag_count; i++)
        if (options_flags[i].topic == topic && options_flags[i].programs & line->program)
            print_flag(&options_flags[i]);
}

static void print_all(const ProgramLine *line) {
    printf("usage: %s %s%s[options]\n\n%s\n", line->name, line->argument ? line->argument : "",
           line->argument ? " " : "", line->about);
    for (int t = 0; t < flag_topic_count; t++) {
        printf("\n");
        print_topic(line, t);
    }
    printf("\n%s", options_exit_text);
}

static const char counts_text[] =
    "What every number means\n\n"
    "macs                  multiply-adds of matrix products\n"
    "flops                 2 x macs: as PyTorch's FlopCounterMode counts\n"
    "bias_flops            one per output element that gets a bias\n"
    "elementwise_flops     + - * / and comparisons of an op's declared formula\n"
    "transcendental_flops  exp, log, tanh, erf, sqrt, pow: one each\n"
    "total_flops           the sum of the four; a view costs nothing\n"
    "bytes_read, _written  compulsory traffic: each distinct operand once, cold\n"
    "saved_bytes           activations kept for backward, each buffer once, by the\n"
    "                      layer that saved it first\n"
    "recomputed_flops      2 x macs of forward that backward ran again (--recompute)\n"
    "intensity (FLOP/B)    total_flops / (bytes_read + bytes_written)\n\n"
    "All counts are of one step, batch included. Phases: forward; backward, of which\n"
    "backward_input, backward_weight (weights and biases) and recompute are parts,\n"
    "the rest being accumulation, broadcasting reductions and what a rule does on the\n"
    "way; optimizer. A first layer whose input needs no gradient has no\n"
    "backward_input, so backward is not twice forward: MLP 784-512-10 has 813,056\n"
    "flops forward and 823,296 backward per sample.\n\n"
    "A layer is a call site, exclusive of what runs inside other sites; (model) is\n"
    "work outside any layer, loss the loss. Layers add up to the totals, exactly in\n"
    "counts; in time, layers + unattributed = step.\n\n"
    "Times: CLOCK_MONOTONIC; medians, with a distribution-free 95 % confidence\n"
    "interval. On a GPU phases, layers and ops have the GPU's own time, from events\n"
    "read after one wait, and a whole step the host's, from before it to the end of\n"
    "that wait; `unattributed` is then what the GPU did not work. Memory: requested\n"
    "bytes by category, at the highest moment of a steady step; predicted by a dry\n"
    "run, measured by the ledger. kB, MB, GB are decimal.\n"
    "The optimizer keeps 0 (SGD), 4 (momentum, RMSprop, Lion) or 8 (Adam,\n"
    "AdamW) bytes a parameter.\n";

static void print_activations(const ProgramLine *line) {
    (void)line;
    printf("Activations, to be named by --activation, and what they compute:\n\n");
    printf("  %-12s no activation at all\n", "none");
    const Op *op;
    for (int i = 0; (op = op_activation_at(i)); i++)
        printf("  %-12s %s\n", op->name, op->story ? op->story->formula : op->module);
}

static void print_peaks(const ProgramLine *line) {
    (void)line;
    printf("Machines whose published ceilings --peaks NAME takes, with --device meta. Peaks\n"
           "are dense, at the boost clock, bandwidths those of the pins: times by them are\n"
           "bounds. The last cache counts, at its published rate or as free.\n\n"
           "%-18s%14s%11s%10s\n",
           "name", "peak", "bandwidth", "memory");
    const KnownMachine *known;
    for (int i = 0; (known = machine_known_at(i)); i++) {
        printf("%-18s%14s%11s%10s\n", known->name,
               text_rate(known->peak_flops_per_second, "FLOP/s").s,
               text_rate(known->bytes_per_second, "B/s").s,
               known->memory_bytes ? text_bytes_si(known->memory_bytes).s : "-");
        printf("  %s\n    %s\n", known->model, known->source);
    }
}

static void print_sweep(const ProgramLine *line) {
    printf("What --sweep varies, as --sweep batch=1,8,64 --sweep threads=1,2: each point of\n"
           "the grid is this command, in a process of its own (--runs N: in N).\n\n");
    const char *name, *what;
    for (int i = 0; (name = sweep_axis_name(i, line, &what)); i++)
        printf("  %-12s %s\n", name, what);
    printf("\nThe knee has the most throughput for its latency; --max-latency 10ms and\n"
           "--max-memory 500MB ask for the most within them instead. optimizer, lr, schedule\n"
           "and seed train at each point (--epochs N): final loss, accuracy, accuracy per\n"
           "second, and the time to the loss that half of them reached. --save FILE keeps\n"
           "each point: stopped, the same command goes on.\n");
}

static void print_thresholds(const ProgramLine *line) {
    (void)line;
    printf("What --threshold limits, as --threshold latency:10ms,peak_memory:64MB. Status 1\n"
           "where one is broken for sure, or nothing measured it; --junit FILE says which.\n\n");
    const char *key, *what;
    for (int i = 0; (key = threshold_key(i, &what)); i++) printf("  %-14s %s\n", key, what);
    printf("\nTimes as 10ms (ns, us, s), rates as 1000samples/s, sizes as 64MB or 64MiB,\n"
           "counts as 161.2M. Beside a base (--compare, --against) also latency:+5%%,\n"
           "throughput:-5%%, layer:fc*:+5%%, flops:+0%%. Of --compare and --against alone:\n"
           "latency:+5%%,layer:*:+5%%.\n\n"
           "Times are those of five processes (--runs). A limit holds where all of their\n"
           "interval is within it, and is broken where all of it is beyond. Where it spans\n"
           "the limit, up to three times as many runs follow, within --time-limit; what\n"
           "stays so cannot be told: a warning, and status 0, or 1 with --undecided fail.\n"
           "Of layers beside a base none is to be seen beyond the limit.\n");
}

// Prints the flags of one topic, or of all. False if it is no topic of flags.
static bool print_flags(const ProgramLine *line, const char *topic) {
    bool all = strcmp(topic, "all") == 0;
    if (all) print_all(line);
    for (int t = 0; t < flag_topic_count; t++) {
        if (strcmp(topic, flag_topics[t].name) != 0) continue;
        print_topic(line, t);
        return true;
    }
    return all;
}

bool options_print_help(const Options *options) {
    static const struct {
        const char *name, *text;
        void (*print)(const ProgramLine *line);
        unsigned programs;
    } topics[] = {{"counts", counts_text, NULL, PROGRAM_MLP | PROGRAM_MODEL},
                  {"roofline", roofline_help_text, NULL, PROGRAM_MLP | PROGRAM_MODEL},
                  {"status", options_exit_text, NULL, PROGRAM_MLP | PROGRAM_MODEL},
                  {"activations", NULL, print_activations, PROGRAM_MLP},
                  {"peaks", NULL, print_peaks, PROGRAM_MLP | PROGRAM_MODEL},
                  {"thresholds", NULL, print_thresholds, PROGRAM_MLP | PROGRAM_MODEL},
                  {"sweep", NULL, print_sweep, PROGRAM_MLP | PROGRAM_MODEL}};
    const char *topic = options->topic;
    unsigned program = options->line->program;
    if (!topic) {
        print_first_page(options->line);
        return true;
    }
    for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
        if (!(topics[i].programs & program) || strcmp(topic, topics[i].name) != 0) continue;
        if (topics[i].text)
            printf("%s", topics[i].text);
        else
            topics[i].print(options->line);
        return true;
    }
    if (print_flags(options->line, topic)) return true;
    return options_refuse(
        options,
        "--help %s: there is no such topic; there are: model, training, "
        "measuring, questions, files, other, all, %scounts, roofline, peaks, thresholds, sweep, "
        "status",
        topic, program == PROGRAM_MLP ? "activations, " : "");
}
