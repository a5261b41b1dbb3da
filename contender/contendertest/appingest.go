package contendertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/fixture"
)

// ingestApp is the app ingest, asked in JSON.
func ingestApp() (app, error) {
	d, err := parseDescription(ingest.OpenAPI())
	if err != nil {
		return app{}, err
	}
	batches := map[int][]byte{}
	for _, n := range []int{1, 10, 11} {
		pool, err := fixture.Pool("events", n, 2)
		if err != nil {
			return app{}, err
		}
		batches[n] = pool[1]
	}
	ten := batches[10]
	a := app{
		name: ingest.Name, settings: ingestserving.App(nil).New().Settings(),
		slow: "/",
		good: []good{
			batch(ten, 10),
			batch(batches[1], 1),
			{asked: get("/health"), wrong: is("text/plain", "ok\n")},
			batch(indented(ten), 10),
			{asked: get("/openapi.json"), wrong: means(json.RawMessage(ingest.OpenAPI()))},
		},
	}
	for _, twist := range []func(*good){
		func(g *good) { g.header = jsonType("; charset=utf-8") },
		func(g *good) { g.chunked = true },
		func(g *good) { g.gzip = true },
		func(g *good) { g.gzip, g.chunked = true, true },
	} {
		g := batch(ten, 10)
		twist(&g)
		a.good = append(a.good, g)
	}
	for i, g := range a.good {
		of, told := g.asked, g.wrong
		a.good[i].wrong = func(got called) error { return errors.Join(told(got), d.wrong(of, got)) }
	}
	a.checks = []check{
		probes("refusals", d, nil, ingestRefusals(batches)),
		probes("limits", d, map[string]string{ingestserving.SetMaxBody: "64KiB", ingestserving.SetLimit: "2"}, ingestLimits(batches)),
		probes("token", d, map[string]string{ingestserving.SetToken: "open sesame"}, ingestTokens(ten)),
		{"sink", exam.checkSink},
		{"formats", exam.checkFormats},
		{"crowd", exam.checkCrowd},
	}
	const kept = "events.ndjson"
	a.set = func(dir string) map[string]string {
		return map[string]string{ingestserving.SetSink: "file:" + filepath.Join(dir, kept), ingestserving.SetFsync: "on", ingestserving.SetLimit: "10"}
	}
	a.kept = func(dir string) error { return holds(filepath.Join(dir, kept), a.items()) }
	return a, nil
}

// items is how many are acknowledged when all that is good is asked once.
func (a app) items() (n int) {
	for _, g := range a.good {
		n += g.items
	}
	return n
}

func jsonType(parameters string) [][2]string {
	return [][2]string{{"Content-Type", "application/json" + parameters}}
}

// post sends body as JSON.
func post(body string) asked {
	return asked{method: "POST", path: "/", header: jsonType(""), body: []byte(body)}
}

// batch is n records that must be taken. The fixture's values are written the
// same way by all encoders.
func batch(body []byte, n int) good {
	var records []ingest.Record
	err := json.Unmarshal(body, &records)
	want := ingest.Receipt{Accepted: n}
	for i := range records {
		metadata, bad := json.Marshal(records[i].Metadata)
		want.Bytes += int64(len(metadata))
		err = errors.Join(err, bad)
	}
	return good{asked: post(string(body)), items: n, wrong: func(got called) error {
		if err != nil {
			return err
		}
		return means(want)(got)
	}}
}

func indented(body []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, body, "", "  ") // the fixture's own JSON
	return b.Bytes()
}

// record is one that is taken, or what a replacement makes of it.
func record(oldnew ...string) string {
	const sound = `{"id":"a","timestamp":"2026-03-01T12:00:00Z","metadata":{"user_id":"u","screen_width":1,"scroll_depth":0.5,"logged_in":true}}`
	return strings.NewReplacer(oldnew...).Replace(sound)
}

func ingestRefusals(batches map[int][]byte) []probe {
	bad := func(code, body string) probe { return probe{asked: post(body), status: 400, code: code} }
	says := func(body, what string) probe {
		p := bad("malformed", body)
		p.wrong = func(got called) error {
			if !strings.Contains(string(got.body), what) {
				return fmt.Errorf("%s does not say %q", got.body, what)
			}
			return nil
		}
		return p
	}
	typed := func(header ...[2]string) probe {
		q := post("[" + record() + "]")
		q.header = header
		return probe{asked: q, status: 415}
	}
	method := func(method, path, allow string) probe {
		return probe{asked: asked{method: method, path: path}, status: 405, header: map[string]string{"Allow": allow}}
	}
	taken := func(body string, n int) probe {
		return probe{asked: post(body), status: 200, wrong: func(got called) error {
			var r ingest.Receipt
			if err := json.Unmarshal(got.body, &r); err != nil || r.Accepted != n || r.Bytes <= 0 {
				return errors.Join(err, fmt.Errorf("%s: want %d accepted", got.body, n))
			}
			return nil
		}}
	}
	list := []probe{
		taken("["+record()+"]", 1),
		taken("["+record(`"id"`, `"later":{"x":[1,null]},"id"`, `"user_id"`, `"other":true,"user_id"`)+"]", 1), // unknown fields
		taken("["+record(`,"metadata"`, `, "metadata"`)+"]\n", 1),
		taken("["+record()+","+record(`"a"`, `"b"`)+"]", 2),

		bad("malformed", ""), bad("malformed", "{"), bad("malformed", "[{]"), bad("malformed", "["+record()),
		bad("malformed", "no JSON"), bad("malformed", record()), bad("malformed", `"text"`), bad("malformed", "7"),
		says("["+record(`"a"`, `7`)+"]", "record 1 of 1: id is a number; expected is a text"),
		says("["+record()+","+record(`"u"`, `["u"]`)+"]", "record 2 of 2: metadata.user_id is an array; expected is a text"),
		says("["+record(`:1,`, `:"1",`)+"]", "metadata.screen_width is a text; expected is a whole number"),
		says("["+record(`true`, `"yes"`)+"]", "metadata.logged_in is a text; expected is true or false"),
		says("["+record(`2026-03-01T12:00:00Z`, `yesterday`)+"]", "timestamp is no date and time"), bad("malformed", "["+record(`0.5`, `half`)+"]"),
		bad("malformed", `["a","b"]`),
		bad("", "null"), bad("batch", "[]"), bad("batch", string(batches[11])),
		bad("record", "[{}]"), bad("record", "["+record(`"id":"a",`, ``)+"]"), bad("record", "["+record(`"a"`, `""`)+"]"),
		bad("record", "["+record(`"timestamp":"2026-03-01T12:00:00Z",`, ``)+"]"),
		bad("record", "["+record()+","+record(`"id":"a",`, ``)+"]"),

		typed(), typed([2]string{"Content-Type", "text/plain"}), typed([2]string{"Content-Type", "application/jsonp"}),
		typed([2]string{"Content-Type", "application/json; charset=latin1"}),
		typed(append(jsonType(""), [2]string{"Content-Encoding", "br"})...),

		method("GET", "/", "POST"), method("PUT", "/", "POST"), method("DELETE", "/", "POST"), method("PATCH", "/", "POST"),
		method("POST", "/health", "GET"), method("DELETE", "/metrics", "GET"), method("PUT", "/openapi.json", "GET"),
		{asked: get("/nothing"), status: 404}, {asked: get("/health/more"), status: 404}, {asked: get("/v1/id/7"), status: 404},
		{asked: asked{method: "POST", path: "/nothing", header: jsonType(""), body: []byte("[]")}, status: 404},
		{asked: get("/metrics"), status: 200, header: map[string]string{"Content-Type": "text/plain"}},
	}
	for _, packed := range []string{"[" + record() + "]", "\x1f\x8b\x08\x00"} { // not packed, and cut off
		q := post(packed)
		q.header = append(q.header, [2]string{"Content-Encoding", "gzip"})
		list = append(list, probe{asked: q, status: 400, code: "malformed"})
	}
	return list
}

// ingestLimits are asked with a limit of two records and of 64 KiB.
func ingestLimits(batches map[int][]byte) []probe {
	const most = 64 << 10
	fill := func(n int) string {
		body := "[" + record(`"a"`, `"#"`) + "]"
		return strings.Replace(body, "#", strings.Repeat("x", n-len(body)+1), 1)
	}
	long := probe{asked: post(fill(most + 1)), status: 413}
	list := []probe{
		{asked: post("[" + record() + "," + record() + "]"), status: 200},
		{asked: post("[" + record() + "," + record() + "," + record() + "]"), status: 400, code: "batch"},
		{asked: post(string(batches[10])), status: 400, code: "batch"},
		{asked: post(fill(most)), status: 200},
		long,
	}
	for _, bytes := range []int{most + 1, 10 << 20} {
		for _, form := range [][2]bool{{true, false}, {false, true}, {true, true}} {
			if bytes > most+1 && !form[1] {
				continue // what is sent may break off there
			}
			p := long
			p.body = []byte(fill(bytes))
			p.chunked, p.gzip = form[0], form[1]
			list = append(list, p)
		}
	}
	return list
}

func ingestTokens(body []byte) []probe {
	with := func(status int, authorization ...string) probe {
		q := post(string(body))
		for _, a := range authorization {
			q.header = append(q.header, [2]string{"Authorization", a})
		}
		p := probe{asked: q, status: status}
		if status == 401 {
			p.header = map[string]string{"WWW-Authenticate": "Bearer"}
		}
		return p
	}
	return []probe{
		with(200, "Bearer open sesame"), with(401), with(401, "Bearer"), with(401, "Bearer open"), with(401, "Basic open sesame"),
		with(401, "open sesame"), with(401, "Bearer open sesame!"), {asked: get("/health"), status: 200},
	}
}

// holds wants a file of n whole lines, each a record with an id.
func holds(path string, n int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) != 0 || last != n {
		return fmt.Errorf("%d lines are kept and %d bytes more, acknowledged were %d", last, len(lines[last]), n)
	}
	for _, line := range lines[:n] {
		var r ingest.Record
		if err := json.Unmarshal(line, &r); err != nil || r.ID == "" || r.Timestamp.IsZero() || r.Metadata == (ingest.Metadata{}) {
			return errors.Join(err, fmt.Errorf("a line that is no record: %.100s", line))
		}
	}
	return nil
}

// checkSink: what is acknowledged is in the file, by the time it is.
func (e exam) checkSink() error {
	path := filepath.Join(e.dir, "sink.ndjson")
	addr, err := e.serves(map[string]string{ingestserving.SetSink: "file:" + path})
	if err != nil {
		return err
	}
	sent, err := e.askAll(addr)
	if err != nil || e.Trap || e.loose() {
		return err
	}
	if err := holds(path, int(sent.items)); err != nil {
		return err
	}
	return e.checkCounts(sent, false)
}
