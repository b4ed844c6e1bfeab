// build.c -- the steps from a student's file to a worker. A step that fails is tried once more with
// a file of our own: where that fails, too, it was the machine.
#include "exercises/grader/build.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/grader/confine.h"
#include "exercises/grader/names.h"
#include "exercises/grader/text_file.h"
#include "tensor/memory.h"

enum { MOST_SOURCE = 1 << 20, MOST_WORDS = 128, MOST_ARRAYS = 512 << 20, NAME = 128 };

static const ConfineLimits tool_limits = {.wall_seconds = 20.0,
                                          .cpu_seconds = 10.0,
                                          .memory_bytes = INT64_C(4) << 30,
                                          .file_bytes = 64 << 20,
                                          .output_bytes = 128 << 10};

typedef struct Work { // at one worker
    const BuildOrder *order;
    Build *build;
    char *source; // the student's text, owned
    char file[NAME];
    char compiler[NAME * 4], objcopy[NAME * 4];
    Object worker; // the exercise's side
} Work;

typedef struct Words { // a command line
    const char *word[MOST_WORDS];
    int count;
} Words;

static void add(Words *words, const char *word) {
    if (words->count < MOST_WORDS - 1) words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

// ---- ends --------------------------------------------------------------------------------------
static bool ends(Build *build, BuildEnd end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool ends(Build *build, BuildEnd end, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(build->detail, sizeof build->detail, format, arguments);
    va_end(arguments);
    text_clean(build->detail);
    build->end = end;
    return false;
}

// The pending error is the machine's.
static bool machine_failed(Build *build) {
    ends(build, BUILD_MACHINE, "%s", error_message());
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

// False: it could not be run at all.
static bool run_tool(const Work *work, const Words *words, ConfineResult *ran) {
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
    return confine_run(&order, ran) == STATUS_OK || machine_failed(work->build);
}

static bool ended_well(const ConfineResult *ran) {
    return ran->end == CONFINE_EXITED && ran->code == 0;
}

// A main() that was left over is nobody's: the compiler drops it, and what only it calls.
static void compile_words(const Work *work, const char *file, Words *words) {
    static const char *const flags[] = {"-std=c11",
                                        "-O1",
                                        "-g",
                                        "-Wall",
                                        "-Wextra",
                                        "-D_GNU_SOURCE",
                                        "-ffp-contract=off",
                                        "-fstack-protector-strong",
                                        "-Dmain=static __attribute__((unused)) main_left_over"};
    add(words, work->compiler);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) add(words, flags[i]);
    if (!strstr(work->compiler, "clang")) add(words, "-Wno-old-style-declaration"); // its own word
    if (work->order->sanitize) add(words, "-fsanitize=address");
    const char *const rest[] = {"-I", "include", "-c", "-o", "whole.o", file};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) add(words, rest[i]);
}

// Of the functions that the worker calls, number `index`; false: there are not so many.
static bool wanted_name(const Exercise *exercise, int index, char name[NAME]) {
    const char *words = exercise->function;
    for (; index > 0; index--) {
        words += strcspn(words, " ");
        words += strspn(words, " ");
    }
    snprintf(name, NAME, "%.*s", (int)strcspn(words, " "), words);
    return name[0] != '\0';
}

// Without `object` the wanted functions are nowhere, and that is said to be fine: a control.
static void link_words(const Work *work, const char *object, char text[][NAME + 24], Words *words) {
    const Exercise *exercise = work->order->exercise;
    char name[NAME];
    int used = 0;
    add(words, work->compiler);
    if (work->order->sanitize) add(words, "-fsanitize=address");
    if (!work->order->sanitize && !work->order->debug) add(words, "-s"); // no names in a worker
    add(words, "-fno-lto"); // code that only a linker's compiler sees has names that nobody closed
    add(words, "-Wl,--gc-sections");
    add(words, "-o");
    add(words, object ? "worker" : "control");
    add(words, "engine.o");
    if (object) add(words, object);
    for (int i = 0; !object && wanted_name(exercise, i, name); i++) {
        snprintf(text[used], sizeof text[0], "-Wl,--defsym=%s=0", name);
        add(words, text[used++]);
    }
    snprintf(text[used], sizeof text[0], "-Wl,--defsym=exercise_call=%.64s_call", exercise->name);
    add(words, text[used]);
    static const char *const libraries[] = {"-pthread", "-lm", "-ldl"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) add(words, libraries[i]);
}

// Whether a file of our own goes the same way; if not, the machine cannot.
static bool control(const Work *work, bool link, const char *what) {
    char text[256], defined[10][NAME + 24];
    Words words = {.count = 0};
    ConfineResult ran;
    const Exercise *exercise = work->order->exercise;
    snprintf(text, sizeof text, "#include \"exercises/ex%.8s_%.64s.h\"\nint control_of_build;\n",
             exercise->number, exercise->name);
    if (link)
        link_words(work, NULL, defined, &words);
    else
        compile_words(work, "control.c", &words);
    bool well = (link || room_write(&work->build->room, "control.c", text, strlen(text)) == 0) &&
                run_tool(work, &words, &ran);
    if (error_pending()) machine_failed(work->build);
    if (!well) return false;
    well = ended_well(&ran) && !room_is_full(&work->build->room);
    if (!well)
        ends(work->build, BUILD_MACHINE, "%s fails for any file on this machine: %.120s", what,
             ran.output);
    confine_result_free(&ran);
    return well;
}

// ---- steps: each returns whether to go on ------------------------------------------------------
static bool read_source(Work *work) {
    struct stat found;
    char path[PATH_MAX];
    size_t size = 0;
    const BuildOrder *order = work->order;
    snprintf(path, sizeof path, "%.3800s/%s", order->folder, work->file);
    if (lstat(path, &found) != 0) return ends(work->build, BUILD_NO_FILE, "%s", work->file);
    if (!S_ISREG(found.st_mode) || found.st_size > MOST_SOURCE)
        return ends(work->build, BUILD_FAILED, "it is no plain file of at most %d bytes",
                    MOST_SOURCE);
    work->source = file_read(order->folder, work->file, MOST_SOURCE, &size);
    if (!work->source) return machine_failed(work->build);
    for (int i = 0; i < 8; i++) {
        char name[NAME];
        if (!work->build->line && wanted_name(order->exercise, i, name))
            work->build->line = source_definition(work->source, name);
    }
    return room_write(&work->build->room, work->file, work->source, size) == STATUS_OK ||
           machine_failed(work->build);
}

// "tools" of the parts: two lines.
static bool find_tools(Work *work) {
    char *text = file_read(work->order->parts, "tools", PATH_MAX, NULL);
    bool found = text && sscanf(text, "%511[^\n]\n%511[^\n]", work->compiler, work->objcopy) == 2;
    memory_free(text);
    if (found) return true;
    if (error_status() == STATUS_OUT_OF_MEMORY) return machine_failed(work->build);
    error_clear();
    return ends(work->build, BUILD_MACHINE, "%.160s/tools: no two paths in it: run `make lab`",
                work->order->parts);
}

static bool set_room(Work *work) {
    char include[PATH_MAX], engine[PATH_MAX];
    const BuildOrder *order = work->order;
    Room *room = &work->build->room;
    snprintf(include, sizeof include, "%.3800s/include", order->parts);
    snprintf(engine, sizeof engine, "%.3800s/worker/ex%.8s_%.64s.o", order->parts,
             order->exercise->number, order->exercise->name);
    bool set = object_read(open(engine, O_RDONLY | O_CLOEXEC), &work->worker) == STATUS_OK &&
               room_open(room) == STATUS_OK &&
               room_copy_tree(room, include, "include") == STATUS_OK;
    return set || machine_failed(work->build);
}

static bool compiled(Work *work, ConfineResult *ran) {
    if (ended_well(ran)) return true;
    if (!control(work, false, "compiling")) return false;
    if (ran->end == CONFINE_TIMED_OUT)
        return ends(work->build, BUILD_FAILED, "compiling it takes too long");
    if (ran->end == CONFINE_FLOODED)
        return ends(work->build, BUILD_FAILED, "the compiler has too much to say about it");
    return ends(work->build, BUILD_FAILED, "the compiler refuses it");
}

static bool compile(Work *work) {
    Words words = {.count = 0};
    ConfineResult ran;
    compile_words(work, work->file, &words);
    if (!run_tool(work, &words, &ran)) return false;
    bool well = compiled(work, &ran);
    if (ran.output[0]) {
        work->build->output = ran.output;
        ran.output = NULL;
    }
    confine_result_free(&ran);
    return well;
}

static bool refuse_name(Work *work, NameRule rule, const char *name) {
    int line = source_line_of(work->source, name);
    char where[32] = "";
    if (line > 0) snprintf(where, sizeof where, "line %d: ", line);
    Build *build = work->build;
    if (rule == NAME_NOWHERE)
        return ends(build, BUILD_FAILED, "%s%.60s is called, and defined nowhere", where, name);
    if (rule == NAME_ELSEWHERE)
        return ends(build, BUILD_FORBIDDEN, "%s%.60s is not there in this exercise", where, name);
    memory_free(build->output);
    build->output = memory_copy_string(names_allowed_text);
    return ends(build, BUILD_FORBIDDEN, "%s%.60s may not be called", where, name);
}

static bool look_at_names(Work *work, const Object *object) {
    for (size_t i = 1; i < object->n_symbols; i++) {
        const Elf64_Sym *symbol = &object->symbols[i];
        const char *name = object_symbol_name(object, i);
        unsigned char type = ELF64_ST_TYPE(symbol->st_info);
        if (!name[0] || symbol->st_shndx != SHN_UNDEF || type == STT_FILE) continue;
        NameRule rule = name_rule(name, &work->worker, work->order->sanitize);
        if (rule != NAME_ALLOWED) return refuse_name(work, rule, name);
    }
    return true;
}

// Where it is no object that can be read, one of our own says whose fault that is.
static bool read_object(Work *work, Object *object) {
    Build *build = work->build;
    Status status = object_read(room_read(&build->room, "whole.o"), object);
    if (!status) return true;
    object_free(object);
    if (status == STATUS_OUT_OF_MEMORY) return machine_failed(build);
    error_clear();
    if (!control(work, false, "compiling")) return false;
    status = object_read(room_read(&build->room, "whole.o"), object);
    object_free(object);
    return status ? machine_failed(build)
                  : ends(build, BUILD_FAILED, "it compiles to far too much, or to no plain object");
}

static bool look_at_object(Work *work) {
    Object object;
    char name[NAME];
    Build *build = work->build;
    if (!read_object(work, &object)) return false;
    bool well = true;
    for (int i = 0; well && wanted_name(work->order->exercise, i, name); i++)
        if (!object_defines(&object, name))
            well = ends(build, BUILD_FAILED, "%s is not defined: is it misspelt, or static?", name);
    if (well && object_memory(&object) > MOST_ARRAYS)
        well = ends(build, BUILD_FAILED, "its arrays take %llu MiB; %d are enough",
                    (unsigned long long)(object_memory(&object) >> 20), MOST_ARRAYS >> 20);
    int line = source_definition(work->source, "main");
    if (line > 0)
        snprintf(build->note, sizeof build->note, "%s:%d has a main(), which nobody calls here",
                 work->file, line);
    if (well && !work->order->any_name) well = look_at_names(work, &object);
    object_free(&object);
    return well;
}

// Of the object only the wanted functions are seen, so that no name in it clashes with another; and
// what tells time or takes memory is the laboratory's.
static bool close_object(Work *work) {
    char keep[8][NAME + 24], redirect[32][2 * NAME], name[NAME];
    Words words = {.count = 0};
    ConfineResult ran;
    add(&words, work->objcopy);
    for (int i = 0; i < 8 && wanted_name(work->order->exercise, i, name); i++) {
        snprintf(keep[i], sizeof keep[i], "--keep-global-symbol=%s", name);
        add(&words, keep[i]);
    }
    for (int i = 0; names_redirected[i] && i < 32; i++) {
        const char *redirected = names_redirected[i];
        snprintf(redirect[i], sizeof redirect[i], "--redefine-sym=%s=lab_%s", redirected,
                 redirected);
        add(&words, redirect[i]);
    }
    add(&words, "--remove-section=.gnu.lto_*");
    add(&words, "whole.o");
    add(&words, "student.o");
    if (!run_tool(work, &words, &ran)) return false;
    bool well = ended_well(&ran);
    confine_result_free(&ran);
    if (well || !control(work, false, "compiling") || !run_tool(work, &words, &ran)) return well;
    if (ended_well(&ran)) // what stands there now is ours
        ends(work->build, BUILD_FAILED, "it compiles to no plain object");
    else
        ends(work->build, BUILD_MACHINE, "objcopy failed: %.120s", ran.output);
    confine_result_free(&ran);
    return false;
}

static bool link_worker(Work *work) {
    char text[10][NAME + 24];
    Words words = {.count = 0};
    ConfineResult ran;
    Build *build = work->build;
    // Only now, so that no assembler puts a part of it into a student's object.
    const Object *engine = &work->worker;
    if (room_write(&build->room, "engine.o", engine->bytes, engine->size) != STATUS_OK)
        return machine_failed(build);
    link_words(work, "student.o", text, &words);
    if (!run_tool(work, &words, &ran)) return false;
    bool well = ended_well(&ran);
    if (!well && control(work, true, "linking")) {
        ends(build, BUILD_FAILED, "it compiles, but cannot be linked");
        memory_free(build->output);
        build->output = ran.output;
        ran.output = NULL;
    }
    confine_result_free(&ran);
    int made = well ? room_read(&build->room, "worker") : -1;
    if (well && (made < 0 || fchmod(made, 0755) != 0)) // the linker may not do that
        well = ends(build, BUILD_MACHINE, "the linker left no program");
    if (made >= 0) close(made);
    return well;
}

Status build_make(const BuildOrder *order, Build *build) {
    static bool (*const steps[])(Work *) = {find_tools,     set_room,     read_source, compile,
                                            look_at_object, close_object, link_worker};
    *build = (Build){.room = {.outside = -1, .descriptor = -1}};
    Work work = {.order = order, .build = build};
    snprintf(work.file, sizeof work.file, "ex%.8s_%.64s.c", order->exercise->number,
             order->exercise->name);
    bool going = true;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && going; i++) going = steps[i](&work);
    memory_free(work.source);
    object_free(&work.worker);
    return error_status();
}

bool build_control(const BuildOrder *order, Build *build) {
    Work work = {.order = order, .build = build};
    if (!find_tools(&work) || !control(&work, true, "linking")) return false;
    int made = room_read(&build->room, "control");
    bool well = made >= 0 && fchmod(made, 0755) == 0;
    if (made >= 0) close(made);
    return well || ends(build, BUILD_MACHINE, "the linker left no program");
}

void build_free(Build *build) {
    memory_free(build->output);
    room_close(&build->room);
    *build = (Build){.room = {.outside = -1, .descriptor = -1}};
}
