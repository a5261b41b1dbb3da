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

// comparison is the result of comparing two answers. Without a class there is no difference.
type comparison struct {
	class     tare.DifferenceClass
	want, got string // the part that the case is about
	broken    bool   // what was written is not JSON
	unchanged bool   // it came back as it was given, which the reference's did not
}

// Results that are not the text of a field.
const (
	omittedText = "left out"
	noObject    = "what is not JSON"
)

// compareEncoded compares the text of the field that the case tests. White space between tokens
// does not count.
func compareEncoded(c fixture.Case, want, got []byte) comparison {
	if c.Field == "" {
		return compareKeys(want, got)
	}
	key := strings.ToLower(c.Field) // as the tags of [fixture.Probe] have it
	w, _ := findField(want, key)
	g, ok := findField(got, key)
	g = compactJSON(g)
	switch {
	case !ok && json.Valid(got):
		return comparison{class: tare.DiffersInValue, want: w, got: omittedText}
	case !ok:
		return comparison{class: tare.DiffersInValue, want: w, got: noObject}
	case g == w:
		return comparison{}
	}
	f := comparison{class: tare.DiffersInValue, want: w, got: g}
	switch {
	case manyKeys(w) && !json.Valid([]byte(g)):
		f.want, f.got = "its entries", noObject
	case !json.Valid([]byte(g)) || !utf8.ValidString(g):
		f.broken = true
	case isReordered([]byte(w), []byte(g)) && Diff([]byte(w), []byte(g)) == "":
		f.class, f.want, f.got = tare.DiffersInForm, "sorted", fixture.OtherOrder
	case sameSpelled(c.Field, w, g):
		f.class = tare.DiffersInForm
	case manyKeys(w): // whose order need not be the same tomorrow
		f.want, f.got = "its entries", "other entries"
	}
	return f
}

func compactJSON(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

// compareKeys compares the order of an object's keys only.
func compareKeys(want, got []byte) comparison {
	w, _ := keysOf(want)
	g, ok := keysOf(got)
	f := comparison{want: strings.Join(w, ", "), got: strings.Join(g, ", ")}
	switch {
	case !json.Valid(got):
		f.class, f.got = tare.DiffersInValue, noObject
	case !ok:
		f.class, f.got = tare.DiffersInValue, string(got)
	case isReordered(want, got):
		f.class, f.got = tare.DiffersInForm, fixture.OtherOrder
	case !slices.Equal(w, g):
		f.class = tare.DiffersInValue
	}
	return f
}

func manyKeys(object string) bool {
	list, _ := keysOf([]byte(object))
	return len(list) > 1
}

// sameSpelled reports whether two texts of a field have the same value in a field of that type:
// digits that a float64 cannot represent do not count, the sign of zero does.
func sameSpelled(name, want, got string) bool {
	bits := map[string]int{"Float": 64, "Single": 32}[name]
	if bits == 0 && strings.ContainsAny(want, ".eE") {
		bits = 64 // a float in any
	}
	if bits > 0 {
		x, err := strconv.ParseFloat(want, bits)
		y, err2 := strconv.ParseFloat(got, bits)
		if err == nil && err2 == nil {
			return x == y && (x != 0 || want[0] == '-' == (got[0] == '-'))
		}
	}
	return Diff([]byte(want), []byte(got)) == ""
}

// compareRoundTrip compares the field after a round trip. If the reference loses something, the
// contender may have lost nothing.
func compareRoundTrip(c fixture.Case, want, got []byte) comparison {
	if c.Field == "" { // the order of keys has nothing to come back in
		return comparison{}
	}
	f := compareShown(c, want, got)
	f.unchanged = isUnchanged(c, got)
	return f
}

// isUnchanged reports whether a probe came back unchanged.
func isUnchanged(c fixture.Case, got []byte) bool {
	v, err := fixture.Decode("probes", c.Body)
	return err == nil && shownField(c.Field, fixture.Show(v)) == shownField(c.Field, got)
}

// compareShown compares the field as formatted by [fixture.Show], or everything if the case is
// about no field.
func compareShown(c fixture.Case, want, got []byte) comparison {
	f := comparison{want: shownField(c.Field, want), got: shownField(c.Field, got)}
	if f.want != f.got {
		f.class = tare.DiffersInValue
	}
	return f
}

// shownField returns one field of a Probe formatted by [fixture.Show].
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
	switch f.Type.Kind() { // it is zero
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

// compareFields compares what was picked out by value, and shows it as a Go
// program has it.
func compareFields(c fixture.Case, want, got []byte) comparison {
	f := comparison{class: tare.DiffersInValue, want: formatItems(c.Field, want), got: formatItems(c.Field, got)}
	switch {
	case f.want != f.got:
		return f
	case Diff(want, got) != "": // elsewhere than in the field the case is about
		f.want, f.got = formatItems("", want), formatItems("", got)
		return f
	}
	return comparison{}
}

// formatItems returns the few fields of one item, one of them, or those of all items.
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
