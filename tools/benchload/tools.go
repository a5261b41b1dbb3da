package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// job is what a tool is asked to do.
type job struct {
	addr        string
	way         string // how it is spoken to
	connections int
	each        time.Duration
	rate        float64 // requests per second; zero: as fast as it can
}

// Ways to speak to a server.
const (
	plain  = ""      // HTTP/1.1
	secure = "https" // HTTP/1.1 over TLS, connections kept
	h2c    = "h2c"   // HTTP/2 in plain text, a request at a time on each connection
)

// url is where a job sends its requests.
func (j job) url() string {
	if j.way == secure {
		return "https://" + j.addr + "/"
	}
	return "http://" + j.addr + "/"
}

// report is what a tool says it did.
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
	// args are its command's arguments for a job; nil: it cannot do that.
	args(j job) []string
	read(output []byte) (report, error)
}

type ours struct{}

func (ours) name() string { return "ours" }

func (ours) args(j job) []string {
	return []string{"drive", "-addr", j.addr, "-way", j.way, "-connections", strconv.Itoa(j.connections),
		"-duration", j.each.String(), "-rate", strconv.FormatFloat(j.rate, 'g', -1, 64)}
}

func (ours) read(output []byte) (r report, err error) {
	err = json.Unmarshal(output, &r)
	return r, err
}

type wrk struct{}

func (wrk) name() string { return "wrk" }

func (wrk) args(j job) []string {
	if j.rate > 0 || j.way == h2c {
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

type oha struct{}

func (oha) name() string { return "oha" }

func (oha) args(j job) []string {
	args := []string{"--no-tui", "--output-format", "json", "-c", strconv.Itoa(j.connections), "-z", j.each.String()}
	if j.rate > 0 {
		args = append(args, "-q", strconv.FormatFloat(j.rate, 'g', -1, 64))
	}
	switch j.way {
	case secure:
		args = append(args, "--insecure")
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

func (h2load) name() string { return "h2load" }

func (h2load) args(j job) []string {
	args := []string{"-t1", "-c" + strconv.Itoa(j.connections), "-m1", fmt.Sprintf("--duration=%d", int(j.each.Seconds()))}
	switch {
	case j.rate > 0:
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
	name := t.name()
	if name == "ours" {
		name = b.own
	}
	cmd := command(ctx, cpus, name, t.args(j)...)
	out, err := cmd.Output()
	if err != nil {
		return report{}, 0, fmt.Errorf("%s: %w", t.name(), err)
	}
	r, err := t.read(out)
	if err == nil && r.Requests == 0 {
		err = fmt.Errorf("%s had no answer", t.name())
	}
	return r, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}
