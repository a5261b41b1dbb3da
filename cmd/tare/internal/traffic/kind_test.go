package traffic

import (
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	line := `1.2.3.4 - - ` + at + ` "GET / HTTP/1.1" 200 1` + "\n"
	caddy := `{"level":"info","msg":"handled request","request":{"method":"GET","uri":"/"}}`
	long := strings.Repeat("x", 1000)
	for begin, want := range map[string]Kind{
		"":                               Unknown,
		"\n" + line:                      AccessLog,
		"started\n\n" + line:             AccessLog,
		"[error] " + line:                AccessLog,
		strings.TrimSpace(line)[1:]:      AccessLog,
		`1.2.3.4 - - ` + at + ` "-" 408`: AccessLog,
		`1.2.3.4 - - ` + at + ` (0 s) "GET / HTTP/1.1" 200 1`: Unknown,
		`[2026-02-03T09:12:01.096Z] "GET / HTTP/1.1" 200 - 0`: Unknown,
		strings.Repeat("noise\n", maxSniffed-1) + line:        AccessLog,
		strings.Repeat("noise\n", maxSniffed) + line:          Unknown,
		`{"log":{"version":"1.2"`:                             HAR,
		` { "creator" : {"log": 1}, "log" : {`:                HAR,
		`{"log":"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700]"}`:  Unknown,
		`{"openapi":"3.1.0"`:                                  OpenAPI,
		`{"info":{"title":"` + long + `"},"swagger":"2.0"}`:   OpenAPI,
		`{"components":{"schemas":{` + long:                   OpenAPI,
		`{"components":{"schemas":{`:                          Unknown,
		`{"components":7}`:                                    Unknown,
		"# API\n---\nopenapi: 3.0.0\n":                        OpenAPI,
		"---\n  info: {}\n  swagger: '2.0'\n":                 OpenAPI,
		"  info: {}\n  swagger: '2.0'\n":                      OpenAPI,
		"# API\n---\n{\"info\": {}, \"openapi\": \"3.0.0\"}":  OpenAPI,
		"info:\n  openapi: 3\n":                               Unknown,
		"{openapi: 3.0.0}":                                    OpenAPI,
		caddy:                                                 Caddy,
		`{"level":"info","msg":"started"}` + "\n" + caddy:     Caddy,
		`{"request":{"method":"GET","uri":"/"},"level":"info","msg":"handled request"}`: Caddy,
		`{"level":"error","msg":"dial tcp","request":{"method":"GET","uri":"/"}}`:       Unknown,
		`{"msg":"handled request","request":"GET /"}`:                                   Unknown,
		`{"path":"/v1"}`:                   Lines,
		`{"path":"\/v1","other":1}`:        Lines,
		`{"method":"POST","body":"` + long: Lines,
		`{"method":"POST","blob":"` + long: Unknown,
		`{"path":"v1"}`:                    Unknown,
		`{"path":7}`:                       Unknown,
		`["path"]`:                         Unknown,
		"ts=1 method=GET path=/\n":         Unknown,
		`{"schema": "tare.dryrun/1", "x":`: DryRun,
		`{"schema":"tare.load/1","x":7}`:   Unknown,
	} {
		if got := Sniff([]byte(begin), strings.HasSuffix(begin, long)); got != want {
			t.Errorf("%.80q is %v, want %v", begin, got, want)
		}
	}
}

// Each line of a log has its request, or says what is wrong.
func TestParseLogLine(t *testing.T) {
	for request, want := range map[string]string{
		`"GET //a//b HTTP/1.1" 200 1`:          "GET //a//b",
		`"GET /\xC3\xA9\xe9 HTTP/1.1" 200 1`:   "GET /%C3%A9%E9",
		"\"GET /caf\u00e9 HTTP/1.1\" 200 1":    "GET /caf%C3%A9",
		`"GET /a\"b\\c HTTP/1.1" 200 1`:        `GET /a"b\c`,
		`"GET /%zz?a|b#c HTTP/1.1" 200 1`:      "GET /%zz?a|b#c",
		`"GET HTTP://h:80?a=1 HTTP/1.1" 200 1`: "GET /?a=1",
		`"GET http://h HTTP/1.1" 200 1`:        "GET /",
		`"OPTIONS * HTTP/1.0" 200 -`:           "OPTIONS *",
		`"GET * HTTP/1.0" 200 -`:               `"*" is neither a path nor an HTTP URL`,
		`"GET a HTTP/1.1" 200 1`:               `"a" is neither a path nor an HTTP URL`,
		`"GET ftp://h/a HTTP/1.1" 200 1`:       `"ftp://h/a" is neither a path nor an HTTP URL`,
		`"CONNECT a:1 HTTP/1.1" 200 1`:         "method CONNECT makes a tunnel, not a request",
		`"G{T / HTTP/1.1" 200 1`:               `method "G{T" is no method`,
		`"GET /\x07 HTTP/1.1" 200 1`:           `the target "/\a" has a control character`,
		`"GET /\x7 HTTP/1.1" 200 1`:            `"GET /\\x7 HTTP/1.1" has a \x without two hexadecimal digits`,
		`"GET /\x" 200 1`:                      `"GET /\\x" has a \x without two hexadecimal digits`,
		`"GET /\q HTTP/1.1" 200 1`:             `"GET /\\q HTTP/1.1" has an escape that neither nginx nor Apache writes`,
		`"GET /a b HTTP/1.1" 200 1`:            `"GET /a b HTTP/1.1" is not a request line: METHOD target HTTP/version`,
		`"GET /" 200 1`:                        `"GET /" is not a request line: METHOD target HTTP/version`,
		`"-" 408 0`:                            "no request: the client sent none",
		`"" 400 0`:                             "no request: the client sent none",
		`"GET / HTTP/1.1 200 1`:                "the request has no closing quotation mark",
		`"GET / HTTP/1.1"`:                     "no status and bytes after the request",
		`"GET /a HTTP/1.1" - - "-" "x" 1`:      "GET /a",
		`"GET / HTTP/1.1" 2x0 1`:               "no status and bytes after the request",
	} {
		q, _, err := parseLogLine("h - - " + at + " " + request)
		got := q.Method + " " + q.Path
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
	if _, _, err := parseLogLine(`h - - [39/Foo/2026:06:25:24 +0000] "GET / HTTP/1.1" 200 1`); err == nil || !strings.HasPrefix(err.Error(), `the time "39/Foo/2026:06:25:24 +0000" is not one like`) {
		t.Error(err)
	}
}

// A log whose requests come from two seconds in turn has them in the order of these, each
// spread over its second.
func TestSecondsAreSpread(t *testing.T) {
	var log string
	for i, second := range []string{"36", "37", "36", "37"} {
		log += strings.Replace("h - - "+at, ":36", ":"+second, 1) + ` "GET /` + string(rune('a'+i)) + ` HTTP/1.1" 200 1` + "\n"
	}
	f, err := Read(AccessLog, "a", strings.NewReader(log), false)
	if want := "GET /a 0s\nGET /c 500ms\nGET /b 1s\nGET /d 1.5s"; err != nil || lines(f) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, lines(f), want)
	}
}

// Times of Caddy's log are in seconds or of RFC 3339; in other units they are none.
func TestCaddyTimes(t *testing.T) {
	for ts, want := range map[string]string{
		`1.5`: "GET /a 0s\nGET /b 500ms", `"1970-01-01T00:00:01.25Z"`: "GET /b 0s\nGET /a 750ms", `1773296724180`: "GET /a\nGET /b", `"now"`: "GET /a\nGET /b", `null`: "GET /a\nGET /b",
	} {
		log := `{"msg":"handled request","ts":2,"request":{"method":"GET","uri":"/a"}}` + "\n" + `{"msg":"handled request","ts":` + ts + `,"request":{"method":"GET","uri":"/b"}}`
		switch ts {
		case "1.5":
			log = strings.Replace(log, `"ts":2`, `"ts":1`, 1)
		case "1773296724180":
			log = strings.Replace(log, `"ts":2`, `"ts":1773296724000`, 1)
		}
		if f, err := Read(Caddy, "a", strings.NewReader(log), false); err != nil || lines(f) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", ts, err, lines(f), want)
		}
	}
	log := `{"msg":"handled request","ts":1,"request":{"method":"GET","uri":"/a` + "\uFFFD" + `"}}` + "\nno JSON\n" + `{"msg":"other"}` + "\n"
	f, err := Read(Caddy, "a", strings.NewReader(log), false)
	if err != nil || len(f.Requests) != 0 || f.Lost != 2 || len(f.Skipped) != 1 || f.Skipped[0].Count != 1 {
		t.Errorf("%v, %q, %v, %v", err, f.Broken, f.Skipped, f.Requests)
	}
}
