package pace

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxSteps is the largest number of rates of a step profile.
const maxSteps = 1000

// Parse parses a profile as flags write it, for a phase of length over:
//
//	5000/s              a request every 200 µs
//	poisson:5000/s      requests at random times, 5000 per second in the mean
//	ramp:100/s..5000/s  a rate that changes linearly from the first to the second
//	step:100/s,500/s    one rate after the other, for equal parts of the phase
//
// A rate is a number, optionally followed by k or M, per second (/s, or
// nothing) or per minute (/m). It must not be above [MaxRate].
func Parse(text string, over time.Duration) (Profile, error) {
	p, what := parseProfile(strings.TrimSpace(text), over)
	if what == "" && Peak(p) > MaxRate {
		what = "above 1000000 requests per second"
	}
	if what != "" {
		return nil, &Error{text, what}
	}
	return p, nil
}

// parseProfile parses a profile without checking its peak. what describes an error, as in all functions
// below; "" means none.
func parseProfile(text string, over time.Duration) (p Profile, what string) {
	form, rest, named := strings.Cut(text, ":")
	if !named {
		form, rest = "", text
	}
	switch form {
	case "":
		rate, what := parseRate(rest)
		return Constant{rate}, what
	case "poisson":
		rate, what := parseRate(rest)
		return Poisson{rate}, what
	case "ramp":
		return parseRamp(rest, over)
	case "step":
		return parseStep(rest, over)
	}
	return nil, strconv.Quote(form) + " is not a profile"
}

func parseRamp(text string, over time.Duration) (p Profile, what string) {
	from, to, ok := strings.Cut(text, "..")
	switch {
	case !ok:
		return nil, "a ramp needs two rates with .. between them"
	case over <= 0:
		return nil, "a ramp needs a duration to stretch over"
	}
	r := Ramp{Over: over}
	// A ramp may begin at 0, which parseRate rejects.
	match := ratePattern().FindStringSubmatch(from)
	isZero := match != nil && strings.Trim(match[1], "0.") == ""
	if !isZero {
		if r.From, what = parseRate(from); what != "" {
			return nil, what
		}
	}
	r.To, what = parseRate(to)
	return r, what
}

// parseStep parses the rates of a Step. They share the time over equally.
func parseStep(text string, over time.Duration) (p Profile, what string) {
	parts := strings.Split(text, ",")
	each := over / time.Duration(len(parts))
	switch {
	case len(parts) > maxSteps:
		return nil, "more than 1000 steps"
	case each <= 0:
		return nil, "steps need a duration to share"
	}
	s := Step{Each: each}
	for _, part := range parts {
		rate, what := parseRate(part)
		if what != "" {
			return nil, what
		}
		s.Rates = append(s.Rates, rate)
	}
	return s, ""
}

// ratePattern matches a rate, e.g. 2.5k/m. Its groups are the number, the multiplier and the unit of time.
// It is compiled at its first use: few programs that link the package use it.
var ratePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kM]?)(/s|/m|)$`)
})

// minRate keeps the gap between two requests within an int64 of ns.
const minRate = 1e-3

func parseRate(text string) (rate float64, what string) {
	m := ratePattern().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, strconv.Quote(text) + " is not a rate"
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil || math.IsInf(x, 0) { // too large for a float64
		return 0, strconv.Quote(text) + " is not a rate"
	}
	switch m[2] {
	case "k":
		x *= 1e3
	case "M":
		x *= 1e6
	}
	if m[3] == "/m" {
		x /= 60
	}
	if x < minRate {
		return 0, strconv.Quote(text) + " is below one request in 1000 seconds"
	}
	return x, ""
}

func formatRate(perSecond float64) string {
	return strconv.FormatFloat(perSecond, 'f', -1, 64) + "/s"
}
