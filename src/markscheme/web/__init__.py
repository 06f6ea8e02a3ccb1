"""The web app: dashboard, runs, comparisons, rating studies and the learner portal.

This is the only package that knows Starlette and uvicorn, and only `markscheme serve` loads it.
`server` listens, `app` assembles the features, `security` guards every request, `requests` holds
what a handler gets, `services` what it may use, and `pages` renders templates.

To add a feature:

1. Write a module with the handlers, `async def show(request: WebRequest) -> Response`, and a small
   one that exports `routes` and `navigation`; name the small one in `app.FEATURES`. A route is
   `requests.route(path, defer("module", "show"), allow=...)`; `allow` names the roles. `defer`
   imports the handlers with the first request: the start must not load polars.
2. Read with `await request.services.read(lambda store: ...)`, change with
   `await request.services.write(...)`: it returns when the change is on disk. Only a POST may
   change anything; answer it with `redirect(...)`. The client makes the id of a record (a hidden
   field), and the id is unique in the store, so that a request that is sent twice counts once.
3. Tables belong to `keep`: a migration in `keep/schema.py`, and a class such as `WebAccess` that
   takes the database, as a property of `Store`. Decisions and numbers belong to `workflows`.
4. Render with `render(request, "template.html", ...)`: a template in `web/pages` that extends
   `base.html`; `translate(...)` around every text. Scripts are files in `web/assets`, and
   `asset("name.js")` gives their address; its styles are one file for all pages. There is no
   inline script, style or handler.
5. Read a form with `await read_form(request)`; it refuses fields that are too large.
6. Links for people: `store.web_access.create_link(Grant(role=..., scope=..., person=...),
   landing="/rate/S")` returns a token; its address is `/enter/TOKEN`. Check `request.grant.scope`.
7. Test with `tests/serving.py`: `serve(store)` runs the app, `server.somebody(grant)` signs in, and
   `visiting(browser, client)` opens a page as that visitor.
"""

from markscheme.web.app import FEATURES
from markscheme.web.attempts import AttemptLimiter
from markscheme.web.server import Address, ServeOptions, run_server

__all__ = ["FEATURES", "Address", "AttemptLimiter", "ServeOptions", "run_server"]
