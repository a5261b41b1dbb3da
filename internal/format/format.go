// Package format formats counts, ratios, shares and foreign text in one style.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// Count returns a count with its noun: 1 round, 2 rounds.
func Count[N ~int | ~int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}

// List joins names as in a sentence, with conjunction before the last name: a, b and c.
func List(names []string, conjunction string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + conjunction + " " + names[last]
}

// unitRE matches the last digit of a number, a space, and a unit: 5 ms, 12 %. Its groups are the digit, a unit in
// letters, and the per cent sign. \b does not match after that sign.
var unitRE = lazyregexp.New(`(\d) (?:((?:[nµm]?s|min|h|[kMG]?B|[KMG]iB)\b)|(%))`)

// KeepUnits returns text with a no-break space between each number and its unit, for large type.
func KeepUnits(text string) string { return unitRE.ReplaceAllString(text, "$1\u00a0$2$3") }

// Choose returns the form of a word for n things: one if n is 1, otherwise many.
func Choose(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Clip returns at most limit characters of text. The last is … if text was cut. A limit of 0 or less means no
// limit.
func Clip(text string, limit int) string {
	if limit <= 0 || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

// Average returns a mean with at most one decimal: 2.5, 3.
func Average(x float64) string {
	if math.Abs(x-math.Round(x)) < 0.05 {
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// Percent returns a share with two significant digits: 0.0456 is "4.6 %", 0.664 is "66 %".
func Percent(share float64) string {
	x := share * 100
	return Trimmed(x, Decimals(x)) + " %"
}

// Interval returns the bounds of an interval with an en dash: 0.53–0.58. Negative bounds get "to" instead, because
// a dash and a minus are hard to read.
func Interval(low, high string) string {
	isNegative := func(number string) bool { return strings.HasPrefix(number, "−") || strings.HasPrefix(number, "-") }
	if isNegative(low) || isNegative(high) {
		return low + " to " + high
	}
	return low + "–" + high
}

// Decimals returns the number of decimals for two significant digits of x, at most six.
func Decimals(x float64) int {
	if !(x > 0) { // includes NaN
		return 0
	}
	return min(max(0, 1-int(math.Floor(math.Log10(x)))), 6)
}

// Trimmed returns x with at most decimals decimals, without trailing zeros.
func Trimmed(x float64, decimals int) string { return trimZeros(Fixed(x, decimals)) }

func trimZeros(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Significant returns x with three significant digits, or all digits of a large integer part: 0.123, 12.3, 1234.
func Significant(x float64) string {
	if x == 0 {
		return "0"
	}
	return Trimmed(x, min(max(0, 2-int(math.Floor(math.Log10(math.Abs(x))))), 6))
}

// Digits returns x with n significant digits, trailing zeros included.
func Digits(x float64, n int) string {
	if x == 0 {
		return "0"
	}
	decimals := n - 1 - int(math.Floor(math.Log10(math.Abs(x))))
	return Fixed(x, max(decimals, 0))
}

// Fixed returns x with a fixed number of decimals.
func Fixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

// LineLimit is the maximum number of characters of foreign text in a message.
const LineLimit = 200

// Seconds returns a duration in seconds, rounded to milliseconds: 5 s, 0.3 s.
func Seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(time.Millisecond).Seconds(), 'g', 4, 64) + " s"
}

// Line returns foreign text as one line of printable characters. It joins lines by a space and cuts after limit
// characters. A limit of 0 means none.
func Line(text string, limit int) string {
	lines := strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = strings.Map(func(r rune) rune {
			switch {
			case unicode.IsSpace(r):
				return ' '
			case !unicode.IsPrint(r):
				return unicode.ReplacementChar
			}
			return r
		}, strings.TrimSpace(l))
	}
	line := strings.TrimSpace(strings.Join(lines, " "))
	if r := []rune(line); limit > 0 && len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return line
}

// sizePattern matches a number of bytes such as 1.5 GiB. Its groups are number and unit.
var sizePattern = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?) ?(B|kB|MB|GB|KiB|MiB|GiB)$`)

// ParseBytes parses a number of bytes with its unit: 200MB, 1.5 GiB.
func ParseBytes(text string) (int64, error) {
	m := sizePattern.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is not a number of bytes", Line(text, 40))
	}
	scale := map[string]float64{"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[m[2]]
	x, err := strconv.ParseFloat(m[1], 64)
	x = math.Round(x * scale)
	if err != nil || x >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is too large", Line(text, 40))
	}
	return int64(x), nil
}

// BytesHint describes to a user the texts that ParseBytes accepts.
const BytesHint = "a number with kB, MB, GB, KiB, MiB or GiB, e.g. 200MB"

// Label quotes the value of a label as OpenMetrics does. It replaces control characters and those that change the
// direction of writing.
func Label(text string) string {
	text = strings.Map(func(r rune) rune {
		// Cf has invisible format characters, also for the direction of writing.
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// Minute returns a time in UTC without seconds, or a dash if t is zero.
func Minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// Nothing is printed if a value does not exist.
const Nothing = "–"

// Grouped returns x with commas between groups of three digits: 1,234,567.
func Grouped(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, hasPoint := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasPoint {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}

// Span returns a number of seconds: 0.4 s, 14 s, 2 min 51 s.
func Span(seconds float64) string {
	switch {
	case seconds < 10:
		return Trimmed(seconds, 1) + " s"
	case seconds < 120:
		return strconv.FormatFloat(seconds, 'f', 0, 64) + " s"
	}
	whole := int(math.Round(seconds))
	return strconv.Itoa(whole/60) + " min " + strconv.Itoa(whole%60) + " s"
}

// Paint applies a style to text, unless style is nil or text is empty.
func Paint(style func(string) string, text string) string {
	if style == nil || text == "" {
		return text
	}
	return style(text)
}
