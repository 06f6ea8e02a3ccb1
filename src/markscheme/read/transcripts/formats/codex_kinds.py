"""The kinds of lines, items and events that Codex writes, by whether they may hold calls.

They are those of the source of Codex, the oldest versions included. A kind that is not listed makes
a transcript incomplete. Kinds with calls are named where they are read, in `codex`.
"""

from __future__ import annotations

from markscheme.read.json_fields import split_words

# Lines about the session, and copies of what other lines hold.
HARMLESS_RECORDS = split_words(
    "turn_context compacted world_state inter_agent_communication "
    "inter_agent_communication_metadata security_risk_score session_state"
)
CALL_ITEMS = split_words(
    "function_call custom_tool_call local_shell_call web_search_call tool_search_call "
    "image_generation_call"
)
OUTPUT_ITEMS = split_words("function_call_output custom_tool_call_output tool_search_output")
HARMLESS_ITEMS = split_words(
    "reasoning agent_message ghost_snapshot compaction compaction_summary compaction_trigger "
    "context_compaction additional_tools"
)
TEXT_BLOCKS = ("input_text", "output_text", "text")
HARMLESS_BLOCKS = split_words(
    "input_image input_audio input_file refusal summary_text reasoning_text encrypted_content"
)
# Texts and their parts, settings, requests to the user, what the client or the user did.
HARMLESS_EVENTS = split_words(
    "agent_message agent_message_delta agent_message_content_delta agent_reasoning "
    "agent_reasoning_delta agent_reasoning_raw_content agent_reasoning_raw_content_delta "
    "agent_reasoning_section_break reasoning_content_delta reasoning_raw_content_delta plan_delta "
    "plan_update error warning guardian_warning stream_error deprecation_notice background_event "
    "session_configured thread_name_updated thread_settings_applied thread_goal_updated "
    "thread_queue_changed thread_rolled_back context_compacted model_reroute model_verification "
    "turn_moderation_metadata safety_buffering raw_response_completed token_count "
    "environment_connected environment_disconnected mcp_startup_update mcp_startup_complete "
    "mcp_list_tools_response list_custom_prompts_response list_skills_response "
    "list_remote_skills_response list_models_response remote_skill_downloaded "
    "skills_update_available get_history_entry_response conversation_path conversation_history "
    "request_user_input request_permissions elicitation_request undo_started undo_completed "
    "entered_review_mode exited_review_mode hook_started hook_completed turn_diff "
    "exec_command_output_delta patch_apply_updated shutdown_complete "
    "collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin "
    "collab_waiting_end collab_close_begin collab_close_end collab_resume_begin collab_resume_end"
)
# Kinds of items in events, written in one word and in lower case: versions differ in that.
HARMLESS_TURN_ITEMS = split_words(
    "hookprompt plan reasoning contextcompaction enteredreviewmode exitedreviewmode sleep"
)
HARMLESS_EXTENSIONS = split_words("clock.sleep")


def fold_kind(kind: str) -> str:
    """Return a kind in one word and in lower case: `FileChange` and `file_change` are the same."""
    return kind.replace("_", "").lower()
