#include "window.h"

#include <commctrl.h>
#include <stdio.h>

#include "program.h"

enum { WHAT = 1, BAR, AMOUNT, TEXT };
enum { WIDTH = 480, PROGRESS_HEIGHT = 138, TEXT_HEIGHT = 300, EDGE = 16, BUTTON_WIDTH = 96, BUTTON_HEIGHT = 28, LINE = 18 };

static HFONT font;
static int dpi = 96;
static BOOL shows_text, can_retry;
static void (*on_press)(int);
static LRESULT (*on_other)(UINT, WPARAM, LPARAM);

static int scaled(int length) { return MulDiv(length, dpi, 96); }

static HWND part(HWND window, int id) { return GetDlgItem(window, id); }

static void place(HWND window, int id, BOOL visible, int x, int y, int width, int height) {
    MoveWindow(part(window, id), scaled(x), scaled(y), scaled(width), scaled(height), TRUE);
    ShowWindow(part(window, id), visible ? SW_SHOW : SW_HIDE);
}

/* Lay out the controls for what is shown, and resize the window to fit. */
static void arrange(HWND window) {
    int height = shows_text ? TEXT_HEIGHT : PROGRESS_HEIGHT, inner = WIDTH - 2 * EDGE;
    int row = height - EDGE - BUTTON_HEIGHT, right = WIDTH - EDGE - BUTTON_WIDTH;
    place(window, WHAT, !shows_text, EDGE, EDGE, inner, 2 * LINE);
    place(window, BAR, !shows_text, EDGE, EDGE + 2 * LINE + 2, inner, 16);
    place(window, AMOUNT, !shows_text, EDGE, row + 5, inner - BUTTON_WIDTH - 8, LINE);
    place(window, TEXT, shows_text, EDGE, EDGE, inner, row - 2 * EDGE + 4);
    place(window, CANCEL_BUTTON, !shows_text, right, row, BUTTON_WIDTH, BUTTON_HEIGHT);
    place(window, CLOSE_BUTTON, shows_text, right, row, BUTTON_WIDTH, BUTTON_HEIGHT);
    place(window, COPY_BUTTON, shows_text, right - BUTTON_WIDTH - 8, row, BUTTON_WIDTH, BUTTON_HEIGHT);
    place(window, TRY_AGAIN_BUTTON, shows_text && can_retry, right - 2 * BUTTON_WIDTH - 16, row, BUTTON_WIDTH, BUTTON_HEIGHT);
    RECT area = {0, 0, scaled(WIDTH), scaled(height)};
    AdjustWindowRectEx(&area, GetWindowLongW(window, GWL_STYLE), FALSE, GetWindowLongW(window, GWL_EXSTYLE));
    SetWindowPos(window, NULL, 0, 0, area.right - area.left, area.bottom - area.top,
                 SWP_NOMOVE | SWP_NOZORDER | SWP_NOACTIVATE);
}

static void centre(HWND window) {
    RECT own, desk;
    GetWindowRect(window, &own);
    SystemParametersInfoW(SPI_GETWORKAREA, 0, &desk, 0);
    SetWindowPos(window, NULL, (desk.left + desk.right - own.right + own.left) / 2,
                 (desk.top + desk.bottom - own.bottom + own.top) / 2, 0, 0, SWP_NOSIZE | SWP_NOZORDER);
}

static void choose_font(HWND window) {
    NONCLIENTMETRICSW metrics = {0};
    metrics.cbSize = sizeof metrics;
    SystemParametersInfoW(SPI_GETNONCLIENTMETRICS, sizeof metrics, &metrics, 0);
    metrics.lfMessageFont.lfHeight = -MulDiv(9, dpi, 72);
    if (font) DeleteObject(font);
    font = CreateFontIndirectW(&metrics.lfMessageFont);
    static const int all[] = {WHAT, BAR, AMOUNT, TEXT, CANCEL_BUTTON, TRY_AGAIN_BUTTON, COPY_BUTTON, CLOSE_BUTTON};
    for (int i = 0; i < 8; i++) SendMessageW(part(window, all[i]), WM_SETFONT, (WPARAM)font, TRUE);
}

static void add(HWND window, const wchar_t *class, const wchar_t *text, DWORD style, int id) {
    DWORD edge = id == TEXT ? WS_EX_CLIENTEDGE : 0;
    CreateWindowExW(edge, class, text, WS_CHILD | style, 0, 0, 0, 0, window, (HMENU)(INT_PTR)id,
                    GetModuleHandleW(NULL), NULL);
}

static void copy(HWND window) {
    int length = GetWindowTextLengthW(part(window, TEXT)) + 1;
    HGLOBAL memory = GlobalAlloc(GMEM_MOVEABLE, (SIZE_T)length * sizeof(wchar_t));
    if (!memory) return;
    GetWindowTextW(part(window, TEXT), GlobalLock(memory), length);
    GlobalUnlock(memory);
    if (OpenClipboard(window)) {
        EmptyClipboard();
        if (SetClipboardData(CF_UNICODETEXT, memory)) memory = NULL;
        CloseClipboard();
    }
    if (memory) GlobalFree(memory);
}

static void press(HWND window, int button) {
    if (button == COPY_BUTTON) copy(window);
    else if (button == IDCANCEL) on_press(shows_text ? CLOSE_BUTTON : CANCEL_BUTTON);  /* Escape */
    else if (button == IDOK && shows_text) press(window, GetDlgCtrlID(GetFocus()));    /* Enter, which never cancels */
    else if (button >= CANCEL_BUTTON) on_press(button);
}

static LRESULT CALLBACK handle(HWND window, UINT message, WPARAM wide, LPARAM large) {
    switch (message) {
    case WM_COMMAND:
        press(window, LOWORD(wide));
        return 0;
    case WM_CLOSE:
        on_press(shows_text ? CLOSE_BUTTON : CANCEL_BUTTON);
        return 0;
    case WM_CTLCOLORSTATIC:
        if ((HWND)large == part(window, TEXT)) break;
        SetBkMode((HDC)wide, TRANSPARENT);
        return (LRESULT)GetSysColorBrush(COLOR_WINDOW);
    case WM_DPICHANGED:
        dpi = HIWORD(wide);
        choose_font(window);
        arrange(window);
        return 0;
    default:
        if (message >= WM_APP || message == WM_TIMER) return on_other(message, wide, large);
    }
    return DefWindowProcW(window, message, wide, large);
}

/* The DPI of the screen. GetDpiForWindow is not available before Windows 10. */
static int current_dpi(HWND window) {
    UINT (WINAPI *ask)(HWND) = (UINT (WINAPI *)(HWND))(void *)GetProcAddress(GetModuleHandleW(L"user32"), "GetDpiForWindow");
    return ask ? (int)ask(window) : 96;
}

HWND make_window(HINSTANCE program, void (*pressed)(int), LRESULT (*other)(UINT, WPARAM, LPARAM)) {
    INITCOMMONCONTROLSEX wanted = {sizeof wanted, ICC_PROGRESS_CLASS | ICC_STANDARD_CLASSES};
    InitCommonControlsEx(&wanted);
    on_press = pressed;
    on_other = other;
    WNDCLASSEXW class = {0};
    class.cbSize = sizeof class;
    class.lpfnWndProc = handle;
    class.hInstance = program;
    class.hIcon = LoadIconW(program, MAKEINTRESOURCEW(1));
    class.hCursor = LoadCursorW(NULL, (LPCWSTR)IDC_ARROW);
    class.hbrBackground = (HBRUSH)(COLOR_WINDOW + 1);
    class.lpszClassName = L"KAMEDesktopSetUp";
    RegisterClassExW(&class);
    HWND window = CreateWindowExW(WS_EX_CONTROLPARENT, class.lpszClassName, PROGRAM_NAME,
                                  WS_OVERLAPPED | WS_CAPTION | WS_SYSMENU | WS_MINIMIZEBOX, CW_USEDEFAULT, CW_USEDEFAULT,
                                  0, 0, NULL, NULL, program, NULL);
    dpi = current_dpi(window);
    add(window, L"STATIC", L"", SS_NOPREFIX, WHAT);
    add(window, PROGRESS_CLASSW, L"", 0, BAR);
    add(window, L"STATIC", L"", SS_NOPREFIX, AMOUNT);
    add(window, L"EDIT", L"", ES_MULTILINE | ES_READONLY | WS_VSCROLL | WS_TABSTOP, TEXT);
    add(window, L"BUTTON", L"Try again", WS_TABSTOP, TRY_AGAIN_BUTTON);
    add(window, L"BUTTON", L"Copy", WS_TABSTOP, COPY_BUTTON);
    add(window, L"BUTTON", L"Close", WS_TABSTOP, CLOSE_BUTTON);
    add(window, L"BUTTON", L"Cancel", WS_TABSTOP, CANCEL_BUTTON);
    choose_font(window);
    arrange(window);
    centre(window);
    return window;
}

static void appear(HWND window, BOOL text) {
    if (shows_text != text || !IsWindowVisible(window)) {
        shows_text = text;
        arrange(window);
        if (!IsWindowVisible(window)) centre(window);
        ShowWindow(window, SW_SHOWNORMAL);
        SetForegroundWindow(window);
        SetFocus(part(window, text ? (can_retry ? TRY_AGAIN_BUTTON : CLOSE_BUTTON) : CANCEL_BUTTON));
    }
}

/* Switch the progress bar to marquee mode while the amount of work is unknown. */
static void wander(HWND bar, BOOL wanders) {
    LONG style = GetWindowLongW(bar, GWL_STYLE);
    if (!(style & PBS_MARQUEE) == !wanders) return;
    SetWindowLongW(bar, GWL_STYLE, wanders ? style | PBS_MARQUEE : style & ~PBS_MARQUEE);
    SendMessageW(bar, PBM_SETMARQUEE, wanders, 30);
    SendMessageW(bar, PBM_SETRANGE32, 0, 1000);
}

static void set_text(HWND control, const wchar_t *text) {
    wchar_t before[1024];
    GetWindowTextW(control, before, 1024);
    if (wcscmp(before, text)) SetWindowTextW(control, text);  /* setting the same text again would flicker */
}

void show_progress(HWND window, const Report *report) {
    wchar_t amount[80] = L"";
    HWND bar = part(window, BAR);
    EnableWindow(part(window, CANCEL_BUTTON), TRUE);
    set_text(part(window, WHAT), report->text ? report->text : L"");
    wander(bar, report->fraction < 0);
    if (report->fraction >= 0) {
        SendMessageW(bar, PBM_SETRANGE32, 0, 1000);
        SendMessageW(bar, PBM_SETPOS, (WPARAM)(report->fraction * 1000), 0);
        _snwprintf(amount, 80, L"%.0f of %.0f MB", report->bytes / 1e6, report->of / 1e6);
    }
    set_text(part(window, AMOUNT), amount);
    appear(window, FALSE);
}

void show_cancelling(HWND window) {
    EnableWindow(part(window, CANCEL_BUTTON), FALSE);
    set_text(part(window, WHAT), L"Stopping. What was fetched is kept for the next time.");
}

void show_text(HWND window, const wchar_t *text, BOOL can_try_again) {
    can_retry = can_try_again;
    SetWindowTextW(part(window, TEXT), text);
    shows_text = FALSE;
    appear(window, TRUE);
}
