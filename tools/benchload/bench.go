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

// bench compares the tools.
type bench struct {
	config
	own   string // this program
	out   io.Writer
	rng   *rand.Rand
	tools []tool
	pins  bool
}

// server goes through everything with one server.
func (b *bench) server(ctx context.Context, command string) error {
	if len(b.ways) == 0 {
		if err := b.plain(ctx, command); err != nil || command != "" {
			return err
		}
	}
	return b.others(ctx)
}

// plain compares the tools over HTTP/1.1. Only with the first number of connections and
// the first size of bodies does it compare them pinned to processors too, their latencies,
// and a stop of the server with theory.
func (b *bench) plain(ctx context.Context, command string) error {
	name, bodies := command, b.bodies
	if name == "" {
		name = "net/http"
	} else {
		bodies = bodies[:1] // they are the command's own
	}
	for i, body := range bodies {
		err := b.withServer(ctx, command, plain, "", body, func(s *server) error {
			if err := b.allConnections(ctx, name, job{addr: s.addr}, body); err != nil || i > 0 {
				return err
			}
			return b.timing(ctx, s)
		})
		if err != nil {
			return err
		}
	}
	if !b.pins {
		return nil
	}
	clients, servers := fmt.Sprint(runtime.NumCPU()-1), "0"
	if last := runtime.NumCPU() - 1; last > 1 {
		servers = fmt.Sprintf("0-%d", last-1)
	}
	return b.withServer(ctx, command, plain, servers, bodies[0], func(s *server) error {
		fmt.Fprintf(b.out, "\n%s, server on processors %s, clients on %s, %d connections\n", name, servers, clients, b.connections[0])
		return b.throughput(ctx, job{addr: s.addr, connections: b.connections[0]}, clients)
	})
}

// withServer hands a server to use while it runs.
func (b *bench) withServer(ctx context.Context, command, way, cpus string, body int, use func(s *server) error) error {
	s, err := b.start(ctx, command, way, cpus, body)
	if err != nil {
		return err
	}
	defer s.close()
	return use(s)
}

// allConnections compares the tools with each number of connections.
func (b *bench) allConnections(ctx context.Context, name string, j job, body int) error {
	for _, n := range b.connections {
		fmt.Fprintf(b.out, "\n%s, %d connections, %d bytes\n", name, n, body)
		j.connections = n
		if err := b.throughput(ctx, j, ""); err != nil {
			return err
		}
	}
	return nil
}

// timing compares latencies, and a stop of the server with theory.
func (b *bench) timing(ctx context.Context, s *server) error {
	if err := b.latency(ctx, s.addr); err != nil || b.skipStop {
		return err
	}
	for _, t := range b.tools {
		if o, own := t.(ours); own {
			if err := b.stop(ctx, o, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// others compares the tools in all other ways, with servers of this program's own.
func (b *bench) others(ctx context.Context) error {
	for _, way := range ways() {
		if len(b.ways) > 0 && !slices.Contains(b.ways, way) {
			continue
		}
		name, command, bodies := "net/http, "+way, "", b.bodies
		switch way {
		case h3:
			name, command = b.h3, b.h3
		case grpc: // its messages have a size of their own
			bodies = bodies[:1]
		}
		if len(b.able(job{way: way})) < 2 {
			b.missing(way, "there are not two tools for it")
			continue
		}
		for i, body := range bodies {
			err := b.withServer(ctx, command, way, "", body, func(s *server) error {
				j := job{addr: s.addr, way: way}
				if err := b.allConnections(ctx, name, j, body); err != nil || way != h3 || i > 0 {
					return err
				}
				j.streams = 10
				return b.allConnections(ctx, name+", 10 streams on each", j, body)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// round lets each of the tools do the job once a round and hands what came of
// it to keep.
func (b *bench) round(ctx context.Context, tools []tool, j job, cpus string, keep func(t tool, r report, cpu time.Duration)) error {
	for range b.rounds {
		for _, i := range b.rng.Perm(len(tools)) {
			r, cpu, err := b.once(ctx, tools[i], j, cpus)
			if err != nil {
				return err
			}
			keep(tools[i], r, cpu)
		}
	}
	return nil
}

func (b *bench) throughput(ctx context.Context, j job, cpus string) error {
	per, rate := map[string][]float64{}, map[string][]float64{}
	j.each = b.each
	tools := b.able(j)
	err := b.round(ctx, tools, j, cpus, func(t tool, r report, cpu time.Duration) {
		per[t.name()] = append(per[t.name()], float64(r.Requests)/cpu.Seconds())
		rate[t.name()] = append(rate[t.name()], float64(r.Requests)/j.each.Seconds())
	})
	if err != nil {
		return err
	}
	mine := compared(tools)
	head := "  closed loop\trequests per client CPU second\tper second"
	for _, o := range mine {
		head += "\t" + o.name() + " / it, per CPU second"
	}
	b.table(head, func(row func(...any)) {
		for _, t := range tools {
			cells := []any{t.name(), fmt.Sprintf("%.0f", stats.Median(per[t.name()])), fmt.Sprintf("%.0f", stats.Median(rate[t.name()]))}
			for _, o := range mine {
				cells = append(cells, against(o, t, per))
			}
			row(cells...)
		}
	})
	return nil
}

func (b *bench) latency(ctx context.Context, addr string) error {
	j := job{addr: addr, connections: b.connections[0], each: b.each, rate: b.rate}
	tools := b.able(j)
	p50, p99, lag := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	err := b.round(ctx, tools, j, "", func(t tool, r report, _ time.Duration) {
		p50[t.name()] = append(p50[t.name()], float64(r.P50))
		p99[t.name()] = append(p99[t.name()], float64(r.P99))
		if r.Sent > 0 {
			lag[t.name()] = append(lag[t.name()], float64(r.LagP99))
		}
	})
	if err != nil {
		return err
	}
	mine := compared(tools)
	head := fmt.Sprintf("  at %.0f/s\tp50, µs\tp99, µs\tsend lag p99, µs", b.rate)
	for _, o := range mine {
		head += "\t" + o.name() + "'s p50 / its"
	}
	b.table(head, func(row func(...any)) {
		for _, t := range tools {
			late := ""
			if len(lag[t.name()]) > 0 {
				late = micro(lag[t.name()])
			}
			cells := []any{t.name(), micro(p50[t.name()]), micro(p99[t.name()]), late}
			for _, o := range mine {
				cells = append(cells, against(o, t, p50))
			}
			row(cells...)
		}
	})
	fmt.Fprintln(b.out, "  (ours from the time a request was due, oha's from the time it was sent)")
	return nil
}

// compared returns the engines of tare that other tools are compared with.
func compared(tools []tool) (out []tool) {
	for _, t := range tools {
		switch t.(type) {
		case ours, quiet:
			out = append(out, t)
		}
	}
	return out
}

// against is the ratio own / t with its interval, from the rounds' ratios.
func against(own, t tool, x map[string][]float64) string {
	if t.name() == own.name() {
		return ""
	}
	logs := make([]float64, len(x[own.name()]))
	for i, v := range x[own.name()] {
		logs[i] = math.Log(v / x[t.name()][i])
	}
	text := fmt.Sprintf("%.3f", math.Exp(stats.HodgesLehmann(logs)))
	if lo, hi, ok := stats.Interval(logs, 0.05); ok {
		text += fmt.Sprintf("  (95 %%: %.3f to %.3f)", math.Exp(lo), math.Exp(hi))
	}
	return text
}

// micro is the median of nanoseconds, in µs.
func micro(ns []float64) string { return fmt.Sprintf("%.0f", stats.Median(ns)/1e3) }

func (b *bench) table(head string, fill func(row func(...any))) {
	w := tabwriter.NewWriter(b.out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, head)
	fill(func(cells ...any) {
		for i, c := range cells {
			fmt.Fprint(w, []string{"  ", "\t"}[min(i, 1)], c)
		}
		fmt.Fprintln(w)
	})
	w.Flush()
}

// stop stops the server for half a second while 40,000 requests are due, 5,000
// every second, and holds what was seen against what must have been.
func (b *bench) stop(ctx context.Context, own ours, s *server) error {
	const rate, whole, stop = 5000.0, 8 * time.Second, 500 * time.Millisecond
	type seen struct {
		r   report
		err error
	}
	done := make(chan seen, 1)
	go func() {
		r, _, err := b.once(ctx, own, job{addr: s.addr, connections: b.connections[0], each: whole, rate: rate}, "")
		done <- seen{r, err}
	}()
	time.Sleep(whole / 2)
	held, err := s.hold(stop)
	got := <-done
	if err != nil {
		b.missing("the stop of the server", err.Error())
		return nil
	}
	if got.err != nil {
		return got.err
	}
	// Of n requests the 1 % that waited longest were due while the server
	// stood still, the first of them for the whole of it.
	want := held - time.Duration(0.01*whole.Seconds()*1e9) + got.r.P50
	fmt.Fprintf(b.out, "  %s, stopped for %v: p99 %v, theory %v (%+.1f %%); asked %.0f, sent %d, answered %d, never sent %d\n",
		own.name(), held.Round(time.Microsecond), got.r.P99.Round(time.Microsecond), want.Round(time.Microsecond), 100*(float64(got.r.P99)/float64(want)-1),
		rate*whole.Seconds(), got.r.Sent, got.r.Requests, got.r.Late)
	return nil
}
