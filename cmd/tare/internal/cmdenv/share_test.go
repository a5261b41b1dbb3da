package cmdenv

import (
	"strings"
	"testing"
)

func TestShare(t *testing.T) {
	for text, want := range map[string]float64{"5%": 0.05, "0%": 0, "0.5 %": 0.005, "120%": 1.2} {
		if got, err := Share("allow", text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "-1%", "NaN%", "Inf%", "five%"} {
		if got, err := Share("allow", text); err == nil || !strings.Contains(err.Error(), "--allow") {
			t.Errorf("%q is %v, %v; want an error that names the flag", text, got, err)
		}
	}
}
