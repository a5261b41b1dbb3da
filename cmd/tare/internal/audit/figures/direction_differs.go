package figures

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// directionDiffers returns the rule about this mistake: the text says slower, and the figure is smaller; or the other way round.
func directionDiffers() rule {
	return rule{audit.Rule{
		ID: "direction-differs", Severity: tare.Warn, Title: "The text says slower, and the figure is smaller; or the other way round.",
		Why:     "A small difference has the sign that chance gave it; the sentence names another side than the figures do.",
		Do:      "take the sentence from the figures, and call a difference that may be none a tie",
		Command: benchCommand, Lang: "text",
		Bad:  "The safe mode is slower than the plain one (4,120 ns vs 4,150 ns).\n",
		Good: "The safe mode is slower than the plain one (4,190 ns vs 4,150 ns).\n",
		Seen: []string{"json-encode"},
	}, findDirectionDiffers}
}

var (
	comparative = regexp.MustCompile(`(?i)\b(slower|faster|quicker)\b\*{0,2}\s+than\b`)
	amount      = regexp.MustCompile(`(?i)\b(less|fewer|more|higher|lower)\b\*{0,2}\s+(memory|ram|allocations?|allocs|bytes|latency|throughput)\b\*{0,2}\s+than\b`)
	negation    = regexp.MustCompile(`(?i)\b(?:not|n't|never|no|neither|nor|if|when|unless|whether|why|should|can|may|might|could|would|become|becomes)\b`)
)

// statedOrder is which of two figures a sentence says to be the greater one.
type statedOrder struct {
	word         string
	before       string // the text about the first side
	after        string // about the second
	kinds        []kind
	firstGreater bool // of the first two kinds; perSecond and byteRate are the other way round for slower and faster
	speed        bool
}

// orders returns the orders that a sentence states of two sides: by speed, and by an amount.
func (s sentence) orders() (out []statedOrder) {
	if m := comparative.FindStringSubmatchIndex(s.text); m != nil {
		word := strings.ToLower(s.text[m[2]:m[3]])
		out = append(out, statedOrder{word, s.text[:m[0]], s.text[m[1]:], []kind{timeKind, rateKind}, word == "slower", true})
	}
	m := amount.FindStringSubmatchIndex(s.text)
	if m == nil {
		return out
	}
	word, noun := strings.ToLower(s.text[m[2]:m[3]]), strings.ToLower(s.text[m[4]:m[5]])
	o := statedOrder{word: word + " " + noun, before: s.text[:m[0]], after: s.text[m[1]:], firstGreater: word == "more" || word == "higher"}
	switch {
	case strings.HasPrefix(noun, "alloc"):
		o.kinds = []kind{allocKind}
	case noun == "latency":
		o.kinds = []kind{timeKind}
	case noun == "throughput":
		o.kinds = []kind{rateKind}
	default:
		o.kinds = []kind{byteKind}
	}
	return append(out, o)
}

// isContradictedBy reports whether two figures are in the other order than the sentence says.
func (o statedOrder) isContradictedBy(k kind, first, second float64) bool {
	greater := o.firstGreater
	if o.speed && (k == rateKind || k == byteRateKind) {
		greater = !greater
	}
	return first != second && (first > second) != greater
}

func findDirectionDiffers(d *document, report reportFunc) {
	judged := 0
	for _, s := range d.sentences {
		for _, o := range s.orders() {
			if negation.MatchString(o.before) {
				continue
			}
			if judged++; judged > maxJudged {
				return
			}
			if what := d.whyContradicted(s, o, d.groups); what != "" {
				report(s.line, what)
			}
		}
	}
}

// whyContradicted returns what is wrong with a stated order by the figures in the sentence, or else
// by those of the page; "" if nothing is.
func (d *document) whyContradicted(s sentence, o statedOrder, groups []*comparison) string {
	pairs := s.pairs()
	if len(pairs) == 0 {
		return o.whyContradicted(groups)
	}
	p := pairs[0]
	if p.from > len(o.before) && p.connector != "/" && p.connector != "to" && p.connector != "→" && p.connector != "->" && slices.Contains(o.kinds, p.a.kind) && o.isContradictedBy(p.a.kind, p.a.value, p.b.value) && !d.isReversed(s, o, p, groups) {
		return fmt.Sprintf("%q is said of %s against %s", o.word, formatValue(p.a), formatValue(p.b))
	}
	return ""
}

// isReversed reports whether the figures of the page show that a sentence gives the second side
// first.
func (d *document) isReversed(s sentence, o statedOrder, p pair, groups []*comparison) bool {
	for _, g := range groups {
		if g.naming.words == nil {
			continue
		}
		for _, m := range g.measures {
			if m.value == p.a.value && slices.Contains(g.naming.findNamed(cutPair(o.after)), m.subject) && !slices.Contains(g.naming.findNamed(o.before), m.subject) {
				return true
			}
		}
	}
	return false
}

// cutPair returns the text before figures in brackets.
func cutPair(text string) string {
	before, _, _ := strings.Cut(text, "(")
	return before
}

// against compares a stated order with the figures of the sides that the sentence names. All
// of them have to contradict it.
func (o statedOrder) whyContradicted(groups []*comparison) string {
	n, wrong, what := 0, 0, ""
	for _, g := range groups {
		if !slices.Contains(o.kinds, g.kind) || g.naming.words == nil {
			continue
		}
		firsts, others := g.naming.findNamed(o.before), g.naming.findNamed(cutPair(o.after))
		if len(firsts) != 1 || len(others) != 1 || firsts[0] == others[0] {
			continue
		}
		for _, p := range g.pairsOf(firsts, others) {
			a, b := p[0], p[1]
			if n++; o.isContradictedBy(g.kind, a.value, b.value) {
				if wrong++; what == "" {
					what = fmt.Sprintf("%q is said of %s, with %s (line %d), and %s, with %s", o.word, quote(a.subject), formatValue(a.quantity), a.line, quote(b.subject), formatValue(b.quantity))
				}
			}
		}
	}
	if n > 0 && wrong == n {
		return what
	}
	return ""
}
