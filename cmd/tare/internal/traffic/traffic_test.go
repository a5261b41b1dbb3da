package traffic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

const at = "[10/Oct/2000:13:55:36 -0700]"

// lines is a feed in words, one request a line.
func lines(f *Feed) string {
	var out []string
	for i, q := range f.Requests {
		text := q.Method + " " + q.Path
		for _, h := range q.Header {
			text += " " + h[0] + "=" + h[1]
		}
		if len(q.Body) > 0 {
			text += " " + string(q.Body)
		}
		if f.Times != nil {
			text += " " + f.Times[i].String()
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func TestAccessLog(t *testing.T) {
	src := `127.0.0.1 - frank [10/Oct/2000:13:55:38 -0700] "GET /c HTTP/1.0" 200 2326
::1 - - ` + at + ` "GET /a?b=1&c=%20 HTTP/1.1" 200 2326 "http://x/?q=\"1\"" "Mozilla/5.0 (X11)"

10.0.0.1 - - ` + at + ` "POST http://other.example/p HTTP/2.0" 201 -
10.0.0.1 - - ` + at + ` "\x16\x03\x01" 400 0
nonsense
10.0.0.1 - - [yesterday] "GET / HTTP/1.1" 200 1
10.0.0.1 - - ` + at + ` "GET / HTTP/1.1"
10.0.0.1 - - ` + at + ` "CONNECT a:1 HTTP/1.1" 200 1
10.0.0.1 - - ` + at + ` "GET /last HTTP/1.1" 304 0`
	f, err := Read(AccessLog, "a", strings.NewReader(src), false)
	want := "GET /a?b=1&c=%20 0s\nPOST /p 333.333333ms\nGET /last 666.666666ms\nGET /c 2s"
	got := lines(f)
	if err != nil || f.Lost != 5 || len(f.Broken) != 5 || !strings.HasPrefix(f.Broken[0].In("-"), "stdin:5: ") || !strings.HasPrefix(f.Broken[1].In("a.log"), "a.log:6: not host ident") {
		t.Errorf("%v, %d: %q", err, f.Lost, f.Broken)
	}
	// The three of the same second follow a gap in the file, each in its order.
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestHAR(t *testing.T) {
	entry := func(at, rest string) string {
		return `{"startedDateTime":"` + at + `","time":1,"request":{"method":"POST","url":"https://shop.example/a?b=1#c",` + rest + `"httpVersion":"h2"},"response":{"status":200}}`
	}
	src := `{"other":{"log":[1]},"log":{"version":"1.2","pages":[{}],"entries":[` + strings.Join([]string{
		entry("2024-01-01T00:00:01.500Z", `"headers":[{"name":":method","value":"POST"},{"name":"Cookie","value":"s=1"},{"name":"Authorization","value":"x"},{"name":"Host","value":"y"},{"name":"Accept","value":"*/*"}],"postData":{"text":"hello"},`),
		entry("2024-01-01T00:00:01Z", `"postData":{"text":"aGk=","encoding":"base64"},`),
		entry("never", ""), `7`, entry("2024-01-01T00:00:02Z", `"headers":[{"name":"A b","value":"c"}],`), entry("2024-01-01T00:00:02Z", ""),
	}, ",") + `]}}`
	for secrets, header := range map[bool]string{false: " Accept=*/*", true: " Cookie=s=1 Authorization=x Accept=*/*"} {
		f, err := Read(HAR, "a", strings.NewReader(src), secrets)
		if f.Times != nil || f.Untimed() != 1 || len(f.Requests) != 5 || !strings.HasPrefix(lines(f), "POST /a?b=1"+header+" hello\n") {
			t.Errorf("one without a time: %v\n%s", f.Times, lines(f))
		}
		f.RequireTimes()
		want := "POST /a?b=1 hi 0s\nPOST /a?b=1" + header + " hello 500ms\nPOST /a?b=1 1s\nPOST /a?b=1 1s"
		if err != nil || lines(f) != want || f.Lost != 2 || f.Nameless != 1 || f.Secrets != map[bool]int{false: 2}[secrets] {
			t.Errorf("%v, %d lost %q, %d secrets\n%s\nwant\n%s", err, f.Lost, f.Broken, f.Secrets, lines(f), want)
		}
	}
	f, err := Read(HAR, "a", strings.NewReader(src[:strings.Index(src, `"never"`)]), false)
	if err != nil || len(f.Requests) != 2 || f.Lost != 1 {
		t.Errorf("cut off: %v, %d requests, %q", err, len(f.Requests), f.Broken)
	}
	for _, src := range []string{"", "[]", "{}", `{"log":{}}`, `{"log":{"entries":{}}}`, `{"log":7}`} {
		if _, err := Read(HAR, "a", strings.NewReader(src), false); err == nil {
			t.Errorf("%q is an archive", src)
		}
	}
}

// No value with a secret name is sent without --with-secrets, wherever a recording has it.
func TestSecretsAreHeldBack(t *testing.T) {
	entry := func(url, headers, kind, text string) string {
		return fmt.Sprintf(`{"startedDateTime":"2024-01-01T00:00:01Z","request":{"method":"POST","url":%q,"headers":[%s],"postData":{"mimeType":%q,"text":%q}}}`, url, headers, kind, text)
	}
	har := `{"log":{"entries":[` + strings.Join([]string{
		entry("https://shop.example/a?access_token=CANARY&b=1", `{"name":"X-Amz-Security-Token","value":"CANARY"},{"name":"X-Goog-Api-Key","value":"CANARY"},{"name":"PRIVATE-TOKEN","value":"CANARY"},{"name":"Referer","value":"https://x/?api_key=CANARY"}`, "", ""),
		entry("https://u:CANARY@shop.example/login", "", "application/x-www-form-urlencoded", "user=a&password=CANARY"),
		entry("https://shop.example/login", "", "application/json", `{"user":"a","password":"CANARY","client":{"client_secret":"CANARY"}}`),
	}, ",") + `]}}`
	log := "h - - " + at + ` "GET /a?b=1&X-Amz-Signature=CANARY HTTP/1.1" 200 1`
	api := "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: api_key, in: query, example: CANARY}, {name: X-Vault-Token, in: header, example: CANARY}, {name: b, in: query, example: 1}]}}}"
	for _, c := range []struct {
		kind    Kind
		src     string
		want    string
		secrets int
	}{
		{HAR, har, "POST /a?b=1 Referer=https://x/ 0s\nPOST /login user=a&password= 0s\nPOST /login {\"user\":\"a\",\"password\":\"\",\"client\":{\"client_secret\":\"\"}} 0s", 8},
		{AccessLog, log, "GET /a?b=1 0s", 1},
		{OpenAPI, api, "GET /a?b=1", 2},
	} {
		f, err := Read(c.kind, "a.yaml", strings.NewReader(c.src), false)
		if err != nil || lines(f) != c.want || f.Secrets != c.secrets {
			t.Errorf("%v, %d held back\n%s\nwant %d\n%s", err, f.Secrets, lines(f), c.secrets, c.want)
		}
		f, err = Read(c.kind, "a.yaml", strings.NewReader(c.src), true)
		if n := strings.Count(lines(f), "CANARY"); err != nil || n != c.secrets || f.Secrets != 0 {
			t.Errorf("with secrets: %v, %d of %d are sent, %d held back\n%s", err, n, c.secrets, f.Secrets, lines(f))
		}
	}
}

func TestOpenAPI(t *testing.T) {
	src := `openapi: 3.0.3
servers: [{url: "https://shop.example/v1/"}]
components:
  parameters:
    id: {name: id, in: path, required: true, schema: {type: string, example: a b}}
  schemas:
    Item: {type: object, example: {name: x, count: 2}}
paths:
  /items/{id}:
    parameters: [{$ref: "#/components/parameters/id"}]
    get:
      parameters: [{name: q, in: query, schema: {type: integer, default: 3}}, {name: X-Kind, in: header, example: k}, {name: none, in: query, schema: {type: string}}]
    put:
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Item"}}}}
  /notes:
    post:
      requestBody: {content: {text/plain: {examples: {one: {value: hello}}}}}
    delete:
      requestBody: {required: true, content: {application/json: {schema: {type: object}}}}
  /users/{user}:
    get: {}
`
	f, err := Read(OpenAPI, "a.yaml", strings.NewReader(src), false)
	want := `GET /v1/items/a%20b?q=3 X-Kind=k
PUT /v1/items/a%20b Content-Type=application/json {"name":"x","count":2}
POST /v1/notes Content-Type=text/plain hello`
	if err != nil || lines(f) != want || f.Lost != 2 || f.Broken[0].In("a.yaml") != "a.yaml:15: DELETE /v1/notes: no example of the body" || f.Broken[1].In("a.yaml") != "a.yaml:20: GET /v1/users/{user}: no example of user" {
		t.Errorf("%v, %q\n%s\nwant\n%s", err, f.Broken, lines(f), want)
	}
	f, err = Read(OpenAPI, "a.yaml", strings.NewReader("openapi: 3.0.0\npaths: {/a: {get: {$ref: b.yaml}, put: 1}, /b: {$ref: c.yaml}, /c: {get: {}}}"), false)
	if text := fmt.Sprint(f.Broken); err != nil || lines(f) != "GET /c" || text != "[{2  /b: its $ref (c.yaml) is in another document, and only this one is read} {2  GET /a: its $ref (b.yaml) is in another document, and only this one is read} {2  PUT /a: the operation is a single value, not a mapping}]" {
		t.Errorf("%v\n%s\n%s", err, lines(f), text)
	}
	f, err = Read(OpenAPI, "a.yaml", strings.NewReader("openapi: 3.0.0\npaths: {'/{"+strings.Repeat("x", 500)+"': {get: {}}}"), false)
	if err != nil || f.Lost != 1 || !strings.HasSuffix(f.Broken[0].Why, "…: its path does not close a brace") {
		t.Errorf("%v %q", err, f.Broken)
	}
	for _, src := range []string{"", "a: [", "swagger: 2.0\npaths: {/a: {}}", "openapi: 3.0.0", "openapi: 3.0.0\npaths: {/a: {get: {$ref: '#/paths/~1a/get'}}}"} {
		if f, err := Read(OpenAPI, "a.yaml", strings.NewReader(src), false); err == nil && len(f.Requests) > 0 {
			t.Errorf("%q has requests", src)
		}
	}
}

// A description may refer to itself, and repeat an anchor any number of times: it makes
// no more requests, and no longer ones, than are kept.
func TestHostileDescription(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many large documents")
	}
	const of = "openapi: 3.0.0\npaths: {/a: {post: {parameters: [%s], requestBody: {content: {application/json: {%s}}}}}}\n"
	laughs := "x0: &x0 [ha, ha]\n"
	for i := range 60 {
		laughs += fmt.Sprintf("x%d: &x%d [*x%d, *x%d]\n", i+1, i+1, i, i)
	}
	circle := "components: {x: {schema: {$ref: '#/components/x'}}}\n"
	long := "long: &long " + strings.Repeat("y", (16<<20)/4) + "\n"
	keys := ""
	for i := range 5000 {
		keys += fmt.Sprintf("k%d: 1, ", i)
	}
	for name, c := range map[string]struct{ src, want string }{
		"a schema of itself":       {circle + fmt.Sprintf(of, "{name: q, in: query, schema: {$ref: '#/components/x'}}", "schema: {$ref: '#/components/x'}"), ""},
		"a parameter of anchors":   {laughs + fmt.Sprintf(of, "{name: q, in: query, example: *x60}", ""), "POST /a: an example of more than 16777216 bytes of q"},
		"a body of anchors":        {laughs + fmt.Sprintf(of, "", "example: *x60"), "POST /a: an example of more than 16777216 bytes of the body"},
		"a path of one example":    {long + fmt.Sprintf(strings.Replace(of, "/a", "'/"+strings.Repeat("{q}", 100)+"'", 1), "{name: q, in: path, example: *long}", ""), "the example of q makes a path of more than 1048576 bytes"},
		"one header many times":    {long + fmt.Sprintf(of, numbered("{name: X%d, in: header, example: *long }", 20), ""), "longer than 67108864 bytes"},
		"one parameter many times": {long + fmt.Sprintf(of, numbered("{name: X%d, in: query, example: *long }", 300), ""), "makes a request of more than 67108864 bytes"},
		"paths of many examples":   {"long: &long '" + strings.Repeat("%", 300000) + "'\n" + fmt.Sprintf(strings.Replace(of, "/a", "'/{p}{q}'", 1), "{name: p, in: path, example: *long }, {name: q, in: path, example: *long }", ""), "the example of q makes a path of more than 1048576 bytes"},
		"references that are long": {"x: &p {$ref: '#" + strings.Repeat("/x", 5000) + "'}\n" + fmt.Sprintf(of, "*p", ""), "is longer than 4096 bytes"},
		"merges":                   {"x: &x {" + keys + "}\ny: [" + strings.TrimSuffix(strings.Repeat("{<<: *x }, ", 5000), ", ") + "]\n" + fmt.Sprintf(of, "", ""), "more than 1000000 fields are merged; merge fewer, or write them out"},
		"brackets without an end":  {"openapi: 3.0.0\npaths: " + strings.Repeat("[", 30000), "a.yaml:2:1007: nested too deeply; write fewer levels"},
	} {
		f, err := Read(OpenAPI, "a.yaml", strings.NewReader(c.src), false)
		got := fmt.Sprint(err)
		if err == nil && len(f.Broken) > 0 {
			got = f.Broken[0].In("a.yaml")
		}
		if c.want == "" && (err != nil || len(f.Requests) != 1) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d requests, %s, want %q", name, len(f.Requests), format.Line(got, 300), c.want)
		}
	}
	many := long + "openapi: 3.0.0\npaths:\n"
	for i := range 100 {
		many += fmt.Sprintf("  /%d: {post: {requestBody: {content: {text/plain: {example: *long}}}}}\n", i)
	}
	if f, err := Read(OpenAPI, "a.yaml", strings.NewReader(many), false); err != nil || !f.More || len(f.Requests) != 64 {
		t.Errorf("%v, %d requests of 4 MiB are kept, more: %v", err, len(f.Requests), f.More)
	}
	// What cannot be sent is not kept, but was read: three examples of 4 MiB each.
	many = long + "openapi: 3.0.0\npaths:\n"
	for i := range 100 {
		many += fmt.Sprintf("  /%d: {post: {parameters: [%s{name: z, in: header, required: true}]}}\n", i, numbered("{name: x%d, in: query, example: *long }", 3)+", ")
	}
	if f, err := Read(OpenAPI, "a.yaml", strings.NewReader(many), false); err != nil || !f.More || len(f.Requests) != 0 || f.Lost != 86 {
		t.Errorf("%v, %d requests are kept, %d are broken, more: %v", err, len(f.Requests), f.Lost, f.More)
	}
}

// numbered repeats a text n times, each with its number, and commas between.
func numbered(text string, n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(text, i))
	}
	return strings.Join(out, ", ")
}

// endless is a file of so many bytes, made of one text over and over.
func endless(begin, text string, bytes int64) io.Reader {
	return io.LimitReader(io.MultiReader(strings.NewReader(begin), &over{text: text}), bytes)
}

type over struct {
	text string
	n    int
}

func (o *over) Read(b []byte) (int, error) {
	n := copy(b, o.text[o.n:])
	o.n = (o.n + n) % len(o.text)
	return n, nil
}

// A hundred megabytes (with TARE_SOAK, else sixteen) take no more memory than what is
// kept, and what is broken is named ten times and then counted.
func TestLargeFiles(t *testing.T) {
	size := int64(16 << 20)
	if os.Getenv("TARE_SOAK") != "" {
		size = 100 << 20
	}
	for name, c := range map[string]struct {
		kind   Kind
		r      io.Reader
		broken bool
	}{
		"log":            {AccessLog, endless("", `1.2.3.4 - - `+at+` "GET /path/of/some/length HTTP/1.1" 200 1 "-" "Mozilla/5.0"`+"\n", size), false},
		"broken log":     {AccessLog, endless("", "nothing that could be a request\n", size), true},
		"one line":       {AccessLog, endless(`1.2.3.4 - - `+at+` "GET / HTTP/1.1" 200 1 "`, "x", size), true},
		"archive":        {HAR, endless(`{"log":{"entries":[`, `{"startedDateTime":"2024-01-01T00:00:01Z","request":{"method":"GET","url":"http://x/a","headers":[]},"response":{"content":{"text":"`+strings.Repeat("y", 1000)+`"}}},`, size), false},
		"broken archive": {HAR, endless(`{"log":{"entries":[`, `{"startedDateTime":"x"},`, size), true},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, err := Read(c.kind, "a", c.r, false)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err != nil || len(f.Broken) > maxBroken || c.broken != (f.Lost > 0 && len(f.Requests) == 0) || (name == "log") != f.More {
			t.Errorf("%s: %v, %d requests, %d lost, %d named", name, err, len(f.Requests), f.Lost, len(f.Broken))
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
			t.Errorf("%s: %d bytes are kept", name, grown)
		}
		runtime.KeepAlive(f)
	}
}

// What is kept has a bound in bytes, too, and so has an entry of an archive.
// A time that no recording has does not move the others.
func TestTimesFarApart(t *testing.T) {
	times := []string{"0001-01-01T00:00:00Z", "2026-03-01T12:00:01Z", "0001-01-01T00:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T12:00:03Z", "9999-12-31T23:59:59Z"}
	var entries []string
	for _, at := range times {
		entries = append(entries, `{"startedDateTime":"`+at+`","request":{"method":"GET","url":"http://x.example/","headers":[]}}`)
	}
	f, err := Read(HAR, "a.har", strings.NewReader(`{"log":{"entries":[`+strings.Join(entries, ",")+`]}}`), false)
	if err != nil || len(f.Requests) != 6 || f.Times != nil || f.Lost != 0 {
		t.Fatalf("%v, %d requests, %v, %q", err, len(f.Requests), f.Times, f.Broken)
	}
	f.RequireTimes()
	if want := []time.Duration{0, time.Second, 3 * time.Second}; !slices.Equal(f.Times, want) || f.Lost != 3 {
		t.Errorf("%v, want %v; %q", f.Times, want, f.Broken)
	}
	line := `::1 - - [%s] "GET / HTTP/1.1" 200 5` + "\n"
	f, err = Read(AccessLog, "a", strings.NewReader(fmt.Sprintf(line, "01/Mar/2026:12:00:00 +0000")+fmt.Sprintf(line, "01/Jan/0001:00:00:00 +0000")), false)
	if f.RequireTimes(); err != nil || len(f.Times) != 1 || f.Lost != 1 || f.Broken[0].Line != 2 {
		t.Errorf("log: %v, %v, %q", err, f.Times, f.Broken)
	}
}

func TestBounds(t *testing.T) {
	log := strings.Repeat(`1.2.3.4 - - `+at+` "GET /`+strings.Repeat("x", 300)+`%d HTTP/1.1" 200 1`+"\n", 10)
	for i := range 10 {
		log = strings.Replace(log, "%d", fmt.Sprint(i), 1)
	}
	f := &Feed{size: maxBytes - 1000}
	if err := f.readLog(strings.NewReader(log)); err != nil || len(f.Requests) != 4 || !f.More {
		t.Errorf("%v, %d requests are kept, more: %v", err, len(f.Requests), f.More)
	}
	entry := func(rest string) string {
		return `{"startedDateTime":"2024-01-01T00:00:01Z","request":{"method":"POST","url":"http://x/a","postData":{"text":"` + rest + `"}}}`
	}
	archive := `{"log":{"entries":[` + strings.Repeat(entry(strings.Repeat("x", 300))+",", 9) + entry("") + `]}}`
	f = &Feed{size: maxBytes - 1000}
	if err := f.readHAR(&boundedReader{r: strings.NewReader(archive), limit: maxEntry}); err != nil || len(f.Requests) != 4 || !f.More {
		t.Errorf("%v, %d requests are kept, more: %v", err, len(f.Requests), f.More)
	}
	f = &Feed{}
	if err := f.readHAR(&boundedReader{r: strings.NewReader(archive), limit: 512}); err != nil || len(f.Requests) != 10 || f.Lost != 0 {
		t.Errorf("%v, %d requests, %q", err, len(f.Requests), f.Broken)
	}
	broken := errors.New("broken")
	for at := range archive {
		f = &Feed{}
		if err := f.readHAR(&boundedReader{r: io.MultiReader(strings.NewReader(archive[:at]), iotest.ErrReader(broken)), limit: maxEntry}); !errors.Is(err, broken) && len(f.Requests) < 10 {
			t.Fatalf("a read error after %d bytes: %v, %d requests, %q", at, err, len(f.Requests), f.Broken)
		}
	}
	long := strings.Replace(archive, "xxx", strings.Repeat("y", 1000), 1)
	f = &Feed{}
	if err := f.readHAR(&boundedReader{r: strings.NewReader(long), limit: 512}); err != nil || len(f.Requests) != 0 || len(f.Broken) != 1 || f.Broken[0].In("a.har") != "a.har: entry 1: longer than 512 bytes; nothing after it can be read" {
		t.Errorf("%v, %d requests, %q", err, len(f.Requests), f.Broken)
	}
	if err := new(Feed).readHAR(&boundedReader{r: strings.NewReader(`{"log":{"comment":"` + strings.Repeat("z", 1000) + `"`), limit: 512}); err == nil || err.Error() != "longer than 512 bytes" {
		t.Errorf("what stands before the entries: %v", err)
	}
	f = &Feed{}
	if err := f.readHAR(&boundedReader{r: strings.NewReader(archive[:len(archive)-3]), limit: maxEntry}); err != nil || len(f.Broken) != 1 || f.Broken[0].In("a.har") != "a.har: entry 11: the file ends before it" {
		t.Errorf("%v, %q", err, f.Broken)
	}
}

func TestRecorded(t *testing.T) {
	r := Recorded{At: []time.Duration{0, time.Second, time.Second, 4 * time.Second}, Speed: 2}
	next := r.Times(1)
	var got []time.Duration
	for range 5 {
		got = append(got, next())
	}
	if text := fmt.Sprint(got[:4]); text != "[0s 500ms 500ms 2s]" || got[4] < time.Hour {
		t.Error(got)
	}
	if r.Mean(time.Second) != 3 || r.Mean(0) != 0 || r.Length() != 2*time.Second+time.Millisecond || r.String() != "as recorded, ×2" || (Recorded{}).Length() != 0 {
		t.Error(r.Mean(time.Second), r.Length(), r)
	}
	var _ load.Profile = r
}

func FuzzTraffic(f *testing.F) {
	f.Add(byte(AccessLog), []byte(`1.2.3.4 - - `+at+` "GET / HTTP/1.1" 200 1`))
	f.Add(byte(HAR), []byte(`{"log":{"entries":[{"startedDateTime":"2024-01-01T00:00:01Z","request":{"method":"GET","url":"/"}}]}}`))
	f.Add(byte(OpenAPI), []byte("openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: b, in: query, example: 1}]}}}"))
	f.Fuzz(func(t *testing.T, kind byte, src []byte) {
		feed, err := Read(Kind(kind%6), "a", bytes.NewReader(src), false)
		if err != nil {
			return
		}
		for _, q := range feed.Requests {
			if q.Method == "" && feed.Kind == Lines {
				q.Method = "GET"
			}
			if err := load.CheckRequest(q); err != nil {
				t.Fatal(err)
			}
		}
		for i := 1; i < len(feed.Times); i++ {
			if feed.Times[i] < feed.Times[i-1] {
				t.Fatal("times that go back")
			}
		}
		if len(feed.Broken) > maxBroken || feed.Lost < len(feed.Broken) {
			t.Fatal(len(feed.Broken), feed.Lost)
		}
	})
}
