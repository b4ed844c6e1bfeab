// frames.c -- reads a worker's frames: a small automaton that accepts nothing but the one order.
#include "exercises/grader/frames.h"

#include <string.h>

#include "exercises/grader/worker.h"

typedef enum FrameEnd { FRAME_READ, FRAME_NONE, FRAME_BAD } FrameEnd;

static FrameEnd next(FrameReader *reader, int index, WorkerFrame *frame) {
    size_t left = reader->count - reader->at;
    if (left == 0) return FRAME_NONE;
    if (left < sizeof *frame) return FRAME_BAD; // a pipe takes a frame whole or not at all
    memcpy(frame, reader->bytes + reader->at, sizeof *frame);
    reader->at += sizeof *frame;
    bool own = frame->magic == WORKER_MAGIC && frame->nonce == reader->nonce;
    return own && frame->run == index ? FRAME_READ : FRAME_BAD;
}

static bool is_value(const WorkerFrame *frame) {
    return frame->kind == FRAME_INTEGER || frame->kind == FRAME_REAL;
}

static bool add_value(const WorkerFrame *frame, const CaseRun *run, Reply *reply) {
    if (reply->status != STATUS_OK || reply->n_values == CASE_MOST_VALUES) return false;
    int i = reply->n_values++;
    // Of a failure that did not happen, no values are known that could be compared.
    if (run->status == STATUS_OK) {
        if (i >= run->n_values) return false;
        bool real = run->values[i].kind == VALUE_REAL;
        if (real != (frame->kind == FRAME_REAL)) return false;
    }
    memcpy(&reply->values[i], &frame->bits, sizeof frame->bits);
    return true;
}

static bool is_whole(const CaseRun *run, const Reply *reply) {
    return reply->status != STATUS_OK || run->status != STATUS_OK ||
           reply->n_values == run->n_values;
}

ReplyEnd frames_read(FrameReader *reader, int index, const CaseRun *run, Reply *reply) {
    WorkerFrame frame;
    reply->n_values = 0;
    FrameEnd end = next(reader, index, &frame);
    if (end == FRAME_NONE) return REPLY_NONE;
    if (end == FRAME_BAD || frame.kind != FRAME_BEGIN) return REPLY_FORGED;
    end = next(reader, index, &frame);
    if (end == FRAME_NONE) return REPLY_CUT;
    if (end == FRAME_BAD || frame.kind != FRAME_STATUS) return REPLY_FORGED;
    reply->status = (Status)(int)frame.bits;
    while ((end = next(reader, index, &frame)) == FRAME_READ && is_value(&frame))
        if (!add_value(&frame, run, reply)) return REPLY_FORGED;
    if (end == FRAME_NONE) return REPLY_CUT;
    bool ended = end == FRAME_READ && frame.kind == FRAME_END && is_whole(run, reply);
    return ended ? REPLY_COMPLETE : REPLY_FORGED;
}
