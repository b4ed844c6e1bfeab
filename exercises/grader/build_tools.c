// build_tools.c -- the compiler, the linker and objcopy: their command lines, their runs, and
// whether they work on this machine for a file of our own. What a student's file is put through is
// build.c's.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/build_parts.h"
#include "exercises/grader/confine.h"
#include "tensor/memory.h"

static const ConfineLimits tool_limits = {.wall_seconds = 20.0,
                                          .cpu_seconds = 10.0,
                                          .memory_bytes = INT64_C(4) << 30,
                                          .file_bytes = 64 << 20,
                                          .output_bytes = 128 << 10};

void words_add(Words *words, const char *word) {
    if (words->count < MOST_WORDS - 1) words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

// ---- ends --------------------------------------------------------------------------------------
bool build_ends(Build *build, BuildEnd end, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(build->detail, sizeof build->detail, format, arguments);
    va_end(arguments);
    text_clean(build->detail);
    build->end = end;
    return false;
}

bool build_machine_failed(Build *build) {
    build_ends(build, BUILD_MACHINE, "%s", error_message());
    if (error_status() != STATUS_OUT_OF_MEMORY) error_clear();
    return false;
}

// ---- tools -------------------------------------------------------------------------------------
// Where the compiler lies elsewhere than the system's, all of its folder: /opt/gcc of
// /opt/gcc/bin/cc.
static void compiler_folder(const char *compiler, char folder[PATH_MAX]) {
    char *real = realpath(compiler, NULL);
    snprintf(folder, PATH_MAX, "%s", real ? real : compiler);
    free(real);
    for (int i = 0; i < 2; i++) {
        char *end = strrchr(folder, '/');
        if (end) *end = '\0';
    }
    if (strcmp(folder, "/usr") == 0 || strcmp(folder, "/usr/local") == 0) folder[0] = '\0';
}

bool tool_run(const Work *work, const Words *words, ConfineResult *ran) {
    char folder[PATH_MAX];
    compiler_folder(work->compiler, folder);
    const char *const reads[] = {folder[0] ? folder : NULL, NULL};
    const ConfineOrder order = {.argv = words->word,
                                .folder = work->build->room.descriptor,
                                .reads = reads,
                                .shut = work->order->shut,
                                .kind = CONFINE_COMPILER,
                                .limits = tool_limits,
                                .without = work->order->without};
    *ran = (ConfineResult){.end = CONFINE_MACHINE};
    return confine_run(&order, ran) == STATUS_OK || build_machine_failed(work->build);
}

bool tool_ended_well(const ConfineResult *ran) {
    return ran->end == CONFINE_EXITED && ran->code == 0;
}

// A main() that was left over is nobody's: the compiler drops it, and what only it calls. Most of
// what gcc refuses from 14 on is warned of, as before. No system's own _FORTIFY_SOURCE gives
// functions other names.
void tool_compile(const Work *work, const char *file, const char *names, Words *words) {
    static const char *const flags[] = {"-std=c11",
                                        "-O1",
                                        "-g",
                                        "-Wall",
                                        "-Wextra",
                                        "-U_FORTIFY_SOURCE",
                                        "-ffp-contract=off",
                                        "-fstack-protector-strong",
                                        "-Wno-error=implicit-function-declaration",
                                        "-Wno-error=implicit-int",
                                        "-Wno-error=int-conversion",
                                        "-Wno-error=incompatible-pointer-types",
                                        "-Dmain=static __attribute__((unused)) main_left_over"};
    words_add(words, work->compiler);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) words_add(words, flags[i]);
    words_add(words, names);
    if (work->own_flag[0]) words_add(words, work->own_flag);
    if (work->order->sanitize) words_add(words, "-fsanitize=address");
    const char *const rest[] = {"-iquote", "include/exercises", "-I", "include", "-c",
                                "-o",      "whole.o",           file};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) words_add(words, rest[i]);
}

void tool_link(const Work *work, const char *object, char text[LINK_WORDS][LINK_WORD],
               Words *words) {
    const Exercise *exercise = work->order->exercise;
    char name[FUNCTION_NAME];
    int used = 0;
    words_add(words, work->compiler);
    if (work->order->sanitize) words_add(words, "-fsanitize=address");
    if (!work->order->sanitize && !work->order->debug)
        words_add(words, "-s");   // no names in a worker
    words_add(words, "-fno-lto"); // a linker's compiler would see names that nobody closed
    words_add(words, "-Wl,--gc-sections");
    words_add(words, "-o");
    words_add(words, object ? "worker" : "control");
    words_add(words, "engine.o");
    if (object) words_add(words, object);
    for (int i = 0; !object && exercise_function(exercise, i, name); i++) {
        snprintf(text[used], sizeof text[0], "-Wl,--defsym=%s=0", name);
        words_add(words, text[used++]);
    }
    snprintf(text[used], sizeof text[0], "-Wl,--defsym=exercise_call=%.64s_call", exercise->name);
    words_add(words, text[used]);
    static const char *const libraries[] = {"-pthread", "-lm", "-ldl"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        words_add(words, libraries[i]);
}

bool tool_control(const Work *work, bool link, const char *what) {
    char text[256], defined[LINK_WORDS][LINK_WORD];
    Words words = {.count = 0};
    ConfineResult ran;
    const Exercise *exercise = work->order->exercise;
    snprintf(text, sizeof text, "#include \"exercises/ex%.8s_%.64s.h\"\nint control_of_build;\n",
             exercise->number, exercise->name);
    if (link)
        tool_link(work, NULL, defined, &words);
    else
        tool_compile(work, "control.c", "-D_GNU_SOURCE", &words);
    bool well = (link || room_write(&work->build->room, "control.c", text, strlen(text)) == 0) &&
                tool_run(work, &words, &ran);
    if (error_pending()) build_machine_failed(work->build);
    if (!well) return false;
    well = tool_ended_well(&ran) && !room_is_full(&work->build->room);
    if (!well)
        build_ends(work->build, BUILD_MACHINE, "%s fails for any file on this machine: %.120s",
                   what, ran.output);
    confine_result_free(&ran);
    return well;
}

// "tools" of the parts: two lines, and perhaps a flag that only this compiler knows.
bool tools_find(Work *work) {
    char *text = file_read(work->order->parts, "tools", PATH_MAX, NULL);
    bool found = text && sscanf(text, "%511[^\n]\n%511[^\n]\n%63[^\n]", work->compiler,
                                work->objcopy, work->own_flag) >= 2;
    memory_free(text);
    if (found) return true;
    if (error_status() == STATUS_OUT_OF_MEMORY) return build_machine_failed(work->build);
    error_clear();
    return build_ends(work->build, BUILD_MACHINE,
                      "%.160s/tools: no two paths in it: run `make lab`", work->order->parts);
}
