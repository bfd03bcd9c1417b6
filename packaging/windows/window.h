/* The small window that shows a set-up's progress, and what to do if it fails. */
#ifndef WINDOW_H
#define WINDOW_H

#include "reports.h"

enum { CANCEL_BUTTON = 101, TRY_AGAIN_BUTTON, COPY_BUTTON, CLOSE_BUTTON };

/* Create the window, hidden. `pressed` is called with CANCEL_BUTTON, TRY_AGAIN_BUTTON or CLOSE_BUTTON, also for the
   title bar's close button; `other` is called for WM_TIMER and messages from WM_APP on. */
HWND make_window(HINSTANCE program, void (*pressed)(int button), LRESULT (*other)(UINT, WPARAM, LPARAM));

void show_progress(HWND window, const Report *report);
void show_cancelling(HWND window);
void show_text(HWND window, const wchar_t *text, BOOL can_try_again);

#endif
