/* kame-desktop.exe: the command for terminals. Forwards arguments, standard streams and the exit code. */
#include "program.h"

#include <stdio.h>

#define INCOMPLETE 2

int wmain(void) {
    static wchar_t command[LONGEST_COMMAND];
    if (!launcher_command(command, L"", arguments())) {
        fputs("KAME Desktop is not complete: its Python or a file of it is missing.\n"
              "It can't start.\n"
              "Install KAME Desktop again over it; your settings and conversations stay.\n", stderr);
        return INCOMPLETE;
    }
    HANDLE streams[3];
    for (DWORD i = 0; i < 3; i++) {
        streams[i] = GetStdHandle(STD_INPUT_HANDLE - i);
        SetHandleInformation(streams[i], HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    }
    /* The app also receives Ctrl-C, and decides how to exit. */
    SetConsoleCtrlHandler(NULL, FALSE);
    HANDLE job = make_job();
    PROCESS_INFORMATION started;
    if (!start_in_job(command, job, streams, 0, &started)) {
        fprintf(stderr, "KAME Desktop's Python could not be started (error %lu).\n"
                        "A program that guards this computer may have stopped it.\n"
                        "Allow KAME Desktop there, or install it again.\n", GetLastError());
        return INCOMPLETE;
    }
    SetConsoleCtrlHandler(NULL, TRUE);
    WaitForSingleObject(started.hProcess, INFINITE);
    DWORD code = 1;
    GetExitCodeProcess(started.hProcess, &code);
    return (int)code;
}
