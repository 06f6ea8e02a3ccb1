# Run with the commit before the renovation on PYTHONPATH, in an empty folder.
set -u
M="python -m markscheme"; S="--store markscheme.db"; R="-r tutor-capstone -e capstone"
python - <<'P'
import json
from markscheme import load_exam, load_rubric
from markscheme.library.scoring import answers_of_tutor
exam = load_exam("capstone", rubric=load_rubric("tutor-capstone"))
for name, flawed in (("tutor", False), ("flawed", True)):
    with open(f"{name}.jsonl", "w") as file:
        for i, row in enumerate(answers_of_tutor(exam, flawed=flawed)):
            file.write(json.dumps({**row, "latency_ms": 100 + i}) + "\n")
        file.write("no answer\n")
P
$M score $R -a tutor.jsonl --tag release-1.0 $S          # run 1
$M baseline set release-1.0 --note "first release" $S
$M score $R -a flawed.jsonl --tag candidate $S           # run 2
$M gate candidate $S                                     # gate outcomes, against the baseline
$M run $R -s tutor --tag live $S                         # run 3
$M run $R -s tutor --requests-per-minute 600 --max-time 1 --seed 7 $S   # run 4: broken off
sqlite3 markscheme.db "PRAGMA journal_mode = DELETE; VACUUM" 2>/dev/null || python - <<'P'
import sqlite3
connection = sqlite3.connect("markscheme.db", isolation_level=None)
connection.execute("PRAGMA journal_mode = DELETE")
connection.execute("VACUUM")
P
