package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/kinds/codec"
)

// difference is the first place at which an answer is not the reference.
type difference struct {
	path      string // e.g. $.items[3].price
	want, got string // as JSON, cut short
	lost      bool   // something is missing, or there is something else than a number or a text: no answer to be measured
	form      bool   // the same values in another order or spelling
}

// String is the difference for a message.
func (d difference) String() string {
	if d.got == "" {
		return fmt.Sprintf("%s: %s is missing", d.path, d.want)
	}
	return fmt.Sprintf("%s: %s became %s", d.path, d.want, d.got)
}

var index = regexp.MustCompile(`\[\d+\]`)

// general is the path without numbers of items.
func (d difference) general() string { return index.ReplaceAllString(d.path, "[]") }

// says is what a difference comes to, to follow a contender's name.
func (d difference) says(verb string, docs []codec.Document, i int) string {
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
	return fmt.Sprintf("%s %s: %s as %s%s", verb, d.path, d.want, d.got, where)
}

const otherOrder = "another order of keys"

// compare holds an answer against the reference: first by values, then by how
// they are spelled.
func compare(want, got []byte) (difference, bool) {
	want, got = bytes.TrimRight(want, "\n"), bytes.TrimRight(got, "\n")
	if bytes.Equal(want, got) {
		return difference{}, false
	}
	if codec.Diff(want, got) == "" {
		return spelling(want, got)
	}
	g, err := read(got)
	if err != nil {
		return difference{path: "$", want: show(json.RawMessage(want)), got: cut80("what is no JSON (" + err.Error() + ")"), lost: true}, true
	}
	w, err := read(want)
	if err != nil {
		return difference{path: "$", want: "the reference", got: "what is no JSON either", lost: true}, true
	}
	return gravest(differences("$", w, g, nil))
}

// gravest prefers what disqualifies.
func gravest(all []difference) (difference, bool) {
	if i := slices.IndexFunc(all, func(d difference) bool { return d.lost }); i >= 0 {
		return all[i], true
	}
	if len(all) > 0 {
		return all[0], true
	}
	return difference{}, false
}

// read reads one document, numbers as they were written.
func read(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err == io.EOF {
		return nil, fmt.Errorf("nothing")
	} else if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows it")
	}
	return v, nil
}

// differencesMost is after how many no more are looked for.
const differencesMost = 100

// differences adds to all where two values differ.
func differences(at string, want, got any, all []difference) []difference {
	if len(all) >= differencesMost {
		return all
	}
	other := func(lost bool) []difference {
		return append(all, difference{path: at, want: show(want), got: show(got), lost: lost})
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
				all = append(all, difference{path: at + "." + key, want: show(w[key]), lost: true})
				continue
			}
			all = differences(at+"."+key, w[key], gv, all)
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, there := w[key]; !there {
				all = append(all, difference{path: at + "." + key, want: "nothing", got: show(g[key]), lost: true})
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return other(!(len(w) == 0 && got == nil))
		}
		for i := range w {
			all = differences(at+"["+strconv.Itoa(i)+"]", w[i], g[i], all)
		}
	case json.Number:
		g, ok := got.(json.Number)
		if !ok {
			return other(true)
		}
		if codec.Diff([]byte(w), []byte(g)) != "" {
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
	default:
		if want != got {
			return other(true)
		}
	}
	return all
}

// emptyAlike reports whether v is nothing, an empty object or an empty array,
// which a Go program tells apart as nil and not nil.
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

// spelling finds where two texts of the same values part.
func spelling(want, got []byte) (difference, bool) {
	w, g := json.NewDecoder(bytes.NewReader(want)), json.NewDecoder(bytes.NewReader(got))
	w.UseNumber()
	g.UseNumber()
	for wFrom, gFrom := int64(0), int64(0); ; {
		x, errX := w.Token()
		y, errY := g.Token()
		if errX != nil || errY != nil {
			return difference{}, false // they part in white space alone
		}
		xText, yText := word(want[wFrom:w.InputOffset()]), word(got[gFrom:g.InputOffset()])
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

// word is a token's own text.
func word(text []byte) string { return strings.TrimLeft(string(text), " \t\r\n,:") }

// show is a value in a few words.
func show(v any) string {
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
