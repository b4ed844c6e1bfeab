// safetensors_parts.h -- internal to layers/files/: declarations that the safetensors files share,
// and reading a list of tensors in two steps, all checks first.
#ifndef LAYERS_FILES_SAFETENSORS_PARTS_H
#define LAYERS_FILES_SAFETENSORS_PARTS_H

#include "layers/files/input_file.h"
#include "layers/files/safetensors.h"

enum { SAFETENSORS_LENGTH = 8, SAFETENSORS_MOST_HEADER = 100000000 };
#define SAFETENSORS_METADATA "__metadata__"

const InputFile *safetensors_input(const Safetensors *file);
InputNumbers safetensors_numbers(const Safetensors *file, int64_t index);

typedef struct SafetensorsPlan { // which tensor is read from where
    const Safetensors *file;
    const ParameterList *list; // borrowed
    int64_t *from;             // each tensor's index in the file; -1: it is not read
} SafetensorsPlan;
// Matches the list's tensors with the file's, both ways; changes nothing. `what` names the list's
// owner in messages: "Linear".
Status safetensors_plan(const Safetensors *file, const ParameterList *list, const char *what,
                        SafetensorsOptions options, SafetensorsPlan *plan);
Status safetensors_follow(const SafetensorsPlan *plan); // STATUS_IO and a device's errors only
void safetensors_plan_free(SafetensorsPlan *plan);

#endif
