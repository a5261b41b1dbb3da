package loadcmd

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tarebench/tare/load"
)

// This file prints a result in the format of wrk (tare load --preset wrk), for scripts that read
// that format.

func writeWrk(w io.Writer, r *load.Result, d load.Document) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Running %s test @ %s\n  %d threads and %d connections\n", wrkWhole(d.Seconds), d.URL, d.Threads, d.Connections)
	fmt.Fprintf(&b, "  Thread Stats%6s%11s%8s%12s\n", "Avg", "Stdev", "Max", "+/- Stdev")
	l := d.Latency
	wrkRow(&b, "Latency", wrkTime, l.Mean, l.SD, float64(l.Max), shareWithinSD(r, l))
	mean, sd, highest, share := threadRates(d)
	wrkRow(&b, "Req/Sec", wrkMetric, mean, sd, highest, share)
	b.WriteString("  Latency Distribution\n")
	for _, q := range []int{50, 75, 90, 99} {
		fmt.Fprintf(&b, "%7d%%%s\n", q, padColumn(wrkTime(float64(r.Latency.Quantile(float64(q)/100))), 10))
	}
	fmt.Fprintf(&b, "  %d requests in %s, %sB read\n", d.Requests, wrkTime(d.Seconds*1e9), wrkBinary(float64(d.BytesIn)))
	countErrors := func(c load.Class) int64 { return d.Errors[string(c)] }
	connect, timeout := countErrors(load.ErrConnect), countErrors(load.ErrTimeout)
	read := countErrors(load.ErrReset) + countErrors(load.ErrFraming)
	if connect+read+timeout > 0 {
		fmt.Fprintf(&b, "  Socket errors: connect %d, read %d, write 0, timeout %d\n", connect, read, timeout)
	}
	if n := countErrors(load.ErrStatus); n > 0 {
		fmt.Fprintf(&b, "  Non-2xx or 3xx responses: %d\n", n)
	}
	fmt.Fprintf(&b, "Requests/sec: %9.2f\nTransfer/sec: %10sB\n", d.RequestsPerSecond, wrkBinary(d.Path.In/8))
	writeLimit(&b, d)
	_, err := io.WriteString(w, b.String())
	return err
}

func wrkRow(b *strings.Builder, name string, format func(float64) string, mean, sd, highest, share float64) {
	fmt.Fprintf(b, "    %-10s%s%s%s%8.2f%%\n", name, padColumn(format(mean), 8), padColumn(format(sd), 10), padColumn(format(highest), 9), share*100)
}

// padColumn pads text to columns. Like wrk it right-aligns the number and leaves two columns for the
// unit.
func padColumn(text string, columns int) string {
	const unitColumns = 2
	unit := len(text) - len(strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	padding := unitColumns - min(unit, unitColumns)
	return fmt.Sprintf("%*s%s", columns-padding, text, strings.Repeat(" ", padding))
}

func shareWithinSD(r *load.Result, l load.Latencies) float64 {
	h := r.Latency
	if h.Count() == 0 {
		return 0
	}
	above := h.Above(int64(l.Mean + l.SD))
	below := int64(0)
	if low := l.Mean - l.SD; low > 0 {
		below = h.Count() - h.Above(int64(low))
	}
	return 1 - float64(above+below)/float64(h.Count())
}

// threadRates returns statistics over seconds of the responses per second and thread. share is the
// share of seconds within one standard deviation of the mean. A run of less than a second counts as
// one.
func threadRates(d load.Document) (mean, sd, highest, share float64) {
	threads := float64(max(d.Threads, 1))
	var rates []float64
	for _, m := range d.Timeline {
		rates = append(rates, float64(m.Requests)/threads)
	}
	if len(rates) == 0 {
		mean = d.RequestsPerSecond / threads
		return mean, 0, mean, 1
	}
	for _, x := range rates {
		mean += x / float64(len(rates))
		highest = max(highest, x)
	}
	for _, x := range rates {
		sd += (x - mean) * (x - mean)
	}
	if len(rates) > 1 {
		sd = math.Sqrt(sd / float64(len(rates)-1))
	}
	for _, x := range rates {
		if math.Abs(x-mean) <= sd {
			share += 1 / float64(len(rates))
		}
	}
	return mean, sd, highest, share
}

// wrkTime formats ns with two decimals, in the largest unit in which the value is at least 1.
func wrkTime(ns float64) string {
	x, unit := ns/1e3, "us"
	for _, next := range []struct {
		unit string
		per  float64
	}{{"ms", 1e3}, {"s", 1e3}, {"m", 60}, {"h", 60}} {
		if x < next.per {
			break
		}
		x, unit = x/next.per, next.unit
	}
	return fmt.Sprintf("%.2f%s", x, unit)
}

// wrkWhole formats seconds without decimals: 10s, 2m.
func wrkWhole(seconds float64) string {
	x, unit := math.Round(seconds), "s"
	for _, next := range []string{"m", "h"} {
		if x >= 60 {
			x, unit = x/60, next
		}
	}
	return fmt.Sprintf("%.0f%s", x, unit)
}

// wrkMetric formats a count: 1.50k.
func wrkMetric(x float64) string { return scaledBy(x, 1000, []string{"", "k", "M", "G"}) }

// wrkBinary formats a number of bytes without the letter B: 1.00K for 1024.
func wrkBinary(x float64) string { return scaledBy(x, 1024, []string{"", "K", "M", "G", "T"}) }

// scaledBy divides x by base until it is below base, and appends the matching prefix.
func scaledBy(x, base float64, prefixes []string) string {
	i := 0
	for ; x >= base && i < len(prefixes)-1; i++ {
		x /= base
	}
	return fmt.Sprintf("%.2f%s", x, prefixes[i])
}
