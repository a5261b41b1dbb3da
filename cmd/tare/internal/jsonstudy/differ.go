package jsonstudy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare/kinds/codec"
)

// difference describes a value of a codec's output that is not the reference's.
type difference struct {
	path      string       // e.g. $.items[3].price
	want, got string       // as JSON, cut short
	lost      bool         // a value is missing, or is neither a number nor a text: no output to be measured
	form      bool         // the same values in another order or spelling
	more      []difference // of the same document, in other fields
}

// String returns the difference for a message.
func (d difference) String() string {
	if d.got == "" {
		return fmt.Sprintf("%s: %s is missing", d.path, d.want)
	}
	return fmt.Sprintf("%s: %s became %s", d.path, d.want, d.got)
}

var indexRE = regexp.MustCompile(`\[\d+\]`)

// generalPath returns the path without numbers of items.
func (d difference) generalPath() string { return indexRE.ReplaceAllString(d.path, "[]") }

// gotText returns the value of the output, in words.
func (d difference) gotText() string { return cmp.Or(d.got, "nothing") }

// maxOtherFields limits the further fields that are named with the first one.
const maxOtherFields = 2

// describe returns the difference as a clause that follows a contender's name.
func (d difference) describe(verb string, docs []codec.Document, i int) string {
	where := ""
	if len(docs) > 1 {
		where = fmt.Sprintf(" (%s)", docs[i])
	}
	switch {
	case d.form && d.got == otherOrder:
		return verb + " keys in another order"
	case d.form:
		return fmt.Sprintf("%s %s as %s%s", verb, d.want, d.got, where)
	}
	text := fmt.Sprintf("%s %s: %s as %s", verb, d.path, d.want, d.gotText())
	for k, m := range d.more {
		if k == maxOtherFields {
			text += fmt.Sprintf(", and %d more fields otherwise", len(d.more)-k)
			break
		}
		text += fmt.Sprintf(", %s: %s as %s", m.path, m.want, m.gotText())
	}
	return text + where
}

// fieldPaths names the fields that differ: equal for documents that differ alike.
func (d difference) fieldPaths() string {
	names := d.generalPath()
	for _, m := range d.more {
		names += " " + m.generalPath()
	}
	return names
}

const otherOrder = "another order of keys"

// compareDocuments compares an output with the reference: first by values, then by spelling. The
// sign of zero is part of a value.
func compareDocuments(want, got []byte) (difference, bool) {
	want, got = bytes.TrimRight(want, "\n"), bytes.TrimRight(got, "\n")
	if bytes.Equal(want, got) {
		return difference{}, false
	}
	if !utf8.Valid(got) {
		return difference{path: "$", want: formatValue(json.RawMessage(want)), got: "what is not UTF-8", lost: true}, true
	}
	g, err := parseDocument(got)
	if err != nil {
		return difference{path: "$", want: formatValue(json.RawMessage(want)), got: cut80("what is no JSON (" + err.Error() + ")"), lost: true}, true
	}
	w, err := parseDocument(want)
	if err != nil {
		return difference{path: "$", want: "the reference", got: "what is no JSON either", lost: true}, true
	}
	if d, differs := mostSevere(addDifferences("$", w, g, nil)); differs {
		return d, true
	}
	return findSpelling(want, got)
}

// mostSevere prefers a difference that disqualifies, and adds the first difference of each other
// field.
func mostSevere(all []difference) (difference, bool) {
	if len(all) == 0 {
		return difference{}, false
	}
	first := all[max(0, slices.IndexFunc(all, func(d difference) bool { return d.lost }))]
	named := map[string]bool{first.generalPath(): true}
	for _, d := range all {
		if !named[d.generalPath()] {
			named[d.generalPath()] = true
			first.more = append(first.more, d)
		}
	}
	return first, true
}

// member is a key of an object, and its value.
type member struct {
	key   string
	value any
}

// object contains a key more than once: which of them counts depends on the reader.
type object []member

// MarshalJSON writes the object as it was read.
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

// parseDocument parses one document, with numbers as they were written, and an object that has a
// key twice as an object.
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

// readValue reads the next value of d.
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

// readObject reads the rest of an object, whose bracket was read.
func readObject(d *json.Decoder) (any, error) {
	var members object
	once := map[string]any{}
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
		members, once[name] = append(members, member{name, v}), v
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if len(once) < len(members) {
		return members, nil
	}
	return once, nil
}

// maxDifferences is the number at which the search ends.
const maxDifferences = 100

// addDifferences adds to all the differences of two values.
func addDifferences(at string, want, got any, all []difference) []difference {
	if len(all) >= maxDifferences {
		return all
	}
	other := func(lost bool) []difference {
		return append(all, difference{path: at, want: formatValue(want), got: formatValue(got), lost: lost})
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return other(!(len(w) == 0 && got == nil))
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			gv, there := g[key]
			if !there {
				all = append(all, difference{path: at + "." + key, want: formatValue(w[key]), lost: true})
				continue
			}
			all = addDifferences(at+"."+key, w[key], gv, all)
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, there := w[key]; !there {
				all = append(all, difference{path: at + "." + key, want: "nothing", got: formatValue(g[key]), lost: true})
			}
		}
	case object:
		g, ok := got.(object)
		if !ok || !slices.EqualFunc(w, g, func(x, y member) bool { return x.key == y.key }) {
			return other(true)
		}
		for i := range w {
			all = addDifferences(at+"."+w[i].key, w[i].value, g[i].value, all)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return other(!(len(w) == 0 && got == nil))
		}
		for i := range w {
			all = addDifferences(at+"["+strconv.Itoa(i)+"]", w[i], g[i], all)
		}
	case json.Number:
		g, ok := got.(json.Number)
		if !ok {
			return other(true)
		}
		if codec.Diff([]byte(w), []byte(g)) != "" || isNegativeZero(w) != isNegativeZero(g) {
			return other(false)
		}
	case string:
		g, ok := got.(string)
		if !ok || g != w {
			return other(!ok)
		}
	case nil:
		if got != nil {
			return other(!emptyAlike(got))
		}
	default: // a boolean
		if want != got {
			return other(true)
		}
	}
	return all
}

// isNegativeZero reports whether n is a zero with a sign.
func isNegativeZero(n json.Number) bool {
	digits, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
	return strings.HasPrefix(digits, "-") && strings.Trim(digits, "-0.") == ""
}

// emptyAlike reports whether v is nothing, an empty object or an empty array, which a Go program
// distinguishes as nil and not nil.
func emptyAlike(v any) bool {
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

// findSpelling finds the first token that two texts of the same values spell differently.
func findSpelling(want, got []byte) (difference, bool) {
	w, g := json.NewDecoder(bytes.NewReader(want)), json.NewDecoder(bytes.NewReader(got))
	w.UseNumber()
	g.UseNumber()
	for wFrom, gFrom := int64(0), int64(0); ; {
		x, errX := w.Token()
		y, errY := g.Token()
		if errX != nil || errY != nil {
			return difference{}, false // only white space differs
		}
		xText, yText := tokenText(want[wFrom:w.InputOffset()]), tokenText(got[gFrom:g.InputOffset()])
		wFrom, gFrom = w.InputOffset(), g.InputOffset()
		if xText == yText {
			continue
		}
		d := difference{path: "$", want: cut80(xText), got: cut80(yText), form: true}
		_, number := x.(json.Number)
		if !number && x != y {
			d.want, d.got = "the reference's order of keys", otherOrder
		}
		return d, true
	}
}

// tokenText returns a token's own text.
func tokenText(text []byte) string { return strings.TrimLeft(string(text), " \t\r\n,:") }

// formatValue returns a value as JSON, cut short.
func formatValue(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	const most = 40
	if r := []rune(string(b)); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(b)
}
