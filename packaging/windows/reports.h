/* The lines that launcher.py writes with --report: one JSON object each, in UTF-8. */
#ifndef REPORTS_H
#define REPORTS_H

#include <windows.h>

typedef enum { STEP, SAY, PROBLEM, READY, UNKNOWN } Kind;

typedef struct {
    Kind kind;
    wchar_t *text;      /* a step, a message, or the parts of a problem; freed by release_report */
    double fraction;    /* negative if unknown */
    double bytes, of;
} Report;

Report *read_report(const char *line);
void release_report(Report *report);

#endif
