package jsonstudy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/kinds/codec"
)

// difference is a difference from encoding/json at one path of a document.
type difference struct {
	path      string       // e.g. $.items[3].price
	want, got string       // JSON, shortened; a got of "" means that the value is missing
	lost      bool         // disqualifies: missing, added, or changed in more than a number or text
	form      bool         // the same values, in another order or spelling
	more      []difference // other differences of the same document
}

func (d difference) String() string {
	if d.got == "" {
		return fmt.Sprintf("%s: %s is missing", d.path, d.want)
	}
	return fmt.Sprintf("%s: %s became %s", d.path, d.want, d.got)
}

// indexRE matches the index of an item in a path: [3].
var indexRE = lazyregexp.New(`\[\d+\]`)

// generalPath returns the path without the indices of items: $.items[].price.
func (d difference) generalPath() string { return indexRE.ReplaceAllString(d.path, "[]") }

func (d difference) gotText() string { return cmp.Or(d.got, "nothing") }

// maxOtherFields limits the named fields after the first.
const maxOtherFields = 2

// describe returns the difference of document i as a clause that follows a contender's name.
func (d difference) describe(verb string, docs []codec.Document, i int) string {
	document := ""
	if len(docs) > 1 {
		document = fmt.Sprintf(" (%s)", docs[i])
	}
	switch {
	case d.form && d.got == otherOrder:
		return verb + " keys in another order"
	case d.form:
		return fmt.Sprintf("%s %s as %s%s", verb, d.want, d.got, document)
	}
	text := fmt.Sprintf("%s %s: %s as %s", verb, d.path, d.want, d.gotText())
	for k, m := range d.more {
		if k == maxOtherFields {
			text += fmt.Sprintf(", and %d more fields otherwise", len(d.more)-k)
			break
		}
		text += fmt.Sprintf(", %s: %s as %s", m.path, m.want, m.gotText())
	}
	return text + document
}

// fieldPaths returns the general paths of all fields that differ.
func (d difference) fieldPaths() string {
	names := d.generalPath()
	for _, m := range d.more {
		names += " " + m.generalPath()
	}
	return names
}

// otherOrder is the value of got if only the order of keys differs.
const otherOrder = "another order of keys"

// compareDocuments compares an output with the reference and returns the most severe difference, if
// any. The sign of zero is part of a value.
func compareDocuments(want, got []byte) (difference, bool) {
	want, got = bytes.TrimRight(want, "\n"), bytes.TrimRight(got, "\n")
	if bytes.Equal(want, got) {
		return difference{}, false
	}
	if !utf8.Valid(got) {
		return difference{path: "$", want: formatValue(json.RawMessage(want)), got: "what is not UTF-8", lost: true}, true
	}
	gotValue, err := parseDocument(got)
	if err != nil {
		return difference{path: "$", want: formatValue(json.RawMessage(want)), got: format.Clip("what is no JSON ("+err.Error()+")", maxShown), lost: true}, true
	}
	wantValue, err := parseDocument(want)
	if err != nil {
		return difference{path: "$", want: "the reference", got: "what is no JSON either", lost: true}, true
	}
	if d, differs := mostSevere(addDifferences("$", wantValue, gotValue, nil)); differs {
		return d, true
	}
	return findSpelling(want, got)
}

// mostSevere returns the first difference that disqualifies, or the first of all. It adds the first
// difference of each other field as more.
func mostSevere(all []difference) (difference, bool) {
	if len(all) == 0 {
		return difference{}, false
	}
	first := all[0]
	if i := slices.IndexFunc(all, func(d difference) bool { return d.lost }); i >= 0 {
		first = all[i]
	}
	named := map[string]bool{first.generalPath(): true}
	for _, d := range all {
		if !named[d.generalPath()] {
			named[d.generalPath()] = true
			first.more = append(first.more, d)
		}
	}
	return first, true
}

type member struct {
	key   string
	value any
}

// object is a JSON object in which a key occurs more than once. It contains all members in order,
// because readers differ in which of the equal keys counts. Other objects are parsed to maps.
type object []member

// MarshalJSON writes all members in order.
func (o object) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, key...), ':'), value...)
	}
	return append(text, '}'), nil
}

// parseDocument parses one document. Numbers become json.Number, with the digits of the text.
func parseDocument(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	if err := d.Decode(&raw); err == io.EOF {
		return nil, fmt.Errorf("nothing")
	} else if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows it")
	}
	d = json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return readValue(d)
}

func readValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	switch {
	case err != nil:
		return nil, err
	case token == json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case token == json.Delim('{'):
		return readObject(d)
	}
	return token, nil
}

func readObject(d *json.Decoder) (any, error) {
	var members object
	byKey := map[string]any{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		v, err := readValue(d)
		if err != nil {
			return nil, err
		}
		members = append(members, member{name, v})
		byKey[name] = v
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if hasDuplicate := len(byKey) < len(members); hasDuplicate {
		return members, nil
	}
	return byKey, nil
}

// maxDifferences is the number of differences at which the search ends.
const maxDifferences = 100

// addDifferences appends the differences at a path, up to maxDifferences.
func addDifferences(path string, want, got any, all []difference) []difference {
	if len(all) >= maxDifferences {
		return all
	}
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return addFieldDifferences(path, w, g, all)
		}
	case object:
		g, ok := got.(object)
		if ok && slices.EqualFunc(w, g, func(x, y member) bool { return x.key == y.key }) {
			for i := range w {
				all = addDifferences(path+"."+w[i].key, w[i].value, g[i].value, all)
			}
			return all
		}
	case []any:
		if g, ok := got.([]any); ok && len(w) == len(g) {
			for i := range w {
				all = addDifferences(path+"["+strconv.Itoa(i)+"]", w[i], g[i], all)
			}
			return all
		}
	}
	if isSame, lost := compareScalars(want, got); !isSame {
		all = append(all, difference{path: path, want: formatValue(want), got: formatValue(got), lost: lost})
	}
	return all
}

func addFieldDifferences(path string, want, got map[string]any, all []difference) []difference {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, ok := got[key]; ok {
			all = addDifferences(path+"."+key, want[key], value, all)
		} else {
			all = append(all, difference{path: path + "." + key, want: formatValue(want[key]), lost: true})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			all = append(all, difference{path: path + "." + key, want: "nothing", got: formatValue(got[key]), lost: true})
		}
	}
	return all
}

// compareScalars compares two scalars. A changed number or text is not lost, nor null against an empty
// object or array: in Go these are nil and empty.
func compareScalars(want, got any) (isSame, lost bool) {
	switch w := want.(type) {
	case json.Number:
		g, isNumber := got.(json.Number)
		sameValue := isNumber && codec.Diff([]byte(w), []byte(g)) == ""
		return sameValue && isNegativeZero(w) == isNegativeZero(g), !isNumber
	case string:
		g, isText := got.(string)
		return isText && g == w, !isText
	case bool:
		return want == got, true
	case nil:
		return got == nil, !isEmptyValue(got)
	}
	return false, got != nil || !isEmptyValue(want)
}

// isNegativeZero reports whether n is a zero with a minus sign, such as -0, -0.0 or -0e5.
func isNegativeZero(n json.Number) bool {
	digits, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
	return strings.HasPrefix(digits, "-") && strings.Trim(digits, "-0.") == ""
}

// isEmptyValue reports whether v is null, an empty object or an empty array. In Go these differ only as
// nil and empty.
func isEmptyValue(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(x) == 0
	case []any:
		return len(x) == 0
	}
	return false
}

// findSpelling compares two texts with the same values token by token, and returns the first difference.
// Another key means that the order differs. It returns false if only white space differs.
func findSpelling(want, got []byte) (difference, bool) {
	w, g := json.NewDecoder(bytes.NewReader(want)), json.NewDecoder(bytes.NewReader(got))
	w.UseNumber()
	g.UseNumber()
	for wFrom, gFrom := int64(0), int64(0); ; {
		wantToken, errWant := w.Token()
		gotToken, errGot := g.Token()
		if errWant != nil || errGot != nil { // the end: both texts were parsed before, without an error
			return difference{}, false
		}
		wantText, gotText := tokenText(want[wFrom:w.InputOffset()]), tokenText(got[gFrom:g.InputOffset()])
		wFrom, gFrom = w.InputOffset(), g.InputOffset()
		if wantText == gotText {
			continue
		}
		d := difference{path: "$", want: format.Clip(wantText, maxShown), got: format.Clip(gotText, maxShown), form: true}
		_, isNumber := wantToken.(json.Number)
		if !isNumber && wantToken != gotToken {
			d.want, d.got = "the reference's order of keys", otherOrder
		}
		return d, true
	}
}

// tokenText returns the text of a token without the space and punctuation before it.
func tokenText(text []byte) string { return strings.TrimLeft(string(text), " \t\r\n,:") }

// formatValue returns a value as JSON, at most 40 characters of it.
func formatValue(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	const maxLength = 40
	return format.Clip(string(b), maxLength)
}
