"""A codec in Python, by docs/contender-protocol.md: package json of its library."""
import base64, gc, hashlib, json, os, socket, sys, time


def channel():
    wire = os.environ.get("TARE_WIRE", "")
    if wire.startswith("tcp:"):
        host, port = wire[4:].rsplit(":", 1)
        both = socket.create_connection((host, int(port)))
        return both.makefile("rb"), both.makefile("wb")
    if "," not in wire:
        sys.exit("codec.py is a contender of tare: a lab starts it")
    read, write = wire.split(",")
    for fd in (int(read), int(write)):
        os.set_inheritable(fd, False)
    return os.fdopen(int(read), "rb"), os.fdopen(int(write), "wb")


class Refused(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def encode(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class Codec:
    def __init__(self):
        self.works, self.heap, self.idle = {}, None, time.process_time_ns()

    def hello(self, q):
        if q.get("protocol") != "tare.wire/1":
            raise Refused("bad-request", "protocol %r is not tare.wire/1" % q.get("protocol"))
        if q.get("variant"):
            raise Refused("bad-request", "there are no variants")
        return {"protocol": "tare.wire/1", "kind": "codec", "pid": os.getpid(), "go": "python " + sys.version.split()[0]}

    def prepare(self, q):
        w = q.get("workload")
        if not isinstance(w, dict):
            raise Refused("bad-request", "there is no workload")
        heap = w.get("heap_bytes", 0)
        if heap < 0 or heap > 1 << 30:
            raise Refused("bad-request", "heap_bytes is out of bounds")
        self.works = {}
        if w["op"] not in ("marshal", "any") or w["fixture"] in ("probes", "documents", "texts"):
            return {"unsupported": True}
        try:
            with open(w["input"], "rb") as f:
                text = f.read()
        except OSError as e:
            raise Refused("load", str(e))
        if hashlib.sha256(text).hexdigest() != w["sha256"]:
            raise Refused("load", "the input has another hash")
        bodies = text.split(b"\n")[: w["bodies"]]
        if heap and (not self.heap or self.heap[0] != heap):
            self.heap = None
            self.heap = (heap, [[None] for _ in range(heap // 72)])  # a list of one, and its place
        elif not heap:
            self.heap = None
        values = [json.loads(b) for b in bodies] if w["op"] == "marshal" else bodies
        run = encode if w["op"] == "marshal" else json.loads
        self.works[w["id"]] = {"run": run, "values": values, "next": 0, "encodes": w["op"] == "marshal"}
        gc.collect()
        return {}  # nothing counts what Python allocates, so that fresh values cannot be told

    def work(self, q):
        if q.get("on") not in self.works:
            raise Refused("bad-request", "workload %s is not prepared" % json.dumps(q.get("on")))
        return self.works[q["on"]]

    def answer(self, q):
        w, answers = self.work(q), []
        for case in q.get("cases", []):
            if not 0 <= case < len(w["values"]):
                raise Refused("bad-request", "there is no case %d" % case)
            try:
                got = w["run"](w["values"][case])
                out = got if w["encodes"] else encode(got)
                answers.append({"case": case, "output": base64.b64encode(out).decode()})
            except Exception as e:
                answers.append({"case": case, "error": "panic: " + str(e).replace("\n", " ")})
        return {"answers": answers}

    def loop(self, w, ops):
        """Runs operations and returns how many bytes they wrote."""
        run, values, at, out = w["run"], w["values"], w["next"], 0
        for _ in range(ops):
            got = run(values[at])
            if w["encodes"]:
                out += len(got)
            at = (at + 1) % len(values)
        w["next"] = at
        return out

    def timed(self, w, want, min_ns, cap_ns, cap_ops):
        cpu, begin = time.process_time_ns(), time.perf_counter_ns()
        ops = out = 0
        while True:
            spent = time.perf_counter_ns() - begin
            if ops >= want and spent >= min_ns or cap_ns and spent >= cap_ns and ops >= cap_ops:
                break
            n = min(64, max(1, want - ops))
            out += self.loop(w, n)
            ops += n
        wall = time.perf_counter_ns() - begin
        reply = {"ops": ops, "wall_ns": wall, "cpu_ns": time.process_time_ns() - cpu}
        if out:
            reply["bytes_out"] = out
        return reply

    def warm(self, q):
        return self.timed(self.work(q), max(3, q.get("ops", 0)), q.get("min_ns", 0), q.get("cap_ns", 0), 3)

    def slice(self, q):
        w = self.work(q)
        if q.get("until") not in ("ops", "gc") or q.get("ops", 0) < 1 or q["until"] == "gc" and not q.get("cap_ns"):
            raise Refused("bad-request", "a slice is until ops or gc, and its ops are at least 1")
        idle = time.process_time_ns() - self.idle
        self.loop(w, q.get("lead", 0))
        want = q["ops"] if q["until"] == "ops" else 1 << 62  # it has no cycles: the cap ends the slice
        reply = self.timed(w, want, q.get("min_ns", 0), q.get("cap_ns", 0), q.get("cap_ops", 0))
        reply["idle_cpu_ns"] = max(0, idle)
        return reply

    def stats(self, q):
        w, ops = self.work(q), q.get("ops", 0)
        if ops < 1:
            raise Refused("bad-request", "stats are of one operation or more")
        out = self.loop(w, ops)
        return {"ops": ops, "bytes_out": out} if out else {"ops": ops}


def main():
    read, write = channel()
    codec = Codec()
    known = {"hello", "prepare", "answer", "warm", "slice", "stats"}
    for line in read:
        reply, end = {"id": 0}, False
        try:
            q = json.loads(line)
            if not isinstance(q, dict) or not isinstance(q.get("id"), int) or not isinstance(q.get("op"), str):
                raise ValueError("a message has an id and an op")
            reply["id"] = q["id"]
            if q["op"] == "bye":
                end = True
            elif q["op"] == "end":
                raise Refused("unsupported", "this is no server")
            elif q["op"] not in known:
                raise Refused("unknown-op", "unknown op " + json.dumps(q["op"]))
            else:
                reply.update(getattr(codec, q["op"])(q))
        except Refused as e:
            reply["error"] = {"class": e.kind, "message": str(e)}
        except (ValueError, KeyError, TypeError) as e:
            reply["error"] = {"class": "bad-request", "message": str(e).replace("\n", " ")}
        write.write(encode(reply) + b"\n")
        write.flush()
        codec.idle = time.process_time_ns()
        if end:
            return


main()
