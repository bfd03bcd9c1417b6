#include "program.h"

#include <wchar.h>

static BOOL exists(const wchar_t *path) { return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES; }

const wchar_t *arguments(void) {
    const wchar_t *at = GetCommandLineW();
    BOOL quoted = FALSE;
    while (*at && (quoted || (*at != L' ' && *at != L'\t'))) {
        if (*at == L'"') quoted = !quoted;
        at++;
    }
    while (*at == L' ' || *at == L'\t') at++;
    return at;
}

BOOL launcher_command(wchar_t *command, const wchar_t *options, const wchar_t *words) {
    static wchar_t folder[LONGEST_PATH], python[LONGEST_PATH], script[LONGEST_PATH];
    DWORD length = GetModuleFileNameW(NULL, folder, LONGEST_PATH);
    wchar_t *slash = length && length < LONGEST_PATH ? wcsrchr(folder, L'\\') : NULL;
    if (!slash) return FALSE;
    *slash = 0;
    _snwprintf(python, LONGEST_PATH, L"%ls\\python\\python.exe", folder);
    _snwprintf(script, LONGEST_PATH, L"%ls\\packaging\\launcher.py", folder);
    if (!exists(python) || !exists(script)) return FALSE;
    int written = _snwprintf(command, LONGEST_COMMAND, L"\"%ls\" -I -X utf8 \"%ls\" %ls %ls", python, script, options, words);
    return written > 0 && written < LONGEST_COMMAND;
}

static void limit(HANDLE job, DWORD flags) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    limits.BasicLimitInformation.LimitFlags = flags;
    if (job) SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
}

HANDLE make_job(void) {
    HANDLE job = CreateJobObjectW(NULL, NULL);
    limit(job, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_BREAKAWAY_OK);
    return job;
}

void release_job(HANDLE job) { limit(job, JOB_OBJECT_LIMIT_BREAKAWAY_OK); }

BOOL start_in_job(wchar_t *command, HANDLE job, const HANDLE streams[3], DWORD flags, PROCESS_INFORMATION *started) {
    STARTUPINFOW how = {0};
    how.cb = sizeof how;
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdInput = streams[0];
    how.hStdOutput = streams[1];
    how.hStdError = streams[2];
    flags |= CREATE_SUSPENDED;
    if (!CreateProcessW(NULL, command, NULL, NULL, TRUE, flags, NULL, NULL, &how, started)) return FALSE;
    /* Assigned before it runs, so that none of its child processes can escape. */
    if (job) AssignProcessToJobObject(job, started->hProcess);
    ResumeThread(started->hThread);
    CloseHandle(started->hThread);
    return TRUE;
}
