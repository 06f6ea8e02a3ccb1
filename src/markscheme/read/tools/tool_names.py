"""Names of the tools of agents: which write files, which run commands, code or SQL.

Names are compared without case and signs, so that `ApplyPatch`, `apply_patch` and `apply-patch` are
one. Of a tool of a server, such as `mcp__serena__execute_shell_command` or `developer__shell`, the
last part counts; OpenCode writes `serena_execute_shell_command`, so long names may also end so.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from markscheme.read.json_fields import split_words


class ToolKind(StrEnum):
    """What a tool does, if its name is known."""

    WRITE = "write"
    EDITOR = "editor"
    SHELL = "shell"
    TERMINAL_INPUT = "terminal input"
    POWERSHELL = "powershell"
    SQL = "sql"
    QUERY = "query"
    PYTHON = "python"
    NOTEBOOK = "notebook"
    JAVASCRIPT = "javascript"
    OTHER = "other"
    COMPUTER = "computer"
    PAGE = "page"


_NAMES = {
    ToolKind.WRITE: """
        write edit multi_edit notebook_edit apply_patch patch write_file create_file edit_file
        replace insert file_change update_file delete_file create write_to_file replace_in_file
        search_replace search_and_replace insert_edit_into_file replace_string_in_file
        multi_replace_string_in_file apply_diff insert_content append_to_file modify_file move_file
        rename_file copy_file remove_file create_directory create_new_file create_text_file
        edit_existing_file single_find_and_replace multi_edit_file edit_notebook edit_notebook_file
        create_new_jupyter_notebook create_and_run_task edit_tool_call write_tool_call
        delete_tool_call rename_tool_call patch_tool_call apply_edit apply_edits apply_patch_tool
        file_write file_edit write_files edit_files save_file save_to_file replace_file_content
        multi_replace_file_content write_code propose_code str_replace find_and_replace
        find_and_replace_code replace_lines replace_content replace_regex replace_symbol_body
        insert_after_symbol insert_before_symbol insert_at_line delete_lines rename_symbol undo_edit
        overwrite_file touch_file make_directory mkdir delete_directory remove_directory delete_path
        move_path copy_path rename_path edit_block batch_edit file_str_replace edit_file_llm
        edit_file_request reapply notebook_edit_cell editor new_rule generate_image delete append
        editfile writefile edit_cell insert_cell delete_cell semantic_rename install_python_packages
        install_extension create_new_workspace git_commit git_add git_push git_checkout git_reset
        git_create_branch commit_changes create_pull_request file_delete requests_delete
        requests_post requests_put requests_patch transition_issue kubectl_scale kubectl_apply
        kubectl_delete kubectl_create kubectl_patch kubectl_edit kubectl_replace kubectl_drain
        kubectl_cordon kubectl_uncordon kubectl_taint kubectl_label kubectl_annotate kubectl_set
        kubectl_run kubectl_expose kubectl_autoscale kubectl_cp upload_file enter_worktree
        exit_worktree playwright_post playwright_put playwright_patch playwright_delete
    """,
    ToolKind.EDITOR: """
        str_replace_editor str_replace_based_edit_tool text_editor developer__text_editor
        file_editor planning_file_editor text_editor_code_execution edit_tool str_replace_edit_tool
        anthropic_text_editor memory
    """,
    ToolKind.SHELL: """
        bash shell exec_command local_shell local_shell_call run_shell_command command_execution
        execute_command run_command run_terminal_cmd terminal container.exec unified_exec
        execute_bash run_in_terminal shell_command execute_shell_command start_process
        shell_tool_call run_terminal_command execute_terminal_command run_shell exec run_bash
        bash_command execute_shell run_bash_command bash_tool terminal_execute command
        command_line_exec run_cmd execute_in_terminal local_shell_exec shell_exec launch_process
        send_command run_commands execute_bash_command sh zsh cmd_run run_script attempt_completion
        run execute_terminal terminal_command terminal_run create_terminal run_process spawn_process
        bash_execute execute_commands ssh_exec tmux_exec docker_exec host_shell cmd
        run_command_in_terminal send_terminal_input execute_cli monitor
    """,
    ToolKind.TERMINAL_INPUT: """
        write_stdin send_input_to_terminal interact_with_process send_keys write_to_process
        write_process send_to_terminal write_bash write_powershell
    """,
    ToolKind.POWERSHELL: "powershell pwsh run_powershell execute_powershell powershell_command",
    ToolKind.SQL: """
        execute_sql sql_query run_sql read_query write_query pg_query postgres_query mysql_query
        sqlite_query sql run_sql_query execute_sql_query run_select_query sql_db_query
        bigquery_query duckdb_query
    """,
    # They carry SQL, or a question in other words.
    ToolKind.QUERY: "query run_query execute_query query_database execute_statement db_query",
    ToolKind.PYTHON: """
        execute_python run_python python python_repl execute_python_code run_python_code
        python_interpreter code_interpreter execute_code run_code mcp_run_python python_execute
        code_execution python_repl_ast
    """,
    ToolKind.NOTEBOOK: """
        execute_ipython_cell run_ipython execute_cell run_cell jupyter ipython execute_notebook_cell
        jupyter_execute_cell
    """,
    ToolKind.JAVASCRIPT: """
        execute_javascript run_javascript js_repl execute_js run_js node_repl javascript run_node
        browser_evaluate browser_run_code browser_eval puppeteer_evaluate playwright_evaluate
        evaluate_script
    """,
    ToolKind.OTHER: "execute_script run_applescript applescript_execute osascript_run",
    ToolKind.COMPUTER: "computer computer_use computer_call browser_action",
    ToolKind.PAGE: """
        browser_click browser_type browser_fill browser_fill_form browser_press browser_press_key
        browser_press_sequentially browser_select browser_select_option browser_drag browser_drop
        browser_file_upload browser_handle_dialog browser_mouse_click browser_mouse_click_xy
        browser_mouse_drag_xy browser_mouse_down browser_mouse_up browser_input browser_send_keys
        browser_submit browser_check browser_uncheck browser_double_click puppeteer_click
        puppeteer_fill puppeteer_select playwright_click playwright_fill playwright_select
        playwright_press_key playwright_drag playwright_upload_file playwright_iframe_click
        playwright_iframe_fill page_click page_fill page_type click_element fill_form left_click
        right_click double_click mouse_click press_key type_text input_text tap_element
        handle_dialog click fill tap drag
    """,
}
# The language of the code that a tool runs.
CODE_LANGUAGES: dict[ToolKind | None, str] = {
    ToolKind.SQL: "sql",
    ToolKind.QUERY: "sql",
    ToolKind.PYTHON: "python",
    ToolKind.NOTEBOOK: "notebook",
    ToolKind.JAVASCRIPT: "javascript",
    ToolKind.OTHER: "other",
}
_CODE_KINDS = frozenset([ToolKind.PYTHON, ToolKind.NOTEBOOK, ToolKind.JAVASCRIPT])
_SIGNS = re.compile(r"[^a-z0-9]")
# Names that are also ordinary words, and so must be the whole last part.
_MIN_SUFFIX_PARTS = 2


def squeeze_name(name: str) -> str:
    """Return a name in lower case without signs."""
    return _SIGNS.sub("", name.casefold())


# Tools of servers whose last part is too common to say what they do.
_NO_SERVER_TOOLS = frozenset(
    split_words("create replace insert command patch cmd delete append run editor monitor")
)
# Names that mean the same with any prefix, as readers of logs compare them.
SHELL_TOOLS = frozenset(
    name
    for kind in (ToolKind.SHELL, ToolKind.TERMINAL_INPUT)
    for name in _NAMES[kind].split()
    if name not in _NO_SERVER_TOOLS
)
WRITE_TOOLS = frozenset(_NAMES[ToolKind.WRITE].split()) - _NO_SERVER_TOOLS
# In the code mode of Codex `exec` has JavaScript, and its reader lists the calls in it. Cline may
# show a command when it is done.
_MAY_LACK_COMMAND = frozenset(["exec", "attemptcompletion"])
_ORDINARY_WORDS = frozenset(["run"])
_KINDS = {squeeze_name(name): kind for kind, names in _NAMES.items() for name in names.split()}
_SUFFIXES = {
    f"_{name}": kind
    for kind, names in _NAMES.items()
    for name in names.split()
    if name.count("_") >= _MIN_SUFFIX_PARTS - 1
}


@lru_cache(maxsize=4096)
def get_tool_kind(name: str) -> ToolKind | None:
    """Return what a tool does, by its name; `None` if the name is not known."""
    kind = _KINDS.get(squeeze_name(name))
    if kind is not None:
        return kind
    last = re.split(r"__|[./:]", name.casefold())[-1]
    kind = _KINDS.get(squeeze_name(last))
    if kind is not None and last not in _NO_SERVER_TOOLS:
        return kind
    folded = name.casefold().replace("-", "_")
    return next((kind for end, kind in _SUFFIXES.items() if folded.endswith(end)), None)


def is_shell_tool(name: str) -> bool:
    """Return whether a tool runs commands of a shell."""
    return get_tool_kind(name) in {ToolKind.SHELL, ToolKind.POWERSHELL}


def runs_commands(name: str) -> bool:
    """Return whether a tool runs commands of a shell, or code that may read files."""
    kind = get_tool_kind(name)
    return kind in _CODE_KINDS or kind in {ToolKind.SHELL, ToolKind.POWERSHELL}


def is_ordinary_word(name: str) -> bool:
    """Return whether tools that run no shell are called so too; they show it by their arguments."""
    return squeeze_name(re.split(r"__|[./:]", name)[-1]) in _ORDINARY_WORDS


def may_lack_command(name: str) -> bool:
    """Return whether a tool that can run a command is also called without one."""
    return squeeze_name(name) in _MAY_LACK_COMMAND
