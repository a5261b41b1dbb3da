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
	way         string // how it is spoken to
	connections int
	streams     int // on each, of HTTP/3; 0 means 1
	each        time.Duration
	rate        float64 // requests per second; zero: as fast as it can
}

// Ways to speak to a server.
const (
	plain  = ""      // HTTP/1.1
	secure = "https" // HTTP/1.1 over TLS, connections kept
	h2c    = "h2c"   // HTTP/2 in plain text, a request at a time on each connection
	grpc   = "grpc"  // unary calls of the health service, in plain text, one at a time on each connection
	h3     = "h3"    // HTTP/3
	views  = "views" // HTTP/1.1, as tare load shows it while it runs
)

// ways are all but plain.
func ways() []string { return []string{secure, h2c, grpc, h3, views} }

// url returns the target of a job.
func (j job) url() string {
	if j.way == secure || j.way == h3 {
		return "https://" + j.addr + "/"
	}
	return "http://" + j.addr + "/"
}

// report holds the figures that a tool printed.
type report struct {
	Requests int64
	P50      time.Duration
	P99      time.Duration
	LagP99   time.Duration // ours only
	Sent     int64         // ours only
	Late     int64         // ours only
}

// tool is a load generator.
type tool interface {
	name() string
	program() string // empty: this one
	// args are its command's arguments for a job; nil: it cannot do that.
	args(j job) []string
	read(output []byte) (report, error)
}

// ours is package load with one of its engines.
type ours struct{ engine load.Engine }

func (o ours) name() string  { return string(o.engine) }
func (ours) program() string { return "" }

func (o ours) args(j job) []string {
	if j.way == h3 || j.way == views {
		return nil
	}
	return []string{"drive", "-addr", j.addr, "-engine", string(o.engine), "-way", j.way, "-connections", strconv.Itoa(j.connections),
		"-duration", j.each.String(), "-rate", strconv.FormatFloat(j.rate, 'g', -1, 64)}
}

func (ours) read(output []byte) (r report, err error) {
	err = json.Unmarshal(output, &r)
	return r, err
}

// kernel sends a fixed buffer and discards what comes: no client of one request at a time
// on each connection can be cheaper.
type kernel struct{}

func (kernel) name() string    { return "kernel's limit" }
func (kernel) program() string { return "" }

func (kernel) args(j job) []string {
	if j.rate > 0 || j.way != plain {
		return nil
	}
	return []string{"exchange", "-addr", j.addr, "-connections", strconv.Itoa(j.connections), "-duration", j.each.String()}
}

func (kernel) read(output []byte) (r report, err error) {
	err = json.Unmarshal(output, &r)
	return r, err
}

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
		return r, fmt.Errorf("wrk says %q", output)
	}
	r.Requests, err = strconv.ParseInt(string(m[1]), 10, 64)
	return r, err
}

type oha struct{ h3 bool } // it was built with HTTP/3

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
	var said struct {
		Statuses    map[string]int64   `json:"statusCodeDistribution"`
		Percentiles map[string]float64 `json:"latencyPercentiles"` // s
	}
	if err := json.Unmarshal(output, &said); err != nil {
		return r, err
	}
	for _, n := range said.Statuses {
		r.Requests += n
	}
	seconds := func(p string) time.Duration { return time.Duration(said.Percentiles[p] * 1e9) }
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
	m := regexp.MustCompile(`status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx`).FindSubmatch(output)
	if m == nil {
		return r, fmt.Errorf("h2load says %q", output)
	}
	r.Requests, err = strconv.ParseInt(string(m[1]), 10, 64)
	return r, err
}

// able are the tools that can do a job.
func (b *bench) able(j job) []tool {
	var out []tool
	for _, t := range b.tools {
		if t.args(j) != nil {
			out = append(out, t)
		}
	}
	return out
}

// once runs a tool and returns what it said and its processor time.
func (b *bench) once(ctx context.Context, t tool, j job, cpus string) (report, time.Duration, error) {
	name := t.program()
	if name == "" {
		name = b.own
	}
	cmd := command(ctx, cpus, name, t.args(j)...)
	if w, ok := t.(watched); ok {
		defer w.attend()()
	}
	out, err := cmd.Output()
	if v, ok := t.(live); ok && err == nil {
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
