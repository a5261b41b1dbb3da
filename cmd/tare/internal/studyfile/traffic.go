package studyfile

import (
	"fmt"
	"math"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/lazyregexp"
)

const (
	rateHint      = "requests per second, e.g. 1500 or 1500/s; leave it out for a closed loop"
	bandwidthHint = "bits per second, each way, with bit, kbit, mbit or gbit, e.g. 70mbit; without a unit bits"

	maxBandwidth = 1e12 // bits per second
)

var (
	perSecond   = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?) ?/ ?s$`)                 // 1500/s: the number
	bitsAndUnit = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?) ?(bit|kbit|mbit|gbit)$`) // 70mbit: the number and the unit
)

// trafficKeys returns the keys that require key connections, in the order in which they are checked.
func trafficKeys() []string {
	return []string{"rate", "segment", "tls", "delay", "bandwidth"}
}

// addTrafficKeys adds the keys of a workload's traffic. The caller must call finish after they are read.
// It returns the traffic, or nil if the workload has no connections.
func (r *reader) addTrafficKeys(keys map[string]yamlfile.Take) (finish func(path string) *tare.Traffic) {
	var t tare.Traffic
	keys["connections"] = r.Count(&t.Connections)
	keys["rate"] = r.takeRate(&t.Rate)
	keys["segment"] = r.Duration(&t.Segment)
	keys["tls"] = r.Yes(&t.TLS)
	keys["delay"] = r.Duration(&t.Delay)
	keys["bandwidth"] = r.takeBandwidth(&t.Bandwidth)
	return func(path string) *tare.Traffic {
		if _, found := r.At(path + ".connections"); found {
			return &t
		}
		for _, key := range trafficKeys() {
			if pos, found := r.At(path + "." + key); found {
				r.Fail(pos, key+" without connections", "say how many the load generator keeps open, e.g. connections: 50")
			}
		}
		return nil
	}
}

// takeRate returns a Take for requests per second: a number, or a text like 1500/s.
func (r *reader) takeRate(dst *float64) yamlfile.Take {
	return func(n ast.Node, path string) {
		switch n := n.(type) {
		case *ast.StringNode:
			m := perSecond.FindStringSubmatch(n.Value)
			if m == nil {
				r.Fail(r.Of(n), fmt.Sprintf("%q is not a rate", n.Value), rateHint)
				return
			}
			*dst = parseNumber(m[1])
		case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
			r.Number(dst)(n, path)
		default:
			r.Want(n, path, "a number or a text like 1500/s", rateHint)
		}
		if r.Err == nil && !(*dst > 0) {
			r.Fail(r.Of(n), path+" is not above zero", rateHint)
		}
	}
}

// takeBandwidth returns a Take for bits per second: an integer, or a text with a unit.
func (r *reader) takeBandwidth(dst *int64) yamlfile.Take {
	return func(n ast.Node, path string) {
		var bits float64
		switch n := n.(type) {
		case *ast.IntegerNode:
			r.Number(&bits)(n, path)
		case *ast.StringNode:
			m := bitsAndUnit.FindStringSubmatch(n.Value)
			if m == nil {
				r.Fail(r.Of(n), fmt.Sprintf("%q is not a bandwidth", n.Value), bandwidthHint)
				return
			}
			units := map[string]float64{"bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
			bits = math.Round(parseNumber(m[1]) * units[m[2]])
		default:
			r.Want(n, path, "an integer number of bits per second or a text with its unit", bandwidthHint)
			return
		}
		if bits < 1 || bits > maxBandwidth {
			r.Fail(r.Of(n), path+" is not between 1 bit and 1000 gbit per second", bandwidthHint)
			return
		}
		*dst = int64(bits)
	}
}

// parseNumber parses a number without sign. It returns +Inf if the number is out of range.
func parseNumber(digits string) float64 {
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return math.Inf(1)
	}
	return x
}
