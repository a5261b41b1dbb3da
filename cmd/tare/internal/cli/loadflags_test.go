package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/load"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:8080/a?b=c":     "http://127.0.0.1:8080/a?b=c 127.0.0.1:8080 127.0.0.1:8080 /a?b=c",
		":8080":                           "http://127.0.0.1:8080 127.0.0.1:8080 127.0.0.1:8080 /",
		":8080/x%20y#z":                   "http://127.0.0.1:8080/x%20y 127.0.0.1:8080 127.0.0.1:8080 /x%20y",
		"localhost/x":                     "http://localhost/x localhost:80 localhost /x",
		"https://example.com":             "https://example.com example.com:443 example.com / example.com",
		"https://[::1]:8443/é":            "https://[::1]:8443/%C3%A9 [::1]:8443 [::1]:8443 /%C3%A9 ::1",
		"http://user:pass@127.0.0.1:1/":   "http://127.0.0.1:1/ 127.0.0.1:1 127.0.0.1:1 / Basic dXNlcjpwYXNz",
		"http://127.0.0.1:8080/a/../b//c": "http://127.0.0.1:8080/a/../b//c 127.0.0.1:8080 127.0.0.1:8080 /a/../b//c",
	} {
		got, err := parseTarget(text)
		line := strings.Join(strings.Fields(strings.Join([]string{got.url, got.addr, got.host, got.path, got.name, got.auth}, " ")), " ")
		if err != nil || line != want {
			t.Errorf("%s: %q, %v, want %q", text, line, err, want)
		}
	}
	for _, text := range []string{"", "ftp://x/", "unix:///x", "http://", "http:///x", "http://[::1", "http://x:port/", "http://x/a?b=c d"} {
		if got, err := parseTarget(text); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), "is not a URL to load") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, _ := parseTarget("https://example.com/x"); got.target(true).TLS == nil || !got.target(true).TLS.InsecureSkipVerify || got.target(false).TLS.InsecureSkipVerify || got.server() != "https://example.com" {
		t.Errorf("%+v", got)
	}
}

// lines is requests in words, one a line.
func lines(list []load.Request) string {
	var out []string
	for _, r := range list {
		line := r.Method + " " + r.Path
		for _, h := range r.Header {
			line += " " + h[0] + "=" + h[1]
		}
		if r.Body != nil {
			line += fmt.Sprintf(" %q", r.Body)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestRequests(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	body := put("body.json", "{}\n")
	put("bodies/b", "2")
	put("bodies/a", "1")
	put("bodies/.hidden", "3")
	put("bodies/sub/c", "4")
	feed := put("feed.ndjson", `{"method":"PUT","path":"/a?b=1","header":{"B":"2","A":"1"},"body":"eA=="}`+"\n\n"+`{"path":"/b"}`+"\n"+`{"name":"x","path":3}`+"\r\n"+`  [1]`)
	target := loadTarget{path: "/p"}
	for name, c := range map[string]struct {
		a    asking
		want string
	}{
		"plain":         {asking{}, "GET /p"},
		"method":        {asking{method: "DELETE"}, "DELETE /p"},
		"headers":       {asking{headers: []string{"A: b", "C:d"}}, "GET /p A=b C=d"},
		"text":          {asking{body: "x=1", hasBody: true}, `POST /p "x=1"`},
		"empty text":    {asking{hasBody: true}, `POST /p ""`},
		"a file":        {asking{body: "@" + body, hasBody: true}, `POST /p "{}\n"`},
		"stdin":         {asking{body: "@-", hasBody: true, method: "PUT"}, `PUT /p "from stdin"`},
		"a directory":   {asking{dataDir: filepath.Join(dir, "bodies")}, "POST /p \"1\"\nPOST /p \"2\""},
		"a feed":        {asking{feed: feed, headers: []string{"H: 1"}}, "PUT /a?b=1 H=1 A=1 B=2 \"x\"\nGET /b H=1\nPOST /p H=1 \"{\\\"name\\\":\\\"x\\\",\\\"path\\\":3}\"\nPOST /p H=1 \"[1]\""},
		"fed by stdin":  {asking{feed: "-", method: "PUT"}, `PUT /p "from stdin"`},
		"a mix":         {asking{mix: []string{"GET /a=3", "/b?x=1=1"}}, "GET /a\nGET /a\nGET /b?x=1\nGET /a"},
		"mixed bodies":  {asking{mix: []string{"GET /a=1", "POST /b=1"}, body: "x", hasBody: true}, "GET /a\nPOST /b \"x\""},
		"another mixed": {asking{mix: []string{"/a=1", "/b=1", "/c=2"}, method: "HEAD"}, "HEAD /c\nHEAD /a\nHEAD /b\nHEAD /c"},
	} {
		list, err := c.a.requests(target, strings.NewReader("from stdin"))
		if got := lines(list); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
	if list, err := (asking{}).requests(loadTarget{path: "/", auth: "Basic x"}, nil); err != nil || lines(list) != "GET / Authorization=Basic x" {
		t.Errorf("%s, %v", lines(list), err)
	}
}

// Each request of a mix has exactly its share, and nearly that of every part.
func TestMixIsEven(t *testing.T) {
	list, err := asking{mix: []string{"/a=45", "/b=35", "/c=10", "/d=5", "/e=5"}}.requests(loadTarget{}, nil)
	if err != nil || len(list) != 100 {
		t.Fatalf("%d requests, %v", len(list), err)
	}
	seen := map[string]float64{}
	for i, r := range list {
		seen[r.Path]++
		for path, share := range map[string]float64{"/a": 0.45, "/b": 0.35, "/c": 0.10, "/d": 0.05, "/e": 0.05} {
			if off := seen[path] - share*float64(i+1); off > 1.01 || off < -1.01 {
				t.Errorf("after %d requests %s is off by %.2f", i+1, path, off)
			}
		}
	}
}

func TestWhatCannotBeAsked(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.ndjson")
	write := func(text string) string {
		if err := os.WriteFile(bad, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return bad
	}
	for want, a := range map[string]asking{
		`-H "A" is not a header`:                     {headers: []string{"A"}},
		`-H "A b: c" is not a header`:                {headers: []string{"A b: c"}},
		`-H "A: b\r\nC: d" is not`:                   {headers: []string{"A: b\r\nC: d"}},
		"--body @" + dir + "/nothing: ":              {body: "@" + dir + "/nothing", hasBody: true},
		"--data-dir " + dir + "/nothing: ":           {dataDir: dir + "/nothing"},
		"--data-dir " + t.TempDir():                  {dataDir: "none"},
		"--feed " + dir + "/nothing: ":               {feed: dir + "/nothing"},
		`--mix "/a": no weight`:                      {mix: []string{"/a"}},
		`--mix "/a=0": "0" is not a weight`:          {mix: []string{"/a=0"}},
		`--mix "/a=x": "x" is not a weight`:          {mix: []string{"/a=x"}},
		`--mix "a=1": the path "a" does not`:         {mix: []string{"a=1"}},
		`--mix "GET a b=1": not a method and a path`: {mix: []string{"GET a b=1"}},
		`--mix "G{T /a=1": "G{T" is not a method`:    {mix: []string{"G{T /a=1"}},
		"the weights add up to more than 100000":     {mix: []string{"/a=60000", "/b=60000"}},
	} {
		if a.dataDir == "none" {
			a.dataDir, want = t.TempDir(), "holds no files"
		}
		_, err := a.requests(loadTarget{path: "/"}, nil)
		if cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for text, want := range map[string]string{
		"":   "holds no requests",
		"\n": "holds no requests",
		`[1]` + "\n" + `{"path":"/","method":"A B"}`: `:2: "A B" is not a method`,
		`{"path":"/a b"}`:                      `:1: the path "/a b" has a space`,
		`{"path":"/","header":{"a b":"c"}}`:    `:1: "a b" is not a header`,
		`{"path":"/","header":{"a":"c\r\n"}}`:  `:1: "a" is not a header`,
		`{"path":"/","boody":"eA=="}`:          `:1: not a request: json: unknown field "boody"`,
		`{"path":"/","body":{"not":"base64"}}`: ":1: not a request: ",
	} {
		_, err := asking{feed: write(text)}.requests(loadTarget{path: "/"}, nil)
		if cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzFeed(f *testing.F) {
	for _, text := range []string{`{"path":"/"}`, `{"path":"/","body":"eA=="}`, "[1]\nx", `{"path":"/","header":{"A":"b"}}`, "\r\n", "{"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		list, err := asking{feed: "-"}.requests(loadTarget{path: "/p"}, bytes.NewReader(src))
		if err != nil {
			if cmdenv.ExitCode(err) != cmdenv.ExitUsage || strings.ContainsAny(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, r := range list {
			if what := checkRequest(r.Method, r.Path); what != "" {
				t.Fatal(what)
			}
			for _, h := range r.Header {
				if !isToken(h[0]) || strings.ContainsAny(h[1], "\r\n") {
					t.Fatalf("header %q", h)
				}
			}
		}
	})
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"./srv -port $PORT":              {"./srv", "-port", "$PORT"},
		"  a\tb\n c ":                    {"a", "b", "c"},
		`a 'b c' "d e" f\ g ""`:          {"a", "b c", "d e", "f g", ""},
		`a 'it'"'"'s' "\"x\" \y \$Z"`:    {"a", "it's", `"x" \y $Z`},
		"srv --addr=127.0.0.1:${PORT}":   {"srv", "--addr=127.0.0.1:${PORT}"},
		`sh -c 'a | b > c; $X'`:          {"sh", "-c", "a | b > c; $X"},
		`'\'`:                            {`\`},
		"docker run -p $PORT:80 nginx:1": {"docker", "run", "-p", "$PORT:80", "nginx:1"},
	} {
		got, err := splitWords(text)
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "without a command", "  ": "without a command", "'' a": "without a command", "a 'b": "not closed", `a "b\"`: "not closed", `a \`: "backslash",
		"a | b": `"|" means something`, "a > b": `">" means`, "a & b": `"&" means`, "a; b": `";" means`, "$HOME/a": `"$" means`, "a `b`": "\"`\" means",
	} {
		if got, err := splitWords(text); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

// Words that are quoted are split into what they were.
func FuzzSplitWords(f *testing.F) {
	f.Add("./srv", "-port $PORT", "it's")
	f.Add("a", "", `\"`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if a == "" {
			return
		}
		var quoted []string
		for _, w := range []string{a, b, c} {
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		got, err := splitWords(strings.Join(quoted, " "))
		if err != nil || len(got) != 3 || got[0] != a || got[1] != b || got[2] != c {
			t.Fatalf("%q: %q, %v", quoted, got, err)
		}
		_, _ = splitWords(a)
	})
}

func TestServers(t *testing.T) {
	for name, c := range map[string]struct {
		args, start []string
		want        string // id url, …
	}{
		"one":                      {[]string{"http://127.0.0.1:1/x"}, nil, "127.0.0.1:1 http://127.0.0.1:1/x"},
		"several":                  {[]string{":1", ":2"}, nil, "127.0.0.1:1 :1, 127.0.0.1:2 :2"},
		"the same twice":           {[]string{":1", ":1"}, nil, "127.0.0.1:1 :1, 127.0.0.1:1-2 :1"},
		"started":                  {nil, []string{"./srv $PORT"}, "srv http://127.0.0.1:$PORT/"},
		"started, a path":          {[]string{"/x?y"}, []string{"./srv $PORT"}, "srv http://127.0.0.1:$PORT/x?y"},
		"started, and where":       {[]string{"http://localhost:$PORT/x"}, []string{"./srv $PORT"}, "srv http://localhost:$PORT/x"},
		"started at a fixed port":  {[]string{":8080/x"}, []string{"./srv"}, "srv :8080/x"},
		"two started":              {[]string{"/x"}, []string{"./old/srv $PORT", "./new/srv $PORT"}, "srv http://127.0.0.1:$PORT/x, srv-2 http://127.0.0.1:$PORT/x"},
		"one started and a server": {[]string{"/x", ":8080/x"}, []string{"a $PORT"}, "a http://127.0.0.1:$PORT/x, 127.0.0.1:8080 :8080/x"},
		"one started and two more": {[]string{":1", ":2"}, []string{"a $PORT"}, "a http://127.0.0.1:$PORT/, 127.0.0.1:1 :1, 127.0.0.1:2 :2"},
	} {
		list, err := servers(c.args, c.start)
		var got []string
		for _, s := range list {
			got = append(got, s.id+" "+s.url)
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	for want, c := range map[string][2][]string{
		"needs a URL":           {nil, nil},
		"a path without":        {{"/x"}, nil},
		"more than one path":    {{"/x", "/y"}, {"a $PORT"}},
		"is not a URL to load":  {{"ftp://x"}, nil},
		"a quote is not closed": {{"/x"}, {"a '"}},
		"not exactly one":       {{"http://127.0.0.1:$PORT/"}, {"a", "b"}},
	} {
		if _, err := servers(c[0], c[1]); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", c, err, want)
		}
	}
}

func TestParseBandwidth(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "70mbit": 70e6, "1gbit/s": 1e9, "56kbit": 56e3, "1.5mbit": 1.5e6, "9600bit": 9600} {
		if got, err := parseBandwidth(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"70", "70Mb", "70MB/s", "-1mbit", "0bit", "2000gbit", "fast", "1e3bit", strings.Repeat("9", 400) + "bit"} {
		if got, err := parseBandwidth(text); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), "e.g. 70mbit") {
			t.Errorf("%.20s: %d, %v", text, got, err)
		}
	}
}

func TestSegment(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{10 * time.Second: time.Second, 96 * time.Second: 2 * time.Second, time.Hour: 10 * time.Second} {
		if got := segment(budget, 2); got != want {
			t.Errorf("%v: segments of %v, want %v", budget, got, want)
		}
	}
}
