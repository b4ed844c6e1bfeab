// story.c -- adapts an op's story to one call: its parameters, the tensors that are there, and an
// activation that is fused in. What the story's rules come to: cost.c.
#include "tensor/given.h"
#include "tensor/op.h"

unsigned op_given(const OpCall *call) {
    if (!GIVEN(call)) return 0;
    unsigned given = 0;
    for (int i = 0; i < call->n_in; i++) given |= call->in[i] ? SAVE_IN(i) : 0;
    for (int i = 0; i < call->n_out; i++) given |= SAVE_OUT(i);
    return call->adds ? given | GIVEN_SUM : given;
}

// Whether a fused activation's rule is known: it must count per element, as z has y's shape.
static bool by_element(OpRule rule) {
    return rule.basis == BASIS_NONE || rule.basis == PER_OUTPUT ||
           (rule.basis == PER_INPUT && rule.input == 0);
}

static bool fused_is_counted(const Op *activation) {
    const OpStory *story = activation->story;
    return story && !activation->cost && !story->factors && story->bias.basis == BASIS_NONE &&
           by_element(story->elementwise) && by_element(story->transcendental);
}

static OpRule per_output(OpRule rule) {
    if (rule.basis == PER_INPUT) rule.basis = PER_OUTPUT;
    return rule;
}

// Adds the activation's FLOPs; if its backward reads its input, that is an extra output.
static void fuse(OpStory *story, const Op *activation, const OpParams *params) {
    OpParams alone = *params;
    alone.activation = NULL;
    OpStory of = op_story(activation, &alone, SAVE_IN(0) | SAVE_OUT(0));
    story->activation = activation;
    story->keeps |= (of.keeps & KEEP_X ? KEEP_EXTRA : 0) | (of.keeps & KEEP_Y);
    if (!fused_is_counted(activation)) return;
    story->elementwise = per_output(of.elementwise);
    story->transcendental = per_output(of.transcendental);
}

OpStory op_story(const Op *op, const OpParams *params, unsigned given) {
    static const OpParams none;
    if (!GIVEN(op)) return (OpStory){0};
    if (!params) params = &none;
    OpStory story = op->story ? *op->story : (OpStory){0};
    if (story.vary) story.vary(&story, params, given);
    if (given & GIVEN_SUM && story.elementwise.basis == BASIS_NONE)
        story.elementwise = (OpRule){story.scatters ? PER_INPUT : PER_OUTPUT, .each = 1};
    if (params->activation) fuse(&story, params->activation, params);
    return story;
}

// With a fused activation, both costs must be known.
bool op_is_counted(const Op *op, const OpParams *params) {
    if (!GIVEN(op)) return false;
    bool known = op->cost || op->story || op->flags & OP_VIEW;
    return known && (!params || !params->activation || fused_is_counted(params->activation));
}
