package loadstudy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/load"
)

// lines is requests in words, one a line.
func lines(f *traffic.Feed) string {
	if f == nil {
		return ""
	}
	var out []string
	for _, r := range f.Requests {
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
	feed := put("feed.ndjson", `{"method":"PUT","path":"/a?b=1","header":{"B":"2","A":"1"},"body":"eA=="}`+"\n\n"+`{"path":"/b"}`+"\r\n"+`{"path":"/c","body":"eA=="}`)
	lined := put("bodies.ndjson", `{"path":"/pricing","ts":1}`+"\r\n \n  [1]")
	target := Target{Path: "/p"}
	for name, c := range map[string]struct {
		a    Requests
		want string
	}{
		"plain":         {Requests{}, "GET /p"},
		"method":        {Requests{Method: "DELETE"}, "DELETE /p"},
		"headers":       {Requests{Headers: []string{"A: b", "C:d"}}, "GET /p A=b C=d"},
		"text":          {Requests{Body: "x=1", HasBody: true}, `POST /p "x=1"`},
		"empty text":    {Requests{HasBody: true}, `POST /p ""`},
		"a file":        {Requests{Body: "@" + body, HasBody: true}, `POST /p "{}\n"`},
		"stdin":         {Requests{Body: "@-", HasBody: true, Method: "PUT"}, `PUT /p "from stdin"`},
		"a directory":   {Requests{DataDir: filepath.Join(dir, "bodies")}, "POST /p \"1\"\nPOST /p \"2\""},
		"a feed":        {Requests{Feed: feed, Headers: []string{"H: 1"}}, "PUT /a?b=1 H=1 A=1 B=2 \"x\"\nGET /b H=1\nPOST /c H=1 \"x\""},
		"a method for":  {Requests{Feed: feed, Method: "HEAD"}, "PUT /a?b=1 A=1 B=2 \"x\"\nHEAD /b\nHEAD /c \"x\""},
		"bodies":        {Requests{FeedBodies: lined}, `POST /p "{\"path\":\"/pricing\",\"ts\":1}"` + "\n" + `POST /p "  [1]"`},
		"bodies of":     {Requests{FeedBodies: "-", Method: "PUT"}, `PUT /p "from stdin"`},
		"bodies in mix": {Requests{FeedBodies: lined, Mix: []string{"GET /a=1", "POST /b=1"}}, "GET /a\nPOST /b \"  [1]\""},
		"a mix":         {Requests{Mix: []string{"GET /a=3", "/b?x=1=1"}}, "GET /a\nGET /a\nGET /b?x=1\nGET /a"},
		"mixed bodies":  {Requests{Mix: []string{"GET /a=1", "POST /b=1"}, Body: "x", HasBody: true}, "GET /a\nPOST /b \"x\""},
		"another mixed": {Requests{Mix: []string{"/a=1", "/b=1", "/c=2"}, Method: "HEAD"}, "HEAD /c\nHEAD /a\nHEAD /b\nHEAD /c"},
	} {
		list, err := c.a.List(target, strings.NewReader("from stdin"))
		if got := lines(list); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
	if list, err := (Requests{}).List(Target{Path: "/", Auth: "Basic x"}, nil); err != nil || lines(list) != "GET / Authorization=Basic x" {
		t.Errorf("%s, %v", lines(list), err)
	}
}

// Each request of a mix has exactly its share, and nearly that of every part.
func TestMixIsEven(t *testing.T) {
	f, err := Requests{Mix: []string{"/a=45", "/b=35", "/c=10", "/d=5", "/e=5"}}.List(Target{}, nil)
	if err != nil || len(f.Requests) != 100 {
		t.Fatalf("%v, %v", f, err)
	}
	seen := map[string]float64{}
	for i, r := range f.Requests {
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
	for want, a := range map[string]Requests{
		`-H "A" is not a header`:                      {Headers: []string{"A"}},
		`-H "A b: c" is not a header`:                 {Headers: []string{"A b: c"}},
		`-H "A: b\r\nC: d" is not`:                    {Headers: []string{"A: b\r\nC: d"}},
		"--body @" + dir + "/nothing: ":               {Body: "@" + dir + "/nothing", HasBody: true},
		"--data-dir " + dir + "/nothing: ":            {DataDir: dir + "/nothing"},
		"--data-dir " + t.TempDir():                   {DataDir: "none"},
		"--feed " + dir + "/nothing: ":                {Feed: dir + "/nothing"},
		`--mix "/a": no weight`:                       {Mix: []string{"/a"}},
		`--mix "/a=0": "0" is not a weight`:           {Mix: []string{"/a=0"}},
		`--mix "/a=x": "x" is not a weight`:           {Mix: []string{"/a=x"}},
		`--mix "a=1": path "a" does not begin`:        {Mix: []string{"a=1"}},
		`--mix "GET a b=1": not a method and a path`:  {Mix: []string{"GET a b=1"}},
		`--mix "G{T /a=1": method "G{T" is no method`: {Mix: []string{"G{T /a=1"}},
		"holds more than 100000 requests":             {Feed: "many"},
		"holds more than 100000 lines":                {FeedBodies: "many"},
		"the weights add up to more than 100000":      {Mix: []string{"/a=60000", "/b=60000"}},
	} {
		if a.DataDir == "none" {
			a.DataDir, want = t.TempDir(), "holds no files"
		}
		if a.Feed == "many" {
			a.Feed = write(strings.Repeat("{\"path\":\"/\"}\n", 100_001))
		}
		if a.FeedBodies == "many" {
			a.FeedBodies = write(strings.Repeat("{}\n", 100_001))
		}
		_, err := a.List(Target{Path: "/"}, nil)
		if cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for text, want := range map[string]string{
		"":   "holds no requests",
		"\n": "holds no requests",
		`{"path":"/"}` + "\n" + `{"path":"/","method":"A B"}`: `:2: method "A B" is no method`,
		`{"path":"/a b"}`:                           `:1: path "/a b" is not escaped`,
		`{"path":"/a"}` + "\n" + `[1]`:              `:2: not a request: it is an array, not an object`,
		`{"path":"/a"}` + "\n" + `{"name":"x"}`:     `:2: not a request: json: unknown field "name"`,
		`{"path":"/a"} {"path":"/b"}`:               `:1: more than a request on the line`,
		`{"path":"/a"}` + "\n" + `{"method":"GET"}`: `:2: a request without a path`,
		`{"path":"/","header":{"a b":"c"}}`:         `:1: header name "a b" is no name`,
		`{"path":"/","header":{"a":"c\r\n"}}`:       `:1: header a: the value`,
		`{"path":"/pricing","ts":1}`:                `:1: not a request: json: unknown field "ts"; a line is {`,
		`{"path":"/","body":{"not":"base64"}}`:      ":1: not a request: ",
		`{"name":"x","path":3}`:                     " has none of the formats that are read; read are access logs",
		`[1]`:                                       "; --feed-bodies sends each line as a body",
		"some text\nand more":                       " has none of the formats that are read; ",
	} {
		_, err := Requests{Feed: write(text)}.List(Target{Path: "/"}, nil)
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
		f, err := Requests{Feed: "-"}.List(Target{Path: "/p"}, bytes.NewReader(src))
		if err != nil {
			if cmdenv.ExitCode(err) != cmdenv.ExitUsage || strings.ContainsAny(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, r := range f.Requests {
			if err := load.CheckRequest(r); err != nil {
				t.Fatal(err)
			}
		}
	})
}
