package report

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file describes workloads and their traffic in words.

// Kinds of studies without servers.
const (
	kindCodec  = "codec"
	kindRouter = "router"
)

// requestKinds returns the kinds in which an operation is one HTTP request.
func requestKinds() []tare.Kind { return []tare.Kind{kindRouter, "server", "rpc"} }

func isPerRequest(r *tare.Result, w tare.Workload) bool {
	return w.Traffic != nil || slices.Contains(requestKinds(), r.Kind)
}

// describeWorkload returns the workload in words: "What is asked: marshal of devices, 50 items per body, 100
// different bodies in turn."
func describeWorkload(r *tare.Result, w tare.Workload) string {
	unit, units := "body", "bodies"
	if isPerRequest(r, w) {
		unit, units = "request", "requests"
	}
	isRouting := w.Traffic == nil && r.Kind == kindRouter
	text := "What is asked: " + describeOp(r, w)
	if isRouting {
		text += map[string]string{"serve": " (in process, without a socket)", "socket": " (over one connection that is kept open, on loopback)"}[w.Op]
	}
	switch {
	case w.N > 0 && isRouting:
		text += ", " + countNoun(w.N, "route") + " in the table"
	case w.N > 0:
		counts := w.Counted()
		text += ", " + countNoun(w.N, counts.One)
		if counts.In != "" {
			text += " in " + counts.In
		} else {
			text += " per " + unit
		}
		if counts.Most {
			text += " at most"
		}
	}
	switch {
	case w.Pool == 1:
		text += ", one " + unit + " over and over"
	case w.Pool > 1:
		text += ", " + format.Grouped(float64(w.Pool), 0) + " different " + units + " in turn"
	}
	if set := formatSettings(copyWithout(w.Set, driverKey)); set != "" {
		text += ", with " + set
	}
	if w.Heap > 0 {
		text += ", while " + formatMemory(w.Heap) + " of heap are held live"
	}
	return text + "."
}

// describeOp returns the operation and its input: marshal of devices.
func describeOp(r *tare.Result, w tare.Workload) string {
	input := orDefault(w.Fixture, w.File)
	if w.Op == "any" && r.Kind == kindCodec {
		return "decoding " + input + " into any"
	}
	return w.Op + " of " + input
}

func copyWithout(set map[string]string, name string) map[string]string {
	out := maps.Clone(set)
	delete(out, name)
	return out
}

// formatSettings returns settings sorted by name: depth: 3, params: 1.
func formatSettings(set map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, key+": "+set[key])
	}
	return strings.Join(parts, ", ")
}

// describeDriver returns how requests are sent to servers.
func describeDriver(r *tare.Result, w tare.Workload) string {
	if w.Traffic == nil {
		return ""
	}
	text := "Traffic: " + describeTraffic(r, *w.Traffic)
	if sendsByContender(w) {
		text += ", asked by each contender's own client in a process of its own"
	}
	return text + "."
}

// describeTraffic returns the traffic in one line: "open loop, 5,000 requests/s for 10 s, 64 connections,
// loopback, TLS".
func describeTraffic(r *tare.Result, t tare.Traffic) string {
	text, segment := "closed loop", "" // each connection waits for its response
	if t.Segment > 0 {
		segment = " for " + formatDuration(t.Segment)
	}
	if t.Rate > 0 { // requests are sent at this rate in any case
		text = "open loop, " + formatRate(t.Rate) + " requests/s" + segment + ", " + countNoun(t.Connections, "connection")
	} else {
		text += ", " + countNoun(t.Connections, "connection") + segment
	}
	if isLocal(r) {
		text += ", loopback"
	}
	if t.TLS {
		text += ", TLS"
	}
	if t.Delay > 0 {
		text += ", " + formatDuration(t.Delay) + " delay"
	}
	if t.Bandwidth > 0 {
		text += ", " + formatBits(t.Bandwidth) + " each way"
	}
	return text
}

// isLocal reports whether all servers are known to be on this machine.
func isLocal(r *tare.Result) bool {
	return !slices.ContainsFunc(r.Contenders, func(c tare.Contender) bool {
		if c.Launch != tare.LaunchURL {
			return false
		}
		u, err := url.Parse(c.URL)
		return err != nil || !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
	})
}

// formatDuration prints a duration that the user set: 5 s, 20 ms.
func formatDuration(d time.Duration) string {
	for _, step := range []struct {
		unit time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if d >= step.unit {
			return formatNumber(float64(d)/float64(step.unit)) + " " + step.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}

// formatBits prints a bandwidth: 70 Mbit/s.
func formatBits(perSecond int64) string {
	for _, step := range []struct {
		unit float64
		name string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if x := float64(perSecond); x >= step.unit {
			return formatNumber(x/step.unit) + " " + step.name
		}
	}
	return strconv.FormatInt(perSecond, 10) + " bit/s"
}

// requestUnit converts a unit per operation: ns/op becomes ns/request.
func requestUnit(unit string) string {
	switch before, ok := strings.CutSuffix(unit, "/op"); {
	case !ok:
		return unit
	case before == "allocs":
		return "per request"
	default:
		return before + "/request"
	}
}
