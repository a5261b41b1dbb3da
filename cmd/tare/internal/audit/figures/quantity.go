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

// valueRange holds the least and the greatest of some values, and their number. The zero value has none.
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

// lookUpUnit returns the unit with a name in lower case and the singular.
func lookUpUnit(name string) (unitInfo, bool) {
	switch name {
	case "ns", "nsec", "nanosecond":
		return unitInfo{timeKind, 1e-9}, true
	case "us", "µs", "μs", "usec", "microsecond":
		return unitInfo{timeKind, 1e-6}, true
	case "ms", "msec", "millisecond":
		return unitInfo{timeKind, 1e-3}, true
	case "s", "sec", "second":
		return unitInfo{timeKind, 1}, true
	case "min", "minute":
		return unitInfo{timeKind, 60}, true
	case "b", "byte":
		return unitInfo{byteKind, 1}, true
	case "kb", "kbyte":
		return unitInfo{byteKind, 1e3}, true
	case "mb", "mbyte":
		return unitInfo{byteKind, 1e6}, true
	case "gb":
		return unitInfo{byteKind, 1e9}, true
	case "kbit":
		return unitInfo{byteKind, 1e3 / 8}, true
	case "mbit":
		return unitInfo{byteKind, 1e6 / 8}, true
	case "gbit":
		return unitInfo{byteKind, 1e9 / 8}, true
	case "kbps":
		return unitInfo{byteRateKind, 1e3 / 8}, true
	case "mbps":
		return unitInfo{byteRateKind, 1e6 / 8}, true
	case "gbps":
		return unitInfo{byteRateKind, 1e9 / 8}, true
	case "kib":
		return unitInfo{byteKind, 1 << 10}, true
	case "mib":
		return unitInfo{byteKind, 1 << 20}, true
	case "gib":
		return unitInfo{byteKind, 1 << 30}, true
	case "alloc", "allocation":
		return unitInfo{allocKind, 1}, true
	case "rps", "qps", "tps", "/s", "/sec", "hz":
		return unitInfo{rateKind, 1}, true
	case "krps":
		return unitInfo{rateKind, 1e3}, true
	case "%":
		return unitInfo{percentKind, 1}, true
	case "x", "×":
		return unitInfo{factorKind, 1}, true
	}
	return unitInfo{}, false
}

// rateNouns are the nouns of which a number per second is a rate, between spaces.
const rateNouns = " req reqs request requests op ops operations msg msgs messages event events iterations responses calls queries query transactions tx "

// isCounted reports whether a number of a noun per second is a rate.
func isCounted(noun string) bool { return strings.Contains(rateNouns, " "+noun+" ") }

// knownUnit returns the unit with a name in lower case, in the singular or the plural.
func knownUnit(name string) (unitInfo, bool) {
	u, ok := lookUpUnit(name)
	if !ok && len(name) > 3 {
		u, ok = lookUpUnit(strings.TrimSuffix(name, "s"))
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

// isNear reports whether a and b differ by at most share of the one with the greater
// absolute value.
func isNear(a, b, share float64) bool {
	return math.Abs(a-b) <= share*math.Max(math.Abs(a), math.Abs(b))
}
