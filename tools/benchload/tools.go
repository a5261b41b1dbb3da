package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/tarebench/tare/load"
)

// job describes a run of a tool.
type job struct {
	addr        string
	way         string // protocol setup: plain, secure, …
	connections int
	streams     int           // HTTP/3 streams on each connection; 0 means 1
	each        time.Duration // duration
	rate        float64       // requests per second; 0 means as fast as possible
}

// Ways in which a tool sends requests to a server.
const (
	plain  = ""      // HTTP/1.1
	secure = "https" // HTTP/1.1 over TLS, on open connections
	h2c    = "h2c"   // HTTP/2 in plain text, one request at a time
	grpc   = "grpc"  // calls of the health service, one at a time
	h3     = "h3"    // HTTP/3
	views  = "views" // HTTP/1.1; compares views of the progress of tare load
)

// ways returns all ways except plain.
func ways() []string { return []string{secure, h2c, grpc, h3, views} }

func (j job) url() string {
	if j.way == secure || j.way == h3 {
		return "https://" + j.addr + "/"
	}
	return "http://" + j.addr + "/"
}

// report has the results that a tool printed. A tool sets only those that it measures.
type report struct {
	Requests int64
	P50      time.Duration
	P99      time.Duration
	LagP99   time.Duration // p99 of the send lag; of package load only
	Sent     int64         // of package load only
	Late     int64         // requests that were never sent; of package load only
}

// tool is a load generator.
type tool interface {
	name() string
	program() string // "" means this program
	// args returns the program's arguments, or nil if the tool cannot do the job.
	args(j job) []string
	// read parses the output of the program.
	read(output []byte) (report, error)
}

// packageLoad runs package load with one of its engines, in a process of this program.
type packageLoad struct{ engine load.Engine }

func (o packageLoad) name() string  { return string(o.engine) }
func (packageLoad) program() string { return "" }

func (o packageLoad) args(j job) []string {
	if j.way == h3 || j.way == views {
		return nil
	}
	return []string{"drive", "-addr", j.addr, "-engine", string(o.engine), "-way", j.way, "-connections", strconv.Itoa(j.connections),
		"-duration", j.each.String(), "-rate", strconv.FormatFloat(j.rate, 'g', -1, 64)}
}

func (packageLoad) read(output []byte) (report, error) { return parseReport(output) }

// parseReport parses a report in JSON, as this program and tare load print it.
func parseReport(output []byte) (r report, err error) {
	err = json.Unmarshal(output, &r)
	return r, err
}

// bareExchange sends a fixed request and discards the answers. No client with one request in flight on each
// connection can need less CPU time.
type bareExchange struct{}

func (bareExchange) name() string    { return "kernel's limit" }
func (bareExchange) program() string { return "" }

func (bareExchange) args(j job) []string {
	if j.rate > 0 || j.way != plain {
		return nil
	}
	return []string{"exchange", "-addr", j.addr, "-connections", strconv.Itoa(j.connections), "-duration", j.each.String()}
}

func (bareExchange) read(output []byte) (report, error) { return parseReport(output) }

// wrk, oha and h2load are the load generators of these names.
type wrk struct{}

func (wrk) name() string    { return "wrk" }
func (wrk) program() string { return "wrk" }

func (wrk) args(j job) []string {
	if j.rate > 0 || j.way != plain && j.way != secure {
		return nil
	}
	return []string{"-t1", "-c" + strconv.Itoa(j.connections), fmt.Sprintf("-d%ds", int(j.each.Seconds())), j.url()}
}

func (wrk) read(output []byte) (r report, err error) {
	m := regexp.MustCompile(`(\d+) requests in`).FindSubmatch(output)
	if m == nil {
		return r, fmt.Errorf("wrk reports %q", output)
	}
	r.Requests, err = strconv.ParseInt(string(m[1]), 10, 64)
	return r, err
}

type oha struct{ h3 bool } // built with HTTP/3

func (oha) name() string    { return "oha" }
func (oha) program() string { return "oha" }

func (o oha) args(j job) []string {
	if j.way == grpc || j.way == views || j.way == h3 && !o.h3 {
		return nil
	}
	args := []string{"--no-tui", "--output-format", "json", "-c", strconv.Itoa(j.connections), "-z", j.each.String()}
	if j.rate > 0 {
		args = append(args, "-q", strconv.FormatFloat(j.rate, 'g', -1, 64))
	}
	switch j.way {
	case secure:
		args = append(args, "--insecure")
	case h3:
		args = append(args, "--insecure", "--http-version", "3")
		if j.streams > 1 {
			args = append(args, "-p", strconv.Itoa(j.streams))
		}
	case h2c:
		args = append(args, "--http2")
	}
	return append(args, j.url())
}

func (oha) read(output []byte) (r report, err error) {
	var result struct {
		Statuses    map[string]int64   `json:"statusCodeDistribution"`
		Percentiles map[string]float64 `json:"latencyPercentiles"` // s
	}
	if err := json.Unmarshal(output, &result); err != nil {
		return r, err
	}
	for _, n := range result.Statuses {
		r.Requests += n
	}
	seconds := func(p string) time.Duration { return time.Duration(result.Percentiles[p] * 1e9) }
	r.P50, r.P99 = seconds("p50"), seconds("p99")
	return r, nil
}

type h2load struct{}

func (h2load) name() string    { return "h2load" }
func (h2load) program() string { return "h2load" }

func (h2load) args(j job) []string {
	args := []string{"-t1", "-c" + strconv.Itoa(j.connections), "-m1", fmt.Sprintf("--duration=%d", int(j.each.Seconds()))}
	switch {
	case j.rate > 0 || j.way != plain && j.way != secure && j.way != h2c:
		return nil
	case j.way != h2c:
		args = append(args, "--h1")
	}
	return append(args, j.url())
}

func (h2load) read(output []byte) (r report, err error) {
	// No match if any answer has another status than 2xx.
	m := regexp.MustCompile(`status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx`).FindSubmatch(output)
	if m == nil {
		return r, fmt.Errorf("h2load reports %q", output)
	}
	r.Requests, err = strconv.ParseInt(string(m[1]), 10, 64)
	return r, err
}

func (b *bench) toolsFor(j job) []tool {
	var out []tool
	for _, t := range b.tools {
		if t.args(j) != nil {
			out = append(out, t)
		}
	}
	return out
}

// runTool runs a tool on the processors cpus; "" means any. It returns its report and its CPU time.
func (b *bench) runTool(ctx context.Context, t tool, j job, cpus string) (report, time.Duration, error) {
	name := t.program()
	if name == "" {
		name = b.self
	}
	cmd := newCommand(ctx, cpus, name, t.args(j)...)
	if w, ok := t.(tareWatched); ok {
		defer w.watchPage()()
	}
	out, err := cmd.Output()
	if v, ok := t.(tareLive); ok && err == nil { // its output is the terminal's, its report is in a file
		out, err = os.ReadFile(v.document)
	}
	if err != nil {
		return report{}, 0, fmt.Errorf("%s: %w", t.name(), err)
	}
	r, err := t.read(out)
	if err == nil && r.Requests == 0 {
		err = fmt.Errorf("%s had no answer", t.name())
	}
	return r, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}
