package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDocument is the largest document that can be measured, in bytes: a
// contender shows its answer, which may be somewhat longer than what it was
// given, in one line of the protocol.
const MaxDocument = 10 << 20

// MaxDepth is the maximum nesting of a document: some codecs take time with the square of it, and
// others reject ten times as much.
const MaxDepth = 1000

// Document is one JSON document of a file. It is valid: UTF-8, no syntax
// error, and no number beyond a float64.
type Document struct {
	File string // it came from
	Line int    // of the file on which it begins, from 1
	Body []byte // without white space around it
}

// String returns the position of the document, for messages.
func (d Document) String() string { return fmt.Sprintf("%s:%d", d.File, d.Line) }

// SyntaxError is an error in a file, with its position and what would be right. Lines and columns
// count from 1; columns are characters.
type SyntaxError struct {
	File      string
	Line, Col int
	What      string
	Hint      string // may be empty
}

// Error returns one line: file:line:col: what; hint.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Documents reads the JSON of the file called name: one document, or one on each line (NDJSON),
// whatever the file is called. Notes are for the user, one line each. The error is a *SyntaxError.
func Documents(name string, src []byte) (docs []Document, notes []string, err error) {
	f := &text{name: name, src: src}
	if notes, err = f.checkEncoding(false); err != nil {
		return nil, nil, err
	}
	whole := trimSpace(f.src)
	start := bytes.Index(f.src, whole)
	switch {
	case len(whole) == 0:
		return nil, nil, f.errorAt(0, "there is no JSON in it", "a document, or one on each line")
	case json.Valid(whole) || !f.isLines(whole):
		docs, err = f.addDocument(nil, start, start+len(whole), &notes)
		return docs, notes, err
	}
	for at := 0; at < len(f.src); {
		end := at + len(f.src[at:])
		if i := bytes.IndexByte(f.src[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := trimSpace(f.src[at:end])
		if len(line) > 0 {
			begin := at + bytes.Index(f.src[at:end], line)
			if docs, err = f.addDocument(docs, begin, begin+len(line), &notes); err != nil {
				return nil, nil, err
			}
		}
		at = end + 1
	}
	return docs, notes, nil
}

// text is a file of JSON.
type text struct {
	name string
	src  []byte
	at   int // offset of the last document
	line int // line ends before it
	many int // keys that came twice
}

// maxNotes is the number of duplicate keys that are listed.
const maxNotes = 3

func trimSpace(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

// errorAt returns an error at an offset.
func (f *text) errorAt(at int, what, hint string) error {
	line, col := lineAndColumn(f.src, at)
	return &SyntaxError{File: f.name, Line: line, Col: col, What: what, Hint: hint}
}

// lineAndColumn turns an offset into line and column.
func lineAndColumn(src []byte, at int) (line, col int) {
	at = min(max(0, at), len(src))
	begin := bytes.LastIndexByte(src[:at], '\n') + 1
	return 1 + bytes.Count(src[:at], []byte("\n")), 1 + utf8.RuneCount(src[begin:at])
}

// checkEncoding removes a byte order mark and finds bytes that are not UTF-8. A text that was cut
// off may end within a character.
func (f *text) checkEncoding(cutOff bool) (notes []string, err error) {
	if format, command := detectCompression(f.src); format != "" {
		return nil, f.errorAt(0, "the file is compressed ("+format+")", "unpack it first, e.g. by "+command)
	}
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(f.src, []byte(mark)) {
			return nil, f.errorAt(0, "the file is UTF-16, and JSON is UTF-8", "convert it, e.g. iconv -f UTF-16 -t UTF-8")
		}
	}
	if rest, ok := bytes.CutPrefix(f.src, []byte("\xef\xbb\xbf")); ok {
		f.src = rest
		notes = append(notes, f.name+":1:1: begins with a byte order mark, which is no JSON; it is left out")
	}
	if utf8.Valid(f.src) {
		return notes, nil
	}
	for at := 0; at < len(f.src); {
		r, n := utf8.DecodeRune(f.src[at:])
		if r == utf8.RuneError && n == 1 {
			if cutOff && !utf8.FullRune(f.src[at:]) {
				break
			}
			return nil, f.errorAt(at, fmt.Sprintf("byte 0x%02x (at offset %d) is not UTF-8, which JSON is", f.src[at], at),
				"convert the file, e.g. iconv -f ISO-8859-1 -t UTF-8")
		}
		at += n
	}
	return notes, nil
}

// isLines reports whether a text that is no single document is meant as one document a line: the
// first line is one.
func (f *text) isLines(whole []byte) bool {
	first, rest, several := bytes.Cut(whole, []byte("\n"))
	if several && json.Valid(first) {
		return true
	}
	name := strings.ToLower(f.name)
	named := strings.HasSuffix(name, ".ndjson") || strings.HasSuffix(name, ".jsonl")
	return several && named && len(trimSpace(rest)) > 0
}

// addDocument adds src[from:to] to docs.
func (f *text) addDocument(docs []Document, from, to int, notes *[]string) ([]Document, error) {
	body := f.src[from:to]
	if len(body) > MaxDocument {
		return nil, f.errorAt(from, fmt.Sprintf("a document of %.1f MB", float64(len(body))/1e6), sizeHint())
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, new(json.RawMessage)); errors.As(err, &syntax) {
		at := max(0, int(syntax.Offset)-1)
		what := "not JSON: " + syntax.Error()
		hint := syntaxHint(body, at, syntax.Error())
		if syntax.Error() == "unexpected end of JSON input" {
			at, what, hint = len(body), "the JSON ends too early", ""
			if len(docs) > 0 && len(trimSpace(f.src[from+len(body):])) == 0 {
				hint = "the last line is cut off: leave it out, e.g. by sed '$d'"
			}
		}
		return nil, f.errorAt(from+at, what, hint)
	} else if err != nil {
		return nil, f.errorAt(from, "not JSON: "+err.Error(), "")
	}
	if err := f.checkTokens(from, body, notes); err != nil {
		return nil, err
	}
	f.line += bytes.Count(f.src[f.at:from], []byte("\n"))
	f.at = from
	return append(docs, Document{File: f.name, Line: f.line + 1, Body: body}), nil
}

// syntaxHint knows what is often meant by what is no JSON at an offset, of which
// encoding/json complains.
func syntaxHint(body []byte, at int, complaint string) string {
	rest := body[min(at, len(body)):]
	before := trimSpace(body[:min(at, len(body))])
	word := func(s string) bool { return bytes.HasPrefix(rest, []byte(s)) }
	switch {
	case len(before) > 0 && before[len(before)-1] == ',' && (word("]") || word("}")):
		return "no comma before a closing bracket"
	case word("'"):
		return "strings take double quotes"
	case word("//"), word("/*"), word("#"):
		return "JSON has no comments"
	case word("NaN"), word("Inf"), word("-Inf"), word("undefined"):
		return "JSON has no such value; null, or a string"
	case strings.HasSuffix(complaint, "after top-level value"):
		return "one document a file, or one on each line, as jq -c . writes them"
	case strings.HasSuffix(complaint, "in string literal"):
		return `control characters are escaped in strings, e.g. \n or \u0000`
	case strings.HasSuffix(complaint, "exceeded max depth"):
		return fmt.Sprintf("at most %d levels are measured", MaxDepth)
	}
	return ""
}

// checkTokens finds numbers that no float64 can represent, and duplicate keys. The body is at
// offset base and known to be JSON.
func (f *text) checkTokens(base int, body []byte, notes *[]string) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	type object struct {
		keys  map[string]bool // nil means an array
		value bool            // what comes next is a value
	}
	var open []object
	end := 0 // of the token before
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return f.errorAt(base+end, "not JSON: "+err.Error(), "")
		}
		begin := end
		for begin < len(body) && bytes.IndexByte([]byte(" \t\r\n,:"), body[begin]) >= 0 {
			begin++
		}
		end = int(d.InputOffset())
		var in *object
		if len(open) > 0 {
			in = &open[len(open)-1]
		}
		key, isText := token.(string)
		if in != nil && in.keys != nil && !in.value && isText {
			if in.keys[key] {
				f.noteDuplicate(base+begin, key, notes)
			}
			in.keys[key], in.value = true, true
			continue
		}
		if in != nil {
			in.value = false
		}
		switch x := token.(type) {
		case json.Delim:
			switch {
			case x == '}' || x == ']':
				open = open[:len(open)-1]
			case len(open) == MaxDepth:
				return f.errorAt(base+begin, fmt.Sprintf("nested more than %d deep", MaxDepth), "codecs refuse such documents or take minutes for one, so they are not measured")
			case x == '{':
				open = append(open, object{keys: map[string]bool{}})
			default:
				open = append(open, object{})
			}
		case json.Number:
			if _, err := strconv.ParseFloat(x.String(), 64); err != nil {
				return f.errorAt(base+begin, fmt.Sprintf("%s is larger than any float64, which no codec can read into a number", shortenText(x.String())), "write it as a string")
			}
		}
	}
}

// noteDuplicate notes a key that its object has already.
func (f *text) noteDuplicate(at int, key string, notes *[]string) {
	line, col := lineAndColumn(f.src, at)
	if f.many++; f.many > maxNotes+1 {
		last := &(*notes)[len(*notes)-1]
		*last = fmt.Sprintf("%s: %d more keys come twice in their object", f.name, f.many-maxNotes)
		return
	}
	*notes = append(*notes, fmt.Sprintf("%s:%d:%d: key %q comes twice in its object; codecs differ in which one counts", f.name, line, col, shortenText(key)))
}

func shortenText(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
