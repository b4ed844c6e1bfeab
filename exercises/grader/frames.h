// frames.h -- internal to the grader: what a worker sent, read as if an enemy had sent it.
#ifndef EXERCISES_GRADER_FRAMES_H
#define EXERCISES_GRADER_FRAMES_H

#include <stddef.h>

#include "exercises/grader/judge.h"

typedef struct FrameReader {
    const char *bytes;
    size_t count, at;
    uint64_t nonce;
} FrameReader;

typedef enum ReplyEnd {
    REPLY_COMPLETE,
    REPLY_NONE,   // not even begun
    REPLY_CUT,    // begun, and ended before its end
    REPLY_FORGED, // not what worker.c sends
} ReplyEnd;

// The frames of one run, which have to be those of a worker to the letter: magic, nonce, run, order
// of kinds, and as many values of the kinds that are expected.
ReplyEnd frames_read(FrameReader *reader, int index, const CaseRun *run, Reply *reply);

#endif
