"""The learner portal: cards (`practice`), exams (`papers`) and the teacher's view (`classroom`)."""

from __future__ import annotations

from markscheme.keep import Role
from markscheme.vocabulary import sentence
from markscheme.web.requests import EVERYBODY, NavigationLink, defer, route

_LEARNERS = frozenset({Role.OWNER, Role.LEARNER})
_TEACHERS = frozenset({Role.OWNER, Role.TEACHER})

routes = [
    route("/learn", defer("practice", "show_start"), allow=_LEARNERS),
    route("/learn/card", defer("practice", "show_card"), allow=_LEARNERS),
    route("/learn/card", defer("practice", "answer_card"), allow=_LEARNERS, method="POST"),
    route("/learn/undo", defer("practice", "undo_answer"), allow=_LEARNERS, method="POST"),
    route("/learn/items", defer("practice", "show_items"), allow=_LEARNERS),
    route("/learn/pack.json", defer("practice", "show_pack"), allow=_LEARNERS),
    route("/learn/export.{suffix}", defer("practice", "export"), allow=_LEARNERS),
    route("/exams", defer("papers", "show_exams"), allow=_LEARNERS),
    route("/exams", defer("papers", "begin_paper"), allow=_LEARNERS, method="POST"),
    route("/papers/{paper}.json", defer("papers", "show_json"), allow=_LEARNERS),
    route("/papers/{paper}", defer("papers", "show_paper"), allow=_LEARNERS),
    route(
        "/papers/{paper}/answers", defer("papers", "save_answers"), allow=_LEARNERS, method="POST"
    ),
    route("/papers/{paper}/hand-in", defer("papers", "show_hand_in"), allow=_LEARNERS),
    route("/papers/{paper}/hand-in", defer("papers", "hand_in"), allow=_LEARNERS, method="POST"),
    route("/join", defer("classroom", "ask_to_join"), allow=EVERYBODY),
    route("/join", defer("classroom", "join"), allow=EVERYBODY, method="POST"),
    route("/class", defer("classroom", "show_class"), allow=_TEACHERS),
    route("/class/items", defer("classroom", "show_class_items"), allow=_TEACHERS),
    route("/class/export.csv", defer("classroom", "export_class"), allow=_TEACHERS),
]
navigation = [
    NavigationLink(path="/learn", text=sentence("Practice"), allow=_LEARNERS),
    NavigationLink(path="/exams", text=sentence("Exams"), allow=_LEARNERS),
    NavigationLink(
        path="/class",
        text=sentence("Class"),
        allow=_TEACHERS,
        is_shown=lambda services: services.serves_class,
    ),
]
