package load

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
)

func TestParseSLO(t *testing.T) {
	for text, want := range map[string]string{
		"p99<50ms":                         "p99<50ms",
		" p99.9 <= 100ms , errors < 0.1% ": "p99.9<=100ms,errors<0.1%",
		"p50<1ms,p99<5ms,max<1s,mean<=2ms": "p50<1ms,p99<5ms,max<1s,mean<=2ms",
		"errors<=0%":                       "errors<=0%",
		"p99.999<1.5s":                     "p99.999<1.5s",
		"p1<1us":                           "p1<1µs",
		"errors<100%":                      "errors<100%",
	} {
		s, err := ParseSLO(text)
		if err != nil || s.String() != want {
			t.Errorf("%q is read as %q, %v, want %q", text, s, err, want)
		}
	}
	s, _ := ParseSLO("p99.9<=100ms,errors<0.1%")
	if o := s[0]; o.Quantile < 0.99899 || o.Quantile > 0.99901 || o.Below || o.Limit != 1e8 {
		t.Errorf("%+v", o)
	}
	if o := s[1]; !o.Errors || !o.Below || o.Limit < 0.00099999 || o.Limit > 0.00100001 {
		t.Errorf("%+v", o)
	}
}

func TestWhatIsNoSLO(t *testing.T) {
	for text, want := range map[string]string{
		"": "has no <", "p99": "has no <", "p99>5ms": "has no <", "p99=5ms": "has no <", "p99<": "not a duration", "p99<5": "not a duration", "p99<0s": "not a duration",
		"p99<-1s": "not a duration", "p99<2h": "not a duration", "p100<1s": "not a figure", "p0<1s": "not a figure", "p<1s": "not a figure", "pp<1s": "not a figure",
		"p9.9.9<1s": "not a figure", "p1e1<1s": "not a figure", "rate<5ms": "not a figure", "<5ms": "not a figure",
		"errors<1": "not a percentage", "errors<5ms": "not a percentage", "errors<101%": "not a percentage", "errors<-1%": "not a percentage", "errors<NaN%": "not a percentage",
		"errors<0%": "cannot be met", "p99<1s,p99<=2s": "p99 is given twice", "p99<1s,": "has no <", "p99.0<1s,p99<1s": "given twice",
	} {
		_, err := ParseSLO(text)
		var wrong *SLOError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "e.g. p99<50ms") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// evenly returns n latencies, at equal distances from step to n × step.
func evenly(n int, step time.Duration) *hist.Hist {
	h := new(hist.Hist)
	for i := range n {
		h.Record(int64(step) * int64(i+1))
	}
	return h
}

func TestObjectivesAreHeldAgainstAResult(t *testing.T) {
	r := &Result{Sent: 10_000, Requests: 9_990, Errors: map[Class]int64{ErrTimeout: 6, ErrReset: 4}, Latency: evenly(10_000, 10*time.Microsecond)} // up to 100 ms
	for text, want := range map[string]string{
		"p99<100ms": "met", "p99<98ms": "not met", "p50<51ms": "met", "p99.9<=101ms": "thin", "p99.8<101ms": "met",
		"max<=100ms": "met", "max<100ms": "not met", "mean<50ms": "not met", "mean<50.1ms": "met",
		"errors<=0.1%": "met", "errors<0.1%": "not met", "errors<0.2%": "met",
	} {
		s, err := ParseSLO(text)
		if err != nil {
			t.Fatal(err)
		}
		o := s.Hold(r)[0]
		got := "not met"
		switch {
		case o.Thin:
			got = "thin"
		case o.Met:
			got = "met"
		}
		if got != want || Met(s.Hold(r)) != (want == "met") {
			t.Errorf("%s: %s (value %v), want %s", text, got, o.Value, want)
		}
	}
	if got := errorShare(&Result{Sent: 0, Errors: map[Class]int64{ErrConnect: 3}}); got != 1 {
		t.Errorf("nothing sent and three errors: a share of %v", got)
	}
}

func FuzzParseSLO(f *testing.F) {
	for _, text := range []string{"p99<50ms", "p99.9<=100ms,errors<0.1%", "max<1s,mean<1ms", "errors<=0%", "p99<", "p<1s", ",", "p99.99999<1ns", "p.9999999<1s"} {
		f.Add(text)
	}
	r := &Result{Sent: 100, Latency: evenly(100, time.Millisecond)}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSLO(text)
		if err != nil {
			return
		}
		again, err := ParseSLO(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q is written %q and read %q, %v", text, s, again, err)
		}
		if got := s.Hold(r); len(got) != len(s) {
			t.Fatalf("%d outcomes of %d objectives", len(got), len(s))
		}
	})
}

// Without responses no latency is below a limit.
func TestNothingAnsweredMeetsNothing(t *testing.T) {
	s, err := ParseSLO("max<50ms,mean<10ms,p50<10ms,errors<100%")
	if err != nil {
		t.Fatal(err)
	}
	r := &Result{Sent: 100, Errors: map[Class]int64{ErrReset: 100}, Latency: new(hist.Hist)}
	for _, o := range s.Hold(r)[:3] {
		if ruling, why, _ := judgeOutcomes([]Outcome{o}); !o.Thin || Met([]Outcome{o}) || ruling != tare.Inconclusive {
			t.Errorf("%s: %s, %q, %+v", o.Objective, ruling, why, o)
		}
	}
	if _, why, _ := judgeOutcomes(s.Hold(r)[:2]); why != "no answer has a max or mean" {
		t.Errorf("%q", why)
	}
	if ruling, why, _ := judgeOutcomes(s.Hold(r)); ruling != tare.NotMet || !strings.Contains(why, "errors was") {
		t.Errorf("%s, %q", ruling, why)
	}
}
