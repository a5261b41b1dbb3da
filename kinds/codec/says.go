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

// phrases are the verbs for a contender that accepts input that the reference rejects, and the
// reverse. The input follows.
type phrases struct{ refuses, accepts string }

// Prefixes of an answer's error that the contender did not return: the protocol's text for a panic,
// and the lab's for an ended process.
const (
	panicked = "panic: "
	ended    = "the process ended: "
)

// What the answer of a binary codec begins with that cannot read its own words.
const unreadable = "what it put out cannot be read again"

// Characters of what was got, in a sentence and in the table.
const (
	maxSentence  = 40
	maxTableText = 80
)

// compareAnswer compares an answer to q with the reference.
func (e examSpec) compareAnswer(q question, a wire.Answer) (tare.Difference, bool) {
	d := tare.Difference{
		Property: q.Property, Op: e.op, Case: q.Name, Class: tare.DiffersInAcceptance,
		Asked: clipRunes(q.Asked, maxTableText), BearsOn: e.bearsOn,
	}
	if q.err != nil {
		d.Reference = rejectionText(q.err.Error())
	} else {
		d.Reference = e.relevantPart(q.Case, q.want)
	}
	if a.Error != "" {
		d.Got = rejectionText(a.Error)
	} else {
		d.Got = e.relevantPart(q.Case, a.Output)
	}
	switch {
	case strings.HasPrefix(a.Error, panicked):
		d.Got, d.Says = clipLegible(a.Error, maxTableText), "panics on "+q.What
	case strings.HasPrefix(a.Error, ended):
		d.Got, d.Says = clipLegible(a.Error, maxTableText), "does not survive "+q.What
	case strings.HasPrefix(a.Error, unreadable):
		d.Says = "cannot read " + q.What + " that it wrote itself"
	case a.Error != "" && q.err != nil:
		return tare.Difference{}, false
	case a.Error != "":
		d.Says = e.phrases.refuses + q.What
	case q.err != nil && e.op == codec.OpRoundTrip && isUnchanged(q.Case, a.Output):
		d.Says = "brings back " + q.What + ", which encoding/json refuses"
	case q.err != nil:
		d.Says = e.phrases.accepts + q.What + e.describeResult(d.Got, json.Valid(a.Output))
	default:
		f := e.compare(q.Case, q.want, a.Output)
		if f.class == "" {
			return tare.Difference{}, false
		}
		d.Class, d.Says = f.class, e.describeDifference(q.Case, f, a.Size > 0)
		if f.unchanged { // nothing is lost by it
			d.Class = tare.DiffersInAcceptance
		}
		d.Reference, d.Got = clipLegible(f.want, maxTableText), clipLegible(f.got, maxTableText)
	}
	return d, true
}

// describeDifference returns the sentence for a difference in value or form.
func (e examSpec) describeDifference(c fixture.Case, f comparison, read bool) string {
	for _, k := range c.Known {
		if k.Got == f.got {
			return k.Says
		}
	}
	got := clipLegible(f.got, maxSentence)
	switch {
	case f.got == omittedText:
		return "leaves out " + c.What
	case f.unchanged:
		return "brings " + c.What + " back unchanged, which encoding/json does not"
	case e.op == codec.OpRoundTrip || e.op == codec.OpMarshal && read: // what a binary codec reads in what it wrote
		return "brings " + c.What + " back as " + got
	case f.broken:
		return strings.Replace(c.Says, "%s", got, 1) + notJSON
	}
	return strings.Replace(c.Says, "%s", got, 1)
}

// describeResult returns the result of accepted input that the reference rejects, or "" if it is
// too long to print.
func (e examSpec) describeResult(got string, valid bool) string {
	switch {
	case strings.HasPrefix(got, "[") || strings.HasPrefix(got, "{") || utf8.RuneCountInString(got) > maxSentence:
		return ""
	case e.op == codec.OpMarshal && !valid:
		return " as " + got + notJSON
	case e.op == codec.OpMarshal || e.op == codec.OpRoundTrip:
		return " as " + got
	}
	return " and makes it " + got
}

const notJSON = ", which is not JSON"

// relevantPart returns the part of an answer, or of the reference, that the case tests.
func (e examSpec) relevantPart(c fixture.Case, text []byte) string {
	switch {
	case e.op == codec.OpFields:
		return clipLegible(formatItems(c.Field, text), maxTableText)
	case e.op != codec.OpMarshal:
		return clipLegible(shownField(c.Field, text), maxTableText)
	}
	if v, ok := findField(text, strings.ToLower(c.Field)); ok {
		return clipLegible(v, maxTableText)
	}
	return clipLegible(string(text), maxTableText)
}

func rejectionText(why string) string { return clipLegible("refused: "+why, maxTableText) }

func clipLegible(text string, most int) string {
	return clipRunes(fixture.Legible([]byte(text)), most)
}

// clipRunes returns at most most characters of a text.
func clipRunes(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
