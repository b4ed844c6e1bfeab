// test_dialogue.c -- the grader's side of a conversation with a hostile worker: every other order
// of frames, other counts, other runs, needless requests, and requests that would take forever.
// fuzz_dialogue.c tests random frames.
#include <stdlib.h>
#include <string.h>

#include "exercises/support/remote.h"
#include "tensor/context.h"
#include "tests/exercises/grader/talk.h"
#include "tests/helpers/harness.h"

static const int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -4711,    -1, 0, 1, 2,
                                   64,        INT64_MAX - 1, INT64_MAX};
enum { EXTREMES = sizeof extremes / sizeof extremes[0] };

static void begin(Talk *talk, const char *number, int n) {
    Status status = talk_begin(talk, number, n);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    error_clear();
}

// Expects that the dialogue has ended for this reason; no further frame is heard.
static void check_end(Talk *talk, DialogueEnd end) {
    ck_assert_int_eq(talk->dialogue.end, end);
    ck_assert(!talk_send(talk, FRAME_BEGIN, 0));
    ck_assert_int_eq(talk->dialogue.end, end);
    ck_assert(!error_pending());
    talk_end(talk);
}

// ---- the one order -----------------------------------------------------------------------------
START_TEST(the_right_order_is_heard_to_its_end) {
    static const char *const numbers[] = {"01", "02", "03", "04", "05",
                                          "06", "07", "08", "09", "10"};
    Talk talk;
    begin(&talk, numbers[_i], 3);
    for (int i = 0; i < 3; i++) {
        ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
        ck_assert(talk_answer(&talk));
        ck_assert_int_eq(talk.dialogue.run, i + 1);
    }
    ck_assert_int_eq(talk.dialogue.end, DIALOGUE_DONE);
    ck_assert(!talk_send(&talk, FRAME_BEGIN, 0)); // it stays ended
    check_end(&talk, DIALOGUE_BROKEN);
}
END_TEST

START_TEST(a_frame_in_pieces_is_the_same) {
    Talk talk;
    begin(&talk, "02", 1);
    WorkerFrame frame = talk_frame(&talk, FRAME_BEGIN, 0);
    for (size_t i = 0; i < sizeof frame; i++)
        ck_assert(dialogue_hear(&talk.dialogue, (const char *)&frame + i, 1));
    ck_assert(talk.dialogue.begun);
    frame = talk_frame(&talk, FRAME_STATUS, 0);
    ck_assert(dialogue_hear(&talk.dialogue, (const char *)&frame, sizeof frame - 1));
    ck_assert_int_eq(talk.dialogue.end, DIALOGUE_OPEN); // cut off: the process ended
    talk_end(&talk);
}
END_TEST

// After each part of a right conversation, tries each kind of frame that is not next.
START_TEST(any_other_order_is_broken) {
    static const FrameKind right[] = {FRAME_BEGIN, FRAME_STATUS, FRAME_INTEGER, FRAME_END};
    enum { PARTS = 4, KINDS = 10 };
    for (int after = 0; after < PARTS; after++)
        for (int kind = 0; kind < KINDS; kind++) {
            bool asks = after == 1 && (kind == FRAME_ARGUMENT || kind == FRAME_NOTE);
            if (kind == (int)right[after] || asks) continue;
            Talk talk;
            begin(&talk, "02", 1);
            for (int i = 0; i < after; i++) ck_assert(talk_send(&talk, right[i], 0));
            ck_assert_msg(!talk_send(&talk, (FrameKind)kind, 0), "%d after %d", kind, after);
            check_end(&talk, DIALOGUE_BROKEN);
        }
}
END_TEST

START_TEST(too_few_or_too_many_values_are_broken) {
    Talk talk;
    begin(&talk, "02", 1);
    ck_assert(talk_send(&talk, FRAME_BEGIN, 0) && talk_send(&talk, FRAME_STATUS, 0));
    ck_assert(!talk_send(&talk, FRAME_END, 0));
    check_end(&talk, DIALOGUE_BROKEN);
    begin(&talk, "02", 1);
    ck_assert(talk_send(&talk, FRAME_BEGIN, 0) && talk_send(&talk, FRAME_STATUS, 0));
    ck_assert(!talk_send(&talk, FRAME_REAL, 0)); // an integer is expected
    check_end(&talk, DIALOGUE_BROKEN);
    begin(&talk, "02", 1);
    ck_assert(talk_send(&talk, FRAME_BEGIN, 0) && talk_send(&talk, FRAME_STATUS, STATUS_SHAPE));
    ck_assert(!talk_send(&talk, FRAME_INTEGER, 0)); // no value after a failure
    check_end(&talk, DIALOGUE_BROKEN);
    begin(&talk, "02", 1);
    ck_assert(talk_send(&talk, FRAME_BEGIN, 0) && talk_send(&talk, FRAME_STATUS, 0));
    bool heard = true;
    for (int i = 0; i < 2 * CASE_MOST_VALUES && heard; i++)
        heard = talk_send(&talk, FRAME_INTEGER, 0);
    check_end(&talk, DIALOGUE_BROKEN);
}
END_TEST

START_TEST(a_failure_is_a_wrong_answer_and_no_break) {
    Talk talk;
    begin(&talk, "02", 2);
    ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
    ck_assert(talk_send(&talk, FRAME_STATUS, STATUS_NOT_IMPLEMENTED));
    ck_assert(talk_send(&talk, FRAME_END, 0));
    ck_assert(!talk.dialogue.first.right);
    ck_assert_int_eq(talk.dialogue.first_run, 0);
    ck_assert_int_eq(talk.dialogue.run, 1);
    talk_end(&talk);
}
END_TEST

// ---- forgeries ---------------------------------------------------------------------------------
START_TEST(only_without_the_nonce_it_is_a_forgery) {
    for (int bit = 0; bit < 64; bit++) {
        Talk talk;
        begin(&talk, "02", 1);
        WorkerFrame frame = talk_frame(&talk, FRAME_BEGIN, 0);
        frame.nonce ^= UINT64_C(1) << bit;
        ck_assert(!talk_hear(&talk, frame));
        check_end(&talk, DIALOGUE_FORGED);
    }
    Talk talk;
    begin(&talk, "02", 1);
    WorkerFrame frame = talk_frame(&talk, FRAME_BEGIN, 0);
    frame.magic++;
    ck_assert(!talk_hear(&talk, frame));
    check_end(&talk, DIALOGUE_FORGED);
    begin(&talk, "02", 2);
    talk.run = 1; // the wrong run: out of order
    ck_assert(!talk_send(&talk, FRAME_BEGIN, 0));
    check_end(&talk, DIALOGUE_BROKEN);
}
END_TEST

START_TEST(nonces_differ) {
    Talk one, other;
    begin(&one, "02", 1);
    begin(&other, "02", 1);
    ck_assert_uint_ne(one.dialogue.hello.nonce, other.dialogue.hello.nonce);
    talk_end(&one);
    talk_end(&other);
}
END_TEST

// ---- requests ----------------------------------------------------------------------------------
// Counts are not told in exercises 02 to 04, nor in others if no later exercise builds on them.
START_TEST(answers_are_not_told) {
    static const char *const numbers[] = {"01", "02", "03", "04", "05", "06", "07", "08"};
    const double peak = 1e9;
    int64_t roofline[5] = {1000, 1000}, layer[3] = {0, 32, 512};
    for (int i = 2; i < 5; i++) memcpy(&roofline[i], &peak, sizeof peak);
    for (int call = CALL_FLOPS; call <= CALL_ROOFLINE; call++) {
        Talk talk;
        begin(&talk, numbers[_i], 1);
        size_t said = talk.said_bytes;
        ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
        ck_assert(call == CALL_ROOFLINE ? !talk_call(&talk, call, roofline, 5)
                                        : !talk_call(&talk, call, layer, 3));
        ck_assert_uint_eq(talk.said_bytes, said);
        check_end(&talk, DIALOGUE_BROKEN);
    }
}
END_TEST

// A device's events would tell time finer than the clock, so only exercise 07 has a device.
START_TEST(there_is_one_device) {
    static const char *const numbers[] = {"01", "02", "03", "04", "05", "06", "08", "09", "10"};
    Talk talk;
    begin(&talk, numbers[_i], 1);
    ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
    ck_assert(!talk_call(&talk, CALL_EVENT_NEW, NULL, 0));
    check_end(&talk, DIALOGUE_BROKEN);
}
END_TEST

START_TEST(calls_have_their_arguments_or_are_broken) {
    static const int wanted[CALL_COUNT] = {1, 1, 0, 1, 1, 0, 1, 2, -1, -1, 5};
    const int64_t many[WORKER_ARGUMENTS + 1] = {0, 1, 1, 1, 1};
    for (int call = -1; call <= CALL_COUNT; call++)
        for (int count = 0; count <= WORKER_ARGUMENTS + 1; count++) {
            Talk talk;
            bool of_device = call >= CALL_SYNCHRONIZE && call <= CALL_EVENT_ELAPSED;
            begin(&talk, of_device ? "07" : "09", 1);
            bool known = call >= 0 && call < CALL_COUNT && count <= WORKER_ARGUMENTS;
            bool right = known && (wanted[call] < 0 ? count > 0 : count == wanted[call]);
            ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
            ck_assert_msg(talk_call(&talk, call, many, count) == right, "%d(%d)", call, count);
            ck_assert_int_eq(talk.dialogue.end, right ? DIALOGUE_OPEN : DIALOGUE_BROKEN);
            talk_end(&talk);
        }
}
END_TEST

// The grader answers any arguments within the harness's time (run with asan).
START_TEST(extreme_arguments_are_answered) {
    static const char *const numbers[] = {"05", "06", "07", "09", "10"};
    static const int wanted[CALL_COUNT] = {1, 1, 0, 1, 1, 0, 1, 2, 3, 3, 5};
    for (int call = 0; call < CALL_COUNT; call++)
        for (int i = 0; i < EXTREMES * EXTREMES; i++) {
            int64_t arguments[5];
            for (int k = 0; k < 5; k++)
                arguments[k] = extremes[(k % 2 ? i / EXTREMES : i % EXTREMES)];
            Talk talk;
            begin(&talk, numbers[_i], 1);
            ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
            (void)talk_call(&talk, call, arguments, wanted[call]);
            ck_assert(!error_pending());
            talk_end(&talk);
        }
}
END_TEST

START_TEST(notes_do_not_hold_the_grader) {
    static const char *const numbers[] = {"05", "06", "07", "09", "10"};
    for (int note = -1; note <= NOTE_COUNT; note++)
        for (int i = 0; i < EXTREMES; i += 3) {
            Talk talk;
            begin(&talk, numbers[_i], 1);
            ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
            ck_assert(!talk_note(&talk, note, extremes[i], INT64_MAX));
            check_end(&talk, DIALOGUE_FLOOD);
            begin(&talk, numbers[_i], 1);
            ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
            (void)talk_note(&talk, note, extremes[i], i % 2 ? 1 << 26 : extremes[i]);
            for (int k = 0; k < 100 && talk_note(&talk, note, extremes[i], 1 << 20); k++) {
            }
            int64_t monotonic = 1;
            (void)talk_call(&talk, CALL_CLOCK_READ, &monotonic, 1);
            talk_end(&talk);
        }
}
END_TEST

START_TEST(a_worker_that_does_not_listen_is_left) {
    Talk talk;
    begin(&talk, "05", 1);
    int64_t monotonic = 1;
    ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
    ck_assert(talk_call(&talk, CALL_CLOCK_READ, &monotonic, 1));
    talk.room = talk.said_bytes;
    ck_assert(!talk_call(&talk, CALL_CLOCK_READ, &monotonic, 1));
    check_end(&talk, DIALOGUE_FLOOD);
}
END_TEST

START_TEST(frames_without_end_are_a_flood) {
    Talk talk;
    begin(&talk, "05", 1);
    ck_assert(talk_send(&talk, FRAME_BEGIN, 0));
    bool heard = true;
    int64_t count = 0;
    for (; heard && count < INT64_C(1) << 24; count++) heard = talk_note(&talk, NOTE_SLEEP, 1, 1);
    ck_assert(!heard);
    check_end(&talk, DIALOGUE_FLOOD);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{the_right_order_is_heard_to_its_end, 10},
                                 {a_frame_in_pieces_is_the_same, 0},
                                 {any_other_order_is_broken, 0},
                                 {too_few_or_too_many_values_are_broken, 0},
                                 {a_failure_is_a_wrong_answer_and_no_break, 0},
                                 {only_without_the_nonce_it_is_a_forgery, 0},
                                 {nonces_differ, 0},
                                 {answers_are_not_told, 8},
                                 {there_is_one_device, 9},
                                 {calls_have_their_arguments_or_are_broken, 0},
                                 {extreme_arguments_are_answered, 5},
                                 {notes_do_not_hold_the_grader, 5},
                                 {a_worker_that_does_not_listen_is_left, 0},
                                 {frames_without_end_are_a_flood, 0},
                                 {NULL, 0}};
    return harness_main("dialogue", tests);
}
