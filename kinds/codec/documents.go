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

// This file splits a file into JSON documents and checks them. For example, "orders.ndjson:3:12" is
// the position of an error.

// MaxDocument is the largest document that can be measured, in bytes. An output may be somewhat
// longer, and must fit one line of the protocol.
const MaxDocument = 10 << 20

// MaxDepth is the maximum nesting of a document. The time of some codecs is proportional to its
// square.
const MaxDepth = 1000

// Document is one valid JSON document of a file, with numbers in the range of a float64.
type Document struct {
	File string
	Line int    // first line of the document, from 1
	Body []byte // excludes white space around it
}

// String returns the position of the document for messages: file and line.
func (d Document) String() string { return fmt.Sprintf("%s:%d", d.File, d.Line) }

// SyntaxError is an error in a file. Lines and columns count from 1; columns are characters.
type SyntaxError struct {
	File      string
	Line, Col int
	What      string
	Hint      string // how to correct it; may be ""
}

// Error returns one line: file:line:col: what; hint.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// text is a file of JSON, and the position up to which it is parsed.
type text struct {
	name       string
	src        []byte // checkEncoding removes a byte order mark
	isCut      bool   // src is only the start of the file, and may end within a character
	offset     int    // offset of the last document
	line       int    // line ends before the last document
	duplicates int    // duplicate keys so far
}

// Documents parses src, the content of the file called name. It is one JSON document, or one on
// each line (NDJSON). The notes are for the user, one line each. The error is a *SyntaxError.
func Documents(name string, src []byte) (docs []Document, notes []string, err error) {
	f := &text{name: name, src: src}
	if notes, err = f.checkEncoding(); err != nil {
		return nil, nil, err
	}
	content := trimSpace(f.src)
	start := bytes.Index(f.src, content)
	switch {
	case len(content) == 0:
		return nil, nil, f.errorAt(0, "there is no JSON in it", "a document, or one on each line")
	case json.Valid(content) || !f.isLines(content):
		docs, err = f.addDocument(nil, start, start+len(content), &notes)
		return docs, notes, err
	}
	for lineStart := 0; lineStart < len(f.src); {
		lineEnd := len(f.src)
		if i := bytes.IndexByte(f.src[lineStart:], '\n'); i >= 0 {
			lineEnd = lineStart + i
		}
		line := trimSpace(f.src[lineStart:lineEnd])
		if len(line) > 0 {
			begin := lineStart + bytes.Index(f.src[lineStart:lineEnd], line)
			if docs, err = f.addDocument(docs, begin, begin+len(line), &notes); err != nil {
				return nil, nil, err
			}
		}
		lineStart = lineEnd + 1
	}
	return docs, notes, nil
}

const maxNotes = 3

// trimSpace removes the white space of JSON around b.
func trimSpace(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

func (f *text) errorAt(offset int, problem, hint string) error {
	line, col := lineAndColumn(f.src, offset)
	return &SyntaxError{File: f.name, Line: line, Col: col, What: problem, Hint: hint}
}

func lineAndColumn(src []byte, offset int) (line, col int) {
	offset = min(max(0, offset), len(src))
	begin := bytes.LastIndexByte(src[:offset], '\n') + 1
	return 1 + bytes.Count(src[:offset], []byte("\n")), 1 + utf8.RuneCount(src[begin:offset])
}

func (f *text) checkEncoding() (notes []string, err error) {
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
		notes = append(notes, f.name+":1:1: begins with a byte order mark, which is no JSON; it is skipped")
	}
	if utf8.Valid(f.src) {
		return notes, nil
	}
	for offset := 0; offset < len(f.src); {
		r, n := utf8.DecodeRune(f.src[offset:])
		if r == utf8.RuneError && n == 1 {
			if f.isCut && !utf8.FullRune(f.src[offset:]) {
				break
			}
			return nil, f.errorAt(offset, fmt.Sprintf("byte 0x%02x (at offset %d) is not UTF-8, which JSON is", f.src[offset], offset),
				"convert the file, e.g. iconv -f ISO-8859-1 -t UTF-8")
		}
		offset += n
	}
	return notes, nil
}

// isLines reports whether a text that is not valid JSON is meant to have one document per line. Its
// first line must be a document, or the file must be called .ndjson or .jsonl.
func (f *text) isLines(content []byte) bool {
	first, rest, hasLines := bytes.Cut(content, []byte("\n"))
	if hasLines && json.Valid(first) {
		return true
	}
	name := strings.ToLower(f.name)
	isNamedLines := strings.HasSuffix(name, ".ndjson") || strings.HasSuffix(name, ".jsonl")
	return hasLines && isNamedLines && len(trimSpace(rest)) > 0
}

// addDocument checks the document in src[start:end] and appends it to docs. It adds notes about
// duplicate keys.
func (f *text) addDocument(docs []Document, start, end int, notes *[]string) ([]Document, error) {
	body := f.src[start:end]
	if len(body) > MaxDocument {
		return nil, f.errorAt(start, fmt.Sprintf("a document of %.1f MB", float64(len(body))/1e6), sizeHint())
	}
	var syntax *json.SyntaxError
	// Unmarshal checks the syntax; the decoded value is not used.
	if err := json.Unmarshal(body, new(json.RawMessage)); errors.As(err, &syntax) {
		offset := max(0, int(syntax.Offset)-1)
		problem := "not JSON: " + syntax.Error()
		hint := syntaxHint(body, offset, syntax.Error())
		if syntax.Error() == "unexpected end of JSON input" {
			offset, problem, hint = len(body), "the JSON ends too early", ""
			isLastLine := len(docs) > 0 && len(trimSpace(f.src[start+len(body):])) == 0
			if isLastLine {
				hint = "the last line is cut off: leave it out, e.g. by sed '$d'"
			}
		}
		return nil, f.errorAt(start+offset, problem, hint)
	} else if err != nil {
		return nil, f.errorAt(start, "not JSON: "+err.Error(), "")
	}
	if err := f.checkTokens(start, body, notes); err != nil {
		return nil, err
	}
	f.line += bytes.Count(f.src[f.offset:start], []byte("\n"))
	f.offset = start
	return append(docs, Document{File: f.name, Line: f.line + 1, Body: body}), nil
}

// syntaxHint returns advice about a common syntax error at an offset of body, or "". message is the
// text of encoding/json's error.
func syntaxHint(body []byte, offset int, message string) string {
	rest := body[min(offset, len(body)):]
	before := trimSpace(body[:min(offset, len(body))])
	startsWith := func(s string) bool { return bytes.HasPrefix(rest, []byte(s)) }
	followsComma := len(before) > 0 && before[len(before)-1] == ','
	switch {
	case followsComma && (startsWith("]") || startsWith("}")):
		return "no comma before a closing bracket"
	case startsWith("'"):
		return "strings take double quotes"
	case startsWith("//"), startsWith("/*"), startsWith("#"):
		return "JSON has no comments"
	case startsWith("NaN"), startsWith("Inf"), startsWith("-Inf"), startsWith("undefined"):
		return "JSON has no such value; null, or a string"
	case strings.HasSuffix(message, "after top-level value"):
		return "one document a file, or one on each line, as jq -c . writes them"
	case strings.HasSuffix(message, "in string literal"):
		return `control characters are escaped in strings, e.g. \n or \u0000`
	case strings.HasSuffix(message, "exceeded max depth"):
		return fmt.Sprintf("at most %d levels are measured", MaxDepth)
	}
	return ""
}

// checkTokens returns an error if body is nested too deeply or has a number beyond a float64. It
// adds notes about duplicate keys. body is valid JSON at offset base of the file.
func (f *text) checkTokens(base int, body []byte, notes *[]string) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var open []container // the innermost last
	end := 0             // end of the previous token
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return f.errorAt(base+end, "not JSON: "+err.Error(), "")
		}
		begin := end // start of this token
		for begin < len(body) && bytes.IndexByte([]byte(" \t\r\n,:"), body[begin]) >= 0 {
			begin++
		}
		end = int(d.InputOffset())
		if len(open) > 0 {
			key, isKey, isDuplicate := open[len(open)-1].takeToken(token)
			if isDuplicate {
				f.noteDuplicate(base+begin, key, notes)
			}
			if isKey {
				continue
			}
		}
		switch x := token.(type) {
		case json.Delim:
			switch {
			case x == '}' || x == ']':
				open = open[:len(open)-1]
			case len(open) == MaxDepth:
				return f.errorAt(base+begin, fmt.Sprintf("nested more than %d deep", MaxDepth), "codecs reject such documents or take minutes for one, so they are not measured")
			case x == '{':
				open = append(open, container{keys: map[string]bool{}})
			default:
				open = append(open, container{})
			}
		case json.Number:
			if _, err := strconv.ParseFloat(x.String(), 64); err != nil {
				return f.errorAt(base+begin, fmt.Sprintf("%s is larger than any float64, which no codec can read into a number", shortenText(x.String())), "write it as a string")
			}
		}
	}
}

// container is an object or array whose end was not read yet.
type container struct {
	keys      map[string]bool // keys of an object so far; nil for an array
	needValue bool            // the next token is a value
}

// takeToken records the next token, which is a key or a value.
func (c *container) takeToken(token json.Token) (key string, isKey, isDuplicate bool) {
	key, isText := token.(string)
	if isKey = isText && c.keys != nil && !c.needValue; !isKey {
		c.needValue = false
		return "", false, false
	}
	isDuplicate = c.keys[key]
	c.keys[key], c.needValue = true, true
	return key, true, isDuplicate
}

// noteDuplicate adds a note about a duplicate key at an offset. If there are more than maxNotes+1,
// the last note counts the others.
func (f *text) noteDuplicate(offset int, key string, notes *[]string) {
	line, col := lineAndColumn(f.src, offset)
	if f.duplicates++; f.duplicates > maxNotes+1 {
		last := &(*notes)[len(*notes)-1]
		*last = fmt.Sprintf("%s: %d more keys come twice in their object", f.name, f.duplicates-maxNotes)
		return
	}
	*notes = append(*notes, fmt.Sprintf("%s:%d:%d: key %q comes twice in its object; codecs differ in which one counts", f.name, line, col, shortenText(key)))
}

func shortenText(s string) string {
	const maxBytes = 40
	if len(s) > maxBytes {
		return strings.ToValidUTF8(s[:maxBytes], "") + "…"
	}
	return s
}
