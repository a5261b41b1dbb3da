package pace

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// first returns the first n intended times.
func first(p Profile, seed uint64, n int) []time.Duration {
	next := p.Times(seed)
	times := make([]time.Duration, n)
	for i := range times {
		times[i] = next()
	}
	return times
}

// within returns the number of intended times before d.
func within(p Profile, seed uint64, d time.Duration) int {
	n := 0
	for next := p.Times(seed); next() < d; n++ {
	}
	return n
}

func profiles(t *testing.T, over time.Duration) []Profile {
	t.Helper()
	var out []Profile
	for _, text := range []string{
		"5000/s", "3/s", "7k/s", "0.5/s", "1M/s", "100/m", "999999/s", "poisson:5000/s", "poisson:2/s",
		"ramp:100/s..5000/s", "ramp:5000/s..100/s", "ramp:0/s..2000/s", "ramp:50/s..50/s",
		"step:100/s,500/s,1000/s", "step:1000/s,1/s", "step:3/s", "step:7/s,7/s",
	} {
		p, err := Parse(text, over)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, p)
	}
	return out
}

// Times never decrease, begin within the first gaps after zero, and their number in any interval
// agrees with the mean rate: within one for profiles that are not random, and within four standard
// deviations for those that are.
func TestAsManyAsTheMeanSays(t *testing.T) {
	const over = 4 * time.Second
	for _, p := range profiles(t, over) {
		for _, d := range []time.Duration{over / 7, over / 2, over, over + over/3} {
			if p.Mean(d)*d.Seconds() > 1e6 {
				continue
			}
			last := time.Duration(-1)
			n := 0
			for next := p.Times(3); ; n++ {
				at := next()
				if at < last || at < 0 {
					t.Fatalf("%v: %v after %v", p, at, last)
				}
				if last = at; at >= d {
					break
				}
			}
			want, off := p.Mean(d)*d.Seconds(), 1.01
			if _, random := p.(Poisson); random {
				off = 4*math.Sqrt(want) + 1
			}
			if math.Abs(float64(n)-want) > off {
				t.Errorf("%v: %d requests in %v, want %.1f", p, n, d, want)
			}
		}
	}
}

// The nth time of a constant rate is exact for any n.
func TestConstantDoesNotDrift(t *testing.T) {
	for rate, every := range map[float64]time.Duration{5000: 200 * time.Microsecond, 1000: time.Millisecond, 0.5: 2 * time.Second, 1e6: time.Microsecond} {
		for n, at := range first(Constant{rate}, 0, 300_000) {
			if want := time.Duration(n) * every; at != want {
				t.Fatalf("%v/s: request %d at %v, want %v", rate, n, at, want)
			}
		}
	}
	// 3/s does not divide a second: rounding is of each time, not of the gap.
	times := first(Constant{3}, 0, 3_000_001)
	if got, want := times[3_000_000], time.Duration(1e6)*time.Second; got != want {
		t.Errorf("request 3000000 of 3/s is at %v, want %v", got, want)
	}
	// An hour at 999983/s: as many as asked for, to the request.
	next := Constant{999_983}.Times(0)
	for range 999_983 * 2 {
		next()
	}
	if at := next(); at != 2*time.Second {
		t.Errorf("two seconds of 999983/s take %v", at)
	}
}

// At each time of a ramp the integral of its rate is an integer.
func TestRampInvertsItsIntegral(t *testing.T) {
	for _, r := range []Ramp{{100, 5000, 4 * time.Second}, {5000, 100, 4 * time.Second}, {0, 3000, time.Second}, {3000, 1, 2 * time.Second}, {200, 200, time.Second}} {
		for n, at := range first(r, 0, 8000) {
			if got := r.countDue(at.Seconds()); math.Abs(got-float64(n)) > 1e-3 {
				t.Fatalf("%v: request %d is at %v, where %.5f are due", r, n, at, got)
			}
		}
	}
}

func TestStepsAreEqualParts(t *testing.T) {
	p, err := Parse("step:100/s,500/s,1000/s", 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[time.Duration]int{time.Second: 100, 2 * time.Second: 600, 3 * time.Second: 1600, 4 * time.Second: 2600} {
		if got := within(p, 0, d); got != want {
			t.Errorf("%d requests in %v, want %d", got, d, want)
		}
	}
}

// Gaps of a Poisson process are exponential: their mean equals their standard deviation, and the
// share of gaps above x means is e^-x.
func TestPoissonGaps(t *testing.T) {
	const n, rate = 200_000, 1000.0
	times := first(Poisson{rate}, 42, n)
	var sum, squares float64
	above := make([]int, 4)
	for i := range times[1:] {
		gap := (times[i+1] - times[i]).Seconds() * rate
		sum += gap
		squares += gap * gap
		for x := range above {
			if gap > float64(x) {
				above[x]++
			}
		}
	}
	m := sum / (n - 1)
	if sd := math.Sqrt(squares/(n-1) - m*m); math.Abs(m-1) > 0.01 || math.Abs(sd-1) > 0.015 {
		t.Errorf("mean %.4f and standard deviation %.4f gaps", m, sd)
	}
	for x, k := range above {
		if got, want := float64(k)/(n-1), math.Exp(-float64(x)); math.Abs(got-want) > 0.005 {
			t.Errorf("%.4f of the gaps are above %d means, want %.4f", got, x, want)
		}
	}
}

func TestSeedDecidesPoisson(t *testing.T) {
	p := Poisson{5000}
	if !slices.Equal(first(p, 7, 1000), first(p, 7, 1000)) {
		t.Error("the same seed gives other times")
	}
	if slices.Equal(first(p, 7, 10), first(p, 8, 10)) {
		t.Error("another seed gives the same times")
	}
	// Published first outputs of SplitMix64 for seed 1234567.
	seed := uint64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973} {
		if got := drawUnit(&seed); got != float64(want>>11+1)/(1<<53) {
			t.Errorf("drew %v, want %v", got, float64(want>>11+1)/(1<<53))
		}
	}
}

func TestProfileIsWrittenAsItIsRead(t *testing.T) {
	const over = 3 * time.Second
	for _, p := range profiles(t, over) {
		again, err := Parse(p.String(), over)
		if err != nil || again.String() != p.String() {
			t.Errorf("%v is read as %v, %v", p, again, err)
		}
	}
	for text, want := range map[string]string{"5k": "5000/s", " poisson:1.5k/s ": "poisson:1500/s", "ramp:60/m..2/s": "ramp:1/s..2/s", "step:1,2k": "step:1/s,2000/s"} {
		if p, err := Parse(text, over); err != nil || p.String() != want {
			t.Errorf("%q is read as %v, %v, want %s", text, p, err, want)
		}
	}
}

func TestWhatIsNoProfile(t *testing.T) {
	for text, want := range map[string]string{
		"": "not a rate", "fast": "not a rate", "0/s": "below", "-5/s": "not a rate", "5/h": "not a rate", "1e3/s": "not a rate", ".5/s": "not a rate",
		"1000001/s": "above 1000000", "2M/s": "above", "0.0001/s": "below", strings.Repeat("9", 400): "not a rate",
		"uniform:5/s": `"uniform" is not a profile`, "poisson:": "not a rate", "poisson:0/s": "below",
		"ramp:5/s": "two rates", "ramp:5/s..": "not a rate", "ramp:..5/s": "not a rate", "ramp:1/s..0/s": "below", "ramp:1/s..9M/s": "above", "ramp:9M/s..1/s": "above",
		"step:": "not a rate", "step:1/s,": "not a rate", "step:1/s,2M/s": "above", "step:" + strings.Repeat("1/s,", 1000) + "1/s": "more than 1000",
	} {
		_, err := Parse(text, time.Second)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"ramp:1/s..5/s", "step:1/s,2/s"} {
		if _, err := Parse(text, 0); err == nil || !strings.Contains(err.Error(), "duration") {
			t.Errorf("%q without a duration: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"5000/s", "poisson:5k/s", "ramp:0/s..5000/s", "ramp:100/s..5/m", "step:100/s,500/s,1M/s", "step:0.001,0.002", "x:1", "ramp:1..", ""} {
		f.Add(text, int64(time.Second))
	}
	f.Fuzz(func(t *testing.T, text string, over int64) {
		p, err := Parse(text, time.Duration(over))
		if err != nil {
			if p != nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v, %v", p, err)
			}
			return
		}
		if again, err := Parse(p.String(), time.Duration(over)); err != nil || again.String() != p.String() {
			t.Fatalf("%q is written %q and read %v, %v", text, p, again, err)
		}
		last := time.Duration(0)
		for i, at := range first(p, 1, 200) {
			if at < last {
				t.Fatalf("%v: time %d is %v, after %v", p, i, at, last)
			}
			last = at
		}
		if m := p.Mean(time.Duration(over)); over > 0 && (!(m >= 0) || m > MaxRate*1.0001) {
			t.Fatalf("%v: mean rate %v", p, m)
		}
	})
}
