// build.c -- the steps from a student's file to a worker. A step that fails is tried once more with
// a file of our own: where that fails, too, it was the machine.
#include "exercises/grader/build.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/build_parts.h"
#include "tensor/memory.h"

enum { MOST_SOURCE = 1 << 20, MOST_ARRAYS = 512 << 20 };

// ---- steps: each returns whether to go on ------------------------------------------------------
static bool read_source(Work *work) {
    struct stat found;
    char path[PATH_MAX];
    size_t size = 0;
    const BuildOrder *order = work->order;
    snprintf(path, sizeof path, "%.3800s/%s", order->folder, work->file);
    if (lstat(path, &found) != 0) return build_ends(work->build, BUILD_NO_FILE, "%s", work->file);
    if (!S_ISREG(found.st_mode) || found.st_size > MOST_SOURCE)
        return build_ends(work->build, BUILD_FAILED, "it is no plain file of at most %d bytes",
                          MOST_SOURCE);
    work->source = file_read(order->folder, work->file, MOST_SOURCE, &size);
    if (!work->source) return build_machine_failed(work->build);
    char name[FUNCTION_NAME];
    for (int i = 0; i < EXERCISE_FUNCTIONS && exercise_function(order->exercise, i, name); i++)
        work->build->lines[i] = source_definition(work->source, name);
    return room_write(&work->build->room, work->file, work->source, size) == STATUS_OK ||
           build_machine_failed(work->build);
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
    return set || build_machine_failed(work->build);
}

static bool compiled(Work *work, ConfineResult *ran) {
    if (tool_ended_well(ran)) return true;
    if (!tool_control(work, false, "compiling")) return false;
    if (ran->end == CONFINE_TIMED_OUT)
        return build_ends(work->build, BUILD_FAILED, "compiling it takes too long");
    if (ran->end == CONFINE_FLOODED)
        return build_ends(work->build, BUILD_FAILED, "the compiler has too much to say about it");
    return build_ends(work->build, BUILD_FAILED, "the compiler refuses it");
}

// The assembler's messages name a file between it and the compiler, which is never called the same:
// "./ccQSzMTn.s".
static void name_assembly(char *output) {
    const char between[] = "./cc", end[] = ".s";
    enum { RANDOM = 6 };
    for (char *at = output; (at = strstr(at, between)); at++) {
        char *name = at + strlen(between);
        if (strnlen(name, RANDOM) == RANDOM && strncmp(name + RANDOM, end, strlen(end)) == 0)
            memset(name, 'x', RANDOM);
    }
}

// A helper may have the name of a function that only _GNU_SOURCE declares (index): where the file
// is refused with it, it is tried without.
static bool compile(Work *work) {
    Words words = {.count = 0}, plain = {.count = 0};
    ConfineResult ran, again;
    tool_compile(work, work->file, "-D_GNU_SOURCE", &words);
    tool_compile(work, work->file, "-D_POSIX_C_SOURCE=200809L", &plain);
    if (!tool_run(work, &words, &ran)) return false;
    if (ran.end == CONFINE_EXITED && ran.code != 0) {
        if (!tool_run(work, &plain, &again)) {
            confine_result_free(&ran);
            return false;
        }
        bool takes = tool_ended_well(&again) || again.end == CONFINE_MACHINE;
        confine_result_free(takes ? &ran : &again);
        if (takes) ran = again;
    }
    bool well = compiled(work, &ran);
    if (ran.output[0]) {
        name_assembly(ran.output);
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
        return build_ends(
            build, BUILD_FAILED,
            "%s%.60s is called, and defined nowhere; of the library, call what the contract names",
            where, name);
    if (rule == NAME_ELSEWHERE)
        return build_ends(build, BUILD_FORBIDDEN, "%s%.60s is not there in this exercise", where,
                          name);
    memory_free(build->output);
    build->output = memory_copy_string(names_allowed_text);
    return build_ends(build, BUILD_FORBIDDEN, "%s%.60s may not be called", where, name);
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
    if (status == STATUS_OUT_OF_MEMORY) return build_machine_failed(build);
    error_clear();
    if (!tool_control(work, false, "compiling")) return false;
    status = object_read(room_read(&build->room, "whole.o"), object);
    object_free(object);
    return status ? build_machine_failed(build)
                  : build_ends(build, BUILD_FAILED,
                               "it compiles to far too much, or to no plain object");
}

static bool look_at_object(Work *work) {
    Object object;
    char name[FUNCTION_NAME];
    Build *build = work->build;
    if (!read_object(work, &object)) return false;
    bool well = true;
    for (int i = 0; well && exercise_function(work->order->exercise, i, name); i++)
        if (!object_defines(&object, name))
            well = build_ends(build, BUILD_FAILED, "%s is not defined: is it misspelt, or static?",
                              name);
    if (well && object_memory(&object) > MOST_ARRAYS)
        well = build_ends(build, BUILD_FAILED, "its arrays take %llu MiB; %d are enough",
                          (unsigned long long)(object_memory(&object) >> 20), MOST_ARRAYS >> 20);
    int line = source_definition(work->source, "main");
    if (line > 0)
        snprintf(build->note, sizeof build->note, "%s:%d has a main(), which nobody calls here",
                 work->file, line);
    if (well && !work->order->any_name) well = look_at_names(work, &object);
    object_free(&object);
    return well;
}

// Hides all but the wanted functions of the object, so that no name in it clashes with another, and
// replaces functions that tell time or take memory by the laboratory's.
static bool close_object(Work *work) {
    char keep[EXERCISE_FUNCTIONS][FUNCTION_NAME + 24], redirect[32][2 * BUILD_NAME];
    char name[FUNCTION_NAME];
    Words words = {.count = 0};
    ConfineResult ran;
    words_add(&words, work->objcopy);
    for (int i = 0; i < EXERCISE_FUNCTIONS && exercise_function(work->order->exercise, i, name);
         i++) {
        snprintf(keep[i], sizeof keep[i], "--keep-global-symbol=%s", name);
        words_add(&words, keep[i]);
    }
    for (int i = 0; names_redirected[i] && i < 32; i++) {
        const char *redirected = names_redirected[i];
        snprintf(redirect[i], sizeof redirect[i], "--redefine-sym=%s=lab_%s", redirected,
                 redirected);
        words_add(&words, redirect[i]);
    }
    words_add(&words, "--remove-section=.gnu.lto_*");
    words_add(&words, "whole.o");
    words_add(&words, "student.o");
    if (!tool_run(work, &words, &ran)) return false;
    bool well = tool_ended_well(&ran);
    confine_result_free(&ran);
    if (well || !tool_control(work, false, "compiling") || !tool_run(work, &words, &ran))
        return well;
    if (tool_ended_well(&ran)) // what stands there now is ours
        build_ends(work->build, BUILD_FAILED, "it compiles to no plain object");
    else
        build_ends(work->build, BUILD_MACHINE, "objcopy failed: %.120s", ran.output);
    confine_result_free(&ran);
    return false;
}

static bool link_worker(Work *work) {
    char text[LINK_WORDS][LINK_WORD];
    Words words = {.count = 0};
    ConfineResult ran;
    Build *build = work->build;
    // Only now, so that no assembler puts a part of it into a student's object.
    const Object *engine = &work->worker;
    if (room_write(&build->room, "engine.o", engine->bytes, engine->size) != STATUS_OK)
        return build_machine_failed(build);
    tool_link(work, "student.o", text, &words);
    if (!tool_run(work, &words, &ran)) return false;
    bool well = tool_ended_well(&ran);
    if (!well && tool_control(work, true, "linking")) {
        build_ends(build, BUILD_FAILED, "it compiles, but cannot be linked");
        memory_free(build->output);
        build->output = ran.output;
        ran.output = NULL;
    }
    confine_result_free(&ran);
    int made = well ? room_read(&build->room, "worker") : -1;
    if (well && (made < 0 || fchmod(made, 0755) != 0)) // the linker may not do that
        well = build_ends(build, BUILD_MACHINE, "the linker left no program");
    if (made >= 0) close(made);
    return well;
}

Status build_make(const BuildOrder *order, Build *build) {
    static bool (*const steps[])(Work *) = {tools_find,     set_room,     read_source, compile,
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
    if (!tools_find(&work) || !tool_control(&work, true, "linking")) return false;
    int made = room_read(&build->room, "control");
    bool well = made >= 0 && fchmod(made, 0755) == 0;
    if (made >= 0) close(made);
    return well || build_ends(build, BUILD_MACHINE, "the linker left no program");
}

void build_free(Build *build) {
    memory_free(build->output);
    room_close(&build->room);
    *build = (Build){.room = {.outside = -1, .descriptor = -1}};
}
