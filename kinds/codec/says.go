package codec

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
)

// This file describes how a codec's output differs from that of encoding/json, the reference. The
// codec is the subject of the sentence, e.g. "refuses a trailing comma".

// phrases are the verbs for a codec that refuses or accepts an input, unlike the reference. The
// input follows in the sentence.
type phrases struct{ refuses, accepts string }

// Prefixes of errors that do not mean that the codec rejects the input.
const (
	panicPrefix = "panic: "             // written by contender.panicText
	endedPrefix = "the process ended: " // written by the lab

	// unreadablePrefix means that a binary codec cannot decode its own output.
	unreadablePrefix = "what it put out cannot be read again"
)

// Maximum numbers of characters of an output.
const (
	maxSentence  = 40
	maxTableText = 80
)

// compareAnswer compares a, the output of a codec for q, with that of the reference. It returns
// false without a difference.
func (e examSpec) compareAnswer(q question, a wire.Answer) (tare.Difference, bool) {
	d := tare.Difference{
		Property: q.Property, Op: e.op, Case: q.Name, Class: tare.DiffersInAcceptance,
		Asked: format.Clip(q.Asked, maxTableText), BearsOn: e.bearsOn,
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
	rejects, referenceRejects := a.Error != "", q.err != nil
	switch {
	case strings.HasPrefix(a.Error, panicPrefix):
		d.Got, d.Says = clipLegible(a.Error, maxTableText), "panics on "+q.What
	case strings.HasPrefix(a.Error, endedPrefix):
		d.Got, d.Says = clipLegible(a.Error, maxTableText), "does not survive "+q.What
	case strings.HasPrefix(a.Error, unreadablePrefix):
		d.Says = "cannot read " + q.What + " that it wrote itself"
	case rejects && referenceRejects:
		return tare.Difference{}, false
	case rejects:
		d.Says = e.phrases.refuses + q.What
	case referenceRejects && e.op == codec.OpRoundTrip && isUnchanged(q.Case, a.Output):
		d.Says = "brings back " + q.What + ", which encoding/json refuses"
	case referenceRejects:
		d.Says = e.phrases.accepts + q.What + e.describeResult(d.Got, json.Valid(a.Output))
	default: // both accept the input
		result := e.compare(q.Case, q.want, a.Output)
		if result.class == "" {
			return tare.Difference{}, false
		}
		isDecoded := a.Size > 0 // decoded by a binary codec from its own output
		d.Class, d.Says = result.class, e.describeDifference(q.Case, result, isDecoded)
		if result.unchanged { // better than the reference: no value differs
			d.Class = tare.DiffersInAcceptance
		}
		d.Reference, d.Got = clipLegible(result.want, maxTableText), clipLegible(result.got, maxTableText)
	}
	return d, true
}

// describeDifference returns the sentence for a difference, without its subject, the codec: "leaves
// out a trailing comma". isDecoded means that a binary codec has decoded its own output.
func (e examSpec) describeDifference(c fixture.Case, result comparison, isDecoded bool) string {
	for _, known := range c.Known {
		if known.Got == result.got {
			return known.Says
		}
	}
	got := clipLegible(result.got, maxSentence)
	switch {
	case result.got == omittedText:
		return "leaves out " + c.What
	case result.unchanged:
		return "brings " + c.What + " back unchanged, which encoding/json does not"
	case e.op == codec.OpRoundTrip || e.op == codec.OpMarshal && isDecoded:
		return "brings " + c.What + " back as " + got
	case result.broken:
		return strings.Replace(c.Says, "%s", got, 1) + notJSONClause
	}
	return strings.Replace(c.Says, "%s", got, 1)
}

// describeResult returns the end of a sentence about an input that the reference rejects: the
// codec's result, or "" if it is too long. isValid means that the result is JSON.
func (e examSpec) describeResult(got string, isValid bool) string {
	switch {
	case strings.HasPrefix(got, "[") || strings.HasPrefix(got, "{") || utf8.RuneCountInString(got) > maxSentence:
		return ""
	case e.op == codec.OpMarshal && !isValid:
		return " as " + got + notJSONClause
	case e.op == codec.OpMarshal || e.op == codec.OpRoundTrip:
		return " as " + got
	}
	return " and makes it " + got
}

// notJSONClause ends a sentence about an output that is not JSON.
const notJSONClause = ", which is not JSON"

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

func rejectionText(reason string) string { return clipLegible("refused: "+reason, maxTableText) }

// clipLegible returns text in visible characters, at most limit of them.
func clipLegible(text string, limit int) string {
	return format.Clip(fixture.Legible([]byte(text)), limit)
}
