package figures

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file parses numbers with units. For example, "1.5 ms" is a time of 0.0015 s.

// kind is the dimension of a quantity. Rules compare only quantities of one kind.
type kind uint8

const (
	plainKind    kind = iota // no unit
	timeKind                 // s
	byteKind                 // B
	allocKind                // a count of allocations
	rateKind                 // requests or operations per second
	byteRateKind             // B/s
	percentKind              // 50 is 50 %
	factorKind               // 2 is 2×
)

// quantity is a number with its unit. "1.5 ms" has value 0.0015, step 0.0001 and raw 1.5.
type quantity struct {
	value float64 // in base units
	kind  kind
	unit  string  // as printed; "" without a unit
	step  float64 // one unit of the last digit, in base units
	raw   float64 // as printed
}

// valueRange is the range of some values. The zero value has none.
type valueRange struct {
	low, high float64
	count     int
}

func (r *valueRange) add(x float64) {
	if r.count++; r.count == 1 {
		r.low, r.high = x, x
	}
	r.low, r.high = min(r.low, x), max(r.high, x)
}

// isOutside reports whether x is outside by more than a share of the nearer end.
func (r valueRange) isOutside(x, share float64) bool {
	return x < r.low*(1-share) || x > r.high*(1+share)
}

type unitInfo struct {
	kind kind
	size float64 // in base units
}

// units has the known units by name, in lower case and the singular.
var units = map[string]unitInfo{
	"ns": {timeKind, 1e-9}, "nsec": {timeKind, 1e-9}, "nanosecond": {timeKind, 1e-9},
	"us": {timeKind, 1e-6}, "µs": {timeKind, 1e-6}, "μs": {timeKind, 1e-6}, "usec": {timeKind, 1e-6}, "microsecond": {timeKind, 1e-6},
	"ms": {timeKind, 1e-3}, "msec": {timeKind, 1e-3}, "millisecond": {timeKind, 1e-3},
	"s": {timeKind, 1}, "sec": {timeKind, 1}, "second": {timeKind, 1},
	"min": {timeKind, 60}, "minute": {timeKind, 60},
	"b": {byteKind, 1}, "byte": {byteKind, 1},
	"kb": {byteKind, 1e3}, "kbyte": {byteKind, 1e3},
	"mb": {byteKind, 1e6}, "mbyte": {byteKind, 1e6},
	"gb": {byteKind, 1e9}, "tb": {byteKind, 1e12}, "tib": {byteKind, 1 << 40}, "kib": {byteKind, 1 << 10}, "mib": {byteKind, 1 << 20}, "gib": {byteKind, 1 << 30},
	"kbit": {byteKind, 1e3 / 8}, "mbit": {byteKind, 1e6 / 8}, "gbit": {byteKind, 1e9 / 8},
	"kbps": {byteRateKind, 1e3 / 8}, "mbps": {byteRateKind, 1e6 / 8}, "gbps": {byteRateKind, 1e9 / 8},
	"alloc": {allocKind, 1}, "allocation": {allocKind, 1},
	"rps": {rateKind, 1}, "qps": {rateKind, 1}, "tps": {rateKind, 1}, "/s": {rateKind, 1}, "/sec": {rateKind, 1}, "hz": {rateKind, 1},
	"krps": {rateKind, 1e3},
	"%":    {percentKind, 1},
	"x":    {factorKind, 1}, "×": {factorKind, 1},
}

const rateNouns = " req reqs request requests op ops operations msg msgs messages event events iterations responses calls queries query transactions tx "

func isRateNoun(noun string) bool { return strings.Contains(rateNouns, " "+noun+" ") }

// lookUpUnit returns the unit with a name, which is in lower case and may be a plural. It returns
// false for an unknown name.
func lookUpUnit(name string) (unitInfo, bool) {
	u, ok := units[name]
	if !ok && len(name) > 3 { // short names have no plural
		u, ok = units[strings.TrimSuffix(name, "s")]
	}
	return u, ok
}

// findUnit returns the unit of "ns/op" (ns), "reqs/sec" (a rate) or "MB/s" (a rate of bytes).
func findUnit(text string) (unitInfo, bool) {
	text = strings.ToLower(strings.TrimRight(text, ".,;:)]*_`"))
	text = strings.TrimLeft(text, "[(")
	noun, per, hasSlash := strings.Cut(text, "/")
	if u, known := lookUpUnit(text); known || !hasSlash {
		return u, known
	}
	isWord := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
	}
	u, known := lookUpUnit(noun)
	switch per {
	case "op", "operation", "req", "request", "call", "msg", "event", "iter", "iteration":
		return u, known
	case "s", "sec", "second":
		noun = strings.Trim(noun, "#[")
		isPlural := !known && len(noun) > 3 && strings.HasSuffix(noun, "s") && isWord(noun) // searches/s
		switch {
		case known && u.kind == byteKind:
			return unitInfo{byteRateKind, u.size}, true
		case noun == "", isRateNoun(noun), isPlural, known && u.kind == allocKind:
			return unitInfo{rateKind, 1}, true
		}
	case "":
		// "ms/" is no unit.
	default: // ms/page is a time
		return u, known && u.kind == timeKind && isWord(per)
	}
	return unitInfo{}, false
}

// leadingNumberRE matches "-1,024.5e3". The groups are 1,024, .5 and 3.
var leadingNumberRE = lazyregexp.New(`^[-+−]?(\d{1,3}(?:[,'’_\x{202f}\x{00a0} ]\d{3})+|\d+)(\.\d+)?(?:[eE]([-+]?\d{1,3}))?`)

// parseNumber parses the number at the beginning of text. step is one unit of its last digit, and
// rest is the text after it. 1,024 is a number, and 1,02 is not.
func parseNumber(text string) (value, step float64, rest string, ok bool) {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	m := leadingNumberRE.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, text, false
	}
	rest = text[len(m[0]):]
	if len(rest) > 1 && rest[0] == ',' && isDigit(rune(rest[1])) {
		return 0, 0, text, false // a decimal comma
	}
	digits := strings.Map(func(r rune) rune {
		if isDigit(r) {
			return r
		}
		return -1 // removes separators
	}, m[1])
	value, err := strconv.ParseFloat(digits+m[2], 64)
	if err != nil {
		return 0, 0, text, false
	}
	step = 1
	if decimals := len(m[2]) - len("."); decimals > 0 {
		step = math.Pow(10, -float64(decimals))
	}
	if m[3] != "" {
		exponent, _ := strconv.Atoi(m[3]) // cannot fail: at most 3 digits
		scale := math.Pow(10, float64(exponent))
		value, step = value*scale, step*scale
	}
	if m[0][0] == '-' || strings.HasPrefix(m[0], "−") {
		value = -value
	}
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return 0, 0, text, false
	}
	return value, step, rest, true
}

// unitAfterRE matches what follows a number, such as "k req/s". The groups are k and req/s.
var unitAfterRE = lazyregexp.New(`^\s*([kKM](?:\s|$|\b))?\s*(%|×|x\b|/s(?:ec)?\b|\[?#/sec\]?|\[?[A-Za-zµμ]+(?:/[A-Za-z]+)?\]?)?`)

// parseQuantity parses the number and the unit at the beginning of text. A word after the number
// that is no unit remains in rest.
func parseQuantity(text string) (q quantity, rest string, ok bool) {
	value, step, rest, ok := parseNumber(text)
	if !ok {
		return quantity{}, text, false
	}
	q = quantity{value: value, step: step, raw: value}
	m := unitAfterRE.FindStringSubmatch(rest)
	if m == nil {
		return q, rest, true
	}
	scale, length := 1.0, 0 // factor to base units; bytes of rest that belong to the quantity
	switch strings.TrimSpace(m[1]) {
	case "k", "K":
		scale, length = 1e3, strings.Index(rest, m[1])+len(strings.TrimSpace(m[1]))
	case "M":
		scale, length = 1e6, strings.Index(rest, m[1])+len(strings.TrimSpace(m[1]))
	}
	if m[2] != "" {
		unit := m[2]
		if u, known := findUnit(unit); known {
			q.kind, q.unit = u.kind, strings.Trim(unit, "[]#")
			scale *= u.size
			length = len(m[0])
		} else if isPerSecond(strings.Fields(rest)) {
			q.kind, q.unit = rateKind, "per second"
			length = len(m[0])
		}
	}
	q.value, q.step = q.value*scale, q.step*scale
	return q, rest[length:], true
}

func isPerSecond(words []string) bool {
	if len(words) < 3 || !isRateNoun(strings.ToLower(words[0])) {
		return false
	}
	return (words[1] == "per" || words[1] == "a") && strings.HasPrefix(words[2], "sec")
}

// parseCell parses a cell such as "**~1.5 ms** (±2 %)". It returns false if the cell has further
// words.
func parseCell(text string) (quantity, bool) {
	text = strings.TrimSpace(strings.NewReplacer("*", "", "`", "", "~", "", "≈", "", "_", "").Replace(text))
	text = strings.TrimPrefix(text, "+")
	q, rest, ok := parseQuantity(text)
	if !ok {
		return q, false
	}
	rest = strings.TrimSpace(rest)
	if i := strings.IndexAny(rest, "(±"); i >= 0 {
		rest = strings.TrimSpace(rest[:i])
	}
	hasMore := strings.ContainsFunc(rest, func(r rune) bool { return r >= 'A' && r <= 'z' || r >= '0' && r <= '9' })
	return q, !hasMore
}

// isNear reports whether a and b differ by at most a share of the greater one.
func isNear(a, b, share float64) bool {
	return math.Abs(a-b) <= share*math.Max(math.Abs(a), math.Abs(b))
}
