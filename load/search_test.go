package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
)

// model is a simulated server: responses take base while it is idle, it has a capacity in requests
// per second, and in an open loop responses take longer the closer the rate is to the capacity. One
// in a hundred responses takes five times as long.
type model struct {
	base     time.Duration
	capacity float64
	client   float64 // rate from which the load generator is the limit; zero: never
	seconds  float64 // of a leg
	errors   float64 // share, in a closed loop of more than 64 connections
	most     float64 // share of the capacity that it keeps in an open loop; zero: 1

	asked []Trial
}

func (m *model) Run(_ context.Context, t Trial) (*Result, Facts, error) {
	m.asked = append(m.asked, t)
	rate := min(float64(t.Connections)/m.base.Seconds(), m.capacity)
	mean := float64(t.Connections) / rate
	most := m.capacity
	if m.most > 0 {
		most *= m.most
	}
	late := int64(0)
	if t.Rate > 0 {
		rate = min(t.Rate, most)
		late = int64((t.Rate - rate) * m.seconds)
		mean = m.base.Seconds() / max(1-rate/most, 0.001)
	}
	cpu := 0.3
	if m.client > 0 && rate >= m.client {
		cpu = 0.99
	}
	n := int64(rate * m.seconds)
	lat := new(hist.Hist)
	for i := range n {
		v := mean / 1.04
		if i%100 == 7 {
			v *= 5
		}
		lat.Record(int64(v * 1e9))
	}
	r := &Result{
		Connections: t.Connections, Threads: 1, Wall: time.Duration(m.seconds * 1e9), Sent: n, Requests: n, Opened: int64(t.Connections),
		Latency: lat, Service: lat, SendLag: new(hist.Hist), Asked: t.Rate, Late: late, Concurrency: min(rate*mean, float64(t.Connections)),
		CPU: time.Duration(cpu * m.seconds * 1e9),
	}
	if m.errors > 0 && t.Connections > 64 && t.Rate == 0 {
		r.Errors = map[Class]int64{ErrReset: int64(m.errors * float64(n))}
	}
	if t.Rate > 0 { // the queue is not on connections
		r.Service, r.Concurrency = new(hist.Hist), rate*m.base.Seconds()
		r.Service.Record(int64(m.base))
	}
	return r, Facts{ServerCPU: time.Duration(min(rate/m.capacity, 0.8) * m.seconds * 1e9), ServerCores: 1}, nil
}

func slo(t *testing.T, text string) SLO {
	t.Helper()
	s, err := ParseSLO(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSearchFindsTheCapacity(t *testing.T) {
	m := &model{base: 2 * time.Millisecond, capacity: 5000, seconds: 2}
	// In the closed loop p99 is just below its 5 × jump up to 99 %: the mean.
	got, err := Searching{SLO: slo(t, "p98<20ms")}.Run(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ruling != tare.Met || math.Abs(got.PerSecond-4250) > 60 && math.Abs(got.PerSecond-4750) > 60 {
		t.Errorf("%s: %v, %.0f requests per second", got.Sentence, got.Ruling, got.PerSecond)
	}
	if math.Abs(got.AtLeast-5000) > 1 {
		t.Errorf("in a closed loop %.0f", got.AtLeast)
	}
	if !strings.Contains(got.Sentence, "p98<20ms,errors<=0.1%") || !strings.Contains(got.Sentence, "in an open loop") {
		t.Error(got.Sentence)
	}
	var closed []int
	for _, q := range m.asked {
		if q.Rate == 0 {
			closed = append(closed, q.Connections)
		}
	}
	if s := fmt.Sprint(closed); !strings.HasPrefix(s, "[1 2 4 8 16 32 64") {
		t.Errorf("steps %s", s)
	}
	last := m.asked[len(m.asked)-1]
	if last.Rate == 0 || last.Connections != 2*got.Connections {
		t.Errorf("confirmed with %+v, found on %d connections", last, got.Connections)
	}
}

// The number of connections at which a latency reaches its limit is found to an eighth.
func TestSearchHalves(t *testing.T) {
	m := &model{base: 10 * time.Millisecond, capacity: 1000, seconds: 10}
	got, err := Searching{SLO: slo(t, "mean<=50ms")}.Run(t.Context(), m) // 50 connections
	if err != nil {
		t.Fatal(err)
	}
	if got.Steps[len(got.Steps)-1].Trial.Rate == 0 || got.Ruling != tare.Met {
		t.Errorf("%v: %s", got.Ruling, got.Sentence)
	}
	lo, hi := 0, 1<<30
	for _, s := range got.Steps {
		switch {
		case s.Trial.Rate > 0:
		case s.Ruling == tare.Met:
			lo = max(lo, s.Trial.Connections)
		case s.Ruling == tare.NotMet:
			hi = min(hi, s.Trial.Connections)
		}
	}
	if lo > 50 || hi <= 50 || hi-lo > 6 {
		t.Errorf("met up to %d, not met from %d connections", lo, hi)
	}
}

// For any objectives, if the load generator is the limit, the search claims nothing about the
// capacity of the server.
func TestSearchIsVoidWhereTheClientIsTheLimit(t *testing.T) {
	for _, text := range []string{"p98<20ms", "p98<1s", "p50<3ms", "mean<=50ms"} {
		for _, client := range []float64{400, 900, 3000, 4600} {
			m := &model{base: 2 * time.Millisecond, capacity: 5000, seconds: 1, client: client}
			got, err := Searching{SLO: slo(t, text)}.Run(t.Context(), m)
			if err != nil || got.Ruling != tare.VoidRuling || got.PerSecond != 0 || !strings.Contains(got.Sentence, "the server's capacity is unknown") {
				t.Errorf("%s, client at its limit from %.0f: %v, %s, %v", text, client, got.Ruling, got.Sentence, err)
			}
			if got.AtLeast >= client {
				t.Errorf("%s, client at its limit from %.0f: at least %.0f", text, client, got.AtLeast)
			}
		}
	}
}

func TestSearchRulings(t *testing.T) {
	for name, c := range map[string]struct {
		m    model
		slo  string
		most int
		want tare.Ruling
		say  string
	}{
		"too slow from the start": {model{base: 30 * time.Millisecond, capacity: 5000, seconds: 10}, "p50<10ms", 0, tare.NotMet, "is missed even at 1 connection: p50 was"},
		"too few answers":         {model{base: 100 * time.Millisecond, capacity: 20, seconds: 5}, "p99<200ms", 8, tare.Inconclusive, "fewer than 20 answers lie beyond p99"},
		"errors, without an objective on them": {model{base: time.Millisecond, capacity: 1e5, seconds: 1, errors: 0.01}, "p98<20ms", 512, tare.Met,
			"errors<=0.1%"},
		"no rate in an open loop": {model{base: 2 * time.Millisecond, capacity: 5000, seconds: 1, most: 0.3}, "p98<20ms", 0, tare.Inconclusive, "could be confirmed in an open loop"},
		"bounded connections":     {model{base: 2 * time.Millisecond, capacity: 1e6, seconds: 1}, "p98<20ms", 4, tare.Met, "with 4 connections that wait"},
	} {
		t.Run(name, func(t *testing.T) {
			var told int
			got, err := Searching{SLO: slo(t, c.slo), Most: c.most, Told: func(SearchStep) { told++ }}.Run(t.Context(), &c.m)
			if err != nil || got.Ruling != c.want || !strings.Contains(got.Sentence, c.say) {
				t.Errorf("%v, want %v: %s (%v)", got.Ruling, c.want, got.Sentence, err)
			}
			if told != len(got.Steps) || told != len(c.m.asked) || told == 0 {
				t.Errorf("told of %d steps, %d in all, %d trials", told, len(got.Steps), len(c.m.asked))
			}
		})
	}
}

// broken fails, or cancels its context, at the third trial.
type broken struct {
	model
	cancel context.CancelFunc
}

var errGone = errors.New("connection refused")

func (b *broken) Run(ctx context.Context, t Trial) (*Result, Facts, error) {
	if len(b.asked) == 2 {
		if b.cancel == nil {
			return nil, Facts{}, errGone
		}
		b.cancel()
	}
	return b.model.Run(ctx, t)
}

func TestSearchCutShort(t *testing.T) {
	for name, want := range map[string]error{"failed": errGone, "interrupted": context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		b := &broken{model: model{base: 2 * time.Millisecond, capacity: 5000, seconds: 1}}
		if name == "interrupted" {
			b.cancel = cancel
		}
		got, err := Searching{SLO: slo(t, "p98<20ms")}.Run(ctx, b)
		cancel()
		if !errors.Is(err, want) || len(got.Steps) != 2 || got.Ruling != tare.Inconclusive || !strings.Contains(got.Sentence, "cut short; with 2 connections it kept") {
			t.Errorf("%s: %v, %d steps, %v: %s", name, err, len(got.Steps), got.Ruling, got.Sentence)
		}
	}
}
