/* The lines that launcher.py writes with --report: one JSON object each, in UTF-8. */
#ifndef REPORTS_H
#define REPORTS_H

#include <windows.h>

typedef enum { STEP, SAY, PROBLEM, READY, UNKNOWN } Kind;

typedef struct {
    Kind kind;
    wchar_t *text;      /* a step, a sentence, or a problem's sentences; free it with release_report */
    double fraction;    /* below 0 where it is not known */
    double bytes, of;
} Report;

Report *read_report(const char *line);
void release_report(Report *report);

#endif
