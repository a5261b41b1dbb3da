package codec

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// phrases begin what is said of a contender that accepts what the reference
// refuses, and the reverse. What was given follows.
type phrases struct{ refuses, accepts string }

// What an answer's error begins with where it is none that the contender
// returned: the protocol's words for a panic, and the lab's for a process that
// is no more.
const (
	panicked = "panic: "
	ended    = "the process ended: "
)

// What the answer of a binary codec begins with that cannot read its own words.
const unreadable = "what it put out cannot be read again"

// Characters of what was got, in a sentence and in the table.
const (
	sentenceMost = 40
	tableMost    = 80
)

// differ holds an answer to q against the reference.
func (e exam) differ(q question, a wire.Answer) (tare.Difference, bool) {
	d := tare.Difference{
		Property: q.Property, Op: e.op, Case: q.Name, Class: tare.DiffersInAcceptance,
		Asked: cut(q.Asked, tableMost), BearsOn: e.bearsOn,
	}
	if q.err != nil {
		d.Reference = refused(q.err.Error())
	} else {
		d.Reference = e.part(q.Case, q.want)
	}
	if a.Error != "" {
		d.Got = refused(a.Error)
	} else {
		d.Got = e.part(q.Case, a.Output)
	}
	switch {
	case strings.HasPrefix(a.Error, panicked):
		d.Got, d.Says = legible(a.Error, tableMost), "panics on "+q.What
	case strings.HasPrefix(a.Error, ended):
		d.Got, d.Says = legible(a.Error, tableMost), "does not survive "+q.What
	case strings.HasPrefix(a.Error, unreadable):
		d.Says = "cannot read " + q.What + " that it wrote itself"
	case a.Error != "" && q.err != nil:
		return tare.Difference{}, false
	case a.Error != "":
		d.Says = e.phrases.refuses + q.What
	case q.err != nil && e.op == codec.OpRoundTrip && kept(q.Case, a.Output):
		d.Says = "brings back " + q.What + ", which encoding/json refuses"
	case q.err != nil:
		d.Says = e.phrases.accepts + q.What + e.makes(d.Got, json.Valid(a.Output))
	default:
		f := e.compare(q.Case, q.want, a.Output)
		if f.class == "" {
			return tare.Difference{}, false
		}
		d.Class, d.Says = f.class, e.says(q.Case, f, a.Size > 0)
		if f.kept { // nothing is lost by it
			d.Class = tare.DiffersInAcceptance
		}
		d.Reference, d.Got = legible(f.want, tableMost), legible(f.got, tableMost)
	}
	return d, true
}

// says is the sentence for a difference in value or form.
func (e exam) says(c fixture.Case, f finding, read bool) string {
	for _, k := range c.Known {
		if k.Got == f.got {
			return k.Says
		}
	}
	got := legible(f.got, sentenceMost)
	switch {
	case f.got == leftOut:
		return "leaves out " + c.What
	case f.kept:
		return "brings " + c.What + " back unchanged, which encoding/json does not"
	case e.op == codec.OpRoundTrip || e.op == codec.OpMarshal && read: // what a binary codec reads in what it wrote
		return "brings " + c.What + " back as " + got
	case f.broken:
		return strings.Replace(c.Says, "%s", got, 1) + notJSON
	}
	return strings.Replace(c.Says, "%s", got, 1)
}

// makes says what became of something the reference refuses, where that is
// short enough to be worth telling.
func (e exam) makes(got string, valid bool) string {
	switch {
	case strings.HasPrefix(got, "[") || strings.HasPrefix(got, "{") || utf8.RuneCountInString(got) > sentenceMost:
		return ""
	case e.op == codec.OpMarshal && !valid:
		return " as " + got + notJSON
	case e.op == codec.OpMarshal || e.op == codec.OpRoundTrip:
		return " as " + got
	}
	return " and makes it " + got
}

const notJSON = ", which is not JSON"

// part is what an answer, or the reference, has of what the case is about.
func (e exam) part(c fixture.Case, text []byte) string {
	switch {
	case e.op == codec.OpFields:
		return legible(items(c.Field, text), tableMost)
	case e.op != codec.OpMarshal:
		return legible(shown(c.Field, text), tableMost)
	}
	if v, ok := field(text, strings.ToLower(c.Field)); ok {
		return legible(v, tableMost)
	}
	return legible(string(text), tableMost)
}

func refused(why string) string { return legible("refused: "+why, tableMost) }

func legible(text string, most int) string {
	return cut(fixture.Legible([]byte(text)), most)
}

// cut is at most so many characters of a text.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
