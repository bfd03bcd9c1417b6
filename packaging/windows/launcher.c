/* KAME Desktop.exe: starts the app without a console, and shows a progress window if it has to be set up first. */
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "reports.h"
#include "window.h"

enum { REPORTED = WM_APP, ENDED };
enum { LONGEST_LINE = 65536, CANCELLED = 130, PATIENCE = 1, MILLISECONDS_TO_CANCEL = 15000 };

static const wchar_t INCOMPLETE[] =
    L"KAME Desktop is not complete: its Python or a file of it is missing.\r\n\r\nIt can't start.\r\n\r\n"
    L"Install KAME Desktop again over it; your settings and conversations stay.";
static const wchar_t BROKEN[] =
    L"The start of KAME Desktop ended in an unexpected way.\r\n\r\nA file of it may be damaged, or a program that "
    L"guards this computer has stopped it.\r\n\r\nTry again. If it stays so, install KAME Desktop again over it; your "
    L"settings and conversations stay.";

static HWND window;
static HANDLE job, process, input;  /* closing `input` asks launcher.py to stop */
static BOOL has_problem, is_cancelled, is_ready;
static wchar_t *last_sentence;

/* Read the reports until EOF, post each to the window, and finally post the exit code of the process. */
static DWORD WINAPI read_all(void *pipe) {
    static char line[LONGEST_LINE];
    DWORD got, used = 0, code = 1;
    char byte;
    while (ReadFile(pipe, &byte, 1, &got, NULL) && got) {
        if (byte != '\n') {
            if (used < LONGEST_LINE - 1) line[used++] = byte;
            continue;
        }
        line[used] = 0;
        used = 0;
        PostMessageW(window, REPORTED, 0, (LPARAM)read_report(line));
    }
    CloseHandle(pipe);
    WaitForSingleObject(process, INFINITE);
    GetExitCodeProcess(process, &code);
    PostMessageW(window, ENDED, code, 0);
    return 0;
}

/* Run launcher.py with this program's arguments. */
static void begin(void) {
    static wchar_t command[LONGEST_COMMAND];
    HANDLE reports, child_input, child_output, nothing;
    PROCESS_INFORMATION started;
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    has_problem = is_cancelled = is_ready = FALSE;
    if (!launcher_command(command, L"--report", arguments())) {
        show_text(window, INCOMPLETE, FALSE);
        return;
    }
    CreatePipe(&child_input, &input, &inherited, 0);
    CreatePipe(&reports, &child_output, &inherited, 0);
    SetHandleInformation(input, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(reports, HANDLE_FLAG_INHERIT, 0);
    nothing = CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, NULL);
    HANDLE streams[3] = {child_input, child_output, nothing};
    job = make_job();
    BOOL runs = start_in_job(command, job, streams, CREATE_NO_WINDOW, &started);
    CloseHandle(child_input);
    CloseHandle(child_output);
    CloseHandle(nothing);
    if (!runs) {
        CloseHandle(reports);
        show_text(window, BROKEN, TRUE);
        return;
    }
    process = started.hProcess;
    CloseHandle(CreateThread(NULL, 0, read_all, reports, 0, NULL));
}

static void ended(DWORD code) {
    CloseHandle(process);
    if (input) CloseHandle(input);
    CloseHandle(job);  /* ends any processes that a killed launcher.py has left behind */
    process = input = job = NULL;
    KillTimer(window, PATIENCE);
    if (has_problem) return;
    if (is_cancelled || code == CANCELLED) PostQuitMessage(CANCELLED);
    else if (code || !is_ready) show_text(window, BROKEN, TRUE);
    else if (wcsncmp(arguments(), L"repair", 6) == 0)
        show_text(window, last_sentence ? last_sentence : L"KAME Desktop was repaired.", FALSE);
    else PostQuitMessage(0);
}

static LRESULT handle_report(UINT message, WPARAM wide, LPARAM large) {
    if (message == ENDED) {
        ended((DWORD)wide);
        return 0;
    }
    if (message == WM_TIMER) {
        KillTimer(window, PATIENCE);
        if (process && is_cancelled) TerminateJobObject(job, CANCELLED);
        return 0;
    }
    Report *report = (Report *)large;
    if (report->kind == PROBLEM) {
        has_problem = TRUE;
        show_text(window, report->text ? report->text : BROKEN, TRUE);
    } else if (report->kind == READY) {
        is_ready = TRUE;
        release_job(job);
        ShowWindow(window, SW_HIDE);
    } else if (report->kind != UNKNOWN && !is_cancelled) {
        if (report->kind == SAY && report->text) {
            free(last_sentence);
            last_sentence = _wcsdup(report->text);
        }
        show_progress(window, report);
    }
    release_report(report);
    return 0;
}

static void pressed(int button) {
    if (button == CANCEL_BUTTON && process) {
        is_cancelled = TRUE;
        show_cancelling(window);
        if (input) CloseHandle(input);
        input = NULL;
        SetTimer(window, PATIENCE, MILLISECONDS_TO_CANCEL, NULL);
    } else if (button == TRY_AGAIN_BUTTON && !process) {
        begin();
    } else if (button == CLOSE_BUTTON || (button == CANCEL_BUTTON && !process)) {
        PostQuitMessage(has_problem ? 2 : 0);
    }
}

int WINAPI wWinMain(HINSTANCE program, HINSTANCE before, LPWSTR line, int show) {
    (void)before, (void)line, (void)show;
    MSG message;
    window = make_window(program, pressed, handle_report);
    begin();
    while (GetMessageW(&message, NULL, 0, 0) > 0) {
        if (IsDialogMessageW(window, &message)) continue;
        TranslateMessage(&message);
        DispatchMessageW(&message);
    }
    return (int)message.wParam;
}
