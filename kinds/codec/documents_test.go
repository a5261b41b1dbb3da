package codec

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/wire"
)

func TestDocuments(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	for _, tt := range []struct {
		name, src string
		bodies    string // joined by |
		notes     string // joined by |
	}{
		{"a.json", ` {"a": 1}` + "\n", `{"a": 1}`, ""},
		{"a.json", "[\n1,\n2]", "[\n1,\n2]", ""},
		{"a.json", "{\"a\":1}\r\n\n{\"a\":2}", `{"a":1}|{"a":2}`, ""}, // by content
		{"a.ndjson", "[1,\n2]", "[1,\n2]", ""},                        // whatever it is called
		{"a.json", deep, deep, ""},
		{"a.json", "\xef\xbb\xbf[1]", "[1]", "a.json:1:1: begins with a byte order mark, which is no JSON; it is skipped"},
		{"a.json", `7`, `7`, ""},
		{"a.json", `{"é":[{"b":1,"c":{"b":2}}],` + "\n" + `"é" :1}`, `{"é":[{"b":1,"c":{"b":2}}],` + "\n" + `"é" :1}`,
			`a.json:2:1: key "é" comes twice in its object; codecs differ in which one counts`},
		{"a.json", `{"":1,"":2,"":3,"":4,"":5,"":6}`, `{"":1,"":2,"":3,"":4,"":5,"":6}`,
			`a.json:1:7: key "" comes twice in its object; codecs differ in which one counts|a.json:1:12: key "" comes twice in its object; codecs differ in which one counts|a.json:1:17: key "" comes twice in its object; codecs differ in which one counts|a.json: 2 more keys come twice in their object`},
		{"a.json", `[123456789012345678901234567890, 1e308, "a,:b"]`, `[123456789012345678901234567890, 1e308, "a,:b"]`, ""},
	} {
		docs, notes, err := Documents(tt.name, []byte(tt.src))
		var bodies []string
		for _, d := range docs {
			bodies = append(bodies, string(d.Body))
		}
		if err != nil || strings.Join(bodies, "|") != tt.bodies || strings.Join(notes, "|") != tt.notes {
			t.Errorf("%s: %q\n%q, want %q\n%q, want %q\n%v", tt.name, tt.src, bodies, tt.bodies, notes, tt.notes, err)
		}
	}
	docs, _, _ := Documents("x", []byte("\n\n[1]\n\n[2]\n[3]"))
	if len(docs) != 3 || docs[0].String() != "x:3" || docs[1].Line != 5 || docs[2].Line != 6 {
		t.Errorf("%v", docs)
	}
}

func TestDocumentsErrors(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"a.json", "", "a.json:1:1: there is no JSON in it; a document, or one on each line"},
		{"a.json", " \n\t", "a.json:1:1: there is no JSON in it; a document, or one on each line"},
		{"a.json", "{\n  \"a\": 1,\n}", "a.json:3:1: not JSON: invalid character '}' looking for beginning of object key string; no comma before a closing bracket"},
		{"a.json", `{"a": 'b'}`, "a.json:1:7: not JSON: invalid character '\\'' looking for beginning of value; strings take double quotes"},
		{"a.json", "[1 // one\n]", "a.json:1:4: not JSON: invalid character '/' after array element; JSON has no comments"},
		{"a.json", `[NaN]`, "a.json:1:2: not JSON: invalid character 'N' looking for beginning of value; JSON has no such value; null, or a string"},
		{"a.json", "{\n}{}", "a.json:2:2: not JSON: invalid character '{' after top-level value; one document a file, or one on each line, as jq -c . writes them"},
		{"a.json", "{} x", "a.json:1:4: not JSON: invalid character 'x' after top-level value; one document a file, or one on each line, as jq -c . writes them"},
		{"a.json", "[\"a\tb\"]", "a.json:1:4: not JSON: invalid character '\\t' in string literal; control characters are escaped in strings, e.g. \\n or \\u0000"},
		{"a.ndjson", "{}\n{\"a\":1}\n{\"a\":\n", "a.ndjson:3:6: the JSON ends too early; the last line is cut off: leave it out, e.g. by sed '$d'"},
		{"a.ndjson", "{}\n{\"a\":\n{}\n", "a.ndjson:2:6: the JSON ends too early"},
		{"a.json.gz", "\x1f\x8b\x08\x00", "a.json.gz:1:1: the file is compressed (gzip); unpack it first, e.g. by gzip -dc"},
		{"a.json", "\x28\xb5\x2f\xfd", "a.json:1:1: the file is compressed (zstd); unpack it first, e.g. by zstd -dc"},
		{"a.json", `["é", "b`, "a.json:1:9: the JSON ends too early"},
		{"a.json", "{}\n{\"a\":}\n{}", "a.json:2:6: not JSON: invalid character '}' looking for beginning of value"},
		{"a.ndjson", "{\n{}\n", "a.ndjson:1:2: the JSON ends too early"},
		{"a.json", "[\"é\",\n\"b\xe9\"]", "a.json:2:3: byte 0xe9 (at offset 9) is not UTF-8, which JSON is; convert the file, e.g. iconv -f ISO-8859-1 -t UTF-8"},
		{"a.json", "\xff\xfe[\x00", "a.json:1:1: the file is UTF-16, and JSON is UTF-8; convert it, e.g. iconv -f UTF-16 -t UTF-8"},
		{"a.json", "[1,\n {\"a\" : 1e400}]", "a.json:2:9: 1e400 is larger than any float64, which no codec can read into a number; write it as a string"},
		{"a.json", strings.Repeat("[", 10001) + strings.Repeat("]", 10001), "a.json:1:10001: not JSON: invalid character '[' exceeded max depth; at most 1000 levels are measured"},
		{"a.json", strings.Repeat("{\"a\":", 1001) + "1" + strings.Repeat("}", 1001), "a.json:1:5001: nested more than 1000 deep; codecs reject such documents or take minutes for one, so they are not measured"},
		{"a.json", `"` + strings.Repeat("x", MaxDocument) + `"`, "a.json:1:1: a document of 10.5 MB; at most 10.5 MB can be measured; write several smaller documents, one per line"},
	} {
		_, _, err := Documents(tt.name, []byte(tt.src))
		var at *SyntaxError
		if !errors.As(err, &at) || err.Error() != tt.want {
			t.Errorf("%.40q: %v\nwant %s", tt.src, err, tt.want)
		}
	}
}

// endless is a text over and over, and counts what was taken of it.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[(e.read+i)%len(e.text)]
	}
	e.read += len(p)
	return len(p), nil
}

func TestReadDocumentsOfFilesThatAreTooLarge(t *testing.T) {
	const most = 4 << 20
	long := strings.Repeat("é", 1<<18)
	for _, tt := range []struct{ name, text, want string }{
		{"a.json", "\"" + long + "\"\r\n", "7 documents; a.json: only the first 3.7 MB are read, 7 documents; shuf -n 1000 selects lines of the complete file"},
		{"a.ndjson", "\"" + long + "\",\n", "a.ndjson:1:262147: not JSON: invalid character ',' after top-level value; one document a file, or one on each line, as jq -c . writes them"},
		{"a.json", "[\n1,\n", "a.json:1:1: a document of more than 4.2 MB; at most 10.5 MB can be measured; write several smaller documents, one per line"},
		{"a.json", "x\x00", "a.json:1:1: a document of more than 4.2 MB; at most 10.5 MB can be measured; write several smaller documents, one per line"},
		{"a.json", "\x1f\x8b", "a.json:1:1: the file is compressed (gzip); unpack it first, e.g. by gzip -dc"},
		{"a.json", "\n{}\xff", "a.json:2:3: byte 0xff (at offset 3) is not UTF-8, which JSON is; convert the file, e.g. iconv -f ISO-8859-1 -t UTF-8"},
	} {
		src := &endless{text: tt.text}
		docs, notes, err := readDocuments(tt.name, src, most)
		got := fmt.Sprintf("%d documents; %s", len(docs), strings.Join(notes, "|"))
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || src.read > 2*most {
			t.Errorf("%s of %.5q after %d bytes: %s\nwant %s", tt.name, tt.text, src.read, got, tt.want)
		}
	}
	docs, notes, err := ReadDocuments("a.json", strings.NewReader("{}\n[]"))
	if len(docs) != 2 || len(notes) > 0 || err != nil {
		t.Errorf("%v, %q, %v", docs, notes, err)
	}
}

// TestFileOfDocuments: a workload on a file with a document on each line has a
// pool of all of them, and what decoding into any rounds is rounded for all.
func TestFileOfDocuments(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.ndjson"), []byte("{\"b\":9007199254740993,\"a\":1.0}\n\n[2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for op, want := range map[string]string{codec.OpMarshal: `{"a":1,"b":9007199254740993}`, codec.OpAny: `{"a":1,"b":9007199254740992}`} {
		k := New()
		w := tare.Workload{ID: "w", File: "mine.ndjson", Op: op}
		in, err := k.Input(w, dir, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(in.Input)
		if err != nil || string(data) != want+"\n[2]\n" || in.Bodies != 2 {
			t.Errorf("%s: %+v %s %v", op, in, data, err)
		}
		wrong, err := k.Compare(in, []wire.Answer{{Case: 0, Output: []byte(want)}, {Case: 1, Output: []byte("[2]")}})
		if err != nil || len(wrong) > 0 {
			t.Errorf("%s: %v %v", op, wrong, err)
		}
		if w, err = k.Describe(w, in); err != nil || w.Bytes != int64(len(want)+3) {
			t.Errorf("%+v %v", w, err)
		}
	}
}

// TestLargeFileOfDocuments: a file of a study is read up to a bound.
func TestLargeFileOfDocuments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.ndjson")
	if err := os.WriteFile(path, append([]byte("{}"), bytes.Repeat([]byte("\n"), MaxRead-1)...), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("mine.ndjson: not a file of at most %d bytes", MaxRead)
	if _, err := New().Input(tare.Workload{ID: "w", File: path, Op: codec.OpAny}, "", t.TempDir()); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func FuzzDocuments(f *testing.F) {
	for _, s := range []string{"", "{}", "{}\n[]", "[\"a\",\"a\"]", "{\"a\":1,\"a\":2}", "\xef\xbb\xbf1", "{\"a\":{\"b\":[1e9,{}]}}\n1"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, src string, named bool) {
		name := "a.json"
		if named {
			name = "a.ndjson"
		}
		docs, notes, err := Documents(name, []byte(src))
		var at *SyntaxError
		if err != nil && (!errors.As(err, &at) || at.Line < 1 || at.Col < 1 || strings.Contains(at.What, "\n")) {
			t.Fatalf("%v", err)
		}
		if err == nil && len(docs) == 0 {
			t.Fatal("neither documents nor an error")
		}
		for _, d := range docs {
			if Diff(d.Body, d.Body) != "" || d.Line < 1 {
				t.Fatalf("%s: %q", d, d.Body)
			}
			for _, op := range []string{codec.OpAny, codec.OpMarshal} {
				if _, err := reencodeBody(op, d.Body); err != nil {
					t.Fatalf("%s of %q: %v", op, d.Body, err)
				}
			}
		}
		for _, n := range notes {
			if strings.Contains(n, "\n") {
				t.Fatalf("%q", n)
			}
		}
	})
}
