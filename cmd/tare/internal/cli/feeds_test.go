package cli_test

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/machine"
)

// recording is what this file's own reader, which shares no code with tare, finds in a
// recording. It reads the text as a whole, by regular expressions and untyped JSON.
type recording struct {
	sent  []recorded
	other int // entries that cannot be sent, or are no request
}

type recorded struct {
	method, target string
	header         map[string]string // lower case; nil: not compared
	body           string
	form           map[string]string // of a multipart body, instead of it
}

func (r recorded) String() string {
	text := r.method + " " + r.target
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		text += "\n  " + name + ": " + r.header[name]
	}
	for _, name := range slices.Sorted(maps.Keys(r.form)) {
		text += fmt.Sprintf("\n  %s=%q", name, r.form[name])
	}
	if r.form == nil && r.body != "" {
		text += fmt.Sprintf("\n  %q", r.body)
	}
	return text
}

var (
	logged     = regexp.MustCompile(`^(?:|.* )\[\d{2}/\w{3}/\d{4}(?::\d{2}){3} [-+]\d{4}\] "((?:[^"\\]|\\.)*)" (\d{3}) +\S+`)
	logLike    = regexp.MustCompile(`\[\d{2}/\w{3}/\d{4}(?::\d{2}){3} [-+]\d{4}\] "`)
	escaped    = regexp.MustCompile(`\\(x[0-9A-Fa-f]{2}|.?)`)
	requested  = regexp.MustCompile(`(?s)^([!#$%&'*+.^_|~0-9A-Za-z` + "`" + `-]+) ([^ ]+) HTTP/[^ ]*$`)
	absolute   = regexp.MustCompile(`^(?i:https?)://[^/?#]*`)
	hopByHop   = regexp.MustCompile(`^(:.*|host|content-length|connection|keep-alive|transfer-encoding|upgrade|proxy-connection|te|expect|http2-settings)$`)
	controlled = regexp.MustCompile(`[\x00-\x20\x7f]`)
	tokenChars = regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")
)

// logRecording finds the requests of an access log.
func logRecording(text string) (r recording, ok bool) {
	if !logLike.MatchString(text) {
		return r, false
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		r.other++
		m := logged.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		bad := false
		request := escaped.ReplaceAllStringFunc(m[1], func(e string) string {
			plain, ok := map[string]string{`\"`: `"`, `\\`: `\`, `\n`: "\n", `\r`: "\r", `\t`: "\t", `\b`: "\b", `\v`: "\v", `\f`: "\f"}[e]
			if len(e) == 4 {
				n, _ := strconv.ParseUint(e[2:], 16, 8)
				return string([]byte{byte(n)})
			}
			bad = bad || !ok
			return plain
		})
		q := requested.FindStringSubmatch(request)
		if bad || q == nil || q[1] == "CONNECT" || controlled.MatchString(q[2]) {
			continue
		}
		target := q[2]
		if host := absolute.FindString(target); host != "" {
			if target = target[len(host):]; !strings.HasPrefix(target, "/") {
				target = "/" + target
			}
		}
		if target[0] != '/' && (target != "*" || q[1] != "OPTIONS") {
			continue
		}
		r.other--
		r.sent = append(r.sent, recorded{method: q[1], target: escapeBytes(target)})
	}
	return r, true
}

// escapeBytes percent-encodes what a request line cannot have.
func escapeBytes(target string) string {
	var out []byte
	for _, b := range []byte(target) {
		if b > 0x20 && b < 0x7f {
			out = append(out, b)
		} else {
			out = append(out, strings.ToUpper(fmt.Sprintf("%%%02x", b))...)
		}
	}
	return string(out)
}

// caddyRecording finds the requests of a log in which each line is an object of JSON with
// the message of Caddy.
func caddyRecording(text string) (r recording, ok bool) {
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		r.other++
		var e map[string]any
		if json.Unmarshal([]byte(line), &e) != nil || e["msg"] != "handled request" {
			continue
		}
		q, isObject := e["request"].(map[string]any)
		method, _ := q["method"].(string)
		target, _ := q["uri"].(string)
		if !isObject || !tokenChars.MatchString(method) || !strings.HasPrefix(target, "/") {
			continue
		}
		header := map[string]string{}
		all, _ := q["headers"].(map[string]any)
		for name, values := range all {
			for _, value := range values.([]any) {
				if value != "REDACTED" {
					addTo(header, name, value.(string))
				}
			}
		}
		r.other--
		r.sent = append(r.sent, recorded{method: method, target: escapeBytes(target), header: header})
	}
	return r, len(r.sent) > 0
}

func addTo(header map[string]string, name, value string) {
	name = strings.ToLower(name)
	if hopByHop.MatchString(name) {
		return
	}
	separator := ", "
	if name == "cookie" {
		separator = "; "
	}
	if before, again := header[name]; again {
		value = before + separator + value
	}
	header[name] = value
}

// harRecording finds the requests of an HTTP archive.
func harRecording(text string) (r recording, ok bool) {
	var doc struct {
		Log *struct{ Entries []map[string]any }
	}
	if json.Unmarshal([]byte(text), &doc) != nil || doc.Log == nil {
		return r, false
	}
	for _, e := range doc.Log.Entries {
		r.other++
		if q, ok := harRequest(e); ok {
			r.other--
			r.sent = append(r.sent, q)
		}
	}
	return r, true
}

// harRequest returns the request of an entry, and false if a browser sent none over HTTP,
// or the archive does not have all of it.
func harRequest(e map[string]any) (q recorded, ok bool) {
	in := func(v any, keys ...string) any {
		for _, key := range keys {
			o, _ := v.(map[string]any)
			v = o[key]
		}
		return v
	}
	text := func(v any, keys ...string) string { s, _ := in(v, keys...).(string); return s }
	address := text(e, "request", "url")
	failure := text(e, "response", "_error")
	cache := in(e, "_fromCache")
	switch {
	case !absolute.MatchString(address) && !strings.HasPrefix(address, "/"),
		text(e, "_resourceType") == "websocket", cache == true, cache != nil && cache != "" && cache != false,
		strings.HasSuffix(text(e, "_fetchType"), "Cache"),
		strings.HasPrefix(failure, "net::ERR_BLOCKED_BY_") && failure != "net::ERR_BLOCKED_BY_RESPONSE" && failure != "net::ERR_BLOCKED_BY_ORB":
		return q, false
	}
	q.method = text(e, "request", "method")
	q.target, _, _ = strings.Cut(absolute.ReplaceAllString(address, ""), "#")
	if !strings.HasPrefix(q.target, "/") {
		q.target = "/" + q.target
	}
	q.target = escapeBytes(q.target)
	if !tokenChars.MatchString(q.method) || q.method == "CONNECT" {
		return q, false
	}
	q.header = map[string]string{}
	headers, _ := in(e, "request", "headers").([]any)
	for _, h := range headers {
		name, value := text(h, "name"), text(h, "value")
		if strings.ContainsAny(value, "\r\n\x00") {
			return q, false
		}
		if !strings.HasPrefix(name, ":") && !tokenChars.MatchString(name) {
			return q, false
		}
		addTo(q.header, name, value)
	}
	if q.body = text(e, "request", "postData", "text"); text(e, "request", "postData", "encoding") == "base64" {
		plain, err := base64.StdEncoding.DecodeString(q.body)
		if err != nil {
			return q, false
		}
		q.body = string(plain)
	}
	params, _ := in(e, "request", "postData", "params").([]any)
	size, _ := in(e, "request", "bodySize").(float64)
	if q.body != "" || len(params) == 0 {
		return q, q.body != "" || size <= 0
	}
	kind := text(e, "request", "postData", "mimeType")
	if header := q.header["content-type"]; kind == "" || strings.HasPrefix(header, kind) {
		kind = header
	}
	if strings.HasPrefix(kind, "multipart/form-data") {
		q.form = map[string]string{}
	} else if kind != "" && !strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
		return q, false
	}
	var pairs []string
	for _, p := range params {
		value, known := in(p, "value").(string)
		if !known {
			return q, false
		}
		if q.form != nil {
			name := strings.NewReplacer(`"`, "%22").Replace(text(p, "name") + "|" + text(p, "fileName")) // as browsers do
			q.form[name+"|"+text(p, "contentType")] = value
		}
		pairs = append(pairs, url.QueryEscape(text(p, "name"))+"="+url.QueryEscape(value))
	}
	q.body = strings.Join(pairs, "&")
	if q.form != nil && !strings.Contains(kind, "boundary=") {
		delete(q.header, "content-type") // it is made
	}
	return q, true
}

// printed are the requests of a dry run that printed JSON. Bodies that are a form of
// several parts are read as such where want has one.
func printed(t *testing.T, out string) []recorded {
	t.Helper()
	var plan struct {
		Requests []struct {
			Method, Path string
			Header       map[string]string
			Body         []byte
		}
	}
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		t.Fatal(err)
	}
	var list []recorded
	for _, line := range plan.Requests {
		q := recorded{method: line.Method, target: line.Path, header: map[string]string{}, body: string(line.Body)}
		for _, name := range slices.Sorted(maps.Keys(line.Header)) {
			addTo(q.header, name, line.Header[name])
		}
		list = append(list, q)
	}
	return list
}

// asForm reads the body of q as a form of several parts.
func asForm(q recorded) recorded {
	_, options, err := mime.ParseMediaType(q.header["content-type"])
	if err != nil {
		return q
	}
	q.form = map[string]string{}
	parts := multipart.NewReader(strings.NewReader(q.body), options["boundary"])
	for {
		part, err := parts.NextPart()
		if err != nil {
			return q
		}
		value, _ := io.ReadAll(part)
		q.form[part.FormName()+"|"+part.FileName()+"|"+part.Header.Get("Content-Type")] = string(value)
	}
}

var (
	leftOut = regexp.MustCompile(`(?m); left out$`)
	andMore = regexp.MustCompile(`(?m)^and ([0-9,]+) more that cannot be sent$`)
	notSent = regexp.MustCompile(`(?m)^not sent, because they were no HTTP requests to a server: (.*)$`)
	counted = regexp.MustCompile(`(?:^|, )([0-9,]+) `)
)

// leftOutOf returns the number of entries that a dry run reported to have left out.
func leftOutOf(errors string) int {
	n := len(leftOut.FindAllString(errors, -1))
	sum := func(text string) {
		i, _ := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
		n += i
	}
	for _, m := range andMore.FindAllStringSubmatch(errors, -1) {
		sum(m[1])
	}
	for _, m := range notSent.FindAllStringSubmatch(errors, -1) {
		for _, c := range counted.FindAllStringSubmatch(m[1], -1) {
			sum(c[1])
		}
	}
	return n
}

// compareFeed compares what a dry run prints of a file with what recording finds in it. It
// returns "equal" with the number of requests and of entries left out, or "refused".
func compareFeed(t *testing.T, file string) string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := unpackFeed(src); err == nil {
		src = plain
	}
	text := strings.TrimPrefix(string(src), "\ufeff")
	want, ok := harRecording(text)
	if !ok {
		if want, ok = caddyRecording(text); !ok {
			want, ok = logRecording(text)
		}
	}
	c := loadWith(t, cmdenv.Lab{}, "--feed", file, "--dry-run", "--json", "--with-secrets", ":1")
	if c.code == cmdenv.ExitUsage {
		if lines := strings.Split(strings.TrimSpace(c.errors), "\n"); len(lines) != 1 || !strings.HasPrefix(c.out, `{"error":`) || len(lines[0]) < 20 {
			t.Errorf("%s: refused by %q", file, c.errors)
		}
		if len(want.sent) > 0 {
			t.Errorf("%s: has %d requests, but is refused: %s", file, len(want.sent), c.errors)
		}
		return "refused"
	}
	if c.code != cmdenv.ExitOK {
		t.Fatalf("%s: exit code %d: %s", file, c.code, c.errors)
	}
	if !ok {
		t.Errorf("%s: none of the formats, but printed is %.200s", file, c.out)
		return "differs"
	}
	got := printed(t, c.out)
	var a, b []string
	for _, q := range want.sent {
		a = append(a, q.String())
	}
	slices.Sort(a)
	for _, q := range got {
		for _, w := range want.sent {
			if w.method == q.method && w.target == q.target && w.form != nil {
				q = asForm(q)
				if w.header["content-type"] == "" {
					delete(q.header, "content-type")
				}
				break
			}
			if w.method == q.method && w.target == q.target && w.body == q.body && w.header["content-type"] == "" && strings.HasPrefix(q.header["content-type"], "application/x-www-form-urlencoded") {
				delete(q.header, "content-type")
				break
			}
		}
		if len(want.sent) > 0 && want.sent[0].header == nil {
			q.header = nil
		}
		b = append(b, q.String())
	}
	slices.Sort(b)
	if !slices.Equal(a, b) {
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) || a[i] != b[i] {
				t.Errorf("%s: request %d of %d (want %d): %.600s\nwant %.600s", file, i, len(b), len(a), at(b, i), at(a, i))
				break
			}
		}
		return "differs"
	}
	if n := leftOutOf(c.errors); n != want.other {
		t.Errorf("%s: left out are %d, want %d\n%s", file, n, want.other, c.errors)
	}
	return fmt.Sprintf("equal: %d, left out %d", len(b), want.other)
}

// unpackFeed returns what gzip or bzip2 packed.
func unpackFeed(src []byte) ([]byte, error) {
	if z, err := gzip.NewReader(bytes.NewReader(src)); err == nil {
		return io.ReadAll(z)
	}
	return io.ReadAll(bzip2.NewReader(bytes.NewReader(src)))
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

// TestFeedsOfManyDialects compares what --dry-run prints with what another reader finds in
// logs and archives as nginx, Apache, Caddy, Traefik, HAProxy, IIS, CloudFront, ALB, S3 and
// Envoy, and as browsers and proxies write them: all of it is the same, or the file is
// refused. TARE_FEEDS names a directory of more files.
func TestFeedsOfManyDialects(t *testing.T) {
	files, err := filepath.Glob("testdata/feeds/*")
	if more := os.Getenv("TARE_FEEDS"); more != "" {
		files, err = filepath.Glob(filepath.Join(more, "*"))
	}
	if err != nil || len(files) < 20 {
		t.Fatalf("%v: %q", err, files)
	}
	refused := map[string]bool{}
	for _, file := range files {
		result := compareFeed(t, file)
		refused[filepath.Base(file)] = result == "refused"
		t.Logf("%s: %s", filepath.Base(file), result)
	}
	if os.Getenv("TARE_FEEDS") != "" {
		return
	}
	for file := range refused {
		if want := strings.HasPrefix(file, "refused-") || file == "pageviews.ndjson"; refused[file] != want {
			t.Errorf("%s: refused is %v", file, refused[file])
		}
	}
}

// TestDryRun prints what every kind of flag sends, in the order of a rotation, and what is
// left out, and opens no connection: no server is there. Nothing is written, and a lock that
// another tare holds is not waited for.
func TestDryRun(t *testing.T) {
	unlock, err := machine.LockHost(t.Context(), ownLock, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	dir := t.TempDir()
	put := func(name string, src []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, src, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	log, err := os.ReadFile("testdata/feeds/access.log.1")
	if err != nil {
		t.Fatal(err)
	}
	dataDir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dataDir, "a"), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	bodies := put("bodies", []byte("{\"path\":\"/pricing\",\"ts\":1}\r\n\n\x00\xff\n"))
	proto := put("a.proto", []byte(`syntax = "proto3"; package a.v1; service S { rpc Get(M) returns (M); } message M { string id = 1; }`))
	const requests = "GET /a?x=1\nPOST /b\nGET //xmlrpc.php?rsd\n"
	for _, tt := range []struct {
		args  []string
		stdin string
		want  string
		says  string
	}{
		{args: []string{"http://127.0.0.1:1/p?q=1", "-H", "A: b"}, want: "GET /p?q=1\n  A: b\n", says: "1 request for http://127.0.0.1:1/p?q=1; nothing is sent\n"},
		{args: []string{":1", "--body", "a\n\tb"}, want: "POST /\n\n  a\n  \tb\n"},
		{args: []string{":1/x", "--body", "@-", "-X", "PUT"}, stdin: "in", want: "PUT /x\n\n  in\n"},
		{args: []string{":1", "--mix", "GET /a=2", "--mix", "POST /b=1", "--body", "x"}, want: "GET /a\nPOST /b\n\n  x\nGET /a\n"},
		{args: []string{":1", "--feed-bodies", bodies}, want: "POST /\n\n  {\"path\":\"/pricing\",\"ts\":1}\nPOST /\n\n  (2 bytes that are not text; --json prints them in base64)\n"},
		{args: []string{":1", "--data-dir", dataDir}, want: "POST /\n\n  1\n"},
		{args: []string{":1", "--feed", "testdata/feeds/access.log.1"}, want: requests, says: "testdata/feeds/access.log.1 is an access log\ntestdata/feeds/access.log.1:1: no request: the client sent none; left out\n3 requests for :1; nothing is sent\n"},
		{args: []string{":1", "--feed", put("log.gz", packGzip(t, log))}, want: requests, says: "log.gz is an access log (gzip)\n"},
		{args: []string{":1", "--feed", put("log.txt", toUTF16(log))}, want: requests, says: "log.txt is an access log (UTF-16)\n"},
		{args: []string{":1", "--feed", "-"}, stdin: string(packGzip(t, log)), want: requests, says: "stdin is an access log (gzip)\nstdin:1: no request: the client sent none; left out\n"},
		{args: []string{":1", "--feed", "-", "--json"}, stdin: string(log), want: `{"method":"GET","path":"/a?x=1"}` + "\n" + `{"method":"POST","path":"/b"}` + "\n" + `{"method":"GET","path":"//xmlrpc.php?rsd"}` + "\n"},
		{args: []string{":1", "--feed", "testdata/feeds/caddy.json"}, want: "GET /orders?id=7\n  User-Agent: curl/8.5\n", says: "testdata/feeds/caddy.json is a JSON log of Caddy\n"},
		{args: []string{"--start", "false $PORT", "--start", "false $PORT", "/x"}, want: "GET /x\n", says: "1 request for http://127.0.0.1:$PORT/x, http://127.0.0.1:$PORT/x; nothing is sent\n"},
		{args: []string{"grpc://127.0.0.1:1/a.v1.S/Get", "--proto", proto, "--data", `{"id":"7"}`, "--deadline", "1s", "--json"},
			want: `{"method":"POST","path":"/a.v1.S/Get","header":{"grpc-timeout":"1000m"},"body":"CgE3"}` + "\n", says: "1 request for grpc://127.0.0.1:1/a.v1.S/Get; nothing is sent\n"},
	} {
		c := callTare(t, tt.stdin, append([]string{"load", "--dry-run"}, tt.args...)...)
		if slices.Contains(tt.args, "--json") {
			c.out = linesOf(t, c.out)
		}
		if c.code != cmdenv.ExitOK || c.out != tt.want || !strings.Contains(c.errors, tt.says) {
			t.Errorf("%q: exit code %d\n%s\nwant\n%s\n%s\nwant %s", tt.args, c.code, c.out, tt.want, c.errors, tt.says)
		}
	}
	for _, tt := range []struct{ args, want string }{
		{"--feed testdata/feeds/pageviews.ndjson :1", `tare: testdata/feeds/pageviews.ndjson:1: not a request: json: unknown field "ts"; a line is {"method":"POST","path":"/v1","header":{},"body":"base64"}; --feed-bodies sends each line as a body`},
		{"--feed testdata/feeds/refused-iis.log :1", "tare: --feed testdata/feeds/refused-iis.log has none of the formats that are read; read are access logs in the common and the combined format, Caddy's JSON log, HAR, OpenAPI documents, a request on each line: "},
		{"--feed testdata/feeds/refused-empty.log :1", "tare: --feed testdata/feeds/refused-empty.log holds no requests; "},
		{"--feed " + put("plan.json", []byte(`{"schema":"tare.dryrun/1","requests":[{"path":"/a"},{"path":"b"}]}`)) + " :1", "tare: " + filepath.Join(dir, "plan.json") + ": request 2: "},
		{"--feed " + put("run.json", []byte(`{"schema":"tare.dryrun/1","notes":[]}`)) + " :1", "tare: --feed " + filepath.Join(dir, "run.json") + ": not a dry run of tare load: no requests"},
		{"--feed " + put("cut.json", []byte(`{"schema":"tare.dryrun/1","requests":[{"path":"/a"},`)) + " :1", "tare: --feed " + filepath.Join(dir, "cut.json") + ": "},
		{"grpc://127.0.0.1:1/a.v1.S/Get", "tare: --dry-run does not ask the server for the message types of its method; pass the .proto file with --proto"},
		{"--feed a --feed-bodies b :1", "tare: --feed-bodies and --feed contradict each other; "},
		{"--feed testdata/feeds/insomnia-no-times.har --as-recorded :1", "tare: --as-recorded needs a --feed with times in it; an access log or a HAR"},
	} {
		c := callTare(t, "", append([]string{"load", "--dry-run"}, strings.Fields(tt.args)...)...)
		if c.code != cmdenv.ExitUsage || c.out != "" || !strings.HasPrefix(c.errors, tt.want) || strings.Count(c.errors, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s\nwant %s", tt.args, c.code, c.errors, tt.want)
		}
	}
}

// linesOf returns the requests of a dry run's document, one on each line.
func linesOf(t *testing.T, out string) string {
	t.Helper()
	var plan struct{ Requests []json.RawMessage }
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var lines bytes.Buffer
	for _, q := range plan.Requests {
		if err := json.Compact(&lines, q); err != nil {
			t.Fatal(err)
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}

func packGzip(t *testing.T, src []byte) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(src); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// toUTF16 returns a text as PowerShell writes it.
func toUTF16(src []byte) (units []byte) {
	for _, unit := range utf16.Encode([]rune("\ufeff" + string(src))) {
		units = binary.LittleEndian.AppendUint16(units, unit)
	}
	return units
}

// Documents are read by the same rule as feeds: the type that tare json infers is that of
// the plain text.
func TestDocumentsByContent(t *testing.T) {
	text := []byte("{\"name\": \"é𝄞\"}\n{\"name\": null}\n")
	want := callTare(t, string(text), "json", "--show-type", "-")
	if want.code != cmdenv.ExitOK || want.errors != "" || !strings.Contains(want.out, "Name *string") {
		t.Fatalf("exit code %d\n%s%s", want.code, want.out, want.errors)
	}
	for says, src := range map[string][]byte{
		"gzip": packGzip(t, text), "UTF-16": toUTF16(text), "gzip, UTF-16": packGzip(t, toUTF16(text)), "a byte order mark": append([]byte("\ufeff"), text...),
	} {
		c := callTare(t, string(src), "json", "--show-type", "-")
		if c.code != cmdenv.ExitOK || c.out != want.out || c.errors != "tare: <stdin>: "+says+", removed before it is measured\n" {
			t.Errorf("%s: exit code %d\n%s%s", says, c.code, c.out, c.errors)
		}
	}
	for src, want := range map[string]string{
		"\xfd7zXZ\x00":                         "tare: cannot read -: the file is compressed (xz), which is not read; unpack it first, e.g. by xz -dc; name a file of JSON or NDJSON, or - for stdin\n",
		"\xff\xfe{":                            "tare: cannot read -: the text is not UTF-16: it ends after 3 bytes, an odd number; name a file of JSON or NDJSON, or - for stdin\n",
		string(packGzip(t, text)[:20]):         "tare: cannot read -: the file is damaged or cut off (gzip: unexpected EOF); name a file of JSON or NDJSON, or - for stdin\n",
		string(packGzip(t, []byte("{\n\n}}"))): "tare: <stdin>:3:2: not JSON: invalid character '}' after top-level value; one document a file, or one on each line, as jq -c . writes them\n",
	} {
		if c := callTare(t, src, "json", "--show-type", "-"); c.code != cmdenv.ExitUsage || c.errors != want {
			t.Errorf("%.20q: exit code %d: %s\nwant %s", src, c.code, c.errors, want)
		}
	}
}

// callTare calls tare with a stdin, and wants it to write no file.
func callTare(t *testing.T, stdin string, args ...string) called {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"HOME": dir, "TARE_CACHE": filepath.Join(dir, "cache"), "TARE_DATA": filepath.Join(dir, "data"), "TMPDIR": dir, "TARE_LOCK": ownLock, "NO_COLOR": "1"}
	var out, errors bytes.Buffer
	code := cli.Main(t.Context(), cmdenv.Env{Args: args, Getenv: func(k string) string { return env[k] }, In: strings.NewReader(stdin), Out: &out, Err: &errors})
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("%q: %v, %v are made", args, err, made)
	}
	return called{code, out.String(), errors.String()}
}

// The secrets of a recording are printed with --with-secrets only, and counted without.
func TestDryRunHoldsSecretsBack(t *testing.T) {
	args := []string{"load", "--feed", "testdata/feeds/session.har", "--dry-run", ":1"}
	c := callTare(t, "", args...)
	if c.code != cmdenv.ExitOK || strings.Contains(c.out, "sid=1") || !strings.Contains(c.out, "  user=ada&pass+phrase=\n") || !strings.Contains(c.errors, "\n2 values of headers, parameters and fields that hold secrets by their names omitted; ") {
		t.Errorf("exit code %d\n%s%s", c.code, c.out, c.errors)
	}
	if want := "not sent, because they were no HTTP requests to a server: 1 data: URL, 1 WebSocket, 1 chrome-extension: URL, 1 blob: URL, 1 cached answer, 1 blocked request\n"; !strings.Contains(c.errors, want) {
		t.Errorf("%s\nwant %s", c.errors, want)
	}
	c = callTare(t, "", append(args, "--with-secrets")...)
	if c.code != cmdenv.ExitOK || !strings.Contains(c.out, "  cookie: sid=1\n") || !strings.Contains(c.out, "  user=ada&pass+phrase=a%26b%3Dc+%C3%A9\n") {
		t.Errorf("exit code %d\n%s%s", c.code, c.out, c.errors)
	}
}

// What a dry run prints as JSON is a feed of the same requests.
func TestDryRunIsAFeed(t *testing.T) {
	first := callTare(t, "", "load", "--feed", "testdata/feeds/session.har", "--dry-run", "--json", ":1")
	again := callTare(t, first.out, "load", "--feed", "-", "--dry-run", "--json", ":1")
	if first.code != cmdenv.ExitOK || again.code != cmdenv.ExitOK || linesOf(t, again.out) != linesOf(t, first.out) || !strings.Contains(again.errors, "stdin is a dry run of tare load\n") {
		t.Errorf("%s%s\n%s%s", first.out, first.errors, again.out, again.errors)
	}
}
