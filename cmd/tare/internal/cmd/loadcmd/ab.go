package loadcmd

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	kind "github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/load"
)

// This file prints a result in the format of ApacheBench (tare load --preset ab), for scripts that
// read that format.

// abReport has the values that --preset ab prints in the format of ApacheBench.
type abReport struct {
	document  load.Document // describes result
	result    *load.Result
	software  string // Server header of the first response
	length    int64  // bytes of the first response's body, or the mean of all if unknown
	keepAlive bool
	hasBodies bool // a request has a body
}

func newABReport(r *load.Result, d load.Document, l *loadRun) abReport {
	a := abReport{document: d, result: r, keepAlive: l.options.keepAlive, software: l.software, length: l.length}
	if d.Requests > 0 && a.length == 0 {
		a.length = d.BodyIn / d.Requests
	}
	for _, request := range l.requests {
		a.hasBodies = a.hasBodies || len(request.Body) > 0
	}
	return a
}

// fetchFirst sends the first request once before the measurement, for the server software and the
// document length that ab prints. It sends only GET and HEAD, which are safe to repeat, and ignores
// errors.
func (l *loadRun) fetchFirst(ctx context.Context) {
	first := l.requests[0]
	if first.Method != http.MethodGet && first.Method != http.MethodHead {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.options.timeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", l.target.Addr)
	if err != nil {
		return
	}
	defer conn.Close()
	// When the timeout ends ctx, Close ends a blocked read.
	unregister := context.AfterFunc(ctx, func() { conn.Close() })
	defer unregister()
	if l.target.TLS != nil {
		conn = tls.Client(conn, l.target.TLS)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", first.Method, first.Path, l.target.Host)
	for _, h := range first.Header {
		if !strings.EqualFold(h[0], "Host") && !strings.EqualFold(h[0], "Connection") {
			fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		}
	}
	if _, err := io.WriteString(conn, b.String()+"\r\n"); err != nil {
		return
	}
	answer, err := kind.NewAnswers(conn).Next(first.Method)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	l.software = oneLine(answer.Header.Get("Server"))
	l.length, _ = io.Copy(io.Discard, answer.Body)
}

func writeAB(w io.Writer, a abReport) error {
	var b strings.Builder
	a.writeHead(&b)
	a.writeRates(&b)
	a.writeTimes(&b)
	writeLimit(&b, a.document)
	_, err := io.WriteString(w, b.String())
	return err
}

// abRow writes a row of ab's output, with the value from column 25.
func abRow(b *strings.Builder, name, format string, args ...any) {
	fmt.Fprintf(b, "%-24s"+format+"\n", append([]any{name}, args...)...)
}

func (a abReport) writeHead(b *strings.Builder) {
	u, err := url.Parse(a.document.URL)
	if err != nil {
		u = &url.URL{}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	abRow(b, "Server Software:", "%s", a.software)
	abRow(b, "Server Hostname:", "%s", u.Hostname())
	abRow(b, "Server Port:", "%s", port)
	b.WriteByte('\n')
	abRow(b, "Document Path:", "%s", u.RequestURI())
	abRow(b, "Document Length:", "%d bytes", a.length)
	b.WriteByte('\n')
}

func (a abReport) writeRates(b *strings.Builder) {
	d := a.document
	abRow(b, "Concurrency Level:", "%d", d.Connections)
	abRow(b, "Time taken for tests:", "%.3f seconds", d.Seconds)
	abRow(b, "Complete requests:", "%d", d.Requests)
	failed := d.Failed() - d.Errors[string(load.ErrStatus)] // ab counts other statuses than 2xx separately
	abRow(b, "Failed requests:", "%d", failed)
	if failed > 0 {
		countErrors := func(classes ...load.Class) (n int64) {
			for _, c := range classes {
				n += d.Errors[string(c)]
			}
			return n
		}
		fmt.Fprintf(b, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)\n",
			countErrors(load.ErrConnect), countErrors(load.ErrReset, load.ErrTimeout), countErrors(load.ErrAnswer), countErrors(load.ErrFraming))
	}
	if n := countNon2xx(d); n > 0 {
		abRow(b, "Non-2xx responses:", "%d", n)
	}
	if a.keepAlive {
		abRow(b, "Keep-Alive requests:", "%d", max(0, d.Requests-d.Reconnects))
	}
	abRow(b, "Total transferred:", "%d bytes", d.BytesIn)
	if a.hasBodies {
		abRow(b, "Total body sent:", "%d", d.BytesOut)
	}
	abRow(b, "HTML transferred:", "%d bytes", d.BodyIn)
	if d.Requests > 0 && d.Seconds > 0 {
		abRow(b, "Requests per second:", "%.2f [#/sec] (mean)", d.RequestsPerSecond)
		abRow(b, "Time per request:", "%.3f [ms] (mean)", float64(d.Connections)*1000/d.RequestsPerSecond)
		abRow(b, "Time per request:", "%.3f [ms] (mean, across all concurrent requests)", 1000/d.RequestsPerSecond)
		abRow(b, "Transfer rate:", "%.2f [Kbytes/sec] received", d.Path.In/8/1024)
		if a.hasBodies {
			abRow(b, "", "%.2f kb/s sent", d.Path.Out/8/1024)
			abRow(b, "", "%.2f kb/s total", (d.Path.In+d.Path.Out)/8/1024)
		}
	}
	b.WriteByte('\n')
}

func countNon2xx(d load.Document) int64 {
	var n int64
	for code, count := range d.Statuses {
		if !strings.HasPrefix(code, "2") {
			n += count
		}
	}
	return n
}

// writeTimes writes the tables of connection times and percentages, in milliseconds as ab does. tare
// measures connecting and processing separately. So a total is the sum of both, and its deviation
// the root of the sum of the squares.
func (a abReport) writeTimes(b *strings.Builder) {
	d := a.document
	if d.Latency.Count == 0 {
		return
	}
	connect := a.connectPerRequest()
	total := load.Latencies{
		Min: connect.Min + d.Latency.Min, P50: connect.P50 + d.Latency.P50, Max: connect.Max + d.Latency.Max,
		Mean: connect.Mean + d.Latency.Mean, SD: math.Hypot(connect.SD, d.Latency.SD),
	}
	mostConnect := connect.P50 > 0 // if false, most requests reused a connection
	if !mostConnect {
		total.Max = d.Latency.Max // the slowest request probably reused a connection
	}
	b.WriteString("Connection Times (ms)\n              min  mean[+/-sd] median   max\n")
	for _, line := range []struct {
		name string
		l    load.Latencies
	}{{"Connect:", connect}, {"Processing:", d.Latency}, {"Waiting:", d.FirstByte}, {"Total:", total}} {
		fmt.Fprintf(b, "%-12s%5d %4d %5.1f %6d %7d\n", line.name, toMilliseconds(float64(line.l.Min)), toMilliseconds(line.l.Mean), line.l.SD/1e6, toMilliseconds(float64(line.l.P50)), toMilliseconds(float64(line.l.Max)))
	}
	b.WriteString("\nPercentage of the requests served within a certain time (ms)\n")
	for _, percent := range []int{50, 66, 75, 80, 90, 95, 98, 99} {
		latency := a.result.Latency.Quantile(float64(percent) / 100)
		if mostConnect {
			latency += a.connectQuantile(float64(percent) / 100)
		}
		fmt.Fprintf(b, "  %d%%  %5d\n", percent, toMilliseconds(float64(latency)))
	}
	fmt.Fprintf(b, " 100%%  %5d (longest request)\n", toMilliseconds(float64(total.Max)))
}

// From this share on, all requests count as having made a connection.
const minShareOfAll = 0.9

// connectShare returns the share of requests that made a connection, among those with a latency.
func (a abReport) connectShare() float64 {
	share := float64(a.document.Connect.Count) / float64(a.document.Latency.Count)
	if share >= minShareOfAll {
		return 1
	}
	return share
}

// connectPerRequest returns statistics of the connect times of all requests. A request on an open
// connection counts as 0. The variance is the mean of the squares minus the square of the mean. The
// mean of the squares of the times above 0 is SD² + Mean².
func (a abReport) connectPerRequest() load.Latencies {
	connects, share := a.document.Connect, a.connectShare()
	if share == 1 || connects.Count == 0 {
		return connects
	}
	mean := connects.Mean * share
	variance := share*(connects.SD*connects.SD+connects.Mean*connects.Mean) - mean*mean
	return load.Latencies{
		Count: a.document.Latency.Count, Mean: mean, SD: math.Sqrt(max(0, variance)),
		P50: a.connectQuantile(0.5), Max: connects.Max,
	}
}

// connectQuantile returns a quantile of the connect times of all requests, in ns. A request on an
// open connection counts as 0.
func (a abReport) connectQuantile(quantile float64) int64 {
	share := a.connectShare()
	if quantile <= 1-share {
		return 0
	}
	return a.result.Connect.Quantile((quantile - (1 - share)) / share)
}

// toMilliseconds rounds ns to milliseconds, as an integer.
func toMilliseconds(ns float64) int64 { return int64(math.Round(ns / float64(time.Millisecond))) }

// writeLimit writes the limit of the rate and the findings, which ab and wrk do not report.
func writeLimit(b *strings.Builder, d load.Document) {
	fmt.Fprintf(b, "\ntare: limit %s: %s\n", d.Limit, d.LimitWhy)
	for _, f := range d.Findings {
		fmt.Fprintf(b, "tare: %s %s: %s\n", f.Severity, f.Check, f.Message)
	}
}
