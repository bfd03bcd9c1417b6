/* python.exe and pythonw.exe of the test's Windows Python.
 *
 * Beside python311.dll this is the interpreter. Copied into a virtual environment it is the redirector: it reads
 * pyvenv.cfg, starts the interpreter of the folder named there and passes on its exit code, as Python's own does.
 */
#include <stdio.h>
#include <wchar.h>
#include <windows.h>

#define LONGEST_PATH 4096

typedef int (*python_main)(int, wchar_t **);

static void cut_last_part(wchar_t *path)
{
    wchar_t *separator = wcsrchr(path, L'\\');
    if (separator)
        *separator = 0;
}

/* Finds pyvenv.cfg beside the executable or one folder above it. */
static FILE *open_configuration(const wchar_t *executable)
{
    wchar_t folder[LONGEST_PATH], path[LONGEST_PATH];
    wcscpy(folder, executable);
    for (int level = 0; level < 2; level++) {
        cut_last_part(folder);
        swprintf(path, LONGEST_PATH, L"%ls\\pyvenv.cfg", folder);
        FILE *file = _wfopen(path, L"rb");
        if (file)
            return file;
    }
    return NULL;
}

/* Reads the line "home = FOLDER" into `home`; returns whether there was one. */
static int read_home(FILE *file, wchar_t *home)
{
    char raw[LONGEST_PATH];
    wchar_t line[LONGEST_PATH];
    int found = 0;
    while (fgets(raw, sizeof raw, file)) {
        MultiByteToWideChar(CP_UTF8, 0, raw, -1, line, LONGEST_PATH);
        wchar_t *value = wcschr(line, L'=');
        if (!value || wcsncmp(line, L"home", 4))
            continue;
        for (value++; *value == L' '; value++) {}
        wcscpy(home, value);
        home[wcscspn(home, L"\r\n")] = 0;
        found = 1;
    }
    return found;
}

/* A job that ends the interpreter when the redirector is killed. */
static HANDLE make_job(void)
{
    HANDLE job = CreateJobObjectW(NULL, NULL);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
    ZeroMemory(&limits, sizeof limits);
    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK;
    SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

static int redirect(const wchar_t *self)
{
    wchar_t home[LONGEST_PATH], interpreter[LONGEST_PATH];
    FILE *file = open_configuration(self);
    if (!file || !read_home(file, home)) {
        fwprintf(stderr, L"no pyvenv.cfg that names a Python\n");
        return 106;
    }
    fclose(file);
    swprintf(interpreter, LONGEST_PATH, L"%ls\\%ls", home, wcsrchr(self, L'\\') + 1);
    SetEnvironmentVariableW(L"__PYVENV_LAUNCHER__", self);

    STARTUPINFOW startup;
    PROCESS_INFORMATION process;
    ZeroMemory(&startup, sizeof startup);
    GetStartupInfoW(&startup);
    startup.dwFlags |= STARTF_USESTDHANDLES;
    HANDLE *streams[] = {&startup.hStdInput, &startup.hStdOutput, &startup.hStdError};
    for (int i = 0; i < 3; i++) {
        *streams[i] = GetStdHandle((DWORD)(STD_INPUT_HANDLE - i));
        SetHandleInformation(*streams[i], HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    }
    SetConsoleCtrlHandler(NULL, TRUE);
    HANDLE job = make_job();
    if (!CreateProcessW(interpreter, GetCommandLineW(), NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process))
        return 101;
    AssignProcessToJobObject(job, process.hProcess);
    WaitForSingleObject(process.hProcess, INFINITE);
    DWORD code = 1;
    GetExitCodeProcess(process.hProcess, &code);
    return (int)code;
}

/* Lets this process use AMX, as Windows does at a program's first tile instruction.
 *
 * Linux grants the state of AMX's tiles only to processes that ask for it, and Wine 8 doesn't ask: ONNX Runtime, which
 * sees the instructions in CPUID, would end with an illegal instruction. The numbers are from asm/unistd_64.h
 * (arch_prctl), asm/prctl.h (ARCH_REQ_XCOMP_PERM) and Intel's manual (XTILEDATA is component 18). A kernel or a processor
 * without AMX refuses, which changes nothing.
 */
static void request_amx(void)
{
    long long number = 158;
    if (!GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version"))
        return;
    __asm__ volatile("syscall" : "+a"(number) : "D"(0x1023LL), "S"(18LL) : "rcx", "r11", "memory");
}

static int run(int argc, wchar_t **argv)
{
    wchar_t self[LONGEST_PATH], library[LONGEST_PATH];
    GetModuleFileNameW(NULL, self, LONGEST_PATH);
    wcscpy(library, self);
    cut_last_part(library);
    wcscat(library, L"\\python311.dll");
    if (GetFileAttributesW(library) == INVALID_FILE_ATTRIBUTES)
        return redirect(self);
    request_amx();
    HMODULE python = LoadLibraryExW(library, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!python) {
        fwprintf(stderr, L"cannot load %ls (error %lu)\n", library, GetLastError());
        return 101;
    }
    return ((python_main)(void *)GetProcAddress(python, "Py_Main"))(argc, argv);
}

#ifdef WINDOWED
int WINAPI wWinMain(HINSTANCE instance, HINSTANCE previous, LPWSTR command_line, int show)
{
    return run(__argc, __wargv);
}
#else
int wmain(int argc, wchar_t **argv)
{
    return run(argc, argv);
}
#endif
