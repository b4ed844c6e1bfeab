// options_file.c -- options from a file (--config), one per line: "batch = 256", or "quiet" for a
// switch; "#" begins a comment. They are taken before the typed options, which override them.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/program/options_table.h"
#include "tensor/memory.h"

enum { MOST_BYTES = 1 << 16 };

// ---- its name ----------------------------------------------------------------------------------
// The value of --config, after its '=' or in the next word; getopt_long accepts "--conf", too.
static const char *value_in(const char *word, const char *next) {
    size_t length = strcspn(word, "=");
    if (length < strlen("--conf") || strncmp(word, "--config", length) != 0) return NULL;
    return word[length] == '=' ? word + length + 1 : next;
}

const char *options_file_typed(char **argv) {
    const char *path = NULL;
    for (char **word = argv + 1; *word && strcmp(*word, "--") != 0; word++) {
        if (strcmp(*word, "--help") == 0 || strcmp(*word, "-h") == 0) return NULL;
        const char *value = value_in(*word, word[1]);
        if (!path) path = value;
    }
    return path;
}

// ---- lines -------------------------------------------------------------------------------------
static char *trimmed(char *text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1])) length--;
    text[length] = '\0';
    return text;
}

static bool take_network(Options *options, const char *name) {
    if (!name || options->n_models == OPTIONS_MAX_MODELS)
        return options_refuse(options, "model: %s",
                              name ? "too many" : "a name is missing, as in model = resnet50");
    options->models[options->n_models++] = name;
    return true;
}

static bool take(Options *options, const char *key, const char *value) {
    if (strncmp(key, "--", 2) == 0) key += 2; // dashes are allowed, as on the command line
    if (options->line->argument && strcmp(key, "model") == 0) return take_network(options, value);
    const Flag *flag = options_flag(options, key);
    if (!value && strpbrk(key, " \t"))
        return options_refuse(options, "%s: expected NAME = VALUE, or a switch's name", key);
    if (!flag || strcmp(key, "config") == 0)
        return flag ? options_refuse(options, "config: a file of options cannot name another")
                    : options_unknown(options, "", key);
    if (!flag->argument && value)
        return options_refuse(options, "%s takes no value: where it is not wanted, leave it out",
                              key);
    if (flag->argument && flag->argument[0] != '[' && (!value || !value[0]))
        return options_refuse(options, "%s needs a value, as in %s = %s", key, key, flag->argument);
    return options_take(options, flag, value);
}

static bool take_line(Options *options, char *line) {
    for (char *at = strchr(line, '#'); at; at = strchr(at + 1, '#'))
        if (at == line || strchr(" \t", at[-1])) *at = '\0'; // else it is part of a name
    char *key = trimmed(line), *sign = strchr(key, '=');
    if (!key[0]) return true;
    if (sign) *sign = '\0';
    char *value = sign ? trimmed(sign + 1) : NULL;
    key = trimmed(key);
    size_t used = strlen(options->config_lines);
    snprintf(options->config_lines + used, 2 * MOST_BYTES - used, "%s%s%s\n", key,
             sign ? " = " : "", sign ? value : "");
    return take(options, key, value);
}

static bool take_lines(Options *options, const char *path, char *text) {
    int number = 1;
    bool good = true;
    for (char *line = text; line && good; number++) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        snprintf(options->place, sizeof(options->place), "%.200s:%d: ", path, number);
        good = take_line(options, line);
        line = end ? end + 1 : NULL;
    }
    options->place[0] = '\0';
    return good;
}

// ---- the file ----------------------------------------------------------------------------------
static bool cannot_be_used(Options *options, const char *path, const char *why) {
    options->file_is_unusable = true;
    return options_refuse(options, "--config %.200s: %s; expected a text of lines as 'batch = 256'",
                          path, why);
}

bool options_file_take(Options *options, const char *path) {
    options->config = path;
    options->config_text = memory_new(MOST_BYTES);
    options->config_lines = memory_new((size_t)2 * MOST_BYTES); // " = " may be longer than "="
    if (!options->config_text || !options->config_lines)
        return cannot_be_used(options, path, "no memory to read it into");
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(options->config_text, 1, MOST_BYTES, file) : 0;
    int failed = !file || ferror(file) ? errno : 0; // a folder can be opened, but not read
    if (file) fclose(file);
    if (failed) return cannot_be_used(options, path, strerror(failed));
    if (size == MOST_BYTES) return cannot_be_used(options, path, "longer than 65,535 bytes");
    if (memchr(options->config_text, '\0', size))
        return cannot_be_used(options, path, "it is no text");
    return take_lines(options, path, options->config_text);
}

void options_free(Options *options) {
    memory_free(options->config_text);
    memory_free(options->config_lines);
    memory_free(options->folder_paths);
}
