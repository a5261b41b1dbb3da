package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestScanTakesWhatHoldsResults(t *testing.T) {
	doc := string(document(t, sample()))
	if err := Scan("x", strings.NewReader(""), func(DocumentInfo, []byte) error { return errors.New("a result") }); err != nil {
		t.Errorf("an empty archive: %v", err)
	}
	for name, archive := range map[string]string{
		"a document": doc, "two": doc + doc, "a list": "[" + doc + "," + doc + "]", "lines": strings.ReplaceAll(strings.ReplaceAll(doc, "\n", ""), "  ", "") + "\n\n" + doc,
	} {
		n := 0
		if err := Scan("x", strings.NewReader(archive), func(DocumentInfo, []byte) error { n++; return nil }); err != nil || n != max(1, strings.Count(archive, "tare.result/1")) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

func TestScanRefusesWhatIsForeign(t *testing.T) {
	doc := strings.ReplaceAll(string(document(t, sample())), "\n", "") + "\n"
	for archive, want := range map[string]string{
		"hello\n":                              "x:1:1: no result document: not JSON: ",
		doc + "hello\n":                        "x:2:1: no result document: not JSON: ",
		doc + "{\"a\": 1}\n":                   `x:2:1: no result: it has no "schema"; `,
		doc + doc + "{\"a\": \n":               "x:3:1: the document that begins in this line ends in the middle",
		"[]":                                   "x:1:1: an empty list of results",
		"[1]":                                  "x:1:1: it is a JSON number, but must be an object",
		"7":                                    "x:1:1: it is a JSON number, but must be an object",
		`{"schema": "tare.result/9"}`:          "x:1:1: schema tare.result/9 is newer than this tare reads",
		`{"head":{"format":"tare.journal/1"}}`: "x:1:1: a run's journal, not its result; ",
		doc + doc + "{\"schema\": \"tare.result/1\", \"study\": \"s\",\n \"rounds_done\": \"x\"}": "x:4:",
	} {
		err := Scan("x", strings.NewReader(archive), func(DocumentInfo, []byte) error { return nil })
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q:\n got %v\nwant %s", archive, err, want)
		}
	}
}

// Input without an end, be it a document, space before one, or line ends, is refused once the limit
// was read. The limit applies to each document: an archive may hold many small ones.
func TestScanIsBounded(t *testing.T) {
	doc := strings.ReplaceAll(string(document(t, sample())), "\n", "") + "\n"
	most := int64(len(doc)) + 10
	n := 0
	if err := scanDocuments("x", strings.NewReader(strings.Repeat(doc, 50)), most, maxLines, func(DocumentInfo, []byte) error { n++; return nil }); err != nil || n != 50 {
		t.Errorf("50 documents: %d, %v", n, err)
	}
	for name, in := range map[string]io.Reader{
		"space":       spaces{},
		"a list":      io.MultiReader(strings.NewReader("["), repeated("1,")),
		"a text":      io.MultiReader(strings.NewReader(doc+`{"a": "`), repeated("z")),
		"empty lines": io.MultiReader(strings.NewReader(doc), repeated("\n")),
	} {
		taken := &counter{in: in, maxBytes: 1 << 40, maxLines: maxLines}
		err := scanDocuments("x", taken, most, maxLines, func(DocumentInfo, []byte) error { return nil })
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.What, "larger than") {
			t.Errorf("%s: %v", name, err)
		}
		if taken.read > int64(len(doc))+most+1 {
			t.Errorf("%s: %d bytes were read", name, taken.read)
		}
	}
	doc = string(document(t, sample())) + "\n"
	lines := strings.Count(doc, "\n")
	n = 0
	if err := scanDocuments("x", strings.NewReader(strings.Repeat(doc, 50)), MaxBytes, lines, func(DocumentInfo, []byte) error { n++; return nil }); err != nil || n != 50 {
		t.Errorf("50 documents of %d lines: %d, %v", lines, n, err)
	}
	taken := &counter{in: io.MultiReader(strings.NewReader(doc), repeated("\n")), maxBytes: 1 << 20, maxLines: maxLines}
	err := scanDocuments("x", taken, MaxBytes, lines, func(DocumentInfo, []byte) error { return nil })
	if want := fmt.Sprintf("or has more than %d lines, begins in this line", lines); err == nil || !strings.Contains(err.Error(), want) || taken.read == taken.maxBytes+1 {
		t.Errorf("lines without an end: %v after %d bytes, want %q", err, taken.read, want)
	}
}

// repeated is a reader that repeats its text without an end.
type repeated string

func (r repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], r)
	}
	return n, nil
}

// FuzzScan: for any archive Scan either returns results whose compact form scans to the same
// results, or an error in one line.
func FuzzScan(f *testing.F) {
	f.Add(string(document(f, sample())))
	f.Add("{} [] x")
	f.Add("[{\"schema\":\"tare.result/1\",\"study\":\"a\"},null]")
	f.Fuzz(func(t *testing.T, src string) {
		err := Scan("f", strings.NewReader(src), func(k DocumentInfo, text []byte) error {
			return Scan("g", bytes.NewReader(text), func(again DocumentInfo, _ []byte) error {
				if again != k {
					t.Errorf("%+v and %+v", k, again)
				}
				return nil
			})
		})
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q", err)
		}
	})
}
