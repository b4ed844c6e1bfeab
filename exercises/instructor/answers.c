// answers.c -- the keys of a class, to hand out, and each student's right answers by hand, to keep,
// as tables and as text.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/key.h"
#include "exercises/course/text_file.h"
#include "exercises/grader/judge.h"
#include "exercises/instructor/instructor.h"
#include "layers/files/whole_file.h"
#include "profiler/base/escape.h"
#include "tensor/memory.h"

typedef struct AnswerFiles {
    WholeFile *keys, *table, *text;
    CaseRun *run;
    const char *secret;
} AnswerFiles;

static void put_cells(WholeFile *file, const char *const cells[], int count) {
    for (int i = 0; i < count; i++) {
        if (i > 0) whole_file_print(file, ",");
        escape_csv(file, cells[i]);
    }
    whole_file_print(file, "\r\n");
}

static Status write_answer(const AnswerFiles *files, const Member *member, const Exercise *exercise,
                           const ExerciseCase *definition) {
    char value[VALUE_TEXT];
    CaseRun *run = files->run;
    DrawKey key = {.secret = files->secret, .student = member->student};
    Status status = exercise_run_make(exercise, definition, key, 0, NULL, run);
    if (status != STATUS_OK) return status;
    value_text(&run->values[0], run->values[0].value, value);
    const char *const cells[] = {member->student, definition->by_hand, value,
                                 run->shown,      run->asked,          run->formula};
    put_cells(files->table, cells, 6);
    whole_file_print(files->text, "  %-20s %-16s %s: %s\n  %-20s %-16s = %s\n", definition->by_hand,
                     value, run->shown, run->asked, "", "", run->formula);
    return STATUS_OK;
}

static Status write_member(const AnswerFiles *files, const Member *member) {
    char token[KEY_TOKEN], key[KEY_TEXT];
    key_token(files->secret, member->student, token);
    key_write(member->student, token, key);
    const char *const cells[] = {member->student, member->name, key};
    put_cells(files->keys, cells, 3);
    whole_file_print(files->text, "%s%s%s%s   %s\n", member->student, member->name[0] ? " (" : "",
                     member->name, member->name[0] ? ")" : "", key);
    Status status = STATUS_OK;
    for (int i = 0; i < exercise_count; i++) {
        for (int k = 0; k < exercises[i]->n_cases && status == STATUS_OK; k++) {
            const ExerciseCase *definition = &exercises[i]->cases[k];
            if (definition->by_hand && !exercises[i]->answers)
                status = write_answer(files, member, exercises[i], definition);
        }
    }
    whole_file_print(files->text, "\n");
    return status;
}

// ---- the files ---------------------------------------------------------------------------------
static WholeFile *open_in(const char *folder, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    return whole_file_open(path);
}

static Status close_or_discard(WholeFile *file, Status status) {
    if (file == NULL) return status;
    if (status == STATUS_OK) return whole_file_close(file);
    whole_file_discard(file);
    return status;
}

static Status write_files(const Class *class, const char *secret, const char *folder) {
    AnswerFiles files = {.secret = secret, .run = memory_new(sizeof *files.run)};
    files.keys = files.run ? open_in(folder, "keys.csv") : NULL;
    files.table = files.keys ? open_in(folder, "answers.csv") : NULL;
    files.text = files.table ? open_in(folder, "answers.txt") : NULL;
    Status status = files.text ? STATUS_OK : error_status();
    if (status == STATUS_OK) {
        whole_file_print(files.keys, "student,name,key\r\n");
        whole_file_print(files.table, "student,question,answer,given,asked,how\r\n");
    }
    for (int i = 0; i < class->count && status == STATUS_OK; i++) {
        status = write_member(&files, &class->members[i]);
    }
    status = close_or_discard(files.keys, status);
    status = close_or_discard(files.table, status);
    status = close_or_discard(files.text, status);
    memory_free(files.run);
    return status;
}

int command_answers(const Orders *orders) {
    const char *folder = orders->output ? orders->output : "build/answers";
    Class class = {.count = 0};
    char *secret = file_first_line(orders->secret);
    Status status = secret ? STATUS_OK : error_status();
    bool is_file = access(orders->argument, F_OK) == 0;
    if (status == STATUS_OK) {
        status = is_file ? class_add_roster(&class, orders->argument)
                         : class_add_names(&class, orders->argument);
    }
    if (status == STATUS_OK && class.count == 0) {
        status =
            error_set(STATUS_FORMAT, "%.200s: nobody is in it. HINT: lines student,name, or names",
                      orders->argument);
    }
    if (status == STATUS_OK && mkdir(folder, 0700) != 0 && errno != EEXIST) {
        status = error_set(STATUS_IO, "%.300s: %s. HINT: --output names another folder", folder,
                           strerror(errno));
    }
    if (status == STATUS_OK) status = write_files(&class, secret, folder);
    if (status == STATUS_OK) {
        printf("%s: keys.csv to hand out, answers.csv and answers.txt to keep, of %d students%s\n",
               folder, class.count,
               orders->secret ? ""
                              : ", without a secret: whoever knows a "
                                "name can make its key");
    }
    class_free(&class);
    memory_free(secret);
    return status == STATUS_OK ? INSTRUCTOR_DONE : instructor_fail();
}
