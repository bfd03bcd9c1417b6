; The per-user installer for 64-bit Windows. Needs no administrator rights and no network.
; packaging/building/windows_installer.py defines VERSION, NUMBERS, KIND, the sizes, SOURCE, OUT and, if programs are
; signed, SIGN. It also writes files.nsh.

Target amd64-unicode
Unicode true
!include MUI2.nsh
!include FileFunc.nsh
!include Sections.nsh
!include WinVer.nsh
!include x64.nsh

!define NAME "KAME Desktop"
!define PUBLISHER "KAME Desktop contributors"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\KAME Desktop"
!define DATA "$LOCALAPPDATA\kame-desktop"
; New files are extracted next to the old ones, which keep working until all new ones are in place.
!define NEW "$INSTDIR\kame-desktop.new"
!define OLD "$INSTDIR\kame-desktop.old"
!define PYTHON '"$INSTDIR\python\python.exe" -I -X utf8'
; The exit code of running.py if the app stays open.
!define STILL_OPEN 77
!define PATH_TRIES 3
!define STILL_ON_PATH "It still names $INSTDIR, which does no harm. To tidy it up, remove the folder from the variable Path in Windows' settings."
; Exit codes, explained in packaging/README.md.
!define NOT_CLOSED 3
!define WRONG_SYSTEM 4
!define WRONG_FOLDER 5
!define NO_ROOM 6
!define NOT_CHANGED 7

Name "${NAME}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "${UNINSTALL_KEY}" "InstallLocation"
RequestExecutionLevel user
AllowSkipFiles off
ManifestDPIAware true
!if "${KIND}" == "online"
  SetCompressor /SOLID lzma
!else
  ; Not solid, so that the wheels, which are already compressed, can be stored uncompressed.
  SetCompressor lzma
!endif
SetCompressorDictSize 32
!ifdef SIGN
  !uninstfinalize 'sh "${SIGN}" "%1"' = 0
!endif
BrandingText "${NAME} ${VERSION}"
SpaceTexts none
ShowInstDetails nevershow
ShowUninstDetails nevershow

VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${NAME} setup (${KIND})"
VIAddVersionKey "CompanyName" "${PUBLISHER}"
VIAddVersionKey "LegalCopyright" "${PUBLISHER}, Apache License 2.0"

!define MUI_ICON "${SOURCE}\kame.ico"
!define MUI_UNICON "${SOURCE}\kame.ico"
!define MUI_WELCOMEFINISHPAGE_BITMAP "${SOURCE}\welcome.bmp"
!define MUI_WELCOMEPAGE_TITLE "${NAME} ${VERSION}"
!if "${KIND}" == "online"
  !define MUI_WELCOMEPAGE_TEXT "KAME Desktop is a voice assistant that answers while it still thinks.$\r$\n$\r$\nThe program itself needs ${SIZE_MB} MB. At its first start it fetches its packages and models from the internet: a download of ${DOWNLOAD_MB} MB, ${UNPACKED_MB} MB on the disk.$\r$\n$\r$\nIt is installed for you alone, and needs no administrator."
!else
  !define MUI_WELCOMEPAGE_TEXT "KAME Desktop is a voice assistant that answers while it still thinks.$\r$\n$\r$\nEverything is in this installer; no network is needed. The program needs ${SIZE_MB} MB, and its packages and models ${UNPACKED_MB} MB more, which are unpacked at its first start.$\r$\n$\r$\nIt is installed for you alone, and needs no administrator."
!endif
!define MUI_COMPONENTSPAGE_NODESC
!define MUI_FINISHPAGE_RUN "$INSTDIR\${NAME}.exe"
!define MUI_FINISHPAGE_RUN_TEXT "Start ${NAME}"
!define MUI_FINISHPAGE_NOREBOOTSUPPORT

!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!define MUI_COMPONENTSPAGE_TEXT_TOP "Choose what to remove. What is not checked stays."
!define MUI_COMPONENTSPAGE_TEXT_COMPLIST "Remove:"
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; Show an error and abort with the exit code CODE.
!macro FAIL CODE SENTENCES
  SetErrorLevel ${CODE}
  MessageBox MB_OK|MB_ICONSTOP `${SENTENCES}` /SD IDOK
  Abort
!macroend

; Ask the running app to close, as its window's close button would; if it stays open, ask the user.
!macro CLOSE_APP
  ${Do}
    StrCpy $0 0
    ${If} ${FileExists} "$INSTDIR\packaging\installation\running.py"
      nsExec::Exec '${PYTHON} "$INSTDIR\packaging\installation\running.py" "$INSTDIR"'
      Pop $0
    ${EndIf}
    ; If the old Python no longer starts, it can be replaced.
    ${If} $0 != ${STILL_OPEN}
      ${ExitDo}
    ${EndIf}
    SetErrorLevel ${NOT_CLOSED}
    ${If} ${Cmd} `MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "${NAME} is still open.$\r$\n$\r$\nIts files can't be changed while it runs.$\r$\n$\r$\nClose it, then press Retry." /SD IDCANCEL IDCANCEL`
      Quit
    ${EndIf}
  ${Loop}
  SetErrorLevel 0
!macroend

; All installed files and folders, except installed.json, which marks an installation, and the uninstaller.
!macro EACH_PART DO
  !insertmacro ${DO} "app"
  !insertmacro ${DO} "resources"
  !insertmacro ${DO} "packaging"
  !insertmacro ${DO} "python"
  !insertmacro ${DO} "tools"
  !insertmacro ${DO} "wheels"
  !insertmacro ${DO} "licences"
  !insertmacro ${DO} "LICENSE"
  !insertmacro ${DO} "files.json"
  !insertmacro ${DO} "${NAME}.exe"
  !insertmacro ${DO} "kame-desktop.exe"
!macroend

; All files and folders that the app's set-up may create.
!macro EACH_TRACE DO
  !insertmacro ${DO} "environment"
  !insertmacro ${DO} "environment.new"
  !insertmacro ${DO} "environment.next"
  !insertmacro ${DO} "environment.old"
  !insertmacro ${DO} "environment.cache"
  !insertmacro ${DO} "environment.discarded"
  !insertmacro ${DO} "environment.python"
  !insertmacro ${DO} "environment.log"
  !insertmacro ${DO} "environment.lock"
!macroend

; Move $0, if it exists, from the folder $1 to the folder $2. On failure, set $3 to its name.
Function Move
  ${IfNot} ${FileExists} "$1\$0"
    Return
  ${EndIf}
  ; Virus scanners keep new files open for a moment.
  ${For} $4 1 20
    ClearErrors
    Rename "$1\$0" "$2\$0"
    ${IfNot} ${Errors}
      Return
    ${EndIf}
    Sleep 250
  ${Next}
  StrCpy $3 $0
FunctionEnd

!macro MOVE PART
  ${If} $3 == ""
    StrCpy $0 "${PART}"
    Call Move
  ${EndIf}
!macroend

!macro MOVE_ALL FROM TO
  StrCpy $1 "${FROM}"
  StrCpy $2 "${TO}"
  StrCpy $3 ""
  Call MoveAll
!macroend

Function MoveAll
  !insertmacro EACH_PART MOVE
  !insertmacro MOVE "uninstall.exe"
  !insertmacro MOVE "installed.json"
FunctionEnd

; Replace the old files with the new ones. On failure, restore the old ones and set $5 to what could not be moved.
Function Swap
  !insertmacro MOVE_ALL "$INSTDIR" "${OLD}"
  StrCpy $5 $3
  ${If} $5 == ""
    !insertmacro MOVE_ALL "${NEW}" "$INSTDIR"
    StrCpy $5 $3
    ${If} $5 == ""
      Return
    ${EndIf}
    !insertmacro MOVE_ALL "$INSTDIR" "${NEW}"
  ${EndIf}
  !insertmacro MOVE_ALL "${OLD}" "$INSTDIR"
FunctionEnd

; Retried, since a virus scanner or Windows itself may block a program from starting.
!macro USER_PATH ACTION HAND
  ${For} $1 1 ${PATH_TRIES}
    nsExec::Exec '${PYTHON} "$INSTDIR\packaging\installation\user_path.py" ${ACTION} "$INSTDIR"'
    Pop $0
    ${If} $0 == 0
      ${ExitFor}
    ${EndIf}
    Sleep 250
  ${Next}
  ${If} $0 != 0
    MessageBox MB_OK|MB_ICONEXCLAMATION "Your PATH could not be changed.$\r$\n$\r$\n${HAND}" /SD IDOK
  ${EndIf}
!macroend

Section "${NAME}" main
  SectionIn RO
  !insertmacro CLOSE_APP
  DetailPrint "Installing ${NAME} ${VERSION}"
  SetDetailsPrint none
  ; Remove the leftovers of an interrupted installation.
  RMDir /r "${NEW}"
  RMDir /r "${OLD}"
  CreateDirectory "${NEW}"
  ClearErrors
  ${DriveSpace} "$INSTDIR" "/D=F /S=M" $0
  ${IfNot} ${Errors}
  ${AndIf} $0 < ${SIZE_MB}
    !insertmacro FAIL ${NO_ROOM} "There is not enough room on the disk: $0 MB are free.$\r$\n$\r$\nThe program needs ${SIZE_MB} MB in $INSTDIR. Nothing was changed.$\r$\n$\r$\nMake room, then install again."
  ${EndIf}
  ClearErrors
  !include "${SOURCE}\files.nsh"
  WriteUninstaller "${NEW}\uninstall.exe"
  SetOutPath "$INSTDIR"
  ${If} ${Errors}
    !insertmacro FAIL ${NOT_CHANGED} "Not all files could be written to $INSTDIR.$\r$\n$\r$\nThe disk may be full, or a program that guards this computer has stopped it. Nothing was changed.$\r$\n$\r$\nMake room, then install again."
  ${EndIf}
  CreateDirectory "${OLD}"
  ${Do}
    ; The environment stays in place; the new version updates it.
    Call Swap
    ${If} $5 == ""
      ${ExitDo}
    ${EndIf}
    SetErrorLevel ${NOT_CHANGED}
    ${If} ${Cmd} `MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$INSTDIR\$5 is in use by another program.$\r$\n$\r$\nThe new version can't take its place. Nothing was changed yet.$\r$\n$\r$\nClose what uses it, then press Retry." /SD IDCANCEL IDCANCEL`
      Abort
    ${EndIf}
  ${Loop}
  SetErrorLevel 0
  RMDir /r "${OLD}"
  RMDir "${NEW}"
  CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\${NAME}.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "${PUBLISHER}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\${NAME}.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "ModifyPath" '"$INSTDIR\${NAME}.exe" repair'
  ; Includes the packages and models that the first start installs.
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
SectionEnd

Section "Command kame-desktop in terminals" command
SectionEnd

Section /o "Icon on the desktop" desktop
SectionEnd

Section /o "Start when I log in" login
SectionEnd

; Create the shortcut if its section is selected, otherwise delete it.
!macro SHORTCUT SECTION FOLDER
  ${If} ${SectionIsSelected} ${${SECTION}}
    CreateShortcut "${FOLDER}\${NAME}.lnk" "$INSTDIR\${NAME}.exe"
  ${Else}
    Delete "${FOLDER}\${NAME}.lnk"
  ${EndIf}
!macroend

Section "-choices"
  ${If} ${SectionIsSelected} ${command}
    !insertmacro USER_PATH add "Terminals don't know the command kame-desktop. To make them know it, add $INSTDIR to the variable Path in Windows' settings."
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "CommandInTerminals" 1
  ${Else}
    !insertmacro USER_PATH remove "${STILL_ON_PATH}"
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "CommandInTerminals" 0
  ${EndIf}
  !insertmacro SHORTCUT desktop "$DESKTOP"
  !insertmacro SHORTCUT login "$SMSTARTUP"
SectionEnd

; The folder must be empty or an earlier installation, since files with the program's names are removed from it.
Function CheckFolder
  ReadRegStr $0 HKCU "${UNINSTALL_KEY}" "InstallLocation"
  ${If} $0 == $INSTDIR
    Return
  ${EndIf}
  ${If} $0 != ""
  ${AndIf} ${FileExists} "$0\installed.json"
    !insertmacro FAIL ${WRONG_FOLDER} "${NAME} is already installed in $0.$\r$\n$\r$\nIt can't be installed in $INSTDIR as well.$\r$\n$\r$\nInstall it without /D to renew it, or uninstall it first to move it."
  ${EndIf}
  ${If} ${FileExists} "$INSTDIR\installed.json"
  ${OrIf} ${FileExists} "${NEW}\*.*"
    Return
  ${EndIf}
  ${DirState} "$INSTDIR" $0
  ${If} $0 = 1
    !insertmacro FAIL ${WRONG_FOLDER} "The folder $INSTDIR is not empty.$\r$\n$\r$\n${NAME} needs a folder of its own, so that nothing else is lost when it is renewed or removed. Nothing was changed.$\r$\n$\r$\nEmpty the folder, or name another one with /D=FOLDER."
  ${EndIf}
FunctionEnd

; Upgrades keep the previous choices.
Function ReadChoices
  ClearErrors
  ReadRegDWORD $0 HKCU "${UNINSTALL_KEY}" "CommandInTerminals"
  ${IfNot} ${Errors}
  ${AndIf} $0 = 0
    !insertmacro UnselectSection ${command}
  ${EndIf}
  ${If} ${FileExists} "$DESKTOP\${NAME}.lnk"
    !insertmacro SelectSection ${desktop}
  ${EndIf}
  ${If} ${FileExists} "$SMSTARTUP\${NAME}.lnk"
    !insertmacro SelectSection ${login}
  ${EndIf}
FunctionEnd

Function .onInit
  ${IfNot} ${RunningX64}
  ${OrIfNot} ${AtLeastWin10}
    !insertmacro FAIL ${WRONG_SYSTEM} "${NAME} can't run on this system.$\r$\n$\r$\nIt needs 64-bit Windows 10 or newer."
  ${EndIf}
  Call CheckFolder
  Call ReadChoices
FunctionEnd

; Restore the folder to its original state.
Function .onInstFailed
  SetOutPath "$TEMP"
  RMDir /r "${NEW}"
  RMDir "${OLD}"
  RMDir "$INSTDIR"
  GetErrorLevel $0
  ${If} $0 <= 0
    SetErrorLevel ${NOT_CHANGED}
  ${EndIf}
FunctionEnd

; Remove $0 from the program's folder. On failure, set $1 to its path.
Function un.Remove
  ${If} ${FileExists} "$INSTDIR\$0\*.*"
    RMDir /r "$INSTDIR\$0"
  ${Else}
    Delete "$INSTDIR\$0"
  ${EndIf}
  ${If} ${FileExists} "$INSTDIR\$0"
    StrCpy $1 "$INSTDIR\$0"
  ${EndIf}
FunctionEnd

!macro REMOVE PART
  StrCpy $0 "${PART}"
  Call un.Remove
!macroend

Section "un.${NAME}" un.main
  SectionIn RO
  !insertmacro CLOSE_APP
  DetailPrint "Removing ${NAME}"
  SetDetailsPrint none
  !insertmacro USER_PATH remove "${STILL_ON_PATH}"
  Delete "$SMPROGRAMS\${NAME}.lnk"
  Delete "$DESKTOP\${NAME}.lnk"
  Delete "$SMSTARTUP\${NAME}.lnk"
  ; Written by the app's own setting “Start at login”.
  DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "${NAME}"
  StrCpy $1 ""
  !insertmacro EACH_TRACE REMOVE
  !insertmacro EACH_PART REMOVE
  !insertmacro REMOVE "kame-desktop.new"
  !insertmacro REMOVE "kame-desktop.old"
  ; The files needed for uninstalling are removed last.
  ${If} $1 != ""
    !insertmacro FAIL ${NOT_CHANGED} "$1 could not be removed.$\r$\n$\r$\nAnother program uses files in there, so a part of ${NAME} is still on the disk.$\r$\n$\r$\nClose that program, or restart Windows, then uninstall again."
  ${EndIf}
  Delete "$INSTDIR\installed.json"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  RMDir "$LOCALAPPDATA\Programs"
  RMDir /r "${DATA}\Logs"
  RMDir /r "${DATA}\Cache"
  RMDir "${DATA}"
  RMDir /r "$TEMP\kame-desktop"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
SectionEnd

Section /o "un.My settings, conversations and recordings" un.conversations
  RMDir /r "${DATA}\recordings"
  Delete "${DATA}\*.sqlite3*"
  Delete "${DATA}\*.json*"
  RMDir "${DATA}"
SectionEnd

Section /o "un.Downloaded weights" un.weights
  RMDir /r "${DATA}\weights"
  RMDir /r "${DATA}\models"
  RMDir "${DATA}"
SectionEnd

Function un.onInit
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/PURGE" $1
  ${IfNot} ${Errors}
    SectionSetFlags ${un.conversations} ${SF_SELECTED}
    SectionSetFlags ${un.weights} ${SF_SELECTED}
  ${EndIf}
FunctionEnd
