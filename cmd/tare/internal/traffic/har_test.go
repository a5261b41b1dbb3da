package traffic

import (
	"strings"
	"testing"
)

// readEntries returns the requests of entries of an archive in words, and why others are left out.
func readEntries(t *testing.T, entries string) (*Feed, string) {
	t.Helper()
	f, err := Read(HAR, "a.har", strings.NewReader(`{"log":{"entries":[`+entries+`]}}`), false)
	if err != nil {
		t.Fatal(err)
	}
	out := lines(f)
	for _, b := range f.Broken {
		out += b.Where + ": " + b.Why
	}
	return f, out
}

// TestArchivedQuery: a query that only queryString has is sent.
func TestArchivedQuery(t *testing.T) {
	for request, want := range map[string]string{
		`"url":"http://x/a","queryString":[{"name":"q","value":"1"},{"name":"ä b","value":"c&d+e"},{"name":"f"},{"name":"g","value":""}]`: "GET /a?q=1&%C3%A4%20b=c%26d%2Be&f&g=",
		`"url":"http://x/a?#f","queryString":[{"name":"q","value":"1"}]`:                                                                  "GET /a?q=1",
		`"url":"http://x","queryString":[{"name":"q","value":"1"}]`:                                                                       "GET /?q=1",
		`"url":"http://x/a?b=2","queryString":[{"name":"q","value":"1"}]`:                                                                 "GET /a?b=2",
		`"url":"http://x/a?b=2","queryString":{"q":1}`:                                                                                    "GET /a?b=2",
		`"url":"http://x/a?","queryString":[]`:                                                                                            "GET /a?",
		`"url":"http://x/a","queryString":null`:                                                                                           "GET /a",
		`"url":"http://x/a","queryString":[{"name":"access_token","value":"1"},{"name":"b","value":"2"}]`:                                 "GET /a?b=2",
		`"url":"http://x/a","queryString":{"q":1}`:                                                                                        "entry 1: queryString: it is an object, not an array",
		`"url":"http://x/a","queryString":[{"name":"q","value":1}]`:                                                                       "entry 1: queryString: value is a number, not text",
	} {
		if _, got := readEntries(t, `{"request":{"method":"GET",`+request+`}}`); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

// TestMissingBody: a request whose body the archive lacks is left out.
func TestMissingBody(t *testing.T) {
	const length = `"headers":[{"name":"content-length","value":"5"}]`
	const missing = "entry 1: the archive does not have the 5 bytes of its body"
	for request, want := range map[string]string{
		length:                                  missing,
		length + `,"bodySize":-1`:               missing,
		length + `,"bodySize":0`:                missing,
		`"bodySize":5`:                          missing,
		length + `,"postData":{"text":""}`:      missing,
		length + `,"postData":{"params":[]}`:    missing,
		length + `,"postData":{"text":"hello"}`: "POST /a hello",
		strings.Replace(length, "5", "0", 1):    "POST /a",
		`"bodySize":-1`:                         "POST /a",
	} {
		if _, got := readEntries(t, `{"request":{"method":"POST","url":"http://x/a",`+request+`}}`); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

// TestArchivedEncoding: a body that the archive has unpacked is sent without Content-Encoding.
func TestArchivedEncoding(t *testing.T) {
	for request, want := range map[string]string{
		`"gzip"}],"postData":{"text":"{\"a\":\"é\"}\r\n"}`:               "POST /a {\"a\":\"é\"}\r\n",
		`"br"}],"postData":{"text":"aGVsbG8=","encoding":"base64"}`:      "POST /a hello",
		`"gzip"}],"postData":{"text":"H4sIAAA=","encoding":"base64"}`:    "POST /a Content-Encoding=gzip \x1f\x8b\x08\x00\x00",
		`"gzip"}],"postData":{"text":"\u001f\ufffd\b"}`:                  "entry 1: its body is binary and was sent compressed (gzip): the text in the archive may not have all its bytes",
		`"br"}],"postData":{"text":"\u001b\u0003"}`:                      "entry 1: its body is binary and was sent compressed (br): the text in the archive may not have all its bytes",
		`"identity"}],"postData":{"text":"\u001f"}`:                      "POST /a Content-Encoding=identity \x1f",
		`"gzip"}],"postData":{"params":[{"name":"a","value":"\u0001"}]}`: "POST /a Content-Type=application/x-www-form-urlencoded a=%01",
	} {
		if _, got := readEntries(t, `{"request":{"method":"POST","url":"http://x/a","headers":[{"name":"Content-Encoding","value":`+request+`}}`); got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
}

// TestArchivedHeaders: a header without a valid name is left out, not its request.
func TestArchivedHeaders(t *testing.T) {
	f, got := readEntries(t, `{"request":{"method":"GET","url":"http://x/a","headers":[{"name":"GET /wiki/Special","value":"A HTTP/1.1"},{"value":"x"},{"name":"Accept","value":"*/*"}]}}`)
	if want := "GET /a Accept=*/*"; got != want || f.Nameless != 2 || f.Lost != 0 {
		t.Errorf("%s, want %s; %d headers", got, want, f.Nameless)
	}
	for entry, want := range map[string]string{
		`{"request":{"method":"GET","url":"http://x/a","headers":[{"name":"Accept","value":["*/*"]}]}}`: "entry 1: request.headers.value is an array, not text",
		`{"request":{"method":7}}`:                 "entry 1: request.method is a number, not text",
		`{"request":"GET /"}`:                      "entry 1: request is text, not an object",
		`{"request":{"headers":{}}}`:               "entry 1: request.headers is an object, not an array",
		`{"request":{"postData":{"params":true}}}`: "entry 1: request.postData.params is true or false, not an array",
		`7`: "entry 1: it is a number, not an object",
	} {
		if _, got := readEntries(t, entry); got != want {
			t.Errorf("%s: %s, want %s", entry, got, want)
		}
	}
}

// TestAfterDocument: what follows an archive, or a dry run, is refused with its line.
func TestAfterDocument(t *testing.T) {
	const request = `{"request":{"method":"GET","url":"http://x/a"}}`
	long := `"x":"` + strings.Repeat("y", 100<<10) + "\","
	for src, want := range map[string]string{
		`{"log":{"entries":[` + request + `]}}`: "",
		`{"log":{"entries":[` + request + `],"pages":[{"a":[1,{}]}],"c":"x"},` + "\n" + `"b":{}} ` + "\r\n\t": "",
		`{"log":{"entries":[` + request + `]`:                                  "",
		`{"log":{"entries":[` + request + `],"pages":[`:                        "",
		`{"log":{"entries":[` + request + "]}}\n\n" + `{"log":{"entries":[]}}`: "line 3: something follows the document, which is one a file",
		"{\n" + long + `"log":{` + long + `"entries":[` + request + "]," + long + "\n\"c\":1}," + long + "\n\"d\":1}" + strings.Repeat(" ", 9000) + "\n,": "line 5: something follows the document, which is one a file",
		`{"log":{"entries":[` + request + "],\n\n\"entries\":[]}}":                                                                                        "line 3: a second log.entries",
		`{"log":{"entries":[` + request + "]},\n\"log\":{}}":                                                                                              "line 2: a second log",
		`{"log":{"entries":[` + request + "],\n?}}":                                                                                                       "line 2: invalid character '?' looking for beginning of object key string",
	} {
		f, err := Read(HAR, "a.har", strings.NewReader(src), false)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want || lines(f) != "GET /a" {
			t.Errorf("%.100q: %s, want %s; %s", src, got, want, lines(f))
		}
	}
	const run = `{"schema":"tare.dryrun/1","requests":[{"path":"/a"}],"x":[7]}`
	for src, want := range map[string]string{run: "", run + "\n" + run: "line 2: something follows the document, which is one a file"} {
		_, err := Read(DryRun, "a.json", strings.NewReader(src), false)
		if got := ""; err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}
