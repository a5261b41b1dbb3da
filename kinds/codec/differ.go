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

// This file compares the output of a codec for an edge case with that of encoding/json, the
// reference. A case names the field that it tests. In all compare functions, want is the
// reference's output, and got the codec's.

type comparison struct {
	class     tare.DifferenceClass // "" if there is no difference
	want, got string               // texts of the tested field
	broken    bool                 // got is not JSON
	unchanged bool                 // a round trip returned the input unchanged
}

// Values of comparison.got that are not the text of a field.
const (
	omittedText = "left out" // the output does not have the field
	invalidText = "what is not JSON"
)

func compareEncoded(c fixture.Case, want, got []byte) comparison {
	if c.Field == "" {
		return compareKeys(want, got)
	}
	key := strings.ToLower(c.Field) // see the JSON tags of [fixture.Probe]
	wantText, _ := findField(want, key)
	gotText, found := findField(got, key)
	gotText = compactJSON(gotText)
	switch {
	case !found && json.Valid(got):
		return comparison{class: tare.DiffersInValue, want: wantText, got: omittedText}
	case !found:
		return comparison{class: tare.DiffersInValue, want: wantText, got: invalidText}
	case gotText == wantText:
		return comparison{}
	}
	// An object with many keys is described in words, because the order of its keys can change from
	// run to run.
	const entries = "its entries"
	result := comparison{class: tare.DiffersInValue, want: wantText, got: gotText}
	switch isValid := json.Valid([]byte(gotText)); {
	case hasManyKeys(wantText) && !isValid:
		result.want, result.got = entries, invalidText
	case !isValid || !utf8.ValidString(gotText):
		result.broken = true
	case isReordered([]byte(wantText), []byte(gotText)) && Diff([]byte(wantText), []byte(gotText)) == "":
		result.class, result.want, result.got = tare.DiffersInForm, "sorted", fixture.OtherOrder
	case hasSameValue(c.Field, wantText, gotText):
		result.class = tare.DiffersInForm
	case hasManyKeys(wantText):
		result.want, result.got = entries, "other entries"
	}
	return result
}

// compactJSON removes white space between tokens. It returns text unchanged if it is not JSON.
func compactJSON(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

// compareKeys compares the keys of an object, for cases without a field.
func compareKeys(want, got []byte) comparison {
	wantKeys, _ := keysOf(want)
	gotKeys, isObject := keysOf(got)
	result := comparison{want: strings.Join(wantKeys, ", "), got: strings.Join(gotKeys, ", ")}
	switch {
	case !json.Valid(got):
		result.class, result.got = tare.DiffersInValue, invalidText
	case !isObject:
		result.class, result.got = tare.DiffersInValue, string(got)
	case isReordered(want, got):
		result.class, result.got = tare.DiffersInForm, fixture.OtherOrder
	case !slices.Equal(wantKeys, gotKeys):
		result.class = tare.DiffersInValue
	}
	return result
}

func hasManyKeys(text string) bool {
	list, _ := keysOf([]byte(text))
	return len(list) > 1
}

// hasSameValue reports whether two texts are the same value of the field called name. For example,
// its float type may not distinguish them. The sign of zero counts.
func hasSameValue(name, want, got string) bool {
	bits := map[string]int{"Float": 64, "Single": 32}[name] // 0 if the field has no float type
	if bits == 0 && strings.ContainsAny(want, ".eE") {
		bits = 64 // a float in field Any
	}
	if bits > 0 {
		x, xErr := strconv.ParseFloat(want, bits)
		y, yErr := strconv.ParseFloat(got, bits)
		if xErr == nil && yErr == nil {
			sameSign := (want[0] == '-') == (got[0] == '-') // in Go, 0 == -0
			return x == y && (x != 0 || sameSign)
		}
	}
	return Diff([]byte(want), []byte(got)) == ""
}

// compareRoundTrip compares the tested field of values that were encoded and decoded again. It also
// records whether the codec returned the input unchanged, which not even the reference always does.
func compareRoundTrip(c fixture.Case, want, got []byte) comparison {
	if c.Field == "" { // a decoded value has no order of keys
		return comparison{}
	}
	result := compareShown(c, want, got)
	result.unchanged = isUnchanged(c, got)
	return result
}

// isUnchanged reports whether the tested field is unchanged after a round trip. [fixture.Show] has
// formatted got.
func isUnchanged(c fixture.Case, got []byte) bool {
	v, err := fixture.Decode("probes", c.Body)
	return err == nil && shownField(c.Field, fixture.Show(v)) == shownField(c.Field, got)
}

// compareShown compares the tested field of decoded values, or the complete values if the case names
// no field. [fixture.Show] has formatted them.
func compareShown(c fixture.Case, want, got []byte) comparison {
	result := comparison{want: shownField(c.Field, want), got: shownField(c.Field, got)}
	if result.want != result.got {
		result.class = tare.DiffersInValue
	}
	return result
}

// shownField returns one field of a Probe that [fixture.Show] has formatted. Zero fields are
// omitted there. It returns all of the text for another type, or if name is "".
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

// compareFields compares outputs of OpFields, which reads a few fields of each item.
func compareFields(c fixture.Case, want, got []byte) comparison {
	const allFields = ""
	result := comparison{class: tare.DiffersInValue, want: formatItems(c.Field, want), got: formatItems(c.Field, got)}
	switch {
	case result.want != result.got:
		return result
	case Diff(want, got) != "": // they differ in another field
		result.want, result.got = formatItems(allFields, want), formatItems(allFields, got)
		return result
	}
	return comparison{}
}

// formatItems formats an output of OpFields, a list of items, as a Go value. For a single item, it
// returns only the field name if that is ID or Temperature.
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
