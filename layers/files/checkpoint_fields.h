// checkpoint_fields.h -- internal: a checkpoint's fields beside its tensors, each as a text in the
// file's metadata. checkpoint.c has the tensors and files.
#ifndef LAYERS_FILES_CHECKPOINT_FIELDS_H
#define LAYERS_FILES_CHECKPOINT_FIELDS_H

#include "layers/files/checkpoint.h"

typedef struct CheckpointNumbers {
    int64_t step, epoch;
    RandomState random;
    OptimizerConfig optimizer;
    int64_t optimizer_steps;
    LoaderPosition loader;
    Schedule schedule;
} CheckpointNumbers;

enum { CHECKPOINT_TEXT = 160, CHECKPOINT_MOST_FIELDS = 40 };

int checkpoint_field_count(void); // at most CHECKPOINT_MOST_FIELDS
const char *checkpoint_field_key(int field);
// True if the checkpoint has this field's object: always for step and epoch, else if not NULL.
bool checkpoint_has_field(const Checkpoint *checkpoint, int field);
void checkpoint_field_write(const CheckpointNumbers *numbers, int field,
                            char text[CHECKPOINT_TEXT]);
// False: the text is not a value of this field.
bool checkpoint_field_read(CheckpointNumbers *numbers, int field, const char *text);

// checkpoint_frozen.c: the paths of frozen parameters, one per line; yours to memory_free. NULL:
// out of memory.
char *checkpoint_frozen_new(const ParameterList *state);
// STATUS_INVALID_ARGUMENT: other ones are frozen in this model; the first is named.
Status checkpoint_check_frozen(const char *file, const char *lines, const ParameterList *state);

#endif
