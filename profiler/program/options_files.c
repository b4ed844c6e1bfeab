// options_files.c -- the files that flags read and write: no file is written twice, and no input is
// overwritten. Not here: checks that files can be written (program_files.c).
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/program/options_table.h"

// True if two paths have the same folder and file name; the file need not exist yet.
static bool same_place(const char *one, const char *other) {
    const char *paths[] = {one, other}, *names[2];
    struct stat folders[2];
    for (int i = 0; i < 2; i++) {
        const char *slash = strrchr(paths[i], '/');
        char folder[PATH_MAX];
        names[i] = slash ? slash + 1 : paths[i];
        int length = slash ? (int)(slash - paths[i]) + 1 : 0; // including the slash
        if (snprintf(folder, sizeof(folder), "%.*s.", length, paths[i]) >= (int)sizeof(folder) ||
            stat(folder, &folders[i]) != 0)
            return false;
    }
    return strcmp(names[0], names[1]) == 0 && folders[0].st_dev == folders[1].st_dev &&
           folders[0].st_ino == folders[1].st_ino;
}

static bool same_file(const char *one, const char *other) {
    struct stat a, b;
    if (strcmp(one, other) == 0 || same_place(one, other)) return true;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// No output may replace an input file, except that a checkpoint may replace the resumed one.
static bool is_read(const Options *options, const char *path, bool checkpoint) {
    const char *others[] = {options->peaks, options->data, options->config, options->compare,
                            checkpoint ? NULL : options->resume};
    bool read = false;
    for (int i = 0; i < options->n_models; i++) read = read || same_file(path, options->models[i]);
    for (int i = 0; i < options->n_inputs; i++)
        read = read || same_file(path, options_input_value(options->inputs[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        read = read || (others[i] && same_file(path, others[i]));
    return read;
}

bool options_has_file(const Options *options, const char *path) {
    const char *other;
    for (int i = 0; options_output(options, i, &other); i++)
        if (other && same_file(path, other)) return true;
    return is_read(options, path, false);
}

bool options_files_differ(const Options *options) {
    const char *name, *path, *other, *taken = NULL;
    if (options->checkpoint && strcmp(options->checkpoint, "-") == 0)
        return options_refuse(options, "--checkpoint -: it is written more than once; name a file");
    for (int i = 0; (name = options_output(options, i, &path)); i++) {
        if (!path) continue;
        if (strcmp(path, "-") == 0 && taken)
            return options_refuse(options, "--%s -: standard output is --%s's; name a file", name,
                                  taken);
        if (strcmp(path, "-") == 0) {
            taken = name;
            continue;
        }
        for (int k = 0; k < i; k++) {
            const char *before = options_output(options, k, &other);
            if (other && same_file(path, other))
                return options_refuse(options, "--%s %s: --%s writes this file; name another", name,
                                      path, before);
        }
        if (is_read(options, path, path == options->checkpoint))
            return options_refuse(options, "--%s %s: this file is read; name another", name, path);
    }
    if (taken && options_ask(options))
        return options_refuse(options,
                              "--%s -: standard output has the answer to a question; name a file",
                              taken);
    return true;
}
