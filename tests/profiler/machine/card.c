// card.c -- a device whose clock moves only by the figures that the test sets.
#include "tests/profiler/machine/card.h"

#include <string.h>

#include "tensor/op.h"
#include "tests/helpers/harness.h"

enum { STAMPS = 4, HERE = 1 << 20 };

static bool fails(Card *card, CardCall call, Status *status) {
    *status = STATUS_OK;
    if (card->fails != call) return false;
    *status = error_set(STATUS_DEVICE, "card: call %d fails. HINT: it was asked to", (int)call);
    return true;
}

// Makes addresses that must not be followed; allocations need not be freed in order.
static void *allocate(Device *self, size_t bytes) {
    Card *card = (Card *)self;
    if (card->fails == CARD_ALLOCATE || card->live + (int64_t)bytes > card->memory.free)
        return NULL;
    card->live += (int64_t)bytes;
    if (card->live > card->most_live) card->most_live = card->live;
    return (void *)(uintptr_t)(HERE + card->live);
}

static void release(Device *self, void *data, size_t bytes) {
    Card *card = (Card *)self;
    ck_assert(data != NULL);
    card->live -= (int64_t)bytes;
    ck_assert_int_ge(card->live, 0);
}

static int64_t time_of_add(Card *card, int64_t bytes) {
    if (bytes > card->largest_add) card->largest_add = bytes;
    if (!card->smallest_add || bytes < card->smallest_add) card->smallest_add = bytes;
    return bytes / (bytes <= card->memory.cache ? card->cache : card->dram);
}

static int64_t time_of_product(Card *card, const OpCall *call, int64_t flops) {
    int64_t rows = call->in[0]->shape.dims[0];
    if (rows > card->largest_product) card->largest_product = rows;
    return flops / card->flops * (rows < card->large ? 2 : 1);
}

// Takes the time that follows from the op's own count of FLOPs and bytes.
static Status run(Device *self, const OpCall *call) {
    Card *card = (Card *)self;
    Status status;
    if (fails(card, CARD_RUN, &status)) return status;
    OpCost cost = op_cost(call);
    int64_t bytes = (int64_t)(cost.bytes_read + cost.bytes_written);
    if (cost.macs > 0)
        card->clock += time_of_product(card, call, 2 * (int64_t)cost.macs);
    else if (strcmp(call->op->name, "add") == 0)
        card->clock += time_of_add(card, bytes);
    else
        card->clock += card->launch;
    return STATUS_OK;
}

static int64_t workspace(Device *self, const OpCall *call) {
    (void)self, (void)call;
    return 0;
}

static Status from_host(Device *self, void *to, const void *from, size_t bytes) {
    Card *card = (Card *)self;
    Status status;
    ck_assert(to && from);
    if (!fails(card, CARD_FROM_HOST, &status))
        card->clock += card->from_host * (int64_t)bytes / 1024;
    return status;
}

static Status to_host(Device *self, void *to, const void *from, size_t bytes) {
    Card *card = (Card *)self;
    Status status;
    ck_assert(to && from);
    if (!fails(card, CARD_TO_HOST, &status)) card->clock += card->to_host * (int64_t)bytes / 1024;
    return status;
}

static Status synchronize(Device *self) {
    Card *card = (Card *)self;
    Status status;
    card->waits += !fails(card, CARD_SYNCHRONIZE, &status);
    return status;
}

static Status memory(Device *self, DeviceMemory *result) {
    Card *card = (Card *)self;
    Status status;
    if (!fails(card, CARD_MEMORY, &status)) *result = card->memory;
    return status;
}

// ---- stamps ------------------------------------------------------------------------------------
static int64_t stamps[STAMPS], reserved;

static Status stamps_reserve(Device *self, int64_t count) {
    Status status;
    ck_assert_int_le(count, STAMPS);
    if (!fails((Card *)self, CARD_RESERVE, &status)) reserved = count;
    memset(stamps, 0xff, sizeof stamps);
    return status;
}

static Status stamp(Device *self, int64_t index) {
    Status status;
    ck_assert(index >= 0 && index < reserved);
    if (!fails((Card *)self, CARD_STAMP, &status)) stamps[index] = ((Card *)self)->clock;
    return status;
}

static Status stamps_read(Device *self, int64_t count, int64_t *nanoseconds) {
    Status status;
    ck_assert_int_le(count, reserved);
    if (!fails((Card *)self, CARD_READ, &status))
        memcpy(nanoseconds, stamps, (size_t)count * sizeof(int64_t));
    return status;
}

void card_init(Card *card, bool with_stamps) {
    *card = (Card){.device = {.name = "card",
                              .has_data = true,
                              .allocate = allocate,
                              .release = release,
                              .run = run,
                              .workspace = workspace,
                              .from_host = from_host,
                              .to_host = to_host,
                              .synchronize = synchronize,
                              .identity = "Made-up 1, number 7, driver 3",
                              .memory = memory},
                   .memory = {.total = INT64_C(141000000000),
                              .free = INT64_C(140000000000),
                              .cache = 48 << 20},
                   .launch = 2500,
                   .to_host = 64,
                   .from_host = 32,
                   .flops = 1 << 15,
                   .cache = 1 << 13,
                   .dram = 1 << 12,
                   .large = 2048};
    if (!with_stamps) return;
    card->device.stamps_reserve = stamps_reserve;
    card->device.stamp = stamp;
    card->device.stamps_read = stamps_read;
}
