// program_work.c -- the command reduced to what it measures, to match points of a sweep or lines of
// a history by their work. Not here: the command as typed (Program.command).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/program/options_table.h"
#include "profiler/program/program.h"
#include "tensor/memory.h"

// True for flags that only direct results or choose among them.
static bool is_idle(const Flag *flag) {
    static const char *const others[] = {"quiet", "threshold", "max-latency", "max-memory",
                                         "trend"};
    bool idle = strcmp(flag_topics[flag->topic].name, "files") == 0;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        idle = idle || strcmp(flag->name, others[i]) == 0;
    return idle;
}

// The flag that a word names, in full or by a prefix, as in getopt_long; NULL: none.
static const Flag *flag_of(const char *word, unsigned program) {
    const Flag *found = NULL;
    size_t length = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || length < 3) return NULL;
    for (int i = 0; i < options_flag_count; i++) {
        const Flag *flag = &options_flags[i];
        if (!(flag->programs & program) || strncmp(flag->name, word + 2, length - 2) != 0) continue;
        found = flag;
        if (strlen(flag->name) == length - 2) break;
    }
    return found;
}

// "; c.cfg 123 bytes of 1790000000.123": size and time stand for the file's content.
static void add_file(const char *path, FILE *text) {
    struct stat about;
    if (path && stat(path, &about) == 0 && S_ISREG(about.st_mode))
        fprintf(text, "; %s %lld bytes of %lld.%09ld", path, (long long)about.st_size,
                (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

static void add_words(const Program *program, FILE *text) {
    fprintf(text, "%s", program->kind->line.name);
    for (size_t i = 1; program->arguments[0] && program->arguments[i]; i++) {
        const char *word = program->arguments[i];
        const Flag *flag = flag_of(word, program->kind->line.program);
        bool apart = flag && flag->argument && flag->argument[0] != '[' && !strchr(word, '=');
        bool idle = flag && is_idle(flag);
        if (!idle) fprintf(text, " %s", word);
        if (!apart || !program->arguments[i + 1]) continue;
        i++; // its value
        if (!idle) fprintf(text, " %s", program->arguments[i]);
    }
}

static char *work_new(const Program *program, bool files) {
    const Options *options = program->options;
    char *text = NULL, *kept = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream) {
        add_words(program, stream);
        if (options->config_lines) fprintf(stream, "; %s", options->config_lines);
        const char *const read[] = {"/proc/self/exe", options->config, options->data};
        for (int i = 0; i < 3 && files; i++) add_file(read[i], stream);
        for (int i = 0; i < options->n_models && files; i++) add_file(options->models[i], stream);
        for (int i = 0; i < options->n_inputs && files; i++)
            add_file(options_input_value(options->inputs[i]), stream);
    }
    if (stream && fclose(stream) == 0) kept = memory_copy_string(text);
    free(text);
    if (!kept && !error_pending()) error_set(STATUS_OUT_OF_MEMORY, "no room for a command");
    for (char *c = kept; c && *c; c++)
        if (*c == '\n') *c = ',';
    return kept;
}

char *program_work_new(const Program *program) { return work_new(program, true); }
char *program_series_new(const Program *program) { return work_new(program, false); }
