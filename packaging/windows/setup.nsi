; The installer for one user of 64-bit Windows: no administrator, no network.
; packaging/building/windows_installer.py defines VERSION, NUMBERS, KIND, SIZE_KB, SOURCE and OUT, and writes files.nsh.

Target amd64-unicode
Unicode true
!include MUI2.nsh
!include FileFunc.nsh
!include WinVer.nsh
!include x64.nsh

!define NAME "KAME Desktop"
!define PUBLISHER "KAME Desktop contributors"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\KAME Desktop"
!define DATA "$LOCALAPPDATA\kame-desktop"
!define NOT_CLOSED 3
!define WRONG_SYSTEM 4

Name "${NAME}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "${UNINSTALL_KEY}" "InstallLocation"
RequestExecutionLevel user
ManifestDPIAware true
!if "${KIND}" == "online"
  SetCompressor /SOLID lzma
!else
  ; Not solid, so that the wheels, which are compressed already, can be stored as they are.
  SetCompressor lzma
!endif
SetCompressorDictSize 32
BrandingText "${NAME} ${VERSION}"
ShowInstDetails nevershow
ShowUninstDetails nevershow

VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${NAME} setup (${KIND})"
VIAddVersionKey "CompanyName" "${PUBLISHER}"
VIAddVersionKey "LegalCopyright" "${PUBLISHER}"

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

; Ask the running app to close, as its own window's cross would; if it stays open, ask the user.
!macro CLOSE_APP
  ${Do}
    StrCpy $0 0
    ${If} ${FileExists} "$INSTDIR\packaging\installation\running.py"
      nsExec::Exec '"$INSTDIR\python\python.exe" "$INSTDIR\packaging\installation\running.py" "$INSTDIR"'
      Pop $0
    ${EndIf}
    ; A Python that can't start any more is no reason not to install over it.
    ${If} $0 != 1
      ${ExitDo}
    ${EndIf}
    SetErrorLevel ${NOT_CLOSED}
    ${If} ${Cmd} `MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "${NAME} is still open.$\r$\n$\r$\nIts files can't be changed while it runs.$\r$\n$\r$\nClose it, then press Retry." /SD IDCANCEL IDCANCEL`
      Quit
    ${EndIf}
  ${Loop}
  SetErrorLevel 0
!macroend

Function .onInit
  ${IfNot} ${RunningX64}
  ${OrIfNot} ${AtLeastWin10}
    SetErrorLevel ${WRONG_SYSTEM}
    MessageBox MB_ICONSTOP "${NAME} can't run on this system.$\r$\n$\r$\nIt needs 64-bit Windows 10 or newer." /SD IDOK
    Quit
  ${EndIf}
FunctionEnd

!macro REMOVE_PROGRAM
  RMDir /r "$INSTDIR\app"
  RMDir /r "$INSTDIR\resources"
  RMDir /r "$INSTDIR\packaging"
  RMDir /r "$INSTDIR\python"
  RMDir /r "$INSTDIR\tools"
  RMDir /r "$INSTDIR\wheels"
  RMDir /r "$INSTDIR\licences"
  Delete "$INSTDIR\installed.json"
  Delete "$INSTDIR\files.json"
  Delete "$INSTDIR\bom.json"
  Delete "$INSTDIR\${NAME}.exe"
  Delete "$INSTDIR\kame-desktop.exe"
  Delete "$INSTDIR\uninstall.exe"
!macroend

!macro USER_PATH ACTION
  nsExec::Exec '"$INSTDIR\python\python.exe" "$INSTDIR\packaging\installation\user_path.py" ${ACTION} "$INSTDIR"'
  Pop $0
!macroend

Section "${NAME}" main
  SectionIn RO
  !insertmacro CLOSE_APP
  DetailPrint "Installing ${NAME} ${VERSION}"
  SetDetailsPrint none
  ; What an older version brought must not stay among the new files. The environment stays, and is brought up to date.
  !insertmacro REMOVE_PROGRAM
  !include "${SOURCE}\files.nsh"
  SetOutPath "$INSTDIR"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\${NAME}.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "${PUBLISHER}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\${NAME}.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "ModifyPath" '"$INSTDIR\${NAME}.exe" repair'
  ; With the packages and models that the first start puts there.
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
SectionEnd

Section "Command kame-desktop in terminals" command
  !insertmacro USER_PATH add
SectionEnd

Section /o "Icon on the desktop" desktop
  CreateShortcut "$DESKTOP\${NAME}.lnk" "$INSTDIR\${NAME}.exe"
SectionEnd

Section /o "Start when I log in" login
  CreateShortcut "$SMSTARTUP\${NAME}.lnk" "$INSTDIR\${NAME}.exe"
SectionEnd

Section "un.${NAME}" un.main
  SectionIn RO
  !insertmacro CLOSE_APP
  DetailPrint "Removing ${NAME}"
  SetDetailsPrint none
  !insertmacro USER_PATH remove
  Delete "$SMPROGRAMS\${NAME}.lnk"
  Delete "$DESKTOP\${NAME}.lnk"
  Delete "$SMSTARTUP\${NAME}.lnk"
  RMDir /r "$INSTDIR\environment"
  RMDir /r "$INSTDIR\environment.new"
  RMDir /r "$INSTDIR\environment.next"
  RMDir /r "$INSTDIR\environment.old"
  RMDir /r "$INSTDIR\environment.cache"
  RMDir /r "$INSTDIR\environment.python"
  Delete "$INSTDIR\environment.log"
  Delete "$INSTDIR\environment.lock"
  !insertmacro REMOVE_PROGRAM
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
