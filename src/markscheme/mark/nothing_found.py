"""Tell a short statement that nothing was found from a finding.

`None.`, `No memory entries matched the query.` and `Nothing relevant found.` say that a search came
back empty; there is nothing to cite. `None of the services sets a timeout` is a finding about the
code. The grammar is closed: its subjects are what one searches for or starts (memories, entries,
results, files, agents …), its verbs are those of searching and starting, and a sentence that holds
more than that is a finding.
"""

from __future__ import annotations

import re

_MAX_LENGTH = 240
_MAX_WORDS = 24

# What a search brings up, and what is dispatched.
_ADJECTIVE = (
    r"(?:relevant|related|matching|prior|previous|past|existing|earlier|stored|saved|applicable"
    r"|additional|further|other|useful|specific|direct|such|explicit|known|recorded|new|similar"
    r"|recent|project|memory|codebase|search|cached|persisted|historical|exploring|exploration"
    r"|explore|background|documented|established|clear|recurring|common|more|of the|of these|the"
    r"|actionable|external|specialist|specialized)"
)
_MEMORY_NOUN = (
    r"(?:memor(?:y|ies)|entr(?:y|ies)|records?|notes?|observations?|results?|match(?:es)?|hits?"
    r"|findings?|context|information|decisions?|history|precedents?|knowledge|nodes?|entities)"
)
_NOUN = (
    rf"(?:{_MEMORY_NOUN}|files?|patterns?|evidence|references?|mentions?|occurrences?|usages?"
    r"|items?|documents?|sources?|conventions?|sections?)"
)
_AGENT = (
    rf"(?:(?:{_ADJECTIVE} )?(?:agents?|sub-?agents?|sub agents?|dispatch(?:es)?|delegations?"
    r"|exploration))"
)
_MEMORY = rf"(?:(?:{_ADJECTIVE} ){{0,3}}{_MEMORY_NOUN})"
_THING = rf"(?:(?:{_ADJECTIVE} ){{0,3}}{_NOUN})"
# A place or a topic: at most four words, none of which makes a clause.
_CLAUSE = (
    r"(?:that|which|who|when|if|because|so|but|while|is|are|was|were|has|have|had|does|do|did"
    r"|can|will|must|should|and|or|unless|until|where|whose|without|despite|although|not)"
)
_TOPIC = (
    rf"(?:(?:the|this|that|these|any|a|an|our|your) )?(?!{_CLAUSE}\b)[\w./-]+"
    rf"(?: (?!{_CLAUSE}\b)[\w./-]+){{0,2}}"
)
_ABOUT = (
    rf"(?: (?:for|on|about|regarding|concerning|related to|relating to|relevant to|matching"
    rf"|with respect to|around|under) {_TOPIC})"
)
_HERE = (
    r"(?: (?:in|for|on|about|from|to|by|within|with) (?:(?:the|this|that|these|my|your|any|project"
    r"|current|a) ){0,2}(?:memory(?: store| search| files?)?|memories|codebase|repo|repository"
    r"|project|quer(?:y|ies)|search(?:es)?|topic|question|request|task|terms?|keywords?|area"
    r"|subject|session|lookup|(?:quick|medium|thorough)(?:[ -]mode)?(?: query| request| run)?)"
    r"| yet| so far| here| at all)"
)
_WHERE = rf"(?:{_HERE}|{_ABOUT}| (?:in|from|within) {_TOPIC})"
_WAS = r"(?:was |were |has been |have been |could be )?"
_FOUND = (
    r"(?:found|matched|located|identified|discovered|retrieved|detected|surfaced|recalled|seen)"
)
_KEPT = r"(?:recorded|stored|saved|available|relevant|applicable|noted|present|returned)"
_STARTED = (
    r"(?:dispatched|needed|required|used|launched|spawned|started|necessary|made|invoked|warranted)"
)
_SEARCH = (
    r"(?:(?:project )?memor(?:y|ies)(?: store| search| lookup| tool| section)?"
    r"|(?:memory |codebase |code )?(?:search(?:es)?|quer(?:y|ies)|lookups?)|section)"
)
_MODE = (
    r"(?:in |for |because of |due to |since this is |as this is )?(?:the |a )?"
    r"(?:quick|medium|thorough)(?:[ -]mode)?(?: (?:query|request|run|search|budget))?"
    r"(?: (?:allows|permits) (?:none|no (?:agents|dispatch(?:es)?|sub-?agents)))?"
)
_NO = r"(?:no|0|zero|not any)"
_ENGLISH = (
    r"none|nothing|nil|n/?a|not applicable|empty|zero|0|no|nope|null",
    # None; nothing relevant in memory; nothing was found about the topic; none needed
    rf"(?:none|nothing)(?: {_ADJECTIVE}| else){{0,2}}(?:{_HERE}{{0,2}}|{_ABOUT})",
    (
        rf"(?:none|nothing)(?: {_ADJECTIVE}| else){{0,2}} {_WAS}(?:{_FOUND}{_WHERE}{{0,2}}"
        rf"|{_KEPT}(?:{_HERE}|{_ABOUT}){{0,2}}|{_STARTED}{_HERE}?|came up|turned up)"
    ),
    r"(?:none|nothing) (?:is|are) (?:available|relevant|applicable|needed|required|necessary)",
    rf"(?:none|nothing){_HERE}? match(?:es|ed)(?: {_TOPIC})?",
    r"(?:none|nothing) (?:to (?:report|add|cite|note|show|dispatch)|of note|on file)",
    # No relevant memories (about it) (were found); no agents were needed
    rf"{_NO} (?:{_THING}{_HERE}{{0,2}}|{_MEMORY}{_ABOUT}{_HERE}?|{_AGENT}{_HERE}{{0,2}})",
    rf"{_NO} {_THING}(?:{_WHERE}| (?:to|of) {_TOPIC})? {_WAS}{_FOUND}{_WHERE}{{0,2}}",
    rf"{_NO} {_THING}{_HERE}? {_WAS}{_KEPT}(?:{_HERE}|{_ABOUT}){{0,2}}",
    rf"{_NO} {_AGENT} (?:is |are |{_WAS}){_STARTED}{_HERE}{{0,2}}",
    rf"{_NO} {_MEMORY}(?:{_HERE}|{_ABOUT})? (?:are |is )?(?:available|relevant|applicable){_HERE}?",
    (
        rf"{_NO} {_THING}{_HERE}? (?:match(?:es|ed)?(?: {_TOPIC})?|came up|came back"
        rf"|(?:exist(?:s|ed)?|appl(?:y|ies|ied))(?:{_HERE}|{_ABOUT})?)"
    ),
    (
        rf"none of (?:the|these|those|its|my) {_THING} (?:match(?:es|ed)?(?: {_TOPIC})?"
        rf"|(?:is |are |was |were )(?:relevant|applicable)(?:{_HERE}|{_ABOUT})?)"
    ),
    rf"not (?:dispatched|needed|required|used|found|available|necessary){_HERE}?",
    # Memory is empty; the search returned nothing; I found no entries
    (
        rf"(?:the )?{_SEARCH} (?:is|are|was|were|came back|returned|gave|has|have|had|contains?"
        r"|holds?|held|yielded|found|produced) (?:currently |still )?(?:empty"
        rf"|nothing(?: relevant| useful)?|none|{_NO} {_THING})(?:{_HERE}|{_ABOUT}){{0,2}}"
    ),
    (
        rf"(?:i |we )?(?:found|got|saw|retrieved) (?:nothing|none|no {_THING})"
        rf"(?: relevant| useful)?{_WHERE}{{0,2}}"
    ),
    (
        r"(?:i |we )?(?:searched|queried|checked|looked)"
        r"(?: (?:in |through )?(?:(?:the|my|project) ){0,2}"
        r"(?:memor(?:y|ies)|codebase|repo(?:sitory)?))?"
        rf"(?: (?:for|about|with|under) {_TOPIC})?,? (?:and|but) (?:i |we )?(?:found|got|saw"
        rf"|retrieved) (?:nothing|none|no {_THING})(?: relevant| useful)?{_WHERE}{{0,2}}"
    ),
    (
        rf"(?:i |we )?(?:did not|didn't|didn’t|could not|couldn't|couldn’t) "
        rf"(?:find|retrieve|locate) (?:anything|any {_THING}|any)(?: relevant| useful)?"
        rf"{_WHERE}{{0,2}}"
    ),
    (
        rf"(?:i |we )?(?:did not|didn't|didn’t) (?:dispatch|launch|use|start|need|spawn) "
        rf"(?:anything|any {_AGENT}|{_AGENT}|any){_HERE}?"
    ),
    (
        rf"there (?:is|are|was|were) (?:nothing|none|{_NO} {_MEMORY}|{_NO} {_AGENT})"
        rf"(?: relevant| stored| found)?(?:{_HERE}|{_ABOUT}){{0,2}}"
    ),
    rf"no need (?:to dispatch|for {_AGENT}|to delegate){_HERE}?",
)
# What was searched for, and the mode that explains the absence: only beside such a statement.
_ASIDES = (
    (
        r"(?:i |we )?(?:searched|queried|looked|checked|tried)(?: (?:the )?memor(?:y|ies))?"
        rf"(?: (?:for|in|with|about|under|at) {_TOPIC}(?: (?:and|or) {_TOPIC}){{0,3}})?"
    ),
    rf"(?:search terms|searched|queries|query|searched for): {_TOPIC}",
    _MODE,
    r"(?:en )?modo (?:quick|medium|thorough|rápido|medio|exhaustivo)",
    (
        r"(?:se )?busc(?:ó|amos|ado|ando|aron)(?: en (?:la )?memoria)?(?: (?:por|sobre|con) "
        rf"{_TOPIC}(?: [yo] {_TOPIC}){{0,3}})?"
    ),
)
# Spanish, by the same rules.
_COSA = (
    r"(?:(?:otros?|otras?|más) )?(?:memorias?|entradas?|registros?|notas?|observaciones|observación"
    r"|resultados?|coincidencias?|archivos?|ficheros?|hallazgos?|patrones|patrón|contexto"
    r"|información|referencias?|menciones|decisiones|decisión|documentos?|historial|fuentes?"
    r"|recuerdos?)(?: (?:relevantes?|relacionad[oa]s?|previ[oa]s?|anteriores|anterior|existentes?"
    r"|guardad[oa]s?|coincidentes?|adicionales|útiles|aplicables?|similares)){0,3}"
)
_AGENTE = r"(?:(?:agentes?|sub-?agentes?|despachos?|delegaciones)(?: adicionales)?)"
_AQUI = (
    r"(?: (?:en|para|sobre|de|del|con|por) (?:(?:el|la|los|las|este|esta|estos|estas|mi) )?"
    r"(?:memorias?|código|repositorio|proyecto|consultas?|búsquedas?|tema|pregunta|petición|tarea"
    r"|términos?|área|modo (?:quick|medium|thorough|rápido|medio|exhaustivo))| aquí| aún)"
)
_CLAUSULA = r"(?:que|cuando|si|porque|pero|mientras|es|son|fue|eran|tiene|tienen|y|o|donde|sin|no)"
_SOBRE = (
    r"(?: (?:sobre|acerca de|acerca del|relacionad[oa]s? con) (?:(?:el|la|los|las|este|esta) )?"
    rf"(?!{_CLAUSULA}\b)[\w./-]+(?: (?!{_CLAUSULA}\b)[\w./-]+){{0,2}})"
)
_SPANISH = (
    r"nada|ningun[oa]|ningún|vací[oa]|no aplica|n/?d|cero|no procede|no (?:fue |es )?necesari[oa]",
    (
        rf"(?:nada|ningun[oa])(?: más| relevante| útil| nuevo)?(?: (?:encontrad|hallad|guardad"
        rf"|despachad)[oa]s?)?(?:{_AQUI}|{_SOBRE}){{0,2}}"
    ),
    r"nada (?:que (?:informar|reportar|citar|añadir|señalar)|de interés)",
    rf"sin (?:{_COSA}|{_AGENTE})(?:{_AQUI}|{_SOBRE}){{0,2}}",
    (
        rf"no (?:hay|hubo|había|existen?) (?:nada|ningun[oa]?|ningún)?(?: relevante)? ?"
        rf"(?:{_COSA}|{_AGENTE})?(?:{_AQUI}|{_SOBRE}){{0,2}}"
    ),
    (
        r"no (?:se (?:encontr(?:ó|aron)|hall(?:ó|aron)|han? (?:encontrado|hallado)"
        r"|recuper(?:ó|aron))|(?:he |hemos )?encontr(?:é|amos|ado))"
        rf" (?:nada|(?:ningún |ninguna )?{_COSA}|ningun[oa])(?: relevante| útil)?"
        rf"(?:{_AQUI}|{_SOBRE}){{0,2}}"
    ),
    (
        r"no (?:se (?:despach|lanz|us|necesit|utiliz)(?:ó|aron)"
        r"|(?:fue|fueron|es|era) necesari[oa]s?)"
        rf"(?: (?:nada|(?:ningún |ninguna )?{_AGENTE}|ningun[oa]))?{_AQUI}?"
    ),
    (
        rf"(?:ningún|ninguna|0) {_COSA}(?: (?:fue )?(?:encontrad|hallad|guardad)[oa]s?)?"
        rf"(?:{_AQUI}|{_SOBRE}){{0,2}}"
    ),
    (
        rf"(?:ningún|ninguna|0) {_AGENTE}(?: (?:fue )?(?:despachad|lanzad|usad|utilizad|necesari)"
        rf"[oa]s?)?{_AQUI}?"
    ),
    (
        r"(?:la )?(?:memoria|búsqueda)(?: en memoria)? (?:est(?:á|aba) vacía"
        rf"|no (?:devolvió|dio|arrojó|contiene|tiene) (?:nada|{_COSA}))(?:{_AQUI}|{_SOBRE})?"
    ),
)
_STATEMENT = re.compile("|".join((*_ENGLISH, *_SPANISH)))
_ASIDE = re.compile("|".join(_ASIDES))
# `Memory: none` and `Agents - none`, but not `JWT validation: none`.
_LABEL = re.compile(
    r"(?:memor(?:y|ies|ia|ias)|codebase|patterns?|patrones|dispatch(?:ed|es)?|(?:sub-?)?agents?"
    r"|agentes|results?|resultados?|match(?:es)?|findings?|hallazgos|search|status|entries|sources?"
    r"|memory (?:search|hits|check)) ?(?::|–|—| - ) ?"
)
_MARKS = re.compile(r"[*_`~\"“”«»]|(?<!\w)['\u2018]|['\u2019](?!\w)|<[^<>]{0,80}>")
_CHECKBOX = re.compile(r"\s*\[[ xX]\]\s")
_PARTS = re.compile(
    r"[.;!:?]+(?:\s|$)|\s[-–—]\s|[()\[\]|–—\n…]|,\s+(?=no\b|none\b|nothing\b|quick\b)"
)


def says_nothing_was_found(text: str) -> bool:
    """Return whether a text is only a short statement that nothing was found, or has no words."""
    if len(text) > _MAX_LENGTH or len(text.split()) > _MAX_WORDS:
        return not any(map(str.isalnum, text))
    line = _MARKS.sub("", _CHECKBOX.sub("", text)).casefold().strip()
    parts = [_trim_part(part) for part in _PARTS.split(_LABEL.sub("", line, count=1))]
    said = [part for part in parts if part]
    statements = [part for part in said if _STATEMENT.fullmatch(part)]
    asides = [part for part in said if part not in statements]
    return all(map(_ASIDE.fullmatch, asides)) and bool(statements or not said)


def _trim_part(part: str) -> str:
    """Return the words of a part of a sentence, without emoji and dashes around them."""
    words = [word for word in part.split() if any(map(str.isalnum, word))]
    return " ".join(words).strip(" ,:-")
