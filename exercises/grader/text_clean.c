// text_clean.c -- makes bytes of strangers harmless for terminals, JSON, XML and CSV readers.
#include "exercises/grader/contain.h"

// How many bytes the UTF-8 sequence at `text` has; 0: it is none. Overlong forms, surrogates and
// what lies beyond U+10FFFF are none.
static int sequence_length(const unsigned char *text) {
    static const struct {
        unsigned char first, last, second_first, second_last;
        int length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last) continue;
        if (text[1] < forms[i].second_first || text[1] > forms[i].second_last) return 0;
        for (int k = 2; k < forms[i].length; k++)
            if ((text[k] & 0xc0) != 0x80) return 0;
        return forms[i].length;
    }
    return 0;
}

// U+0080 to U+009F are control characters, U+FFFE and U+FFFF no characters: XML refuses them.
static int is_harmless(const unsigned char *text, int length) {
    if (length == 2 && text[0] == 0xc2 && text[1] < 0xa0) return 0;
    return !(length == 3 && text[0] == 0xef && text[1] == 0xbf && text[2] >= 0xbe);
}

void text_clean(char *text) {
    unsigned char *in = (unsigned char *)text, *out = in;
    while (*in) {
        int length = *in < 0x80 ? 1 : sequence_length(in);
        int plain = *in == '\n' || *in == '\t' || (*in >= 0x20 && *in < 0x7f);
        if (length == 1 ? !plain : length == 0 || !is_harmless(in, length)) {
            *out++ = '?';
            in += length ? length : 1;
            continue;
        }
        for (int k = 0; k < length; k++) *out++ = *in++;
    }
    *out = '\0';
}
