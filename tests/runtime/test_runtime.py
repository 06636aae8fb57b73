"""Scripts on the real runtime: what they can do, and what they can't."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from octavo.errors import Unavailable
from octavo.kit.runtime import process
from octavo.kit.runtime.host import Host
from octavo.kit.runtime.process import FetchRefused, HostResponse, ScriptEvent, ScriptFailed
from settled import PATIENCE


class Ran:
    def __init__(self) -> None:
        self.logs, self.problem, self.wanted = [], None, []

    def finished(self, logs, problem):
        self.logs, self.problem = [line.message for line in logs], problem

    def fetch(self, wanted):
        self.wanted.append(wanted)
        if "refused" in wanted.url:
            raise FetchRefused("refused: private")
        return HostResponse(wanted.url, 200, [("content-type", "application/json")], b'{"from": "outside"}')


@pytest.fixture
def host():
    made = Host(3)
    yield made
    made.close()


EVENT = ScriptEvent(json.dumps({"type": "fetch"}), json.dumps({"secrets": {"A": "1"}}))


def run(host, script, *, key="one", event=EVENT, seconds=10.0, wait=True):
    """Run a script, again as long as a busy machine starts no process for it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        ran = Ran()
        try:
            return host.run(
                key, lambda: script, event, ran.fetch, ran.finished, seconds=seconds, wait=wait
            ), ran
        except Unavailable as error:
            if "did not start" not in str(error) or time.monotonic() > deadline:
                raise


def module(body):
    return f"export default {{ async fetch(request, env, context) {{ {body} }} }};"


def test_an_event_is_received_as_a_form_and_answered(host):
    script = module("""
      const form = await request.formData();
      const environment = JSON.parse(form.get("environment"));
      return new Response(JSON.stringify([new URL(request.url).pathname, JSON.parse(form.get("event")).type,
        environment.secrets.A, form.get("fetch-body")]), { status: 201, headers: { "x-a": "b" } });""")
    answer, ran = run(host, script, event=ScriptEvent(EVENT.event, EVENT.environment, "ü".encode()))
    assert (answer.status, dict(answer.headers)["x-a"]) == (201, "b")
    assert json.loads(answer.body) == ["/v1", "fetch", "1", "ü"]
    assert ran.problem is None


def test_a_script_in_the_first_runtime_format_works(host):
    script = "addEventListener('fetch', event => event.respondWith(new Response('v1')));"
    assert run(host, script)[0].body == b"v1"


def test_requests_to_other_hosts_go_through_the_server(host):
    script = module("""
      const found = await fetch("https://example.com/x", { method: "POST", body: "hi", headers: { a: "b" } });
      let refused; try { await fetch("https://refused.example/"); } catch (error) { refused = String(error); }
      return Response.json([await found.json(), found.url, refused]);""")
    answer, ran = run(host, script)
    assert json.loads(answer.body) == [
        {"from": "outside"},
        "https://example.com/x",
        "TypeError: refused: private",
    ]
    assert (ran.wanted[0].method, ran.wanted[0].body) == ("POST", b"hi")


@pytest.mark.parametrize("body", [b"x" * 5 * 1024 * 1024, None])
def test_the_size_of_events_is_limited(host, body):
    """A body of five megabytes, or ten that another host answers, do not fill the memory that it may have."""
    script = module("""
      const form = await request.formData();
      const found = form.get("fetch-body") ?? await (await fetch("https://example.com/")).text();
      return new Response(String(found.length));""")
    ran = Ran()
    ran.fetch = lambda wanted: HostResponse(wanted.url, 200, [], b"x" * 10 * 1024 * 1024)
    event = ScriptEvent(EVENT.event, EVENT.environment, body)
    answer = host.run("one", lambda: script, event, ran.fetch, ran.finished, seconds=60, wait=True)
    assert int(answer.body) == (len(body) if body else 10 * 1024 * 1024)


def test_work_after_the_response_is_finished(host):
    script = module("""
      context.waitUntil((async () => { await new Promise(done => setTimeout(done, 50));
        console.log("later", { a: 1 }); await fetch("https://example.com/hook"); })());
      console.warn("now"); return new Response("OK");""")
    answer, ran = run(host, script)
    assert answer.body == b"OK" and ran.logs == ["now", 'later {"a":1}'] and len(ran.wanted) == 1


def test_a_process_is_reused_and_keys_share_no_state(host):
    script = "let count = 0; globalThis.seen ??= 0; " + module(
        "globalThis.seen++; return new Response(String(++count));"
    )
    counts = [run(host, script, key=key)[0].body for key in ("one", "one", "two", "one")]
    assert counts == [b"1", b"2", b"1", b"3"]


def test_there_are_never_more_processes_than_allowed(host):
    for n in range(6):
        assert run(host, module("return new Response('OK');"), key=str(n))[0].body == b"OK"
        assert len(host._warm) <= 3


def spare_of(host, seconds=30):
    until = time.monotonic() + seconds
    while host._spare is None and time.monotonic() < until:
        time.sleep(0.02)
    return host._spare


def test_the_next_script_uses_a_prestarted_process(host):
    script = "let count = 0; " + module("return new Response(String(++count));")
    assert host._spare is None, "nothing runs before there is a script"
    run(host, script)
    spare = spare_of(host)
    assert run(host, script, key="two")[0].body == b"1"
    assert host._warm["two"].process is spare and host._spare is not spare
    again = spare_of(host)
    again.kill()
    assert run(host, script, key="three")[0].body == b"1", "one that ended is not used"
    assert spare_of(host, 0.3) is None, "there is no room for more"
    with pytest.raises(AssertionError):
        host._warm["two"].process.load("another")


def test_closing_ends_every_process(host):
    run(host, module("return new Response('OK');"))
    processes = [spare_of(host), host._warm["one"].process]
    host.close()
    assert all(process._process.returncode is not None for process in processes)


def test_an_event_without_a_free_process_is_refused():
    host = Host(1)
    try:
        script = module(
            "context.waitUntil(new Promise(done => setTimeout(done, 3000))); return new Response('');"
        )
        run(host, script, wait=False)
        with pytest.raises(Unavailable):
            run(host, script, key="two", seconds=0.3)
    finally:
        host.close()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(
            "const all = []; for (;;) all.push(new Array(100000).fill(Math.random()));",
            "answer|memory",
            marks=pytest.mark.slow,
        ),
        (
            "const all = []; for (;;) all.push(new Uint8Array(50_000_000).fill(1));",
            "answer|memory|RangeError",
        ),
        ("throw new Error('on purpose');", "on purpose"),
        ("return 7;", "no Response"),
        ("const { default: p } = await import('node:process'); p.exit(3);", "ended|process|denied|Error"),
        (
            "const { writeSync } = await import('node:fs'); writeSync(1, 'not json\\n'); await new Promise(() => {});",
            "standard output|in time|denied|Error|without an answer",
        ),
        ("for (let i = 0; ; i++) console.log('x'.repeat(10000));", "too many log lines"),
        ("return new Response(new Uint8Array(30_000_000));", "at once|memory|in time"),
        (
            "await fetch('https://example.com/', { method: 'POST', body: new Uint8Array(30_000_000) });",
            "at once|memory|in time",
        ),
    ],
)
def test_misbehaving_scripts_end_and_the_next_event_is_answered(host, body, says, seconds=4):
    began = time.monotonic()
    ran = Ran()
    with pytest.raises(ScriptFailed, match=says):
        host.run("one", lambda: module(body), EVENT, ran.fetch, ran.finished, seconds=seconds, wait=True)
    assert time.monotonic() - began < 60, "the deadline holds"
    assert ran.problem
    assert run(host, module("return new Response('OK');"), key="two")[0].body == b"OK"


@pytest.mark.parametrize(
    ("body", "says"), [("for (;;) {}", "in time"), ("await new Promise(() => {});", "respond")]
)
def test_hanging_scripts_end_and_the_next_event_is_answered(host, body, says):
    test_misbehaving_scripts_end_and_the_next_event_is_answered(host, body, says, seconds=1)


ESCAPES = {
    "a file": "const fs = await import('node:fs'); return fs.readFileSync('/etc/passwd', 'utf8');",
    "a file by import": "return (await import('file:///etc/passwd', { with: { type: 'text' } })).default;",
    "writing": "const fs = await import('node:fs'); fs.writeFileSync('x', 'y'); return 'wrote';",
    "the environment": "const p = (await import('node:process')).default; return p.env.PATH ?? p.env.DENO_DIR;",
    "a process": "const c = await import('node:child_process'); return String(c.execSync('id'));",
    "remote code": "return (await import('https://example.com/x.js')).default;",
    "npm": "return (await import('npm:left-pad')).default;",
    "the network": "const net = await import('node:net'); return await new Promise((ok, no) => {"
    " const s = net.connect(80, '127.0.0.1', () => ok('connected')); s.on('error', no); });",
    "http": "const http = await import('node:http'); return await new Promise((ok, no) =>"
    " http.get('http://169.254.169.254/', () => ok('got')).on('error', no));",
    "names": "const dns = await import('node:dns/promises'); return (await dns.resolve('example.com'))[0];",
    "the system": "const os = await import('node:os'); return os.hostname() + os.userInfo().username;",
    "a worker": "const w = await import('node:worker_threads'); new w.Worker('1', { eval: true }); return 'worker';",
    "storage": "localStorage.setItem('a', 'b'); return 'stored';",
    "a cache": "return String(await caches.open('a'));",
    "a database": "const { DatabaseSync } = await import('node:sqlite'); new DatabaseSync('x.db'); return 'open';",
    "Deno": "return String(Deno.pid);",
    "ffi": "return String(globalThis.Deno.dlopen);",
    "a socket": "new WebSocket('ws://127.0.0.1:1/'); return 'socket';",
    "the standard input of the next": (
        "const p = (await import('node:process')).default; p.stdin.resume(); return 'read';"
    ),
    "a signal": "const p = (await import('node:process')).default; p.kill(p.ppid, 'SIGTERM'); return 'sent';",
    "code in another realm": (
        "const vm = await import('node:vm'); return "
        "vm.runInNewContext('this.constructor.constructor(\"return Deno\")()').pid;"
    ),
    "the inspector": "const i = await import('node:inspector'); i.open(0); return i.url();",
    "a listening port": "const net = await import('node:net'); return await new Promise((ok, no) => {"
    " const s = net.createServer(); s.on('error', no); s.listen(0, '127.0.0.1', () => ok('listens')); });",
    "a channel": "new BroadcastChannel('a'); return 'channel';",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_scripts_cannot_leave_the_sandbox(host, name):
    script = module(
        f"try {{ const found = await (async () => {{ {ESCAPES[name]} }})();"
        " return new Response('ESCAPED ' + found); } catch (error) { return new Response('refused'); }"
    )
    try:
        answer, _ = run(host, script, seconds=3)
    except ScriptFailed:
        return
    assert answer.body in (b"refused", b"ESCAPED undefined"), answer.body[:200]


@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="Linux alone lists the open files of a process"
)
def test_modules_created_by_scripts_are_not_on_disk(host):
    imports = "for (const n of [1, 2, 3]) await import(`data:text/javascript,/*${n}*/`);"
    assert run(host, module(f"{imports} return new Response('OK');"))[0].body == b"OK"
    pid = host._warm["one"].process._process.pid
    opened = [os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
    assert [name for name in opened if name.startswith("/") and not name.startswith("/dev/")] == []


def test_a_forged_message_only_affects_the_script(host):
    script = module("""
      const { writeSync } = await import("node:fs");
      try { writeSync(1, JSON.stringify({type: "response", id: 999, status: 200}) + "\\n"); } catch {}
      return new Response("real");""")
    try:
        answer, _ = run(host, script)
    except ScriptFailed:
        return
    assert answer.body == b"real"


def test_a_message_with_too_much_in_it_is_not_decoded(host, monkeypatch):
    monkeypatch.setattr(process, "VALUES", 600)
    script = module("""
      const headers = new Headers();
      for (let i = 0; i < COUNT; i++) headers.append("x-" + i, "a, b");
      return new Response("a", { headers });""")
    answer, _ = run(host, script.replace("COUNT", "100"))
    assert len(answer.headers) >= 100
    with pytest.raises(ScriptFailed, match="more than 600 values"):
        run(host, script.replace("COUNT", "400"), key="two")


def test_a_polluted_prototype_stays_in_its_process(host):
    script = module(
        "Object.prototype.polluted = 1; Array.prototype.toJSON = () => 'x'; return new Response('a');"
    )
    try:
        run(host, script)
    except ScriptFailed:
        pass
    clean = module("return Response.json(({}).polluted ?? null);")
    assert run(host, clean, key="two")[0].body == b"null"


def test_a_flood_of_requests_is_limited(host):
    script = module("""
      let refused = 0;
      for (let i = 0; i < 150; i++) await fetch("https://example.com/").catch(() => refused++);
      return new Response(String(refused));""")
    answer, ran = run(host, script)
    assert (answer.body, len(ran.wanted)) == (b"50", 100)


def test_a_long_log_is_truncated_with_a_note(host):
    script = module("for (let i = 0; i < 500; i++) console.log('line', i); return new Response('OK');")
    _, ran = run(host, script)
    assert len(ran.logs) == 201 and ran.logs[-1] == "300 more lines were omitted"
