// Package conformance is the suite of app ingest: the required behaviour of each server of it.
package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/ingest/profiles"
	"github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/internal/conformance"
)

// App returns the app ingest, called in JSON.
func App() (conformance.App, error) {
	d, err := conformance.ParseDescription(ingest.OpenAPI())
	if err != nil {
		return conformance.App{}, err
	}
	batches := map[int][]byte{}
	for _, n := range []int{1, 10, 11} {
		pool, err := profiles.Bodies(n, 2)
		if err != nil {
			return conformance.App{}, err
		}
		batches[n] = pool[1]
	}
	ten := batches[10]
	a := conformance.App{
		Name: ingest.Name, Settings: serving.App(nil).New().Settings(),
		Slow: "/",
		Good: []conformance.Good{
			goodBatch(ten, 10),
			goodBatch(batches[1], 1),
			{Request: conformance.Get("/health"), Wrong: conformance.Is("text/plain", "ok\n")},
			goodBatch(indentJSON(ten), 10),
			{Request: conformance.Get("/openapi.json"), Wrong: conformance.Means(json.RawMessage(ingest.OpenAPI()))},
		},
	}
	for _, twist := range []func(*conformance.Good){
		func(g *conformance.Good) { g.Header = conformance.JSONType("; charset=utf-8") },
		func(g *conformance.Good) { g.Chunked = true },
		func(g *conformance.Good) { g.Gzip = true },
		func(g *conformance.Good) { g.Gzip, g.Chunked = true, true },
	} {
		g := goodBatch(ten, 10)
		twist(&g)
		a.Good = append(a.Good, g)
	}
	for i, g := range a.Good {
		request, check := g.Request, g.Wrong
		a.Good[i].Wrong = func(got conformance.Answer) error { return errors.Join(check(got), d.Wrong(request, got)) }
	}
	a.Checks = []conformance.Check{
		conformance.Probes("refusals", d, nil, ingestRefusals(batches)),
		conformance.Probes("limits", d, map[string]string{serving.SetMaxBody: "64KiB", serving.SetLimit: "2"}, ingestLimits(batches)),
		conformance.Probes("token", d, map[string]string{serving.SetToken: "open sesame"}, ingestTokens(ten)),
		conformance.Probes("typed", d, map[string]string{serving.SetMetadata: serving.MetadataTyped}, typedRefusals()),
		{Name: "payload", Ask: checkPayload},
		{Name: "trace", Ask: checkTrace},
		{Name: "sink", Ask: checkSink},
		{Name: "formats", Ask: checkFormats},
		{Name: "crowd", Ask: checkCrowd},
	}
	const file = "events.ndjson"
	a.Set = func(dir string) map[string]string {
		return map[string]string{serving.SetSink: "file:" + filepath.Join(dir, file), serving.SetFsync: "on", serving.SetLimit: "10"}
	}
	a.Kept = func(dir string) error { return checkLines(filepath.Join(dir, file), countItems(a)) }
	return a, nil
}

// countItems returns how many events are acknowledged when all good requests are sent once.
func countItems(a conformance.App) (n int) {
	for _, g := range a.Good {
		n += g.Items
	}
	return n
}

// postBody sends body as JSON.
func postBody(body string) conformance.Request {
	return conformance.Request{Method: "POST", Path: "/", Header: conformance.JSONType(""), Body: []byte(body)}
}

// goodBatch returns n records that must be accepted. All encoders write the fixture's values the
// same way.
func goodBatch(body []byte, n int) conformance.Good {
	var records []ingest.Record
	err := json.Unmarshal(body, &records)
	want := ingest.Receipt{Accepted: n}
	for i := range records {
		metadata, bad := json.Marshal(records[i].Metadata)
		want.Bytes += int64(len(metadata))
		err = errors.Join(err, bad)
	}
	return conformance.Good{Request: postBody(string(body)), Items: n, Wrong: func(got conformance.Answer) error {
		if err != nil {
			return err
		}
		return conformance.Means(want)(got)
	}}
}

func indentJSON(body []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, body, "", "  ") // the fixture's own JSON
	return b.Bytes()
}

// testRecord returns a valid record, changed by replacements.
func testRecord(oldnew ...string) string {
	const sound = `{"id":"a","timestamp":"2026-03-01T12:00:00Z","metadata":{"name":"u","age":1,"latitude":0.5,"isActive":true}}`
	return strings.NewReplacer(oldnew...).Replace(sound)
}

// badBatch returns a batch that must be rejected.
func badBatch(code, body string) conformance.Probe {
	return conformance.Probe{Request: postBody(body), Status: 400, Code: code}
}

// wantMessage returns a batch that must be rejected with this message.
func wantMessage(body, what string) conformance.Probe {
	p := badBatch("malformed", body)
	p.Wrong = func(got conformance.Answer) error {
		if !strings.Contains(string(got.Body), what) {
			return fmt.Errorf("%s does not say %q", got.Body, what)
		}
		return nil
	}
	return p
}

// acceptedBatch returns a batch of n that must be accepted.
func acceptedBatch(body string, n int) conformance.Probe {
	return conformance.Probe{Request: postBody(body), Status: 200, Wrong: func(got conformance.Answer) error {
		var r ingest.Receipt
		if err := json.Unmarshal(got.Body, &r); err != nil || r.Accepted != n || r.Bytes <= 0 {
			return errors.Join(err, fmt.Errorf("%s: want %d accepted", got.Body, n))
		}
		return nil
	}}
}

func ingestRefusals(batches map[int][]byte) []conformance.Probe {
	typed := func(header ...[2]string) conformance.Probe {
		q := postBody("[" + testRecord() + "]")
		q.Header = header
		return conformance.Probe{Request: q, Status: 415}
	}
	method := func(method, path, allow string) conformance.Probe {
		return conformance.Probe{Request: conformance.Request{Method: method, Path: path}, Status: 405, Header: map[string]string{"Allow": allow}}
	}
	list := []conformance.Probe{
		acceptedBatch("["+testRecord()+"]", 1),
		acceptedBatch("["+testRecord(`"id"`, `"later":{"x":[1,null]},"id"`, `"name"`, `"other":true,"name"`)+"]", 1), // unknown fields
		acceptedBatch("["+testRecord(`,"metadata"`, `, "metadata"`)+"]\n", 1),
		acceptedBatch("["+testRecord()+","+testRecord(`"a"`, `"b"`)+"]", 2),
		acceptedBatch("["+testRecord(`"2026-03-01T12:00:00Z"`, `1.46e9`)+"]", 1),

		badBatch("malformed", ""), badBatch("malformed", "{"), badBatch("malformed", "[{]"), badBatch("malformed", "["+testRecord()),
		badBatch("malformed", "no JSON"), badBatch("malformed", testRecord()), badBatch("malformed", `"text"`), badBatch("malformed", "7"),
		wantMessage("["+testRecord(`"a"`, `7`)+"]", "record 1 of 1: id is a number; expected is a text"),
		wantMessage("["+testRecord(`2026-03-01T12:00:00Z`, `yesterday`)+"]", `record 1 of 1: timestamp is \"yesterday\"; expected is a number of seconds since 1970`),
		wantMessage("["+testRecord()+","+testRecord(`"2026-03-01T12:00:00Z"`, `true`)+"]", "record 2 of 2: timestamp is true; expected is a number of seconds"),
		wantMessage("["+testRecord(`"2026-03-01T12:00:00Z"`, `1e30`)+"]", "timestamp is 1e30; expected is a number of seconds"),
		wantMessage("["+testRecord(`"metadata":{`, `"metadata":["a"],"more":{`)+"]", `metadata is [\"a\"]; expected is an object`),
		wantMessage("["+testRecord()+",  7]", "record 2 of 2: it is a number; expected is an object; the record begins at byte"),
		badBatch("record", "["+testRecord(`"2026-03-01T12:00:00Z"`, `1460616245000`)+"]"), badBatch("record", "["+testRecord(`"metadata":{`, `"more":{`)+"]"),
		badBatch("record", "["+testRecord(`"metadata":{`, `"metadata":null,"more":{`)+"]"), badBatch("malformed", "["+testRecord(`0.5`, `half`)+"]"),
		badBatch("malformed", `["a","b"]`),
		badBatch("", "null"), badBatch("batch", "[]"), badBatch("batch", string(batches[11])),
		badBatch("record", "[{}]"), badBatch("record", "["+testRecord(`"id":"a",`, ``)+"]"), badBatch("record", "["+testRecord(`"a"`, `""`)+"]"),
		badBatch("record", "["+testRecord(`"timestamp":"2026-03-01T12:00:00Z",`, ``)+"]"),
		badBatch("record", "["+testRecord()+","+testRecord(`"id":"a",`, ``)+"]"),

		typed(), typed([2]string{"Content-Type", "text/plain"}), typed([2]string{"Content-Type", "application/jsonp"}),
		typed([2]string{"Content-Type", "application/json; charset=latin1"}),
		typed(append(conformance.JSONType(""), [2]string{"Content-Encoding", "br"})...),

		method("GET", "/", "POST"), method("PUT", "/", "POST"), method("DELETE", "/", "POST"), method("PATCH", "/", "POST"),
		method("POST", "/health", "GET"), method("DELETE", "/metrics", "GET"), method("PUT", "/openapi.json", "GET"),
		{Request: conformance.Get("/nothing"), Status: 404}, {Request: conformance.Get("/health/more"), Status: 404}, {Request: conformance.Get("/v1/id/7"), Status: 404},
		{Request: conformance.Request{Method: "POST", Path: "/nothing", Header: conformance.JSONType(""), Body: []byte("[]")}, Status: 404},
		{Request: conformance.Get("/metrics"), Status: 200, Header: map[string]string{"Content-Type": "text/plain"}},
	}
	for _, packed := range []string{"[" + testRecord() + "]", "\x1f\x8b\x08\x00"} { // not compressed, and cut off
		q := postBody(packed)
		q.Header = append(q.Header, [2]string{"Content-Encoding", "gzip"})
		list = append(list, conformance.Probe{Request: q, Status: 400, Code: "malformed"})
	}
	return list
}

// ingestLimits are for a limit of two records and of 64 KiB. An id has 1 KiB at most.
func ingestLimits(batches map[int][]byte) []conformance.Probe {
	const most = 64 << 10
	fill := func(n int) string {
		body := "[" + testRecord(`"u"`, `"#"`) + "]"
		return strings.Replace(body, "#", strings.Repeat("x", n-len(body)+1), 1)
	}
	long := conformance.Probe{Request: postBody(fill(most + 1)), Status: 413}
	list := []conformance.Probe{
		{Request: postBody("[" + testRecord() + "," + testRecord() + "]"), Status: 200},
		{Request: postBody("[" + testRecord() + "," + testRecord() + "," + testRecord() + "]"), Status: 400, Code: "batch"},
		{Request: postBody(string(batches[10])), Status: 400, Code: "batch"},
		{Request: postBody(fill(most)), Status: 200},
		{Request: postBody("[" + testRecord(`"a"`, strconv.Quote(strings.Repeat("x", 1024))) + "]"), Status: 200},
		{Request: postBody("[" + testRecord(`"a"`, strconv.Quote(strings.Repeat("x", 1025))) + "]"), Status: 400, Code: "record"},
		long,
	}
	for _, bytes := range []int{most + 1, 10 << 20} {
		for _, form := range [][2]bool{{true, false}, {false, true}, {true, true}} {
			if bytes > most+1 && !form[1] {
				continue // sending may fail then
			}
			p := long
			p.Body = []byte(fill(bytes))
			p.Chunked, p.Gzip = form[0], form[1]
			list = append(list, p)
		}
	}
	return list
}

func ingestTokens(body []byte) []conformance.Probe {
	with := func(status int, authorization ...string) conformance.Probe {
		q := postBody(string(body))
		for _, a := range authorization {
			q.Header = append(q.Header, [2]string{"Authorization", a})
		}
		p := conformance.Probe{Request: q, Status: status}
		if status == 401 {
			p.Header = map[string]string{"WWW-Authenticate": "Bearer"}
		}
		return p
	}
	return []conformance.Probe{
		with(200, "Bearer open sesame"), with(401), with(401, "Bearer"), with(401, "Bearer open"), with(401, "Basic open sesame"),
		with(401, "open sesame"), with(401, "Bearer open sesame!"), {Request: conformance.Get("/health"), Status: 200},
	}
}

// checkLines wants a file of n complete lines, each a record with an id.
func checkLines(path string, n int) error {
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

// checkSink checks that acknowledged events are in the file, by the time they are.
func checkSink(e conformance.Exam) error {
	path := filepath.Join(e.Dir, "sink.ndjson")
	addr, err := e.Serves(map[string]string{serving.SetSink: "file:" + path})
	if err != nil {
		return err
	}
	sent, err := e.AskAll(addr)
	if err != nil || e.Trap || e.Loose() {
		return err
	}
	if err := checkLines(path, int(sent.Items)); err != nil {
		return err
	}
	return e.CheckCounts(sent, false)
}
