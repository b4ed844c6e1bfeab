// options_script.c -- completion scripts for shells, from the table of flags: names of flags and
// networks, named values, and files.
#include <stdio.h>
#include <string.h>

#include "profiler/program/options_table.h"

static bool takes(const Options *options, const Flag *flag) {
    return (flag->programs & options->line->program) != 0;
}

static bool takes_file(const Flag *flag) {
    static const char *const kinds[] = {"FILE", "FILE.npy", "KIND=FILE", "DIR", "PATH", "WHAT"};
    for (int i = 0; flag->argument && i < 6; i++)
        if (strcmp(flag->argument, kinds[i]) == 0) return true;
    return false;
}

static void print_words(const char *(*word)(int i)) {
    const char *text;
    for (int i = 0; word && (text = word(i)); i++) printf("%s%s", i ? " " : "", text);
}

// ---- bash --------------------------------------------------------------------------------------
// Completes both "--device c" and "--device=c", which bash splits at the '='.
static const char bash_begin[] =
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} names= files=\n"
    "    if [[ $word == = ]]; then word=\n"
    "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n"
    "    case $before in\n";
static const char bash_end[] = "    mapfile -t COMPREPLY < <(\n"
                               "        compgen -W \"$names\" -- \"$word\"\n"
                               "        [[ ! $files ]] || compgen -f -- \"$word\"\n"
                               "    )\n"
                               "    [[ ! $files ]] || compopt -o filenames 2>/dev/null\n"
                               "}\n";

static void print_bash_flag(const Flag *flag) {
    if (!flag->value && !takes_file(flag)) return;
    printf("    --%s) ", flag->name);
    if (flag->value) {
        printf("names='");
        print_words(flag->value);
        printf("' ");
    }
    printf("%s;;\n", takes_file(flag) ? "files=1 " : "");
}

// Lists the flags whose values cannot be completed.
static void print_bash_unknown(const Options *options) {
    const char *between = "    ";
    for (int i = 0; i < options_flag_count; i++) {
        const Flag *flag = &options_flags[i];
        bool needs = takes(options, flag) && flag->argument && flag->argument[0] != '[';
        if (!needs || flag->value || takes_file(flag)) continue;
        printf("%s--%s", between, flag->name);
        between = "|";
    }
    printf(") ;;\n");
}

static void print_bash(const Options *options) {
    const char *name = options->line->name;
    printf("# %s for bash: source this, or keep it where bash-completion finds it\n_%s() {\n%s",
           name, name, bash_begin);
    for (int i = 0; i < options_flag_count; i++)
        if (takes(options, &options_flags[i])) print_bash_flag(&options_flags[i]);
    print_bash_unknown(options);
    printf("    *)\n        if [[ $word == -* ]]; then names='");
    for (int i = 0; i < options_flag_count; i++)
        if (takes(options, &options_flags[i])) printf("--%s ", options_flags[i].name);
    printf("'\n");
    if (options->line->argument) {
        printf("        else files=1 names='");
        print_words(options->line->network);
        printf("'\n");
    }
    printf("        fi ;;\n    esac\n%scomplete -F _%s %s ./%s\n", bash_end, name, name, name);
}

// ---- zsh ---------------------------------------------------------------------------------------
// Escapes text for single quotes and brackets, and joins its lines.
static void print_zsh_text(const char *text) {
    for (; *text; text++) {
        if (*text == '\n') text += 1 + strspn(text + 1, " "), putchar(' ');
        if (*text == '\'') printf("'\\'");
        if (strchr("[]:\\", *text)) putchar('\\');
        putchar(*text);
    }
}

static bool has_both(const Flag *flag) { return flag->value && takes_file(flag); }

// Prints a function that completes names or files, since _arguments would parse its lines again.
static void print_zsh_names_or_files(const ProgramLine *line, const char *of,
                                     const char *(*name)(int i)) {
    printf("_%s_%s() {\n    _alternative 'names:%s:(", line->name, of, of);
    print_words(name);
    printf(")' 'files:file:_files'\n}\n");
}

static void print_zsh_flag(const ProgramLine *line, const Flag *flag) {
    printf(" \\\n    '%s--%s[", strstr(flag->help, "repeatable") ? "*" : "", flag->name);
    print_zsh_text(flag->help);
    printf("]");
    if (flag->argument) {
        printf(flag->argument[0] == '[' ? "::" : ":");
        print_zsh_text(flag->argument);
        printf(flag->value && !has_both(flag) ? ":(" : ":");
        if (has_both(flag))
            printf("_%s_%s", line->name, flag->name);
        else if (flag->value)
            print_words(flag->value);
        else if (takes_file(flag))
            printf("_files");
        if (flag->value && !has_both(flag)) printf(")");
    }
    printf("'");
}

static void print_zsh(const Options *options) {
    const ProgramLine *line = options->line;
    printf("#compdef %s\n# for zsh: keep it as _%s in a folder of $fpath\n", line->name,
           line->name);
    if (line->argument) print_zsh_names_or_files(line, "network", line->network);
    for (int i = 0; i < options_flag_count; i++)
        if (takes(options, &options_flags[i]) && has_both(&options_flags[i]))
            print_zsh_names_or_files(line, options_flags[i].name, options_flags[i].value);
    printf("_arguments");
    for (int i = 0; i < options_flag_count; i++)
        if (takes(options, &options_flags[i])) print_zsh_flag(line, &options_flags[i]);
    if (line->argument) printf(" \\\n    '*:network:_%s_network'", line->name);
    printf("\n");
}

void options_print_completion(const Options *options) {
    if (strcmp(options->completion, "zsh") == 0)
        print_zsh(options);
    else
        print_bash(options);
}
