// options_man.c -- the manual page of a program, in man(7)'s macros, from the table of flags.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "profiler/program/options_table.h"
#include "tensor/version.h"

// Escapes dashes and backslashes, and joins lines.
static void print_text(const char *text) {
    if (*text == '.' || *text == '\'') printf("\\&");
    for (; *text; text++) {
        if (*text == '\n') text += 1 + strspn(text + 1, " "), putchar(' ');
        if (*text == '-') putchar('\\');
        printf(*text == '\\' ? "\\e" : "%c", *text);
    }
}

static void print_lines(const char *text) { // keeps the line breaks
    printf(".nf\n");
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        char line[128];
        length = strcspn(text, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        print_text(line);
        printf("\n");
    }
    printf(".fi\n");
}

static void print_flag(const Flag *flag) {
    printf(".TP\n\\fB\\-\\-");
    print_text(flag->name);
    printf("\\fR");
    if (flag->argument) printf(" \\fI%s\\fR", flag->argument);
    printf("\n");
    print_text(flag->help);
    printf("\n");
    if (!flag->value || strstr(flag->help, flag->value(0))) return; // the help names them
    const char *value;
    printf(".br\nOne of ");
    for (int i = 0; (value = flag->value(i)); i++) {
        printf("%s", i ? ", " : "");
        print_text(value);
    }
    printf("\n");
}

static void print_flags(const ProgramLine *line) {
    printf(".SH OPTIONS\nThe last word on an option counts.\n");
    for (int t = 0; t < flag_topic_count; t++) {
        printf(".SS ");
        print_text(flag_topics[t].heading);
        printf("\n");
        for (int i = 0; i < options_flag_count; i++)
            if (options_flags[i].topic == t && options_flags[i].programs & line->program)
                print_flag(&options_flags[i]);
    }
}

static void print_head(const ProgramLine *line) {
    printf(".TH ");
    for (const char *c = line->name; *c; c++) putchar(toupper((unsigned char)*c));
    printf(" 1 \"\" \"Ridgepoint %s\" \"User Commands\"\n.SH NAME\n", ridgepoint_version());
    print_text(line->name);
    printf(" \\- %s\n.SH SYNOPSIS\n.B ", line->purpose);
    print_text(line->name);
    printf("\n%s%s[\\fIoptions\\fR]\n.SH DESCRIPTION\n", line->argument ? line->argument : "",
           line->argument ? " " : "");
    print_text(line->about);
    printf("\n.PP\nThe report says of every layer what it computes and moves, how long it takes, "
           "what bounds\nit, and what would help. Nothing that it counts is a guess: "
           "\\fB\\-\\-explain\\fR shows how a number is made.\n");
}

void options_print_man(const Options *options) {
    const ProgramLine *line = options->line;
    print_head(line);
    print_flags(line);
    printf(".SH \"EXIT STATUS\"\n");
    print_lines(strstr(options_exit_text, "0  "));
    printf(".SH ENVIRONMENT\n"
           ".TP\n\\fBNO_COLOR\\fR\nSet to anything: no escapes, in no line of progress.\n"
           ".TP\n\\fBGITHUB_ACTIONS\\fR\nIf \"true\": what a comparison says, and each limit "
           "that does not hold, also as\nannotations of the run, on standard error.\n"
           ".TP\n\\fBXDG_CACHE_HOME\\fR\nWhere the ceilings of this machine are kept, which are "
           "measured once (~/.cache).\n"
           ".SH EXAMPLES\n.nf\n");
    for (int i = 0; i < 3; i++) {
        print_text(line->name);
        printf(" ");
        print_text(line->examples[i]);
        printf("\n");
    }
    printf(".fi\n");
}
