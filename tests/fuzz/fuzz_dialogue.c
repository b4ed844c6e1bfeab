// fuzz_dialogue.c -- random frames for the grader's dialogue: whatever a worker sends, the grader
// answers or ends the dialogue, soon, and leaves no error pending.
#include <stdlib.h>
#include <string.h>

#include "exercises/support/remote.h"
#include "tests/exercises/grader/talk.h"
#include "tests/fuzz/fuzz.h"

// Four bytes make a frame: its kind (mostly a valid one), two numbers, and their magnitude.
static WorkerFrame frame_of(const Talk *talk, const uint8_t bytes[4]) {
    static const int shifts[] = {0, 0, 0, 8, 16, 31, 40, 56};
    WorkerFrame frame = talk_frame(talk, (FrameKind)(bytes[0] % 9), (int8_t)bytes[1]);
    frame.bits <<= shifts[bytes[3] % 8];
    frame.subject = (int64_t)((uint64_t)(int64_t)(int8_t)bytes[2] << shifts[bytes[3] / 8 % 8]);
    frame.times = bytes[3] < 250 ? bytes[2] % 4 : (int64_t)(UINT64_C(1) << (bytes[2] % 64));
    if (bytes[0] > 250) frame.nonce++;
    frame.run = (uint16_t)talk->dialogue.run;
    return frame;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const numbers[] = {"02", "05", "06", "07", "08", "09", "10", "04"};
    static Talk talk;
    if (size == 0) return 0;
    promise(talk_begin(&talk, numbers[bytes[0] % 8], 2) == STATUS_OK);
    bool heard = true;
    if (bytes[0] & 64) heard = talk_send(&talk, FRAME_BEGIN, 0);
    for (size_t i = 1; i + 4 <= size && heard; i += 4)
        heard = talk_hear(&talk, frame_of(&talk, bytes + i));
    promise(heard || talk.dialogue.end != DIALOGUE_OPEN);
    promise(talk.dialogue.end != DIALOGUE_FAILED && !error_pending());
    promise(talk.dialogue.run <= 2);
    talk_end(&talk);
    return 0;
}
