package cmdenv

import (
	"math"
	"strings"
	"testing"
)

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{
		"": 0, "1000/s": 1000, "1000": 1000, "2k/s": 2000, "2k": 2000, "1.5M/s": 1.5e6, "60/m": 1, "0.5/s": 0.5, "3k/m": 50, "90/m": 1.5,
	} {
		if got, err := (RateFlag{text}).Rate(); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"fast", "0", "0/s", "-1/s", "+1", "1e3/s", "1,000/s", "1000 /s", "1000/h", "1K/s", "1G/s", "/s", ".5", "1.", "inf", "NaN", "1000/s/s", strings.Repeat("9", 400)} {
		if got, err := (RateFlag{text}).Rate(); ExitCode(err) != ExitUsage || !strings.Contains(err.Error(), "e.g. 1000/s") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v, want a usage error", text, got, err)
		}
	}
}
