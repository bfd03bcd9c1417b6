/* Locates the installation and starts its Python. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <windows.h>

#define PROGRAM_NAME L"KAME Desktop"
#define LONGEST_PATH 32768
#define LONGEST_COMMAND 32768

/* The unparsed command line after the program's own name. */
const wchar_t *arguments(void);

/* Write `"...\python.exe" -I -X utf8 "...\launcher.py" OPTIONS ARGUMENTS`; -I isolates it from the user's
   own Python. Returns FALSE if Python or the script is missing. */
BOOL launcher_command(wchar_t *command, const wchar_t *options, const wchar_t *words);

/* A job that ends all its processes when its last handle is closed, even if this program is killed. */
HANDLE make_job(void);

/* Let the processes of a job continue after its last handle is closed. */
void release_job(HANDLE job);

/* Start a command in a job. `streams` are standard input, output and error. */
BOOL start_in_job(wchar_t *command, HANDLE job, const HANDLE streams[3], DWORD flags, PROCESS_INFORMATION *started);

#endif
