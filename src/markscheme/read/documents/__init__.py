"""Read rubrics, exams and the rules in them: YAML in, frozen domain types out.

All mistakes of a document are reported at once, each with its file, line and field. The path of a
document is: `sources` (find the file), `yaml` (parse it), `validation` with `models` (check it),
then `rubric`, `exam`, `gates` or `decisions` (build the types) and `fingerprint`. Nothing here
scores an answer: the axis kinds and normalisation steps are passed in by the caller.

Two modules are not behind this door, because hardly any command needs them:
`from markscheme.read.documents import json_schema` (the JSON Schemas for editors) and `spans` (text
positions, for `lint --fix`).
"""

from markscheme.read.documents.classes import ClassDocument, read_class
from markscheme.read.documents.criteria import (
    CheckKinds,
    find_criteria_problems,
    parse_criteria,
)
from markscheme.read.documents.dump import CommentedMapping, dump_yaml
from markscheme.read.documents.exam import (
    ITEM_KEYS,
    ItemCheck,
    RawEntry,
    add_follow_up,
    build_item,
    check_item_keys,
    dump_exam,
    find_duplicate_ids,
    iterate_item_entries,
    parse_exam_text,
    parse_exam_tree,
    read_exam,
)
from markscheme.read.documents.exam_rows import build_exam
from markscheme.read.documents.fingerprint import (
    compute_exam_fingerprint,
    hash_parts,
    to_canonical_json,
)
from markscheme.read.documents.gates import GATE_MODELS, MeasureLimit
from markscheme.read.documents.judges import (
    is_judge_tree,
    parse_judge_tree,
    read_judge,
)
from markscheme.read.documents.models import (
    COMPARISON_KEYS,
    NAME_PATTERN,
    NO_ENTRIES,
    ItemModel,
    Name,
    Number,
    Scalar,
    Share,
    Text,
    is_exam_tree,
    is_rated,
)
from markscheme.read.documents.names import is_name, make_name
from markscheme.read.documents.rubric import parse_rubric, parse_rubric_tree, read_rubric
from markscheme.read.documents.sources import (
    BUILTIN_DIR,
    list_builtin_names,
    locate_document,
    resolve_answers,
)
from markscheme.read.documents.validation import (
    Constraints,
    Converter,
    Model,
    ModelValidationError,
    ProblemCollector,
    alias_key,
    describe_unknown_word,
    iterate_mappings,
    suggest_match,
    validate_model,
)
from markscheme.read.documents.yaml import (
    MAX_DOCUMENT_BYTES,
    FieldPath,
    YamlMapping,
    YamlSequence,
    decode_document,
    find_line,
    parse_tree,
    parse_yaml,
    parse_yaml_value,
    read_document_bytes,
    read_tree,
)

__all__ = [
    "BUILTIN_DIR",
    "COMPARISON_KEYS",
    "GATE_MODELS",
    "ITEM_KEYS",
    "MAX_DOCUMENT_BYTES",
    "NAME_PATTERN",
    "NO_ENTRIES",
    "CheckKinds",
    "ClassDocument",
    "CommentedMapping",
    "Constraints",
    "Converter",
    "FieldPath",
    "ItemCheck",
    "ItemModel",
    "MeasureLimit",
    "Model",
    "ModelValidationError",
    "Name",
    "Number",
    "ProblemCollector",
    "RawEntry",
    "Scalar",
    "Share",
    "Text",
    "YamlMapping",
    "YamlSequence",
    "add_follow_up",
    "alias_key",
    "build_exam",
    "build_item",
    "check_item_keys",
    "compute_exam_fingerprint",
    "decode_document",
    "describe_unknown_word",
    "dump_exam",
    "dump_yaml",
    "find_criteria_problems",
    "find_duplicate_ids",
    "find_line",
    "hash_parts",
    "is_exam_tree",
    "is_judge_tree",
    "is_name",
    "is_rated",
    "iterate_item_entries",
    "iterate_mappings",
    "list_builtin_names",
    "locate_document",
    "make_name",
    "parse_criteria",
    "parse_exam_text",
    "parse_exam_tree",
    "parse_judge_tree",
    "parse_rubric",
    "parse_rubric_tree",
    "parse_tree",
    "parse_yaml",
    "parse_yaml_value",
    "read_class",
    "read_document_bytes",
    "read_exam",
    "read_judge",
    "read_rubric",
    "read_tree",
    "resolve_answers",
    "suggest_match",
    "to_canonical_json",
    "validate_model",
]
