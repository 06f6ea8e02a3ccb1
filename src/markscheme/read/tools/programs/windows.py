"""Programs of Windows, and cmdlets of PowerShell."""

from __future__ import annotations

from markscheme.read.tools.programs.rules import ProgramRule

RULES = (
    ProgramRule(
        programs="""
            del erase rd md ren copy move xcopy robocopy mklink setx diskpart format takeown
            bitsadmin assoc ftype cacls cipher compact makecab replace subst tsdiscon
            shutdown.exe logoff bcdedit dism sfc
        """,
        changes="*",
        reading=r"/[lL]|/\?",
    ),
    # On Windows it unpacks cabinets; elsewhere it prints a file with spaces for tabs.
    ProgramRule(
        programs="expand",
        reads="*",
        changing=r"(?i:[-/](r|f:.*)|.*\.(cab|msu|..?_))",
        reading=r"-[dD]|/[dD]|/\?",
    ),
    ProgramRule(
        programs="attrib",
        changing=r"[+-][rahsRAHS]",
    ),
    ProgramRule(
        programs="icacls",
        changing=r"(?i:/(grant|deny|remove|reset|setowner|inheritance|restore).*)",
    ),
    ProgramRule(
        programs="reg",
        changes="add delete import copy restore load unload save ADD DELETE IMPORT",
        reads="query compare QUERY",
    ),
    ProgramRule(
        programs="sc net",
        changes="""
            create delete start stop config pause continue failure use share user localgroup
            accounts
        """,
        reads="query queryex qc view statistics",
    ),
    ProgramRule(
        programs="schtasks",
        changing=r"(?i:/(create|delete|run|end|change))",
        reading=r"(?i:/query)",
    ),
    ProgramRule(
        programs="wmic",
        changes="""
            delete call create set */delete */call */create */set */*/delete */*/call */*/create
            */*/set */*/*/delete */*/*/call */*/*/create */*/*/set
        """,
        reads="get list */get */list */*/get */*/list */*/*/get */*/*/list",
    ),
    ProgramRule(
        programs="fsutil",
        changes="file/createnew file/setzerodata hardlink/create",
        reads="fsinfo volume file/queryfileid",
    ),
    ProgramRule(
        programs="certutil",
        changing=r"(?i:[-/](urlcache|decode|encode|addstore|delstore|importpfx))",
    ),
    # Aliases of cmdlets; the verbs of cmdlets are judged by `judge_cmdlet`.
    ProgramRule(
        programs="ri rni mi cpi ni ac clc rp sp si saps sajb spps sasv spsv epcsv tee-object",
        changes="*",
    ),
)
