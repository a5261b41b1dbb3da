package services

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest/hosts"
	"github.com/tarebench/tare/stats"
)

// costly is a service whose cost is counted.
type costly struct {
	name    string
	service *service
	arrived func() int // events at its far side

	perEvent []float64 // CPU time in µs, by round
	p50, p99 []float64 // ms, by round
}

// destination is where a sink sends events, with the number of those that arrived.
type destination interface {
	URL() string
	Count() int
}

// destinations are one for each kind of sink. PostgreSQL is among them if it is
// installed.
func destinations(t *testing.T) (list []destination) {
	for _, api := range []string{"ndjson", "json", "bulk", "clickhouse", "bigquery"} {
		list = append(list, sinktest.NewServer(t, api))
	}
	list = append(list, hosts.NewKafka(t), hosts.NewNATS(t))
	if hosts.HasPostgres() {
		return append(list, hosts.NewPostgres(t))
	}
	t.Log("PostgreSQL is not installed")
	return list
}

// TestCostOfSinks counts the CPU time of each sink, of both processes, for each
// event that its far side has, beside the file sink: interleaved rounds, batches
// of ten at the same rate. It prints a table, and wants no figure: how busy the
// machine is is not the sinks' matter. All that was acknowledged has to be there.
func TestCostOfSinks(t *testing.T) {
	if !soak() {
		t.Skip("takes minutes; TARE_SOAK=1 runs it")
	}
	const (
		rounds = 12
		rate   = 1500
		slice  = 2 * time.Second
	)
	env := environment(t)
	open := func(name, sink string, arrived func(dir string) int) *costly {
		dir := t.TempDir()
		return &costly{name: name, service: serve(t, dir, "tare serve ingest --addr 127.0.0.1:0 --sink "+sink, env), arrived: func() int { return arrived(dir) }}
	}
	list := []*costly{open("file", "file:events.ndjson", func(dir string) int {
		text, err := os.ReadFile(filepath.Join(dir, "events.ndjson"))
		must(t, err)
		return bytes.Count(text, []byte("\n"))
	})}
	for _, to := range destinations(t) {
		name, _, _ := strings.Cut(to.URL(), ":")
		list = append(list, open(name, to.URL(), func(string) int { return to.Count() }))
	}
	for round := range rounds {
		for i := range list {
			c := list[(i+round)%len(list)]
			before, there := c.service.used().cpu, c.arrived()
			l := senders(c.service, rate)
			time.Sleep(slice)
			l.end()
			acked := len(l.acked)
			eventually(t, c.name+": all arrives", func() bool { return c.arrived()-there >= acked })
			if came := c.arrived() - there; came != acked {
				t.Errorf("%s: %d events arrived, %d were acknowledged", c.name, came, acked)
			}
			slices.Sort(l.took)
			ms := func(q float64) float64 { return float64(l.took[int(q*float64(len(l.took)-1))]) / 1e6 }
			c.perEvent = append(c.perEvent, float64(c.service.used().cpu-before)/1e3/float64(acked))
			c.p50, c.p99 = append(c.p50, ms(0.5)), append(c.p99, ms(0.99))
		}
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "sink\tCPU time, µs an event\tof the file sink\t95%% interval\tp50, ms\tp99, ms\tarrived\n")
	for _, c := range list {
		ratios := make([]float64, rounds)
		for i := range ratios {
			ratios[i] = math.Log(c.perEvent[i] / list[0].perEvent[i])
		}
		between := "-"
		if low, high, ok := stats.Interval(ratios, 0.05); ok {
			between = fmt.Sprintf("%.2f to %.2f", math.Exp(low), math.Exp(high))
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.2f×\t%s\t%.1f\t%.1f\t%d\n", c.name, stats.Median(c.perEvent), math.Exp(stats.HodgesLehmann(ratios)), between, stats.Median(c.p50), stats.Median(c.p99), c.arrived())
	}
	must(t, w.Flush())
	t.Logf("%d rounds of %v at %d requests a second of ten events\n%s", rounds, slice, rate, table.String())
}
