package load

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

// soaked returns a made-up phase of n seconds: latencies around 1 ms that vary like those of a real
// server, errors and memory, each with a slope over the complete phase.
func soaked(seed uint64, n int, latency, memory, errors float64) (seconds []Second, bytes []int64) {
	r := rand.New(rand.NewPCG(seed, 1))
	wander := 0.0
	for i := range n {
		at := float64(i) / float64(n)
		wander = 0.7*wander + r.NormFloat64()*20e3
		s := Second{At: time.Duration(i) * time.Second, Requests: 1000, P50: time.Duration(1e6 + latency*at + wander), P99: time.Duration(3e6 + wander + r.NormFloat64()*100e3)}
		if r.Float64() < 0.1+errors*at {
			s.Errors = 5
		}
		seconds = append(seconds, s)
		bytes = append(bytes, int64(50e6+memory*at+r.NormFloat64()*1e6))
	}
	return seconds, bytes
}

// An existing drift is shown for the values that have it, and about 19 of 20 intervals or more
// contain its size.
func TestDrift(t *testing.T) {
	want := map[string]float64{"latency_p50": 300e3, "latency_p99": 0, "errors": 0.004, "server_memory": 20e6}
	const legs = 100
	held := map[string]int{}
	for seed := range uint64(legs) {
		seconds, memory := soaked(seed, 600, 300e3, 20e6, 0.8)
		list := listDrifts(seconds, memory, Constant{PerSecond: 1000})
		assert.Equal(t, "figures", len(list), len(want))
		for _, d := range list {
			if d.Low <= want[d.Of] && want[d.Of] <= d.High {
				held[d.Of]++
			}
			if d.Low > d.Change || d.High < d.Change || want[d.Of] != 0 && !d.Shown {
				t.Errorf("%+v", d)
			}
		}
	}
	for of := range want {
		some{legs * 88 / 100, legs}.check(t, of, int64(held[of]))
	}
}

// Without a drift at most about one interval in twenty shows one.
func TestNoDrift(t *testing.T) {
	shown, all := 0, 0
	for seed := range uint64(200) {
		seconds, memory := soaked(seed, 300, 0, 0, 0)
		for _, d := range listDrifts(seconds, memory, nil) {
			if all++; d.Shown {
				shown++
			}
		}
	}
	if all < 700 || shown > all*8/100 {
		t.Errorf("%d of %d", shown, all)
	}
}

// There is no drift for a phase that is too short, whose rate changes by intent, or without
// responses.
func TestWhereNoDriftIsLookedFor(t *testing.T) {
	seconds, memory := soaked(1, 600, 300e3, 20e6, 0)
	assert.Equal(t, "short", len(listDrifts(seconds[:59], memory[:59], nil)), 0)
	assert.Equal(t, "ramp", len(listDrifts(seconds, memory, Ramp{From: 1, To: 2, Over: time.Minute})), 0)
	assert.Equal(t, "silent", len(listDrifts(make([]Second, 600), nil, nil)), 0)
	assert.Equal(t, "no errors, no memory", len(listDrifts(seconds[:60], nil, nil)) >= 2, true)
}
