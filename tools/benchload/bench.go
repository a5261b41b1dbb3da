package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/tarebench/tare/stats"
)

type bench struct {
	config
	self  string // of this program
	out   io.Writer
	rng   *rand.Rand
	tools []tool
	pins  bool // taskset can restrict processes to processors
}

// compareWith makes all comparisons with one server. command starts it; "" means the server of this
// program, for all protocols.
func (b *bench) compareWith(ctx context.Context, command string) error {
	if len(b.ways) == 0 {
		if err := b.comparePlain(ctx, command); err != nil || command != "" {
			return err
		}
	}
	return b.compareWays(ctx)
}

// comparePlain compares the tools over HTTP/1.1, for each number of connections and each size of bodies.
// The first of both is also used for latencies, a stop of the server, and tools on fixed processors.
func (b *bench) comparePlain(ctx context.Context, command string) error {
	name, bodies := command, b.bodies
	if name == "" {
		name = "net/http"
	} else {
		bodies = bodies[:1] // a command determines the bodies
	}
	for i, body := range bodies {
		err := b.withServer(ctx, command, plain, "", body, func(s *server) error {
			if err := b.compareConnections(ctx, name, job{addr: s.addr}, body); err != nil || i > 0 {
				return err
			}
			return b.compareTiming(ctx, s)
		})
		if err != nil {
			return err
		}
	}
	if !b.pins {
		return nil
	}
	// The last processor is for the client, all others are for the server.
	clients, servers := fmt.Sprint(runtime.NumCPU()-1), "0"
	if last := runtime.NumCPU() - 1; last > 1 {
		servers = fmt.Sprintf("0-%d", last-1)
	}
	return b.withServer(ctx, command, plain, servers, bodies[0], func(s *server) error {
		fmt.Fprintf(b.out, "\n%s, server on processors %s, clients on %s, %d connections\n", name, servers, clients, b.connections[0])
		return b.compareThroughput(ctx, job{addr: s.addr, connections: b.connections[0]}, clients)
	})
}

// withServer starts a server, calls use and ends the server. cpus are its processors; "" means any.
func (b *bench) withServer(ctx context.Context, command, way, cpus string, body int, use func(s *server) error) error {
	s, err := b.startServer(ctx, command, way, cpus, body)
	if err != nil {
		return err
	}
	defer s.close()
	return use(s)
}

func (b *bench) compareConnections(ctx context.Context, name string, j job, body int) error {
	for _, n := range b.connections {
		fmt.Fprintf(b.out, "\n%s, %d connections, %d bytes\n", name, n, body)
		j.connections = n
		if err := b.compareThroughput(ctx, j, ""); err != nil {
			return err
		}
	}
	return nil
}

// compareTiming compares the latencies of the tools. It also compares the latencies that package load
// reports of a stopped server with theory.
func (b *bench) compareTiming(ctx context.Context, s *server) error {
	if err := b.compareLatency(ctx, s.addr); err != nil || b.skipStop {
		return err
	}
	for _, t := range b.tools {
		if engine, ok := t.(packageLoad); ok {
			if err := b.compareStop(ctx, engine, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareWays compares the tools in all ways except plain.
func (b *bench) compareWays(ctx context.Context) error {
	for _, way := range ways() {
		if len(b.ways) > 0 && !slices.Contains(b.ways, way) {
			continue
		}
		name, command, bodies := "net/http, "+way, "", b.bodies
		switch way {
		case h3:
			name, command = b.h3, b.h3
		case grpc: // its messages have a fixed size
			bodies = bodies[:1]
		}
		if len(b.toolsFor(job{way: way})) < 2 {
			b.reportMissing(way, "there are not two tools for it")
			continue
		}
		for i, body := range bodies {
			err := b.withServer(ctx, command, way, "", body, func(s *server) error {
				j := job{addr: s.addr, way: way}
				if err := b.compareConnections(ctx, name, j, body); err != nil || way != h3 || i > 0 {
					return err
				}
				j.streams = 10 // HTTP/3 also with several requests on each connection
				return b.compareConnections(ctx, name+", 10 streams on each", j, body)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// runRounds runs the tools in a random order, once per round. record gets each result and the tool's CPU
// time.
func (b *bench) runRounds(ctx context.Context, tools []tool, j job, cpus string, record func(t tool, r report, cpu time.Duration)) error {
	for range b.rounds {
		for _, i := range b.rng.Perm(len(tools)) {
			r, cpu, err := b.runTool(ctx, tools[i], j, cpus)
			if err != nil {
				return err
			}
			record(tools[i], r, cpu)
		}
	}
	return nil
}

// compareThroughput compares the tools in a closed loop: requests per CPU second of the client, and per
// second.
func (b *bench) compareThroughput(ctx context.Context, j job, cpus string) error {
	perCPU, rate := map[string][]float64{}, map[string][]float64{} // a value per round, by tool
	j.each = b.each
	tools := b.toolsFor(j)
	err := b.runRounds(ctx, tools, j, cpus, func(t tool, r report, cpu time.Duration) {
		perCPU[t.name()] = append(perCPU[t.name()], float64(r.Requests)/cpu.Seconds())
		rate[t.name()] = append(rate[t.name()], float64(r.Requests)/j.each.Seconds())
	})
	if err != nil {
		return err
	}
	tares := tareTools(tools)
	head := "  closed loop\trequests per client CPU second\tper second"
	for _, o := range tares {
		head += "\t" + o.name() + " / it, per CPU second"
	}
	b.writeTable(head, func(row func(...any)) {
		for _, t := range tools {
			cells := []any{t.name(), fmt.Sprintf("%.0f", stats.Median(perCPU[t.name()])), fmt.Sprintf("%.0f", stats.Median(rate[t.name()]))}
			for _, o := range tares {
				cells = append(cells, formatRatio(o, t, perCPU))
			}
			row(cells...)
		}
	})
	return nil
}

// compareLatency compares latencies at a fixed rate, for the tools that support it.
func (b *bench) compareLatency(ctx context.Context, addr string) error {
	j := job{addr: addr, connections: b.connections[0], each: b.each, rate: b.rate}
	tools := b.toolsFor(j)
	p50, p99, lag := map[string][]float64{}, map[string][]float64{}, map[string][]float64{} // ns per round, by tool
	err := b.runRounds(ctx, tools, j, "", func(t tool, r report, _ time.Duration) {
		p50[t.name()] = append(p50[t.name()], float64(r.P50))
		p99[t.name()] = append(p99[t.name()], float64(r.P99))
		if r.Sent > 0 {
			lag[t.name()] = append(lag[t.name()], float64(r.LagP99))
		}
	})
	if err != nil {
		return err
	}
	tares := tareTools(tools)
	head := fmt.Sprintf("  at %.0f/s\tp50, µs\tp99, µs\tsend lag p99, µs", b.rate)
	for _, o := range tares {
		head += "\t" + o.name() + "'s p50 / its"
	}
	b.writeTable(head, func(row func(...any)) {
		for _, t := range tools {
			sendLag := ""
			if len(lag[t.name()]) > 0 {
				sendLag = formatMicros(lag[t.name()])
			}
			cells := []any{t.name(), formatMicros(p50[t.name()]), formatMicros(p99[t.name()]), sendLag}
			for _, o := range tares {
				cells = append(cells, formatRatio(o, t, p50))
			}
			row(cells...)
		}
	})
	fmt.Fprintln(b.out, "  (ours from the time a request was due, oha's from the time it was sent)")
	return nil
}

// tareTools returns those of tools that belong to tare.
func tareTools(tools []tool) (out []tool) {
	for _, t := range tools {
		switch t.(type) {
		case packageLoad, tareQuiet:
			out = append(out, t)
		}
	}
	return out
}

// formatRatio returns the ratio of base to t with its 95 % interval, from the median over rounds. x has a
// value per round, by tool.
func formatRatio(base, t tool, x map[string][]float64) string {
	if t.name() == base.name() {
		return ""
	}
	logs := make([]float64, len(x[base.name()]))
	for i, v := range x[base.name()] {
		logs[i] = math.Log(v / x[t.name()][i])
	}
	text := fmt.Sprintf("%.3f", math.Exp(stats.HodgesLehmann(logs)))
	if lo, hi, ok := stats.Interval(logs, 0.05); ok {
		text += fmt.Sprintf("  (95 %%: %.3f to %.3f)", math.Exp(lo), math.Exp(hi))
	}
	return text
}

func formatMicros(ns []float64) string { return fmt.Sprintf("%.0f", stats.Median(ns)/1e3) }

// writeTable prints a table. writeRows calls row for each of its rows.
func (b *bench) writeTable(head string, writeRows func(row func(...any))) {
	w := tabwriter.NewWriter(b.out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, head)
	writeRows(func(cells ...any) {
		for i, c := range cells {
			separator := "\t"
			if i == 0 {
				separator = "  "
			}
			fmt.Fprint(w, separator, c)
		}
		fmt.Fprintln(w)
	})
	w.Flush()
}

// compareStop stops the server during a run, and compares the p99 that the tool reports with theory.
func (b *bench) compareStop(ctx context.Context, engine packageLoad, s *server) error {
	const rate, duration, pause = 5000.0, 8 * time.Second, 500 * time.Millisecond
	type result struct {
		report
		err error
	}
	done := make(chan result, 1)
	go func() {
		r, _, err := b.runTool(ctx, engine, job{addr: s.addr, connections: b.connections[0], each: duration, rate: rate}, "")
		done <- result{r, err}
	}()
	time.Sleep(duration / 2)
	paused, err := s.pauseFor(pause)
	got := <-done
	if err != nil {
		b.reportMissing("the stop of the server", err.Error())
		return nil
	}
	if got.err != nil {
		return got.err
	}
	// The slowest 1 % of the requests are due in the first 1 % of the duration after the stop. They all
	// wait until the server continues. The p99 is the wait of the last of them.
	want := paused - duration/100 + got.P50
	fmt.Fprintf(b.out, "  %s, stopped for %v: p99 %v, theory %v (%+.1f %%); requested %.0f, sent %d, answered %d, never sent %d\n",
		engine.name(), paused.Round(time.Microsecond), got.P99.Round(time.Microsecond), want.Round(time.Microsecond), 100*(float64(got.P99)/float64(want)-1),
		rate*duration.Seconds(), got.Sent, got.Requests, got.Late)
	return nil
}
