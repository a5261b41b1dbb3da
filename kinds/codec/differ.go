package codec

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
)

// comparison is the result of comparing an answer with the reference's. It is for the field that
// the case tests.
type comparison struct {
	class     tare.DifferenceClass // "" if there is no difference
	want, got string               // text of the field in the reference's answer, and in the contender's
	broken    bool                 // the contender's text is not JSON
	unchanged bool                 // a round trip has returned the input unchanged
}

// Values of comparison.got that are not the text of a field.
const (
	omittedText = "left out" // the output does not have the field
	invalidText = "what is not JSON"
)

// compareEncoded compares the encoded field that the case tests. White space between tokens does
// not count.
func compareEncoded(c fixture.Case, want, got []byte) comparison {
	if c.Field == "" {
		return compareKeys(want, got)
	}
	key := strings.ToLower(c.Field) // as in the JSON tags of [fixture.Probe]
	w, _ := findField(want, key)
	g, ok := findField(got, key)
	g = compactJSON(g)
	switch {
	case !ok && json.Valid(got):
		return comparison{class: tare.DiffersInValue, want: w, got: omittedText}
	case !ok:
		return comparison{class: tare.DiffersInValue, want: w, got: invalidText}
	case g == w:
		return comparison{}
	}
	f := comparison{class: tare.DiffersInValue, want: w, got: g}
	switch isValid := json.Valid([]byte(g)); {
	case hasManyKeys(w) && !isValid:
		f.want, f.got = "its entries", invalidText
	case !isValid || !utf8.ValidString(g):
		f.broken = true
	case isReordered([]byte(w), []byte(g)) && Diff([]byte(w), []byte(g)) == "":
		f.class, f.want, f.got = tare.DiffersInForm, "sorted", fixture.OtherOrder
	case hasSameValue(c.Field, w, g):
		f.class = tare.DiffersInForm
	case hasManyKeys(w): // the order of the keys, and so the text, can change from run to run
		f.want, f.got = "its entries", "other entries"
	}
	return f
}

// compactJSON removes white space between tokens. It returns text unchanged if it is not JSON.
func compactJSON(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

// compareKeys compares only the keys of an object and their order, for cases without a field.
func compareKeys(want, got []byte) comparison {
	w, _ := keysOf(want)
	g, ok := keysOf(got)
	f := comparison{want: strings.Join(w, ", "), got: strings.Join(g, ", ")}
	switch {
	case !json.Valid(got):
		f.class, f.got = tare.DiffersInValue, invalidText
	case !ok:
		f.class, f.got = tare.DiffersInValue, string(got)
	case isReordered(want, got):
		f.class, f.got = tare.DiffersInForm, fixture.OtherOrder
	case !slices.Equal(w, g):
		f.class = tare.DiffersInValue
	}
	return f
}

// hasManyKeys reports whether text is an object with more than one key.
func hasManyKeys(text string) bool {
	list, _ := keysOf([]byte(text))
	return len(list) > 1
}

// hasSameValue reports whether two texts mean the same value in the field called name. Digits that
// the field's float type cannot represent do not count. The sign of zero counts.
func hasSameValue(name, want, got string) bool {
	bits := map[string]int{"Float": 64, "Single": 32}[name]
	if bits == 0 && strings.ContainsAny(want, ".eE") {
		bits = 64 // a float in field Any
	}
	if bits > 0 {
		x, xErr := strconv.ParseFloat(want, bits)
		y, yErr := strconv.ParseFloat(got, bits)
		if xErr == nil && yErr == nil {
			sameSign := (want[0] == '-') == (got[0] == '-')
			return x == y && (x != 0 || sameSign)
		}
	}
	return Diff([]byte(want), []byte(got)) == ""
}

// compareRoundTrip compares the field after a round trip. The contender may return the input
// unchanged even if the reference does not.
func compareRoundTrip(c fixture.Case, want, got []byte) comparison {
	if c.Field == "" { // the case is about the order of keys, which a decoded value does not have
		return comparison{}
	}
	f := compareShown(c, want, got)
	f.unchanged = isUnchanged(c, got)
	return f
}

// isUnchanged reports whether the field of a probe is unchanged after a round trip. got is the
// decoded value as formatted by [fixture.Show].
func isUnchanged(c fixture.Case, got []byte) bool {
	v, err := fixture.Decode("probes", c.Body)
	return err == nil && shownField(c.Field, fixture.Show(v)) == shownField(c.Field, got)
}

// compareShown compares the field in values that are formatted by [fixture.Show], or the complete
// values if the case has no field.
func compareShown(c fixture.Case, want, got []byte) comparison {
	f := comparison{want: shownField(c.Field, want), got: shownField(c.Field, got)}
	if f.want != f.got {
		f.class = tare.DiffersInValue
	}
	return f
}

// shownField returns the text of one field of a Probe that is formatted by [fixture.Show], which
// omits zero fields. It returns all of the text if that is not a struct, or if name is "".
func shownField(name string, text []byte) string {
	if _, ok := splitMembers(text); !ok || name == "" {
		return string(text)
	}
	if v, ok := findField(text, name); ok {
		return v
	}
	f, ok := reflect.TypeFor[fixture.Probe]().FieldByName(name)
	if !ok {
		return string(text)
	}
	switch f.Type.Kind() { // the field has its zero value
	case reflect.String:
		return `""`
	case reflect.Bool:
		return "false"
	case reflect.Struct:
		return "the zero time"
	case reflect.Map, reflect.Slice, reflect.Pointer, reflect.Interface:
		return "nil"
	}
	return "0"
}

// compareFields compares the answers of OpFields by value, and formats them as Go values.
func compareFields(c fixture.Case, want, got []byte) comparison {
	f := comparison{class: tare.DiffersInValue, want: formatItems(c.Field, want), got: formatItems(c.Field, got)}
	switch {
	case f.want != f.got:
		return f
	case Diff(want, got) != "": // in another field than the case's own
		f.want, f.got = formatItems("", want), formatItems("", got)
		return f
	}
	return comparison{}
}

// formatItems formats an answer of OpFields as a Go value: if there is one item, only its field
// called name, or all of its fields if name is another one; otherwise all items.
func formatItems(name string, text []byte) string {
	v, err := fixture.Decode("excerpts", text)
	if err != nil {
		return string(text)
	}
	list := v.([]fixture.DeviceFields)
	switch {
	case len(list) != 1:
		return string(fixture.Show(list))
	case name == "ID":
		return string(fixture.Show(list[0].ID))
	case name == "Temperature":
		if v, ok := findField(fixture.Show(list[0].Attributes), name); ok {
			return v
		}
		return "0"
	}
	return string(fixture.Show(list[0]))
}
