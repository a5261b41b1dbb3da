package services

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

const mib = 1 << 20

// body is one that no app takes.
type body struct {
	name     string
	text     []byte
	encoding string // Content-Encoding; empty: none
	media    string // Content-Type; empty: JSON
}

// packed is text in gzip, so many times over, each a member of its own.
func packed(t *testing.T, text []byte, times int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(t, err)
	_, err = z.Write(text)
	must(t, err)
	must(t, z.Close())
	return bytes.Repeat(b.Bytes(), times)
}

// filled is so many times part, up to 1 MiB, the longest body there may be.
func filled(before, part, after string) string {
	return before + strings.Repeat(part, (mib-len(before)-len(after))/len(part)) + after
}

func event(id, more string) string {
	return `{"id":"` + id + `","timestamp":"2026-03-01T12:00:00Z","metadata":{"name":"u","age":1` + more + `}}`
}

// hostile are fifty bodies that are refused. What comes behind a document is none
// of them: some frameworks do not look at it.
func hostile(t *testing.T) []body {
	t.Helper()
	const deep = 100_000
	nested := strings.Repeat("[", deep) + strings.Repeat("]", deep)
	gzip, wide := "gzip", func(s string) []byte { // UTF-16
		var b []byte
		for _, c := range []byte(s) {
			b = append(b, c, 0)
		}
		return append([]byte{0xff, 0xfe}, b...)
	}
	var list []body
	for name, text := range map[string]string{
		"nothing":               "",
		"null":                  "null",
		"true":                  "true",
		"a number":              "42",
		"half an array":         "[" + event("a", ""),
		"another bracket":       "[" + event("a", "") + "}",
		"no comma":              "[" + event("a", "") + event("b", "") + "]",
		"a comma too many":      "[" + event("a", "") + ",]",
		"half a word":           "[tru]",
		"one quote":             `"`,
		"single quotes":         strings.ReplaceAll("["+event("a", "")+"]", `"`, "'"),
		"a comment":             "[/* */" + event("a", "") + "]",
		"NaN":                   "[" + event("a", `,"latitude":NaN`) + "]",
		"1e999":                 "[" + strings.Replace(event("a", ""), `"2026-03-01T12:00:00Z"`, "1e999", 1) + "]",
		"a number of 1 kB":      "[" + strings.Replace(event("a", ""), `"2026-03-01T12:00:00Z"`, strings.Repeat("9", 1000), 1) + "]",
		"a number of 1 MiB":     filled("", "9", ""),
		"arrays, 100,000 deep":  nested,
		"arrays, 1,048,576":     strings.Repeat("[", mib),
		"objects, 100,000 deep": strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep),
		"objects that stay":     filled("", `{"a":`, ""),
		"deep in a record":      `[{"x":` + nested + `,"id":"a"}]`,
		"eleven records":        "[" + strings.TrimSuffix(strings.Repeat(event("a", "")+",", 11), ",") + "]",
		"empty records":         filled("[{}", ",{}", "]"),
		"numbers":               filled("[0", ",0", "]"),
		"nulls":                 filled("[null", ",null", "]"),
		"texts":                 filled(`[""`, `,""`, "]"),
		"empty arrays":          filled("[[]", ",[]", "]"),
		"keys":                  filled("{", `"a":1,`, `"b":2}`),
		"other keys":            filled("[{", `"id":"a",`, `"b":2`),
		"a long text":           filled(`"`, "x", `"`),
		"escapes":               filled(`"`, `\u0000`, `"`),
		"half escapes":          filled(`["`, `\`, ""),
		"a long key":            filled(`[{"`, "k", `"`),
		"spaces":                filled("", " ", ""),
		"line ends":             filled("[", "\n", ""),
		"zeros":                 filled("", "\x00", ""),
		"no UTF-8":              "\xff\xfe[\x80]",
		"1 MiB of no UTF-8":     filled("", "\xff", ""),
		"1 byte too much":       strings.Repeat(" ", mib+1),
		"10 MB":                 strings.Repeat("[", 10_000_000),
	} {
		list = append(list, body{name: name, text: []byte(text)})
	}
	list = append(list,
		body{name: "UTF-16", text: wide("[" + event("a", "") + "]")},
		body{name: "no gzip", text: []byte("[]"), encoding: gzip},
		body{name: "half a gzip", text: packed(t, []byte("["+event("a", "")+"]"), 1)[:30], encoding: gzip},
		body{name: "1 GiB in gzip", text: packed(t, make([]byte, 8*mib), 128), encoding: gzip},
		body{name: "349,000 records in 1 kB", text: packed(t, []byte(filled("[{}", ",{}", "]")), 1), encoding: gzip},
		body{name: "arrays in gzip", text: packed(t, []byte(strings.Repeat("[", 8*mib)), 1), encoding: gzip},
		body{name: "50,000 empty gzips", text: packed(t, nil, 50_000)[:mib], encoding: gzip},
		body{name: "gzip in gzip", text: packed(t, packed(t, []byte("["+event("a", "")+"]"), 1), 1), encoding: gzip},
		body{name: "an unknown encoding", text: []byte("[" + event("a", "") + "]"), encoding: "zstd, br"},
		body{name: "another type", text: []byte("<a/>"), media: "text/xml"},
	)
	if len(list) != 50 {
		t.Fatalf("%d bodies", len(list))
	}
	return list
}
