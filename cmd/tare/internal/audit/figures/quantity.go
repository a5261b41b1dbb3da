package figures

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// kind names the dimension of a quantity.
type kind uint8

// Kinds. Only quantities of one kind are compared.
const (
	plainKind    kind = iota // without a unit
	timeKind                 // a time, in s
	byteKind                 // an amount of memory or data, in B
	allocKind                // a number of allocations
	rateKind                 // requests or operations per second
	byteRateKind             // B/s
	percentKind              // 50 is 50 %
	factorKind               // 2 is 2×
)

// quantity is a number with its unit, in base units.
type quantity struct {
	value float64 // in base units
	kind  kind
	unit  string  // unit in the text; "" without a unit
	step  float64 // value of one unit of the last printed digit, in base units
	raw   float64 // the printed number, in its printed unit
}

// valueRange holds the least and the greatest of some values, and their number. The zero value has
// none.
type valueRange struct {
	low, high float64
	count     int
}

// add adds a value.
func (r *valueRange) add(x float64) {
	if r.count++; r.count == 1 {
		r.low, r.high = x, x
	}
	r.low, r.high = min(r.low, x), max(r.high, x)
}

// isOutside reports whether x is below or above the range by more than a share of the nearer end.
func (r valueRange) isOutside(x, share float64) bool {
	return x < r.low*(1-share) || x > r.high*(1+share)
}

// unitInfo is the kind of a unit and its size in base units.
type unitInfo struct {
	kind kind
	size float64
}

// units has the units by their names in lower case and the singular.
var units = map[string]unitInfo{
	"ns": {timeKind, 1e-9}, "nsec": {timeKind, 1e-9}, "nanosecond": {timeKind, 1e-9},
	"us": {timeKind, 1e-6}, "µs": {timeKind, 1e-6}, "μs": {timeKind, 1e-6}, "usec": {timeKind, 1e-6}, "microsecond": {timeKind, 1e-6},
	"ms": {timeKind, 1e-3}, "msec": {timeKind, 1e-3}, "millisecond": {timeKind, 1e-3},
	"s": {timeKind, 1}, "sec": {timeKind, 1}, "second": {timeKind, 1},
	"min": {timeKind, 60}, "minute": {timeKind, 60},
	"b": {byteKind, 1}, "byte": {byteKind, 1},
	"kb": {byteKind, 1e3}, "kbyte": {byteKind, 1e3},
	"mb": {byteKind, 1e6}, "mbyte": {byteKind, 1e6},
	"gb": {byteKind, 1e9}, "kib": {byteKind, 1 << 10}, "mib": {byteKind, 1 << 20}, "gib": {byteKind, 1 << 30},
	"kbit": {byteKind, 1e3 / 8}, "mbit": {byteKind, 1e6 / 8}, "gbit": {byteKind, 1e9 / 8},
	"kbps": {byteRateKind, 1e3 / 8}, "mbps": {byteRateKind, 1e6 / 8}, "gbps": {byteRateKind, 1e9 / 8},
	"alloc": {allocKind, 1}, "allocation": {allocKind, 1},
	"rps": {rateKind, 1}, "qps": {rateKind, 1}, "tps": {rateKind, 1}, "/s": {rateKind, 1}, "/sec": {rateKind, 1}, "hz": {rateKind, 1},
	"krps": {rateKind, 1e3},
	"%":    {percentKind, 1},
	"x":    {factorKind, 1}, "×": {factorKind, 1},
}

// rateNouns are the nouns of which a number per second is a rate, between spaces.
const rateNouns = " req reqs request requests op ops operations msg msgs messages event events iterations responses calls queries query transactions tx "

// isCounted reports whether a number of a noun per second is a rate.
func isCounted(noun string) bool { return strings.Contains(rateNouns, " "+noun+" ") }

// knownUnit returns the unit with a name in lower case, in the singular or the plural.
func knownUnit(name string) (unitInfo, bool) {
	u, ok := units[name]
	if !ok && len(name) > 3 {
		u, ok = units[strings.TrimSuffix(name, "s")]
	}
	return u, ok
}

// findUnit returns the unit that a text names, which may have punctuation around it.
// "ns/op" is ns, "reqs/sec" a rate and "MB/s" a rate of bytes.
func findUnit(text string) (unitInfo, bool) {
	text = strings.ToLower(strings.TrimRight(text, ".,;:)]*_`"))
	text = strings.TrimLeft(text, "[(")
	noun, per, ok := strings.Cut(text, "/")
	if u, known := knownUnit(text); known || !ok {
		return u, known
	}
	u, known := knownUnit(noun)
	switch per {
	case "op", "operation", "req", "request", "call", "msg", "event", "iter", "iteration":
		return u, known
	case "s", "sec", "second":
		if noun = strings.Trim(noun, "#["); noun == "" || isCounted(noun) {
			return unitInfo{rateKind, 1}, true
		}
		if known && u.kind == byteKind {
			return unitInfo{byteRateKind, u.size}, true
		}
		isThings := !known && len(noun) > 3 && strings.HasSuffix(noun, "s") && !strings.ContainsFunc(noun, func(r rune) bool { return r < 'a' || r > 'z' })
		if known && u.kind == allocKind || isThings { // searches/s
			return unitInfo{rateKind, 1}, true
		}
	case "":
	default: // ms/page is a time
		return u, known && u.kind == timeKind && !strings.ContainsFunc(per, func(r rune) bool { return r < 'a' || r > 'z' })
	}
	return unitInfo{}, false
}

// leadingNumberRE matches a number: with separators of thousands, a decimal point, an exponent.
var leadingNumberRE = lazyregexp.New(`^[-+−]?(\d{1,3}(?:[,'’_\x{202f}\x{00a0} ]\d{3})+|\d+)(\.\d+)?(?:[eE]([-+]?\d{1,3}))?`)

// parseNumber returns the number at the beginning of text, the value of one unit of its
// last digit, and the rest of text. 1,024 is 1024; 1,02 is not a number.
func parseNumber(text string) (value, step float64, rest string, ok bool) {
	m := leadingNumberRE.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, text, false
	}
	rest = text[len(m[0]):]
	if len(rest) > 1 && rest[0] == ',' && rest[1] >= '0' && rest[1] <= '9' {
		return 0, 0, text, false // a decimal comma, or digits that are not in groups of three
	}
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, m[1])
	value, err := strconv.ParseFloat(digits+m[2], 64)
	if err != nil {
		return 0, 0, text, false
	}
	step = 1
	if len(m[2]) > 1 {
		step = math.Pow(10, -float64(len(m[2])-1))
	}
	if m[3] != "" {
		exponent, _ := strconv.Atoi(m[3])
		value, step = value*math.Pow(10, float64(exponent)), step*math.Pow(10, float64(exponent))
	}
	if m[0][0] == '-' || strings.HasPrefix(m[0], "−") {
		value = -value
	}
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return 0, 0, text, false
	}
	return value, step, rest, true
}

// unitAfterRE matches the k or M of a rounded number, and the unit, after a number.
var unitAfterRE = lazyregexp.New(`^\s*([kKM](?:\s|$|\b))?\s*(%|×|x\b|/s(?:ec)?\b|\[?#/sec\]?|\[?[A-Za-zµμ]+(?:/[A-Za-z]+)?\]?)?`)

// parseQuantity returns the quantity at the beginning of text, and the rest of text. A
// number whose unit is unknown has the kind plainKind, and its unit remains in the rest.
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
	scale, used := 1.0, 0
	switch strings.TrimSpace(m[1]) {
	case "k", "K":
		scale, used = 1e3, strings.Index(rest, m[1])+len(strings.TrimSpace(m[1]))
	case "M":
		scale, used = 1e6, strings.Index(rest, m[1])+len(strings.TrimSpace(m[1]))
	}
	if m[2] != "" {
		unit := m[2]
		if u, known := findUnit(unit); known {
			q.kind, q.unit = u.kind, strings.Trim(unit, "[]#")
			scale *= u.size
			used = len(m[0])
		} else if isPerSecond(strings.Fields(rest)) {
			q.kind, q.unit = rateKind, "per second"
			used = len(m[0])
		}
	}
	q.value, q.step = q.value*scale, q.step*scale
	return q, rest[used:], true
}

// isPerSecond reports whether words begin like "requests per second" or "ops a sec".
func isPerSecond(words []string) bool {
	if len(words) < 3 || !isCounted(strings.ToLower(words[0])) {
		return false
	}
	return (words[1] == "per" || words[1] == "a") && strings.HasPrefix(words[2], "sec")
}

// parseCell returns the quantity in a cell of a table. The cell may have marks of emphasis
// or approximation before it, and an interval or a remark in parentheses after it. A cell
// with other words is not a quantity.
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

// isNear reports whether a and b differ by at most share of the one with the greater absolute value.
func isNear(a, b, share float64) bool {
	return math.Abs(a-b) <= share*math.Max(math.Abs(a), math.Abs(b))
}
