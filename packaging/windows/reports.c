#include "reports.h"

#include <stdlib.h>
#include <string.h>

/* Return the closing quotation mark of the JSON string whose opening one is at `at`. */
static const char *end_of_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return at;
}

/* Find a key at any depth and return its value; NULL if it is missing. All keys are distinct. */
static const char *value_of(const char *json, const char *key) {
    size_t length = strlen(key);
    for (const char *at = json; *at; at++) {
        if (*at != '"') continue;
        const char *end = end_of_string(at);
        BOOL same = (size_t)(end - at - 1) == length && !strncmp(at + 1, key, length);
        if (!*end) return NULL;
        at = end;
        for (end++; *end == ' '; end++) {}
        if (same && *end == ':') {
            for (end++; *end == ' '; end++) {}
            return end;
        }
    }
    return NULL;
}

static double number_of(const char *json, const char *key) {
    const char *value = value_of(json, key);
    return value && (*value == '-' || (*value >= '0' && *value <= '9')) ? strtod(value, NULL) : -1;
}

static char *put_utf8(char *to, unsigned code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3F));
    } else {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    }
    return to;
}

/* Decode a string's escapes. The writer escapes only control characters, so there are no surrogates. */
static char *decode(const char *at) {
    const char *end = end_of_string(at);
    char *text = malloc((size_t)(end - at) * 2 + 1), *to = text;
    for (at++; at < end; at++) {
        if (*at != '\\') {
            *to++ = *at;
            continue;
        }
        at++;
        if (*at == 'u' && end - at > 4) {
            char digits[5] = {at[1], at[2], at[3], at[4], 0};
            to = put_utf8(to, (unsigned)strtoul(digits, NULL, 16));
            at += 4;
        } else if (*at == 'n') {
            *to++ = '\r';  /* the line ending of edit controls */
            *to++ = '\n';
        } else {
            *to++ = *at == 't' ? ' ' : *at;
        }
    }
    *to = 0;
    return text;
}

/* Append the value of a key, after an empty line if `text` is not empty. */
static void append(wchar_t **text, const char *json, const char *key) {
    const char *value = value_of(json, key);
    if (!value || *value != '"') return;
    char *decoded = decode(value);
    int more = MultiByteToWideChar(CP_UTF8, 0, decoded, -1, NULL, 0);
    size_t before = *text ? wcslen(*text) : 0;
    if (more > 1) {
        *text = realloc(*text, (before + (size_t)more + 4) * sizeof(wchar_t));
        (*text)[before] = 0;
        if (before) wcscpy(*text + before, L"\r\n\r\n");
        MultiByteToWideChar(CP_UTF8, 0, decoded, -1, *text + wcslen(*text), more);
    }
    free(decoded);
}

Report *read_report(const char *line) {
    Report *report = calloc(1, sizeof *report);
    report->kind = UNKNOWN;
    if (value_of(line, "problem")) {
        static const char *const parts[] = {"happened", "meaning", "remedy", "details"};
        report->kind = PROBLEM;
        for (int i = 0; i < 4; i++) append(&report->text, line, parts[i]);
    } else if (value_of(line, "step")) {
        report->kind = STEP;
        append(&report->text, line, "step");
    } else if (value_of(line, "say")) {
        report->kind = SAY;
        append(&report->text, line, "say");
    } else if (value_of(line, "ready")) {
        report->kind = READY;
    }
    report->fraction = number_of(line, "fraction");
    report->bytes = number_of(line, "bytes");
    report->of = number_of(line, "of");
    return report;
}

void release_report(Report *report) {
    free(report->text);
    free(report);
}
