// stage.h -- what of a submission is graded, copied into a folder of our own: the files that the
// exercises ask for and nothing else, from a folder or from submission.tar.
#ifndef EXERCISES_INSTRUCTOR_STAGE_H
#define EXERCISES_INSTRUCTOR_STAGE_H

#include "exercises/grader/sha256.h"
#include "tensor/status.h"

enum { STAGE_MOST_FILES = 64, STAGE_NAME = 96, STAGE_DIGEST = 2 * SHA256_BYTES + 1 };

typedef struct StagedFile {
    char name[STAGE_NAME];
    char digest[STAGE_DIGEST]; // in hexadecimal; "": it was not handed in
} StagedFile;

typedef struct Stage {
    char folder[64]; // ours, 0700
    StagedFile files[STAGE_MOST_FILES];
    int n_files;
    int staged; // of them are there
} Stage;

// Makes an empty one that knows which files are asked for. STATUS_IO.
Status stage_new(Stage *stage);
// Fills it from a folder (or its exercises/, or the submission.tar in it), or from a tar archive.
// STATUS_FORMAT or STATUS_IO where the submission is refused; nothing of it is staged then.
Status stage_fill(Stage *stage, const char *path);
void stage_remove(Stage *stage);

// In hexadecimal, of all bytes.
void digest_text(const void *bytes, size_t count, char text[STAGE_DIGEST]);

#endif
