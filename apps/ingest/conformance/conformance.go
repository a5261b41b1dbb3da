// Package conformance describes to internal/conformance how servers of app ingest, which store records, must
// behave.
//
// Probes are single requests with the expected status. In a probe, the error code "" accepts any code.
package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/ingest/profiles"
	"github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/internal/conformance"
)

// App returns the description of app ingest. The bodies of its good requests, which must succeed, are JSON.
func App() (conformance.App, error) {
	description, err := conformance.ParseDescription(ingest.OpenAPI())
	if err != nil {
		return conformance.App{}, err
	}
	batches := map[int][]byte{} // by number of records
	for _, n := range []int{1, 10, 11} {
		pool, err := profiles.Bodies(n, 2)
		if err != nil {
			return conformance.App{}, err
		}
		batches[n] = pool[1]
	}
	ten := batches[10]
	a := conformance.App{
		Name:        ingest.Name,
		Settings:    serving.App(nil).New().Settings(),
		StalledPath: "/",
		GoodRequests: []conformance.GoodRequest{
			goodBatch(ten, 10),
			goodBatch(batches[1], 1),
			{Request: conformance.Get("/health"), CheckResponse: conformance.HasBody("text/plain", "ok\n")},
			goodBatch(indentJSON(ten), 10),
			{Request: conformance.Get("/openapi.json"), CheckResponse: conformance.HasJSON(json.RawMessage(ingest.OpenAPI()))},
		},
	}
	a.GoodRequests = append(a.GoodRequests, otherForms(goodBatch(ten, 10))...)
	// Each response must also match the OpenAPI document.
	for i, g := range a.GoodRequests {
		request, check := g.Request, g.CheckResponse
		a.GoodRequests[i].CheckResponse = func(got conformance.Response) error {
			return errors.Join(check(got), description.CheckResponse(request, got))
		}
	}
	a.Checks = []conformance.Check{
		conformance.ProbeCheck("refusals", description, nil, errorProbes(batches)),
		conformance.ProbeCheck("limits", description, map[string]string{serving.SetMaxBody: "64KiB", serving.SetLimit: "2"}, limitProbes(batches)),
		conformance.ProbeCheck("token", description, map[string]string{serving.SetToken: "open sesame"}, tokenProbes(ten)),
		conformance.ProbeCheck("typed", description, map[string]string{serving.SetMetadata: serving.MetadataTyped}, typedProbes()),
		{Name: "payload", Run: checkPayload},
		{Name: "trace", Run: checkTrace},
		{Name: "sink", Run: checkSink},
		{Name: "formats", Run: checkFormats},
		{Name: "crowd", Run: checkManyRecords},
	}
	const file = "events.ndjson"
	a.StandaloneSettings = func(dir string) map[string]string {
		return map[string]string{serving.SetSink: "file:" + filepath.Join(dir, file), serving.SetFsync: "on", serving.SetLimit: "10"}
	}
	a.CheckFiles = func(dir string) error { return checkLines(filepath.Join(dir, file), countItems(a)) }
	return a, nil
}

// otherForms returns g with a charset, in chunks, in gzip, and in both.
func otherForms(g conformance.GoodRequest) []conformance.GoodRequest {
	forms := []conformance.GoodRequest{g, g, g, g}
	forms[0].Header = conformance.JSONType("; charset=utf-8")
	forms[1].Chunked = true
	forms[2].Gzip = true
	forms[3].Gzip, forms[3].Chunked = true, true
	return forms
}

func countItems(a conformance.App) (n int) {
	for _, g := range a.GoodRequests {
		n += g.Items
	}
	return n
}

func postBody(body string) conformance.Request {
	return conformance.Request{Method: "POST", Path: "/", Header: conformance.JSONType(""), Body: []byte(body)}
}

// goodBatch returns a batch that must be accepted. All encoders write the fixture's metadata like
// encoding/json.
func goodBatch(body []byte, n int) conformance.GoodRequest {
	var records []ingest.Record
	err := json.Unmarshal(body, &records)
	want := ingest.Receipt{Accepted: n}
	for i := range records {
		metadata, marshalErr := json.Marshal(records[i].Metadata)
		want.Bytes += int64(len(metadata))
		err = errors.Join(err, marshalErr)
	}
	return conformance.GoodRequest{Request: postBody(string(body)), Items: n, CheckResponse: func(got conformance.Response) error {
		if err != nil {
			return err
		}
		return conformance.HasJSON(want)(got)
	}}
}

func indentJSON(body []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, body, "", "  ") // the fixture is valid JSON
	return b.Bytes()
}

// testRecord returns a valid record with replacements, pairs of old and new text.
func testRecord(oldnew ...string) string {
	const valid = `{"id":"a","timestamp":"2026-03-01T12:00:00Z","metadata":{"name":"u","age":1,"latitude":0.5,"isActive":true}}`
	return strings.NewReplacer(oldnew...).Replace(valid)
}

func badBatch(code, body string) conformance.Probe {
	return conformance.Probe{Request: postBody(body), Status: 400, Code: code}
}

// wantMessage returns a malformed body, with message in the response.
func wantMessage(body, message string) conformance.Probe {
	p := badBatch("malformed", body)
	p.CheckResponse = func(got conformance.Response) error {
		if !strings.Contains(string(got.Body), message) {
			return fmt.Errorf("%s does not say %q", got.Body, message)
		}
		return nil
	}
	return p
}

func acceptedBatch(body string, n int) conformance.Probe {
	return conformance.Probe{Request: postBody(body), Status: 200, CheckResponse: func(got conformance.Response) error {
		var r ingest.Receipt
		if err := json.Unmarshal(got.Body, &r); err != nil || r.Accepted != n || r.Bytes <= 0 {
			return errors.Join(err, fmt.Errorf("%s: want %d accepted", got.Body, n))
		}
		return nil
	}}
}

// errorProbes returns the probes of a server with default settings. Most get an error response.
func errorProbes(batches map[int][]byte) []conformance.Probe {
	list := slices.Concat(bodyProbes(), recordProbes(batches), headProbes())
	for _, body := range []string{
		"[" + testRecord() + "]", // plain JSON
		"\x1f\x8b\x08\x00",       // the start of gzip
	} {
		request := postBody(body)
		request.Header = append(request.Header, [2]string{"Content-Encoding", "gzip"})
		list = append(list, conformance.Probe{Request: request, Status: 400, Code: "malformed"})
	}
	return list
}

const recordTime = `"2026-03-01T12:00:00Z"` // timestamp of testRecord

func bodyProbes() []conformance.Probe {
	return []conformance.Probe{
		acceptedBatch("["+testRecord()+"]", 1),
		acceptedBatch("["+testRecord(`"id"`, `"later":{"x":[1,null]},"id"`, `"name"`, `"other":true,"name"`)+"]", 1), // unknown fields
		acceptedBatch("["+testRecord(`,"metadata"`, `, "metadata"`)+"]\n", 1),
		acceptedBatch("["+testRecord()+","+testRecord(`"a"`, `"b"`)+"]", 2),
		acceptedBatch("["+testRecord(recordTime, `1.46e9`)+"]", 1),

		// No array of records.
		badBatch("malformed", ""),
		badBatch("malformed", "{"),
		badBatch("malformed", "[{]"),
		badBatch("malformed", "["+testRecord()),
		badBatch("malformed", "no JSON"),
		badBatch("malformed", testRecord()),
		badBatch("malformed", `"text"`),
		badBatch("malformed", "7"),
		badBatch("malformed", `["a","b"]`),
		badBatch("malformed", "["+testRecord(`0.5`, `half`)+"]"),
		badBatch("", "null"),

		// Values of another type, which the message describes.
		wantMessage("["+testRecord(`"a"`, `7`)+"]", "record 1 of 1: id is a number; expected is a text"),
		wantMessage("["+testRecord(`2026-03-01T12:00:00Z`, `yesterday`)+"]", `record 1 of 1: timestamp is \"yesterday\"; expected is a number of seconds since 1970`),
		wantMessage("["+testRecord()+","+testRecord(recordTime, `true`)+"]", "record 2 of 2: timestamp is true; expected is a number of seconds"),
		wantMessage("["+testRecord(recordTime, `1e30`)+"]", "timestamp is 1e30; expected is a number of seconds"),
		wantMessage("["+testRecord(`"metadata":{`, `"metadata":["a"],"more":{`)+"]", `metadata is [\"a\"]; expected is an object`),
		wantMessage("["+testRecord()+",  7]", "record 2 of 2: it is a number; expected is an object; the record begins at byte"),
	}
}

// recordProbes returns batches with wrong numbers of records, or with invalid records.
func recordProbes(batches map[int][]byte) []conformance.Probe {
	return []conformance.Probe{
		badBatch("batch", "[]"),
		badBatch("batch", string(batches[11])),
		badBatch("record", "[{}]"),
		badBatch("record", "["+testRecord(`"id":"a",`, ``)+"]"),
		badBatch("record", "["+testRecord(`"a"`, `""`)+"]"),
		badBatch("record", "["+testRecord()+","+testRecord(`"id":"a",`, ``)+"]"),
		badBatch("record", "["+testRecord(`"timestamp":`+recordTime+`,`, ``)+"]"),
		badBatch("record", "["+testRecord(recordTime, `1460616245000`)+"]"), // milliseconds
		badBatch("record", "["+testRecord(`"metadata":{`, `"more":{`)+"]"),
		badBatch("record", "["+testRecord(`"metadata":{`, `"metadata":null,"more":{`)+"]"),
	}
}

func headProbes() []conformance.Probe {
	badType := func(header ...[2]string) conformance.Probe {
		request := postBody("[" + testRecord() + "]")
		request.Header = header
		return conformance.Probe{Request: request, Status: 415}
	}
	return []conformance.Probe{
		badType(),
		badType([2]string{"Content-Type", "text/plain"}),
		badType([2]string{"Content-Type", "application/jsonp"}),
		badType([2]string{"Content-Type", "application/json; charset=latin1"}),
		badType(append(conformance.JSONType(""), [2]string{"Content-Encoding", "br"})...),

		conformance.WrongMethod("GET", "/", "POST"),
		conformance.WrongMethod("PUT", "/", "POST"),
		conformance.WrongMethod("DELETE", "/", "POST"),
		conformance.WrongMethod("PATCH", "/", "POST"),
		conformance.WrongMethod("POST", "/health", "GET"),
		conformance.WrongMethod("DELETE", "/metrics", "GET"),
		conformance.WrongMethod("PUT", "/openapi.json", "GET"),

		{Request: conformance.Get("/nothing"), Status: 404},
		{Request: conformance.Get("/health/more"), Status: 404},
		{Request: conformance.Get("/v1/id/7"), Status: 404},
		{Request: conformance.Request{Method: "POST", Path: "/nothing", Header: conformance.JSONType(""), Body: []byte("[]")}, Status: 404},
		{Request: conformance.Get("/metrics"), Status: 200, Header: map[string]string{"Content-Type": "text/plain"}},
	}
}

// limitProbes returns the probes of a server with limits of two records and 64 KiB. An id is always limited to
// 1 KiB.
func limitProbes(batches map[int][]byte) []conformance.Probe {
	const maxBody = 64 << 10
	bodyOfSize := func(n int) string {
		body := "[" + testRecord(`"u"`, `"#"`) + "]"
		return strings.Replace(body, "#", strings.Repeat("x", n-len(body)+1), 1)
	}
	tooLong := conformance.Probe{Request: postBody(bodyOfSize(maxBody + 1)), Status: 413}
	list := []conformance.Probe{
		{Request: postBody("[" + testRecord() + "," + testRecord() + "]"), Status: 200},
		{Request: postBody("[" + testRecord() + "," + testRecord() + "," + testRecord() + "]"), Status: 400, Code: "batch"},
		{Request: postBody(string(batches[10])), Status: 400, Code: "batch"},
		{Request: postBody(bodyOfSize(maxBody)), Status: 200},
		{Request: postBody("[" + testRecord(`"a"`, strconv.Quote(strings.Repeat("x", 1024))) + "]"), Status: 200},
		{Request: postBody("[" + testRecord(`"a"`, strconv.Quote(strings.Repeat("x", 1025))) + "]"), Status: 400, Code: "record"},
		tooLong,
	}
	// A server may close the connection during 10 MiB, and the client then gets no response. So this body is
	// only sent compressed.
	for _, size := range []int{maxBody + 1, 10 << 20} {
		for _, form := range []struct{ chunked, gzip bool }{
			{chunked: true},
			{gzip: true},
			{chunked: true, gzip: true},
		} {
			if size > maxBody+1 && !form.gzip {
				continue
			}
			p := tooLong
			p.Body = []byte(bodyOfSize(size))
			p.Chunked, p.Gzip = form.chunked, form.gzip
			list = append(list, p)
		}
	}
	return list
}

// tokenProbes returns the probes of a server with the token "open sesame".
func tokenProbes(body []byte) []conformance.Probe {
	authorize := func(status int, authorization ...string) conformance.Probe {
		request := postBody(string(body))
		for _, value := range authorization {
			request.Header = append(request.Header, [2]string{"Authorization", value})
		}
		p := conformance.Probe{Request: request, Status: status}
		if status == 401 {
			p.Header = map[string]string{"WWW-Authenticate": "Bearer"}
		}
		return p
	}
	return []conformance.Probe{
		authorize(200, "Bearer open sesame"),
		authorize(401), // no header
		authorize(401, "Bearer"),
		authorize(401, "Bearer open"),
		authorize(401, "Basic open sesame"),
		authorize(401, "open sesame"),
		authorize(401, "Bearer open sesame!"),
		{Request: conformance.Get("/health"), Status: 200},
	}
}

// checkLines checks that a file has n complete records.
func checkLines(path string, n int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	complete := len(lines) - 1
	incomplete := lines[complete] // text after the last line end
	if len(incomplete) != 0 || complete != n {
		return fmt.Errorf("%d lines are stored and %d bytes more, acknowledged were %d", complete, len(incomplete), n)
	}
	for _, line := range lines[:n] {
		var r ingest.Record
		err := json.Unmarshal(line, &r)
		hasAll := r.ID != "" && !r.Timestamp.IsZero() && r.Metadata != (ingest.Metadata{})
		if err != nil || !hasAll {
			return errors.Join(err, fmt.Errorf("a line that is no record: %.100s", line))
		}
	}
	return nil
}

// checkSink checks that acknowledged events are in the sink's file. Servers that are wrong on purpose, or do a
// part, need not store them.
func checkSink(e conformance.Env) error {
	path := filepath.Join(e.Dir, "sink.ndjson")
	addr, err := e.StartServer(map[string]string{serving.SetSink: "file:" + path})
	if err != nil {
		return err
	}
	sent, err := e.SendAll(addr)
	if err != nil || e.WrongOnPurpose || e.IsStatusOnly() {
		return err
	}
	if err := checkLines(path, int(sent.Items)); err != nil {
		return err
	}
	return e.CheckCounts(sent, false)
}
